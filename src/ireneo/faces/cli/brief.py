"""`ireneo brief`, `reflect` and `pad`: what a turn is given, and the scratchpads of the tasks at hand."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Struct
from msgspec.structs import asdict

from ireneo.errors import BadInput
from ireneo.faces.cli.files import log_on_stderr
from ireneo.faces.cli.memories import remembered_answer, told_of
from ireneo.faces.cli.options import (
    As,
    AsJson,
    Embedder,
    From,
    Scoped,
    Stored,
    Undone,
    argument,
    embedder_named,
    flag,
    option,
    reading,
    session_asked,
    tokens,
    tried,
    writing,
)
from ireneo.faces.cli.output import counted, one_line, picked, printable, said, short, tell, write_json
from ireneo.faces.cli.place import database, existing
from ireneo.faces.cli.work import Asking
from ireneo.plumbing import project_here

if TYPE_CHECKING:
    from ireneo.sync import Memory, Scratchpad
    from ireneo.types import Brief, Pad, Reflected

Task = Annotated[str, argument("TASK", "The task's name; without one, all are listed.", shown=False)]
ENDS = "--finish and --drop end a scratchpad; give one of them, and nothing to write."
NO_TASK = "Name the task whose scratchpad is meant."


class PadText(Struct, frozen=True, kw_only=True):
    """What is to stand in it, all of it: what is not given stands there no longer."""

    goal: Annotated[str, option("--goal", "WORDS", "What is to be reached.")] = ""
    plan: Annotated[
        list[str] | None,
        option("--plan", "WORDS", "A step, with “[x] ” before it when done; give it once for each."),
    ] = None
    fact: Annotated[list[str] | None, option("--fact", "WORDS", "What was found out; give it once for each.")] = None
    question: Annotated[list[str] | None, option("--question", "WORDS", "What is open; give it once for each.")] = None


class PadEnding(Struct, frozen=True, kw_only=True):
    """How it ends."""

    finish: Annotated[str | None, option("--finish", "OUTCOME", "Keep its facts and this as memories, and end it.")] = (
        None
    )
    drop: Annotated[bool, flag("--drop", "End it, and keep nothing.")] = False


def pad(task: Task = "", as_json: AsJson = False, *, written: PadText, ending: PadEnding, stored: Stored) -> None:
    """Show, write or end the scratchpad of a task.

    It is rewritten whole each time, and may cost 300 tokens at most.
    """
    if not task and (written != PadText() or ending != PadEnding()):
        raise BadInput(NO_TASK)
    if ending != PadEnding() and (written != PadText() or (ending.drop and ending.finish is not None)):
        raise BadInput(ENDS)
    if ending.finish is not None:
        _finish(task, ending.finish, stored, as_json=as_json)
    elif ending.drop:
        _drop(task, stored, as_json=as_json)
    elif written != PadText():
        _write(task, written, stored, as_json=as_json)
    else:
        _show(task, stored, as_json=as_json)


def pad_answer(pad: Pad) -> dict[str, object]:
    """A scratchpad, as JSON."""
    return picked(pad, "task goal plan facts questions written")


def _pad(memory: Memory, task: str) -> Scratchpad:
    """The scratchpad of a task: of the session that it is called after, or of this folder's project."""
    of_session = any(each.key.session == task for each in memory.sessions())
    return memory.scratchpad(task, project=None if of_session else project_here(str(Path.cwd())) or None)


def _show(task: str, stored: Stored, *, as_json: bool) -> None:
    with reading(stored) as memory:
        pads = [_pad(memory, task).read()] if task else memory.pads()
        pads = [pad for pad in pads if pad is not None]
    if as_json:
        answers = [pad_answer(pad) for pad in pads]
        write_json((answers[0] if answers else None) if task else answers)
    elif not pads:
        tell(f"Task {task} has no scratchpad." if task else f"No task of space {stored.space} has a scratchpad.")
    else:
        sys.stdout.write("\n".join(_shown(pad) for pad in pads))


def _write(task: str, written: PadText, stored: Stored, *, as_json: bool) -> None:
    def work(memory: Memory) -> Pad:
        return _pad(memory, task).write(
            goal=written.goal, plan=written.plan or (), facts=written.fact or (), questions=written.question or ()
        )

    made = tried(database(stored.db), stored.space, work)
    if as_json:
        write_json(pad_answer(made))
    else:
        sys.stdout.write(_shown(made))


def _finish(task: str, outcome: str, stored: Stored, *, as_json: bool) -> None:
    with reading(stored) as memory:
        pad = _pad(memory, task)
        there, done = pad.read() is not None, pad.finish(outcome)
    if as_json:
        write_json([remembered_answer(each) for each in done])
    elif not there:
        tell(f"Task {task} has no scratchpad; nothing was remembered.")
    else:
        sys.stdout.write("".join(told_of(each) for each in done))
        tell(f"The scratchpad of {task} is gone; {counted(len(done), 'memory', 'memories')} came of it.")


def _drop(task: str, stored: Stored, *, as_json: bool) -> None:
    with reading(stored) as memory:
        there = _pad(memory, task).drop()
    if as_json:
        write_json({"task": task, "dropped": there})
    else:
        tell(f"The scratchpad of {task} is gone." if there else f"Task {task} has no scratchpad.")


def _shown(pad: Pad) -> str:
    lines = [f"{pad.task} · {said(pad.written)}"]
    if pad.goal:
        lines += ["", f"goal       {one_line(pad.goal)}"]
    for name, entries in (
        ("plan", [f"[{'x' if step.done else ' '}] {step.text}" for step in pad.plan]),
        ("facts", list(pad.facts)),
        ("questions", list(pad.questions)),
    ):
        for number, entry in enumerate(entries):
            lines += [""] if number == 0 else []
            lines.append(f"{'' if number else name:<11}{one_line(entry)}")
    return "".join(f"  {line}".rstrip() + "\n" for line in lines)


NOT_YET = "Nothing new to draw conclusions from; --force doesn't wait until enough has happened."


class BriefCues(Struct, frozen=True, kw_only=True):
    """What each kind of memory is found by."""

    goal: Annotated[str, option("--goal", "WORDS", "What is to be reached: it finds facts.")] = ""
    task_type: Annotated[str, option("--task-type", "WORDS", "Which kind of task it is: it finds steps.")] = ""
    situation: Annotated[str, option("--situation", "WORDS", "How things stand: it finds what happened.")] = ""
    about_to: Annotated[str, option("--about-to", "WORDS", "What is done next: it finds what failed.")] = ""
    session: From = None
    viewpoint: As = ""
    undone: Undone = False
    task: Annotated[str | None, option("--task", "NAME", "Whose scratchpad it shows.", shown="none")] = None
    budget: Annotated[int, tokens("--budget -b", "The most that it may cost.")] = 1_500


def brief(
    *, cues: BriefCues, scoped: Scoped, as_json: AsJson = False, embedder: Embedder = None, stored: Stored
) -> None:
    """Give a turn what it needs to know.

    Procedures, facts, episodes, failures and the scratchpad, each by its own cue.
    """
    with writing(existing(stored.db), stored.space, embedder=embedder) as memory:
        session, branch = session_asked(memory, cues.session)
        made = memory.brief(
            **{**asdict(cues), "session": session, "branch": branch}, project=scoped.seen_by(cues.viewpoint)
        )
        hint = "" if made.markdown else scoped.hint(memory)
    if as_json:
        write_json(brief_answer(made))
    elif made.markdown:
        sys.stdout.write(f"{printable(made.markdown).rstrip()}\n")
    else:
        asked = any((cues.goal, cues.task_type, cues.situation, cues.about_to, scoped.project, cues.task))
        more = (
            "" if asked else " Say what the turn is about: --goal, --task-type, --situation, --about-to or --project."
        )
        sys.stdout.write(f"  No memory answers to that.{more}{hint}\n")


def brief_answer(made: Brief) -> dict[str, object]:
    """A brief, as JSON."""
    return picked(made, "markdown tokens lines") | {"pad": made.pad and pad_answer(made.pad), "left_out": made.left_out}


def reflect(
    force: Annotated[bool, flag("--force", "Don't wait until enough has happened.")] = False,
    as_json: AsJson = False,
    embedder: Embedder = None,
    *,
    asking: Asking,
    stored: Stored,
) -> None:
    """Draw conclusions from what happened.

    Each cites at least two events. Without a model: from what recurs, or none.
    """
    path, named = existing(stored.db), embedder_named(embedder)
    with log_on_stderr(), asking.memory(path, stored.space, needed=False, embedder=named) as memory:
        done = memory.reflect(force=force)
    if as_json:
        write_json(reflected_answer(done))
    else:
        sys.stdout.write(_told(done))


def reflected_answer(done: Reflected) -> dict[str, object]:
    """What came of looking back, as JSON."""
    return {
        "episodes": done.episodes,
        "conclusions": [remembered_answer(each) for each in done.conclusions],
        "reconsidered": [remembered_answer(each) for each in done.reconsidered],
    } | picked(done, "refused failed tokens_in tokens_out")


def _told(done: Reflected) -> str:
    drawn = counted(len(done.conclusions), "conclusion")
    lines = [f"{drawn} from {counted(done.episodes, 'new episode')}." if done.episodes else NOT_YET]
    lines += [f"{short(each.record.id)} ({each.did}) {each.record.text}" for each in done.conclusions]
    lines += [f"{short(each.record.id)} ({each.did}) reconsidered: {each.reason}" for each in done.reconsidered]
    lines += [f"refused: {reason}" for reason in done.refused]
    lines += [f"without the model: {done.failed}"] if done.failed else []
    lines += [f"{done.tokens_in:,} tokens in, {done.tokens_out:,} out"] if done.tokens_in else []
    return "".join(f"  {one_line(line)}\n" for line in lines)

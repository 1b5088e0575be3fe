"""`ireneo brief`, `reflect` and `pad`: what is known for a task, conclusions from episodes, scratchpads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Struct
from msgspec.structs import asdict

from ireneo.errors import BadInput
from ireneo.faces.cli.files import log_on_stderr, warn
from ireneo.faces.cli.memories import remembered_answer, remembered_lines
from ireneo.faces.cli.options import (
    As,
    Embedder,
    From,
    Scoped,
    Stored,
    Undone,
    argument,
    embedder_named,
    flag,
    open_existing,
    open_memory,
    option,
    parse_session,
    tokens,
    try_work,
)
from ireneo.faces.cli.output import (
    Answer,
    counted,
    local_time,
    one_line,
    pick_attributes,
    plain,
    printable,
    short,
    waiting,
)
from ireneo.faces.cli.place import database, existing
from ireneo.faces.cli.work import Asking
from ireneo.plumbing import project_here

if TYPE_CHECKING:
    from ireneo.sync import Memory, Scratchpad
    from ireneo.types import Pad, ReflectionResult

Task = Annotated[str, argument("TASK", "The task's name; without one, all are listed.", shown=False)]


class PadText(Struct, frozen=True, kw_only=True):
    """The new contents, all of them: what is left out is removed."""

    goal: Annotated[str, option("--goal", "WORDS", "The goal.")] = ""
    plan: Annotated[
        list[str] | None, option("--plan", "WORDS", "A step, with “[x] ” before it when done; give it once for each.")
    ] = None
    fact: Annotated[
        list[str] | None, option("--fact", "WORDS", "A fact that was found out; give it once for each.")
    ] = None
    question: Annotated[list[str] | None, option("--question", "WORDS", "An open question; give it once for each.")] = (
        None
    )


class PadEnding(Struct, frozen=True, kw_only=True):
    """How to end it."""

    finish: Annotated[str | None, option("--finish", "OUTCOME", "Keep its facts and this as memories, and end it.")] = (
        None
    )
    drop: Annotated[bool, flag("--drop", "End it, and keep nothing.")] = False


def pad(task: Task = "", *, written: PadText, ending: PadEnding, stored: Stored) -> Answer:
    """Show, write or end the scratchpad of a task. It is rewritten whole each time, and may cost 300 tokens at most."""
    if not task and (written != PadText() or ending != PadEnding()):
        raise BadInput("Name the task whose scratchpad is meant.")
    if ending != PadEnding() and (written != PadText() or (ending.drop and ending.finish is not None)):
        raise BadInput("--finish and --drop end a scratchpad; give one of them, and nothing to write.")
    if written != PadText():
        made = try_work(database(stored.db), stored.space, lambda memory: _write(memory, task, written))
        return Answer(_pad(made), plain(_pad_text(made)))
    with open_existing(stored) as memory:
        if ending.finish is not None:
            return _finish(memory, task, ending.finish)
        if ending.drop:
            dropped = _scratchpad(memory, task).drop()
            text = f"The scratchpad of {task} is gone." if dropped else f"Task {task} has no scratchpad."
            return Answer({"task": task, "dropped": dropped}, text)
        found = [_scratchpad(memory, task).read()] if task else memory.pads()
    pads = [pad for pad in found if pad is not None]
    none = f"Task {task} has no scratchpad." if task else f"No task of space {stored.space} has a scratchpad."
    answers = [_pad(pad) for pad in pads]
    data = (answers[0] if answers else None) if task else answers
    return Answer(data, plain("\n".join(_pad_text(pad) for pad in pads)) if pads else none)


def _scratchpad(memory: Memory, task: str) -> Scratchpad:
    """The scratchpad of a task: that of the session with this name, or of this folder's project."""
    of_session = any(each.key.session == task for each in memory.sessions())
    return memory.scratchpad(task, project=None if of_session else project_here(str(Path.cwd())) or None)


def _write(memory: Memory, task: str, written: PadText) -> Pad:
    return _scratchpad(memory, task).write(
        goal=written.goal, plan=written.plan or (), facts=written.fact or (), questions=written.question or ()
    )


def _finish(memory: Memory, task: str, outcome: str) -> Answer:
    pad = _scratchpad(memory, task)
    if pad.read() is None:
        return Answer([], f"Task {task} has no scratchpad; nothing was remembered.")
    done = pad.finish(outcome)
    lines = [line for each in done for line in remembered_lines(each)]
    lines.append(f"The scratchpad of {task} is gone; {counted(len(done), 'memory')} came of it.")
    return Answer([remembered_answer(each) for each in done], lines)


def _pad(pad: Pad) -> dict[str, object]:
    return pick_attributes(pad, "task goal plan facts questions written")


def _pad_text(pad: Pad) -> str:
    lines = [f"{pad.task} · {local_time(pad.written)}"]
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


class BriefCues(Struct, frozen=True, kw_only=True):
    """What to search each kind of memory by."""

    goal: Annotated[str, option("--goal", "WORDS", "The goal: it finds facts.")] = ""
    task_type: Annotated[str, option("--task-type", "WORDS", "The kind of task: it finds steps.")] = ""
    situation: Annotated[str, option("--situation", "WORDS", "The situation: it finds what happened.")] = ""
    about_to: Annotated[str, option("--about-to", "WORDS", "The next action: it finds what failed.")] = ""
    session: From = None
    viewpoint: As = ""
    undone: Undone = False
    task: Annotated[str | None, option("--task", "NAME", "The task whose scratchpad to show.", shown="none")] = None
    budget: Annotated[int, tokens("--budget -b", "The most that it may cost.")] = 1_500


def brief(*, cues: BriefCues, scoped: Scoped, embedder: Embedder = None, stored: Stored) -> Answer:
    """Show what is known for a task. Procedures, facts, episodes, failures and the scratchpad, each by its own cue."""
    with open_memory(existing(stored.db), stored.space, embedder=embedder) as memory:
        session, branch = parse_session(memory, cues.session)
        asked = {**asdict(cues), "session": session, "branch": branch}
        with waiting("Searching …"):
            made = memory.brief(**asked, project=scoped.name)
        hint = "" if made.markdown and scoped.project is None else scoped.hint(memory, asked=not made.markdown)
        is_empty = not made.markdown and not memory.memories(project=scoped.name, limit=1)
    pad = {"pad": made.pad and _pad(made.pad), "left_out": made.left_out}
    if made.note:
        warn(made.note)
    if made.markdown:
        if hint:
            warn(hint)
        text = f"{printable(made.markdown).rstrip()}\n"
    else:
        is_asked = any((cues.goal, cues.task_type, cues.situation, cues.about_to, scoped.project, cues.task))
        place = scoped.place(stored.space)
        unasked = f"There is no memory of {place} yet." if is_empty else f"Of {place} nothing is told for every task."
        unasked += " Say what the task is: --goal, --task-type, --situation, --about-to or --project."
        text = f"  {'No memory matches that.' if is_asked else unasked}{hint}\n"
    return Answer(pick_attributes(made, "markdown tokens lines note") | pad, plain(text))


def reflect(
    force: Annotated[bool, flag("--force", "Don't wait until enough has happened.")] = False,
    embedder: Embedder = None,
    *,
    asking: Asking,
    stored: Stored,
) -> Answer:
    """Draw conclusions from what happened.

    Each cites at least two events. Without a model: from what recurs, or none.
    """
    path, named = existing(stored.db), embedder_named(embedder)
    with log_on_stderr(), asking.memory(path, stored.space, needed=False, embedder=named) as memory:
        done = memory.reflect(force=force)
    data = pick_attributes(done, "episodes refused failed tokens_in tokens_out") | {
        "conclusions": [remembered_answer(each) for each in done.conclusions],
        "reconsidered": [remembered_answer(each) for each in done.reconsidered],
    }
    return Answer(data, [one_line(line) for line in _reflected(done)])


def _reflected(done: ReflectionResult) -> Iterator[str]:
    if done.episodes:
        yield f"{counted(len(done.conclusions), 'conclusion')} from {counted(done.episodes, 'new episode')}."
    else:
        yield "Nothing new to draw conclusions from; --force doesn't wait until enough has happened."
    yield from (f"{short(each.record.id)} ({each.did}) {each.record.text}" for each in done.conclusions)
    yield from (f"{short(each.record.id)} ({each.did}) reconsidered: {each.reason}" for each in done.reconsidered)
    yield from (f"refused: {reason}" for reason in done.refused)
    if done.failed:
        yield f"without the model: {done.failed}"
    if done.tokens_in:
        yield f"{done.tokens_in:,} tokens in, {done.tokens_out:,} out"

"""`ireneo brief` and `reflect`: what a turn is given, and what is concluded from many."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

import ireneo
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.asking import Asking
from ireneo.faces.cli.options import As, AsJson, Embedder, Stored, Undone
from ireneo.faces.cli.pad import pad_answer
from ireneo.faces.cli.remember import remembered_answer
from ireneo.faces.cli.stored import embedder_named, existing, writing
from ireneo.faces.cli.warnings import log_on_stderr
from ireneo.faces.cli.words import counted, one_line, printable, short

if TYPE_CHECKING:
    from ireneo.types import Brief, Reflected


NOT_YET = "Nothing new to draw conclusions from; --force doesn't wait until enough has happened."


def _cue(name: str, help: str) -> object:
    return typer.Option(name, metavar="WORDS", help=help, show_default=False)


class Cues(Struct, frozen=True, kw_only=True):
    """What each kind of memory is found by."""

    goal: Annotated[str, _cue("--goal", "What is to be reached: it finds facts.")] = ""
    task_type: Annotated[str, _cue("--task-type", "Which kind of task it is: it finds steps.")] = ""
    situation: Annotated[str, _cue("--situation", "How things stand: it finds what happened.")] = ""
    about_to: Annotated[str, _cue("--about-to", "What is done next: it finds what failed.")] = ""
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            "-p",
            metavar="NAME",
            help="Where the work is done: its lessons stand first, and nothing of others.",
            show_default="all",
        ),
    ] = None
    as_: As = ""
    undone: Undone = False
    task: Annotated[
        str | None, typer.Option("--task", metavar="NAME", help="Whose scratchpad it shows.", show_default="none")
    ] = None
    budget: Annotated[int, typer.Option("--budget", "-b", metavar="TOKENS", help="The most that it may cost.")] = 1_500


def brief(*, cues: Cues, as_json: AsJson = False, embedder: Embedder = None, stored: Stored) -> None:
    """Give a turn what it needs to know.

    Procedures, facts, episodes, failures and the scratchpad, each by its own cue.
    """

    async def work(memory: ireneo.Memory) -> Brief:
        return await memory.brief(
            goal=cues.goal,
            task_type=cues.task_type,
            situation=cues.situation,
            about_to=cues.about_to,
            task=cues.task,
            project=cues.project,
            as_=cues.as_,
            undone=cues.undone,
            budget=cues.budget,
        )

    made = writing(existing(stored.db), stored.space, work, embedder=embedder)
    if as_json:
        write_json(brief_answer(made))
    elif made.markdown:
        sys.stdout.write(f"{printable(made.markdown).rstrip()}\n")
    else:
        asked = any((cues.goal, cues.task_type, cues.situation, cues.about_to, cues.project, cues.task))
        more = (
            "" if asked else " Say what the turn is about: --goal, --task-type, --situation, --about-to or --project."
        )
        sys.stdout.write(f"  No memory answers to that.{more}\n")


def brief_answer(made: Brief) -> dict[str, object]:
    """A brief, as JSON."""
    return {
        "markdown": made.markdown,
        "tokens": made.tokens,
        "lines": made.lines,
        "pad": made.pad and pad_answer(made.pad),
        "left_out": made.left_out,
    }


def reflect(
    force: Annotated[bool, typer.Option("--force", help="Don't wait until enough has happened.")] = False,
    as_json: AsJson = False,
    embedder: Embedder = None,
    *,
    asking: Asking,
    stored: Stored,
) -> None:
    """Draw conclusions from what happened.

    Each cites at least two events. Without a model: from what recurs, or none.
    """
    # Not imported with the module: few commands need it.
    import asyncio

    path, named = existing(stored.db), embedder_named(embedder)

    async def work() -> Reflected:
        async with asking.memory(path, stored.space, needed=False, embedder=named) as memory:
            return await memory.reflect(force=force)

    with log_on_stderr():
        done = asyncio.run(work())
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
        "refused": done.refused,
        "failed": done.failed,
        "tokens_in": done.tokens_in,
        "tokens_out": done.tokens_out,
    }


def _told(done: Reflected) -> str:
    drawn = counted(len(done.conclusions), "conclusion")
    lines = [f"{drawn} from {counted(done.episodes, 'new episode')}." if done.episodes else NOT_YET]
    lines += [f"{short(each.record.id)} ({each.did}) {each.record.text}" for each in done.conclusions]
    lines += [f"{short(each.record.id)} ({each.did}) reconsidered: {each.reason}" for each in done.reconsidered]
    lines += [f"refused: {reason}" for reason in done.refused]
    lines += [f"without the model: {done.failed}"] if done.failed else []
    lines += [f"{done.tokens_in:,} tokens in, {done.tokens_out:,} out"] if done.tokens_in else []
    return "".join(f"  {one_line(line)}\n" for line in lines)

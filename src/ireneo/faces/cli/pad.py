"""`ireneo pad`: the scratchpads of the tasks at hand."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

import ireneo
from ireneo.errors import BadInput
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import AsJson, Stored
from ireneo.faces.cli.remember import remembered_answer, told_of
from ireneo.faces.cli.stored import database, existing, tried, writing
from ireneo.faces.cli.times import said
from ireneo.faces.cli.words import counted, one_line

if TYPE_CHECKING:
    from ireneo.types import Pad, Remembered

Task = Annotated[
    str, typer.Argument(metavar="TASK", help="The task's name; without one, all are listed.", show_default=False)
]
ENDS = "--finish and --drop end a scratchpad; give one of them, and nothing to write."
NO_TASK = "Name the task whose scratchpad is meant."


def _line(name: str, help: str) -> object:
    return typer.Option(name, metavar="WORDS", help=f"{help}; give it once for each.", show_default=False)


class Written(Struct, frozen=True, kw_only=True):
    """What is to stand in it, all of it: what is not given stands there no longer."""

    goal: Annotated[str, typer.Option("--goal", metavar="WORDS", help="What is to be reached.", show_default=False)] = (
        ""
    )
    plan: Annotated[list[str] | None, _line("--plan", "A step, with “[x] ” before it when done")] = None
    fact: Annotated[list[str] | None, _line("--fact", "What was found out")] = None
    question: Annotated[list[str] | None, _line("--question", "What is open")] = None


class Ending(Struct, frozen=True, kw_only=True):
    """How it ends."""

    finish: Annotated[
        str | None,
        typer.Option(
            "--finish", metavar="OUTCOME", help="Keep its facts and this as memories, and end it.", show_default=False
        ),
    ] = None
    drop: Annotated[bool, typer.Option("--drop", help="End it, and keep nothing.")] = False


def pad(task: Task = "", as_json: AsJson = False, *, written: Written, ending: Ending, stored: Stored) -> None:
    """Show, write or end the scratchpad of a task.

    It is rewritten whole each time, and may cost 300 tokens at most.
    """
    if not task and (written != Written() or ending != Ending()):
        raise BadInput(NO_TASK)
    if ending != Ending() and (written != Written() or (ending.drop and ending.finish is not None)):
        raise BadInput(ENDS)
    if ending.finish is not None:
        _finish(task, ending.finish, stored, as_json=as_json)
    elif ending.drop:
        _drop(task, stored, as_json=as_json)
    elif written != Written():
        _write(task, written, stored, as_json=as_json)
    else:
        _show(task, stored, as_json=as_json)


def pad_answer(pad: Pad) -> dict[str, object]:
    """A scratchpad, as JSON."""
    return {
        "task": pad.task,
        "goal": pad.goal,
        "plan": [{"text": step.text, "done": step.done} for step in pad.plan],
        "facts": pad.facts,
        "questions": pad.questions,
        "written": pad.written,
    }


def _show(task: str, stored: Stored, *, as_json: bool) -> None:
    async def work(memory: ireneo.Memory) -> list[Pad]:
        if not task:
            return list(await memory.pads())
        pad = await memory.scratchpad(task).read()
        return [pad] if pad else []

    pads = writing(existing(stored.db), stored.space, work)
    if as_json:
        answers = [pad_answer(pad) for pad in pads]
        write_json((answers[0] if answers else None) if task else answers)
    elif not pads:
        _say(f"Task {task} has no scratchpad." if task else f"No task of space {stored.space} has a scratchpad.")
    else:
        sys.stdout.write("\n".join(_shown(pad) for pad in pads))


def _write(task: str, written: Written, stored: Stored, *, as_json: bool) -> None:
    async def work(memory: ireneo.Memory) -> Pad:
        return await memory.scratchpad(task).write(
            goal=written.goal, plan=written.plan or (), facts=written.fact or (), questions=written.question or ()
        )

    made = tried(database(stored.db), stored.space, work)
    if as_json:
        write_json(pad_answer(made))
    else:
        sys.stdout.write(_shown(made))


def _finish(task: str, outcome: str, stored: Stored, *, as_json: bool) -> None:
    async def work(memory: ireneo.Memory) -> tuple[bool, Sequence[Remembered]]:
        pad = memory.scratchpad(task)
        return await pad.read() is not None, await pad.finish(outcome)

    there, done = writing(existing(stored.db), stored.space, work)
    if as_json:
        write_json([remembered_answer(each) for each in done])
    elif not there:
        _say(f"Task {task} has no scratchpad; nothing was remembered.")
    else:
        sys.stdout.write("".join(told_of(each) for each in done))
        _say(f"The scratchpad of {task} is gone; {counted(len(done), 'memory', 'memories')} came of it.")


def _drop(task: str, stored: Stored, *, as_json: bool) -> None:
    async def work(memory: ireneo.Memory) -> bool:
        return await memory.scratchpad(task).drop()

    there = writing(existing(stored.db), stored.space, work)
    if as_json:
        write_json({"task": task, "dropped": there})
    else:
        _say(f"The scratchpad of {task} is gone." if there else f"Task {task} has no scratchpad.")


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


def _say(sentence: str) -> None:
    sys.stdout.write(f"  {one_line(sentence)}\n")

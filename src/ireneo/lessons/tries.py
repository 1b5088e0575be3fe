"""The calls of a run as tries: which program or tool each used, whether it worked, and what went wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from msgspec import Struct

from ireneo.context.actions import CHANGES
from ireneo.context.offline.steps import Step
from ireneo.lessons.fault import FOUND_NOTHING, faults
from ireneo.lessons.material import Material, material_steps
from ireneo.lessons.signature import Shape, shape
from ireneo.log.message import Call
from ireneo.memories.signature import quoted_as
from ireneo.patterns import lazy_re

CHARACTERS_A_TOKEN = 4
AWAY_SECONDS = 600.0
"""A longer wait for a result is no work: somebody was away."""

_MOST_PARTS = 200
"""Of a command that many different parts are looked at: one by hand has far fewer."""
_HEREDOC = lazy_re(r"<<-?\s*+(['\"]?)(\w++)\1[^\n]{0,1000}+\n.*?(?:^[^\S\n]*+\2\s*$|\Z)", re.S | re.M)
_PARTS = lazy_re(r"&&|\|\||[;\n]")
LOOKS_ONLY = frozenset("cat head tail ls echo rm cp mv mkdir touch grep rg find sed wc nl rmdir which git cd".split())
"""Programs that seldom fail by what other programs did; where they do they name themselves."""
_SCRIPT = lazy_re(r"\.(?:py|sh|js|ts|rb|go)\Z")


class Try(Struct, frozen=True, kw_only=True):
    """A call that has an outcome."""

    step: Step
    place: int
    shape: Shape
    program: str
    """Which program or tool failed or worked: ``go test``, ``Edit``; an interpreter, where it ran a passing script."""
    shown: str
    """The same as it was written: with its folder, where that is one of the project."""
    unread: bool
    """It changes a file that the run has neither read nor written before."""
    worked: bool
    faults: tuple[str, ...]
    """What went wrong, the error that counts first; empty where it worked, or where its failure doesn't count."""
    tokens: int
    """What the call and its result cost to read, by their characters."""
    seconds: float
    at: datetime | None


def tries(material: Material) -> list[Try]:
    """The calls of a run that have an outcome, in order; those that were refused or interrupted are none."""
    times = {message.id: message.draft.at for message in material.messages}
    written: set[str] = set()
    met: set[str] = set()
    out: list[Try] = []
    for place, step in enumerate(material_steps(material)):
        counts = step.failed_itself
        if step.result is None or (step.failed and not counts):
            continue
        form = shape(step.call)
        if step.action.deed in CHANGES:
            written.add(_base(step.action.subject))
        written.update(_base(name) for name in form.writes)
        wrong = faults(step) if counts else ()
        program = program_of(step, form, wrong, written)
        began, ended = times.get(step.source), times.get(step.answer) if step.answer else None
        waited = (ended - began).total_seconds() if began and ended else 0.0
        out.append(
            Try(
                step=step,
                place=place,
                shape=form,
                program=program,
                shown=_shown(program, step),
                unread=step.action.deed in CHANGES and not form.shell and bool(form.path) and form.path not in met,
                worked=not step.failed,
                faults=wrong,
                tokens=(len(step.command) + len(step.output)) // CHARACTERS_A_TOKEN,
                seconds=waited if 0 < waited <= AWAY_SECONDS else 0.0,
                at=ended or began,
            )
        )
        if form.path and not step.failed:
            met.add(form.path)
    return out


def program_of(step: Step, form: Shape, wrong: Sequence[str], written: set[str] | frozenset[str]) -> str:
    """The program of a command that its outcome is about: of several the one that the error speaks of."""
    if not form.shell:
        return form.tool
    if wrong and wrong[0] == FOUND_NOTHING and form.decider:
        return form.decider
    parts = programs_of(step)
    name = form.program
    if wrong and len(parts) > 1:
        said = next((each for each in parts if each.split()[-1] in _words(step.error)), "")
        telling = [each for each in parts if each.split()[0] not in LOOKS_ONLY]
        name = said or (telling[-1] if telling else name)
    if name in written or (_SCRIPT.search(name) and form.script.startswith("/tmp")):
        return "python" if name.endswith(".py") else name.rpartition(".")[2]
    return "python" if name == "python -c" else name


def _shown(program: str, step: Step) -> str:
    """The program with the folder that it was called in, where that leads from where one stands."""
    if program == "python":
        interpreter = re.search(r"(?<![\w.-])python[\d.]*(?![\w-])", step.command)
        return interpreter[0].rstrip(".") if interpreter else program
    name, _, rest = program.partition(" ")
    found = re.search(rf"(?<![\w/~.-])(?:\./)?((?:(?!\.\.)[\w.-]+/){{1,3}}{re.escape(name)})(?![\w/.-])", step.command)
    return f"{found[1]} {rest}".strip() if found else program


def programs_of(step: Step) -> list[str]:
    """The programs of a command, in order, each once."""
    command = step.command if isinstance(step.call.arguments, str) else str(step.call.arguments.get("command", ""))
    lines = quoted_as("''", _HEREDOC.sub("<<''\n", command[:20_000]).replace("\\\n", " "))
    parts = islice((part for part in dict.fromkeys(_PARTS.split(lines)) if part.strip()), _MOST_PARTS)
    shapes = [shape(Call(id="", name="", arguments={"command": part})) for part in parts]
    return list(dict.fromkeys(each.program for each in shapes if each.program.strip() and each.program != "''"))


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w:.-]+", text))


def _base(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]

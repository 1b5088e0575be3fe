"""An aider history cut into its sessions, and a session into stretches of one speaker.

A user's line begins with `#### `, aider's own with `> `, and both end in two spaces; every other line is the model's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal

from msgspec import Struct, field

from ireneo.formats.logs.format import Fault
from ireneo.formats.logs.narrow import moment
from ireneo.patterns import lazy_re

STARTED = lazy_re(r"^# aider chat started at (?P<time>\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?)\s*$", re.M)
_SPACED = lazy_re(r"(?:#### |> ?).*  $")
_USER = "####"
_TOOL = ">"

Speaker = Literal["user", "aider", "model"]


class Started(Struct, kw_only=True):
    """One session: the time at which aider was started, and the lines behind that."""

    time: str
    lines: list[str] = field(default_factory=list)

    @property
    def at(self) -> datetime | None:
        """When it began: aider notes no zone and no other time."""
        return moment(self.time)

    @property
    def label(self) -> str:
        """What tells it from the other sessions of its file."""
        return re.sub(r"\D+", "-", self.time)


class Stretch(Struct, kw_only=True):
    """Lines of one speaker, without their marks."""

    speaker: Speaker
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its words."""
        return "\n".join(self.lines).strip("\n")


def starts(lines: Iterable[str | Fault]) -> Iterator[Started | Fault]:
    """The sessions of a file, one at a time; what stands before the first start is one without a time."""
    started: Started | None = None
    for line in lines:
        if isinstance(line, Fault):
            yield line
            continue
        found = STARTED.match(line)
        if found is None:
            if started is None and line.strip():
                started = Started(time="")
            if started is not None:
                started.lines.append(line.rstrip("\r\n"))
            continue
        if started is not None:
            yield started
        started = Started(time=found["time"])
    if started is not None:
        yield started


def stretches(lines: Iterable[str]) -> list[Stretch]:
    """The stretches of a session, in order."""
    given = list(lines)
    # An editor that trims lines takes the two spaces away, everywhere.
    spaced = any(_SPACED.match(line) for line in given)
    out: list[Stretch] = []
    for line in given:
        speaker, text = _marked(line, spaced)
        if not out or out[-1].speaker != speaker:
            if speaker == "model" and not text.strip():
                continue
            out.append(Stretch(speaker=speaker))
        out[-1].lines.append(text)
    return out


def _marked(line: str, spaced: bool) -> tuple[Speaker, str]:
    marked = not spaced or line.endswith("  ")
    if marked and (line.startswith(f"{_USER} ") or line.rstrip() == _USER):
        return "user", line[len(_USER) + 1 :].rstrip()
    if marked and (line.startswith(f"{_TOOL} ") or line.rstrip() == _TOOL):
        return "aider", line[len(_TOOL) + 1 :].rstrip()
    return "model", line

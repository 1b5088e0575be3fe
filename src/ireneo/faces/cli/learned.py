"""What `ireneo learn` tells: a line for each run that brought something new, and what all of them came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from msgspec import Struct, field

from ireneo.faces.cli.place import shown
from ireneo.faces.cli.redacted import secrets_told
from ireneo.faces.cli.times import day_of
from ireneo.faces.cli.words import counted, one_line

if TYPE_CHECKING:
    from ireneo.types import Learned

PROJECT = 16
"""Characters of a project's name that are shown."""
LESSON_LINES = 2
"""Lines of a lesson that are shown."""


class Tally(Struct, kw_only=True):
    """What was learned so far."""

    files: int = 0
    known: int = 0
    """Files that were learned from before, and not read again."""
    unread: int = 0
    """Files that could not be read."""
    passed: int = 0
    """Files of a folder that hold no run."""
    sessions: int = 0
    """Runs that were learned from."""
    talks: int = 0
    """Sessions without a call: nothing was tried in them."""
    tokens: int = 0
    kept: int = 0
    """What the diaries and the new lessons cost, in tokens."""
    new: int = 0
    spoken_to: int = 0
    """How often a lesson that was known was seen again, or was spoken against."""
    calls: int = 0
    failures: int = 0
    asked_in_vain: int = 0
    """Runs that a model was asked about and gave no answer."""
    redacted: Counter[str] = field(default_factory=Counter)
    unredacted: int = 0

    def count(self, learned: Learned) -> None:
        """Count one run."""
        self.asked_in_vain += bool(learned.failed)
        if not learned.run.calls:
            self.talks += 1
            return
        self.sessions += 1
        self.tokens += learned.run.tokens
        self.kept += learned.run.diary_tokens + learned.lesson_tokens
        self.new += learned.new
        self.spoken_to += len(learned.lessons) - learned.new
        self.calls += learned.run.calls
        self.failures += learned.run.failures


def run_lines(learned: Learned, width: int) -> Iterator[str]:
    """A run that brought new lessons, and the beginning of each; of another run, nothing."""
    if not learned.new:
        return
    run = learned.run
    told = [
        f"{run.tokens:,} tokens",
        f"{run.failures:,} of {counted(run.calls, 'call')} failed",
        counted(learned.new, "new lesson"),
    ]
    if again := len(learned.lessons) - learned.new:
        told.append(f"{again:,} seen again")
    told.append(one_line(run.session))
    place = one_line(run.project or "no project")
    yield _cut(f"  {day_of(run.started or run.ended):10}  {place[:PROJECT]:{PROJECT}}  {' · '.join(told)}", width)
    for each in learned.lessons:
        if each.did == "added":
            yield from wrap(
                one_line(each.record.text),
                width,
                initial_indent="    + ",
                subsequent_indent="      ",
                max_lines=LESSON_LINES,
                placeholder="…",
            )


def told(tally: Tally, path: Path) -> str:
    """What all of it came to."""
    lines = []
    if tally.sessions:
        ratio = f", {tally.tokens / tally.kept:,.0f} times as much as is kept of it" if tally.kept else ""
        failed = f"{tally.failures:,} of {counted(tally.calls, 'call')} failed"
        lines.append(f"  {counted(tally.sessions, 'run')}: {failed}; {tally.tokens:,} tokens of log{ratio}")
        again = f", and {counted(tally.spoken_to, 'time')} a known one seen again" if tally.spoken_to else ""
        lines.append(f"  {counted(tally.new, 'new lesson')}{again} → {shown(path)}")
    lines += [f"  {line}" for line in secrets_told(tally.redacted, tally.unredacted)]
    if tally.known:
        lines.append(f"  {counted(tally.known, 'file')} learned from before")
    if tally.talks:
        lines.append(f"  {counted(tally.talks, 'session')} without a call, in which nothing was tried")
    if tally.passed:
        lines.append(f"  {counted(tally.passed, 'file')} without a run passed over")
    if not tally.sessions:
        lines.append("  nothing new to learn from")
    elif tally.new:
        lines.append("  `ireneo lessons` shows them, `ireneo report` draws a page")
    return "".join(f"{line}\n" for line in lines)


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1].rstrip()}…"

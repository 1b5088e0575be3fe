"""`ireneo learn`: take runs in, and draw from them what saves the next one."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct, field

import ireneo
from ireneo.errors import BadInput
from ireneo.faces.cli.files import (
    FoundLog,
    SearchCounts,
    log_on_stderr,
    opened,
    search,
    tell_reading,
    warn,
    warn_of_faults,
)
from ireneo.faces.cli.options import AUTO, AsJson, FormatOfFile, KeepSecrets, Stored
from ireneo.faces.cli.output import counted, day_of, one_line, secrets_told, write_json
from ireneo.faces.cli.place import database, is_there, room_for, shown
from ireneo.faces.cli.screens.layout import ReadingBar, console
from ireneo.faces.cli.work import Asking

if TYPE_CHECKING:
    from ireneo.sync import Memory
    from ireneo.types import Imported, LearnedSession

PROJECT = 16
"""Characters of a project's name that are shown."""
LESSON_LINES = 2
"""Lines of a lesson that are shown."""


class LearningTally(Struct, kw_only=True):
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

    def count(self, learned: LearnedSession) -> None:
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


def run_lines(learned: LearnedSession, width: int) -> Iterator[str]:
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


def told(tally: LearningTally, path: Path) -> str:
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


Logs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[LOG…]",
        help="Logs of runs (plain, .gz or .xz), or folders of them; without any, what is stored is learned from.",
        show_default=False,
    ),
]
STORY = "chat"
"""The format of stories: nothing is tried in them, so there is nothing to learn."""


def learn(
    logs: Logs = None,
    format: FormatOfFile = AUTO,
    as_json: AsJson = False,
    keep_secrets: KeepSecrets = False,
    *,
    asking: Asking,
    stored: Stored,
) -> None:
    """Learn lessons from runs.

    Takes logs in, without the secrets in them, and draws lessons: what was learned from already is passed over, so
    run it every night. No model is needed; with one, each run is read by it as well.
    """
    if format != AUTO:
        ireneo.log_format(format)
    tally, searched = LearningTally(), SearchCounts()
    found = [each for each in search(logs or [], format, searched) if not _is_story(each, searched)]
    path = database(stored.db)
    if not logs and not is_there(path):
        raise BadInput(f"There is no database {shown(path)} to learn from; name logs, such as ~/.claude/projects.")
    if logs and not found and not searched.unread:
        raise BadInput(f"No runs were found in {', '.join(logs)}; `ireneo formats` lists what can be read.")

    def learned() -> None:
        with asking.memory(room_for(path), stored.space, needed=False, keep_secrets=keep_secrets) as memory:
            learn_from(memory, found, RunReporter(tally, quiet=as_json))

    if found or not logs:
        with log_on_stderr():
            learned()
    tally.unread += searched.unread
    tally.passed += searched.passed
    if as_json:
        write_json(tally)
    else:
        sys.stdout.write(told(tally, path))
    if tally.unread:
        raise typer.Exit(1)


def _is_story(found: FoundLog, searched: SearchCounts) -> bool:
    """Whether a file of a folder is a story, which is passed over; one that is named is taken at its word."""
    if found.searched and found.log.name == STORY:
        searched.passed += 1
        return True
    return False


class RunReporter:
    """Counts the runs as they are learned from, and tells of them."""

    def __init__(self, tally: LearningTally, *, quiet: bool) -> None:
        """Count in `tally`; `quiet` tells of nothing but of what went wrong."""
        self.tally = tally
        self._quiet = quiet
        self._width = console().width

    def tell(self, learned: LearnedSession, bar: ReadingBar) -> None:
        """Count a run, and write what is new in it."""
        self.tally.count(learned)
        if learned.failed:
            warn(f"{learned.run.session}: {learned.failed} Its lessons were drawn without a model.")
        if not self._quiet:
            for line in run_lines(learned, self._width):
                bar.write(line)


def learn_from(memory: Memory, found: Sequence[FoundLog], teller: RunReporter) -> None:
    """Take in the logs that were found and learn from them, then from whatever else of the space is due."""
    with ReadingBar(sum(each.size for each in found)) as bar:
        for each in found:
            _learn_file(memory, each, teller, bar)
    # Files that were read when a run was killed left sessions behind that were not learned from yet.
    if due := memory.unlearned():
        with ReadingBar(due, in_bytes=False) as bar:

            def tell(learned: LearnedSession) -> None:
                teller.tell(learned, bar)
                bar.finished(1)

            memory.learn(on_progress=tell)


def _learn_file(memory: Memory, found: FoundLog, teller: RunReporter, bar: ReadingBar) -> None:
    # Imported when used, as all of the library is.
    from ireneo.types import Imported, Reading

    tally = teller.tally

    def tell(step: Reading | Imported | LearnedSession) -> None:
        if isinstance(step, Reading):
            tally.unread += tell_reading(step, bar)
        elif isinstance(step, Imported):
            warn_of_faults(found.given, [(fault.line, fault.message) for fault in step.faults])
            tally.redacted.update(step.redacted)
            tally.unredacted += step.unredacted
        else:
            teller.tell(step, bar)

    try:
        done = memory.learn_from(
            opened(found.given), format=found.log, name=found.name, skip_empty=found.searched, on_progress=tell
        )
    except BadInput as fault:
        warn(str(fault))
        tally.unread += 1
        return
    if done.is_known:
        tally.known += 1
        bar.finished(found.size)
        return
    tally.passed += len(done.imported.empty)
    tally.files += 1

"""The files that the command line is given.

Logs and message lists, plain or compressed, in folders or on standard input.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from msgspec import Struct

import ireneo
from ireneo.errors import BadInput, SessionNotFound, UnknownFormat
from ireneo.faces.cli.options import AUTO, STDIN
from ireneo.faces.cli.output import counted

if TYPE_CHECKING:
    from ireneo.faces.cli.output import ReadingBar
    from ireneo.types import Reading

from ireneo.plumbing import DOUBTFUL_SUFFIXES, LOG_SUFFIXES, LONGEST_BYTES, LogFile, runs_among

STDIN_BYTES = 1 << 24
"""So much of standard input is held; what is more lies in a temporary file."""


def opened(given: str) -> str | BinaryIO:
    """What a memory takes a log from: a path as it is, and standard input where it is ``-``."""
    return _kept(sys.stdin.buffer) if given == STDIN else given


def log_file(given: str) -> LogFile:
    """Open a path, or ``-`` for standard input."""
    return LogFile(opened(given), label="standard input", stem="stdin") if given == STDIN else LogFile(given)


@cache
def _kept(stream: BinaryIO) -> BinaryIO:
    """All of `stream`, to be read more than once: a sample is taken first, and a pipe can't be wound back."""
    kept = tempfile.SpooledTemporaryFile(max_size=STDIN_BYTES)  # noqa: SIM115
    shutil.copyfileobj(stream, kept)
    return cast("BinaryIO", kept)


SHOWN = 20
"""So many faults of one file are named; of the rest, how many there are."""


def warn(sentence: str) -> None:
    """Say it on standard error, where it stands in nobody's way."""
    sys.stderr.write(f"warning: {sentence}\n")


@contextmanager
def log_on_stderr() -> Iterator[None]:
    """Say there what the library warns of, in the words of its log."""
    # Only a command that asks a model pays for the log.
    import logging

    class OnStderr(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            warn(record.getMessage())

    log, handler = logging.getLogger("ireneo"), OnStderr(logging.WARNING)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def warn_of_faults(label: str, faults: Sequence[tuple[int, str]]) -> None:
    """Name the file of each, and the line and what is wrong there, as `faults` give them."""
    for line, message in faults[:SHOWN]:
        warn(f"{label}:{line}: {message}")
    if len(faults) > SHOWN:
        warn(f"{label}: {counted(len(faults) - SHOWN, 'fault')} more.")


def warn_of_damage(label: str, left_out: Sequence[int], damage: str | None) -> None:
    """Say that the file could not be unpacked to its end, or that a line of it is too long to be read."""
    told = f"is longer than {LONGEST_BYTES >> 20} MiB; it was left out."
    warn_of_faults(label, [(line, f"Line {line} {told}") for line in left_out])
    if damage:
        warn(f"{label}: {damage}")


LISTED = 5
"""So many sessions are named where none fits."""
_STORY = "chat"
"""The format that takes any text in which speakers take turns, which a page of notes may look like."""


def is_file(named: str) -> bool:
    """Whether `named` is a file to read, and not a session; a file that is not there is told as one."""
    if not named.strip():
        raise BadInput("The name is empty; give a session (`ireneo sessions` lists them), a log on disk, or -.")
    path = Path(named)
    if named == STDIN or path.is_file():
        return True
    if path.is_dir():
        raise BadInput(f"{named} is a folder; name a log in it, or take all of them in with `ireneo import {named}`.")
    if path.suffix in LOG_SUFFIXES:
        raise BadInput(f"There is no file {named}.")
    return False


def log_format_of(file: LogFile, name: str) -> ireneo.LogFormat:
    """The format called `name`, or the one that the file is in where it is ``auto``."""
    if name != AUTO:
        return ireneo.log_format(name)
    sample = file.sample()
    if not sample.strip():
        raise BadInput(f"{file.label} is empty.")
    return ireneo.recognise(sample, file.label)


_PACKED = {".gz", ".xz"}
_TEXTS = DOUBTFUL_SUFFIXES | {".txt"}


def is_worth_reading(file: LogFile, name: str) -> bool:
    """Whether a file that was found in a folder may be a log of the format called `name`, as far as its name tells.

    A page of notes and a log in Markdown are called alike: such a file counts only where an agent's own marks stand
    in it or, if it is the format for stories that was asked for, where speakers clearly take turns.
    """
    suffix, packed = Path(file.label).suffix, Path(file.label).suffixes[-2:-1]
    if suffix not in DOUBTFUL_SUFFIXES and not (suffix in _PACKED and _TEXTS.intersection(packed)):
        return True
    try:
        found = ireneo.recognise(file.sample(), file.label).name
    except UnknownFormat:
        return False
    return found != _STORY if name == AUTO else found == name


def read_session(given: str, session: str | None, format: str) -> tuple[ireneo.LoggedSession, ireneo.LogFormat]:
    """A session of a log (the first one, where none is named), and the log's format."""
    with log_file(given) as file:
        log = log_format_of(file, format)
        try:
            logged, others = _chosen(file, log, session)
        except ireneo.BadInput as fault:
            raise type(fault)(f"{file.label}: {fault}") from fault
        if others:
            all_of = counted(others + 1, "session")
            warn(f"{file.label} holds {all_of}; this is the first, {logged.id}. Name another with --session.")
        warn_of_faults(file.label, [(fault.line, fault.message) for fault in logged.faults])
        warn_of_damage(file.label, file.left_out, file.damage)
    return logged, log


def _chosen(file: LogFile, log: ireneo.LogFormat, session: str | None) -> tuple[ireneo.LoggedSession, int]:
    """The session that is meant, and, where none was named, how many others the file holds."""
    ids = []
    read = iter(log.read(file.lines(), file.stem))
    for logged in read:
        if session is None:
            return logged, sum(1 for _ in read)
        if logged.id.startswith(session):
            return logged, 0
        ids.append(logged.id)
    more = ", …" if len(ids) > LISTED else ""
    raise SessionNotFound(f"There is no session {session} in it; it holds {', '.join(ids[:LISTED])}{more}.")


class FoundLog(Struct, frozen=True, kw_only=True):
    """A log that is to be taken in."""

    given: str
    name: str
    """What its sessions are called that have no id of their own."""
    log: ireneo.LogFormat
    size: int
    searched: bool
    """It was found in a folder, and not named."""


class SearchCounts(Struct, kw_only=True):
    """What was found beside the logs."""

    unread: int = 0
    """Files that could not be read."""
    passed: int = 0
    """Files of a folder that hold no log."""


def tell_reading(step: Reading, bar: ReadingBar) -> bool:
    """Move the bar, and say at the end of a file what could not be read of it; whether it ended early."""
    bar.reading(Path(step.label).name, step.bytes_read)
    if step.is_over:
        warn_of_damage(step.label, step.left_out, step.damage)
        bar.finished(step.size)
    return bool(step.damage)


def search(
    logs: Sequence[str], format: str, tally: SearchCounts, memories: frozenset[str] = frozenset()
) -> Iterator[FoundLog]:
    """The logs among the files that were named, and in the folders; what can't be read is said and counted."""
    names: set[str] = set()
    for given, searched in _files(logs):
        if given in memories:
            continue
        try:
            with log_file(given) as file:
                if searched and not is_worth_reading(file, format):
                    continue
                log = log_format_of(file, format)
                name = file.stem
                size = file.size
        except BadInput as fault:
            if searched and isinstance(fault, UnknownFormat):
                tally.passed += 1
            else:
                warn(str(fault))
                tally.unread += 1
            continue
        if name in names:
            # Agents that call every run's file alike keep them in folders with names of their own.
            name = f"{Path(given).absolute().parent.name}/{name}"
        names.add(name)
        yield FoundLog(given=given, name=name, log=log, size=size, searched=searched)


def _files(logs: Sequence[str]) -> Iterator[tuple[str, bool]]:
    for given in logs:
        if given != STDIN and Path(given).is_dir():
            inside = sorted(path for path in Path(given).rglob("*") if path.is_file() and path.suffix in LOG_SUFFIXES)
            yield from ((str(path), True) for path in runs_among(inside))
        else:
            yield given, False

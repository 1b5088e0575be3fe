"""Files on the command line: logs and message lists, plain or compressed, in folders or on standard input."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from msgspec import Struct, field

import ireneo
from ireneo.errors import BadInput, SessionNotFound, UnknownFormat
from ireneo.faces.cli.options import AUTO, LISTED, STDIN
from ireneo.faces.cli.output import counted
from ireneo.plumbing import DOUBTFUL_SUFFIXES, LOG_SUFFIXES, LONGEST_BYTES, LogFile, runs_among

if TYPE_CHECKING:
    from ireneo.faces.cli.output import ReadingBar
    from ireneo.types import Imported, Reading

_MOST_FAULTS = 20
"""The most faults of one file that are shown."""
STORY_LOGS = "chat"
"""The log format of stories, which takes any text in which speakers take turns."""
_PACKED = {".gz", ".xz"}
_TEXTS = DOUBTFUL_SUFFIXES | {".txt"}


def open_input(given: str) -> str | BinaryIO:
    """Return standard input for ``-``, and any other path as it is."""
    return _stdin(sys.stdin.buffer) if given == STDIN else given


def log_file(given: str) -> LogFile:
    """Open a path, or ``-`` for standard input."""
    return LogFile(open_input(given), label="standard input", stem="stdin") if given == STDIN else LogFile(given)


@cache
def _stdin(stream: BinaryIO) -> BinaryIO:
    """Copy a stream so that it can be read twice: a sample first, and then all of it."""
    kept = tempfile.SpooledTemporaryFile(max_size=1 << 24)  # noqa: SIM115
    atexit.register(kept.close)
    shutil.copyfileobj(stream, kept)
    return cast("BinaryIO", kept)


def write_file(path: Path, data: bytes) -> None:
    """Write all of a file or nothing, and keep its permissions. Raises BadInput."""
    target = path.resolve()
    try:
        if target.exists() and not target.is_file():
            # A device or a pipe can't be replaced.
            target.write_bytes(data)
            return
        os.umask(umask := os.umask(0))
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~umask
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).chmod(mode)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as fault:
        raise BadInput(f"{path} can't be written: {fault.strerror}.") from fault


def warn(sentence: str) -> None:
    """Write a warning to standard error."""
    sys.stderr.write(f"warning: {sentence}\n")


@contextmanager
def log_on_stderr() -> Iterator[None]:
    """Write the warnings of the library's log to standard error, each once."""
    import logging

    written: set[str] = set()

    class OnStderr(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            sentence = record.getMessage()
            if sentence not in written:
                written.add(sentence)
                warn(sentence)

    log, handler = logging.getLogger("ireneo"), OnStderr(logging.WARNING)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def warn_of_faults(label: str, faults: Sequence[tuple[int, str]]) -> None:
    """Write the faults of a file to standard error; each is a line number and a sentence."""
    for line, message in faults[:_MOST_FAULTS]:
        warn(f"{label}:{line}: {message}")
    if len(faults) > _MOST_FAULTS:
        warn(f"{label}: {counted(len(faults) - _MOST_FAULTS, 'fault')} more.")


def warn_of_damage(label: str, left_out: Sequence[int], damage: str | None) -> None:
    """Warn of lines that were too long to be read, and of a file that ended early."""
    limit = f"is longer than {LONGEST_BYTES >> 20} MiB; it was left out."
    warn_of_faults(label, [(line, f"Line {line} {limit}") for line in left_out])
    if damage:
        warn(f"{label}: {damage}")


def is_file(named: str) -> bool:
    """Whether `named` is a file rather than a session. Raises BadInput for a folder and for a missing log."""
    if not named.strip():
        raise BadInput("The name is empty; give a session (`ireneo sessions` lists them), a log on disk, or -.")
    path = Path(named)
    if named == STDIN or path.is_file():
        return True
    if path.is_dir():
        raise BadInput(f"{named} is a folder; name a log in it, or import all of them with `ireneo import {named}`.")
    if path.suffix in LOG_SUFFIXES:
        raise BadInput(f"There is no file {named}.")
    return False


def log_format_of(file: LogFile, name: str) -> ireneo.LogFormat:
    """Return the log format called `name`; for ``auto`` the one that the file is in."""
    if name != AUTO:
        return ireneo.log_format(name)
    sample = file.sample()
    if not sample.strip():
        raise BadInput(f"{file.label} is empty.")
    return ireneo.recognise(sample, file.label)


def is_worth_reading(file: LogFile, name: str) -> bool:
    """Whether a file found in a folder may be a log of the format called `name`.

    Notes and logs in Markdown have the same suffixes, so such a file must have the marks of an agent's log. If the
    format for stories was asked for, it is enough that speakers clearly take turns.
    """
    suffix, packed = Path(file.label).suffix, Path(file.label).suffixes[-2:-1]
    if suffix not in DOUBTFUL_SUFFIXES and not (suffix in _PACKED and _TEXTS.intersection(packed)):
        return True
    try:
        found = ireneo.recognise(file.sample(), file.label).name
    except UnknownFormat:
        return False
    return found != STORY_LOGS if name == AUTO else found == name


def read_session(given: str, session: str | None, format: str) -> tuple[ireneo.LoggedSession, ireneo.LogFormat]:
    """Read a session of a log (the first one where none is named); returns it with the log's format."""
    with log_file(given) as file:
        log = log_format_of(file, format)
        try:
            logged, others = _choose_session(file, log, session)
        except ireneo.BadInput as fault:
            raise type(fault)(f"{file.label}: {fault}") from fault
        if others:
            all_of = counted(others + 1, "session")
            warn(f"{file.label} holds {all_of}; this is the first, {logged.id}. Name another with --session.")
        warn_of_faults(file.label, [(fault.line, fault.message) for fault in logged.faults])
        warn_of_damage(file.label, file.left_out, file.damage)
    return logged, log


def _choose_session(file: LogFile, log: ireneo.LogFormat, session: str | None) -> tuple[ireneo.LoggedSession, int]:
    """Return the session that is meant and, where none was named, how many others the file holds."""
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
    """A log to import."""

    given: str
    name: str
    """The name of sessions without an id of their own."""
    log: ireneo.LogFormat
    size: int
    searched: bool
    """Whether the log was found in a folder, instead of being named itself."""


class LogTally(Struct, kw_only=True):
    """What was read of some logs so far."""

    unread: int = 0
    """Files that could not be read."""
    passed: int = 0
    """Files in a folder that are empty or not a log."""
    redacted: Counter[str] = field(default_factory=Counter)
    """Secrets that were removed, by kind."""
    unredacted: int = 0
    """Messages that were stored with their secrets by an earlier import."""

    def count_read(self, step: Reading, bar: ReadingBar) -> None:
        """Move the bar; at the end of a file, report what could not be read."""
        bar.reading(Path(step.label).name, step.bytes_read)
        if step.is_over:
            warn_of_damage(step.label, step.left_out, step.damage)
            bar.finished(step.size)
        self.unread += bool(step.damage)

    def count_secrets(self, step: Imported) -> None:
        """Count the secrets of a session."""
        self.redacted.update(step.redacted)
        self.unredacted += step.unredacted


@contextmanager
def resumable(so_far: Callable[[], str]) -> Iterator[None]:
    """On Ctrl-C, say what is stored `so_far`."""
    try:
        yield
    except KeyboardInterrupt:
        warn(f"Stopped. Stored so far: {so_far()}; the same command goes on from there.")
        raise


def search(
    logs: Sequence[str], format: str, tally: LogTally, memories: frozenset[str] = frozenset()
) -> Iterator[FoundLog]:
    """Yield the logs among the given files and folders. Counts and reports what can't be read.

    Raises BadInput if the only file that was named can't be read.
    """
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
            if len(logs) == 1 and not searched:
                raise
            if searched and isinstance(fault, UnknownFormat):
                tally.passed += 1
            else:
                warn(str(fault))
                tally.unread += 1
            continue
        if name in names:
            # Some agents name the file of every run alike, and keep the files in folders of different names.
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

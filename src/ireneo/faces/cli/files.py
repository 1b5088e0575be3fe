"""The files that the command line is given.

Logs and message lists, plain or compressed, in folders or on standard input.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from io import BufferedIOBase
from pathlib import Path
from typing import IO, cast

from msgspec import Struct

import ireneo
from ireneo.errors import BadInput, SessionNotFound, UnknownFormat
from ireneo.faces.cli.options import AUTO, STDIN
from ireneo.faces.cli.output import counted
from ireneo.faces.cli.screens.layout import ReadingBar
from ireneo.patterns import lazy_re

LONGEST_BYTES = 1 << 28
"""A line that is longer is left out: what is read of it takes several times as much memory."""
PIECE_BYTES = 1 << 20


def lines_of(
    stream: BufferedIOBase, leave_out: Callable[[int], None], longest_bytes: int = LONGEST_BYTES
) -> Iterator[bytes]:
    """The lines of `stream`; the number of one that is too long goes to `leave_out`, and an empty one in its place."""
    number = 0
    while line := stream.readline(PIECE_BYTES):
        number += 1
        if len(line) == PIECE_BYTES and not line.endswith(b"\n"):
            whole = _whole(stream, line, longest_bytes)
            if whole is None:
                leave_out(number)
            line = whole or b"\n"
        yield line


def _whole(stream: BufferedIOBase, begin: bytes, longest_bytes: int) -> bytes | None:
    """The line that begins with `begin`; None where it is too long, once the reading stands behind it."""
    pieces = [begin]
    size = len(begin)
    while not pieces[-1].endswith(b"\n") and (piece := stream.readline(PIECE_BYTES)):
        size += len(piece)
        if size > longest_bytes:
            pieces.clear()
        pieces.append(piece)
    return b"".join(pieces) if size <= longest_bytes else None


# Folders in which an agent keeps a run as one file for each event: read as one log, an event a line.
#
# OpenHands' SDK writes `events/event-00001-<id>.json` and so on beside a `base_state.json`.


HELD_BYTES = 1 << 24
"""So much of a folder is held; what is more lies in a temporary file without a name."""
_EVENT = lazy_re(r"event-\d+-[^/]*\.json")


def event_files(folder: Path) -> list[Path]:
    """The events in `folder` in order; none where it is no such folder."""
    if folder.name != "events":
        return []
    return sorted((path for path in folder.iterdir() if _is_event(path)), key=_number)


def runs_among(files: Iterable[Path]) -> list[Path]:
    """`files`, each folder of events among them standing as one, in the place of its first event."""
    return list(dict.fromkeys(path.parent if _is_event(path) else path for path in files))


def joined(folder: Path) -> BufferedIOBase:
    """All events of `folder`, one a line; one that is broken is a broken line. Raises OSError."""
    file = tempfile.SpooledTemporaryFile(max_size=HELD_BYTES)  # noqa: SIM115
    for path in event_files(folder):
        # No string in JSON has a line's end in it, so that what is between them can stand on one line.
        file.write(path.read_bytes().replace(b"\r", b" ").replace(b"\n", b" ") + b"\n")
    file.seek(0)
    return cast("BufferedIOBase", file)


def _is_event(path: Path) -> bool:
    return path.parent.name == "events" and _EVENT.fullmatch(path.name) is not None and path.is_file()


def _number(path: Path) -> tuple[int, str]:
    return int(path.name.split("-")[1]), path.name


SAMPLE_BYTES = 65_536
"""What a log format is told by."""
STDIN_BYTES = 1 << 24
"""So much of standard input is held; what is more lies in a temporary file."""
_GZIP = b"\x1f\x8b"
_XZ = b"\xfd7zXZ\x00"
DOUBTFUL_SUFFIXES = {".md", ".traj"}
"""What the names of some agents' logs end with, and those of many other files."""
LOG_SUFFIXES = {".jsonl", ".ndjson", ".json", ".gz", ".xz"} | DOUBTFUL_SUFFIXES
"""What the name of a log ends with; a folder is searched for these."""
_SUFFIXES = LOG_SUFFIXES | {".log", ".txt"}
_DAMAGES = (EOFError, zlib.error, lzma.LZMAError, OSError)


class LogFile:
    """A file whose lines are read: told how far, and where a damaged archive breaks off."""

    def __init__(self, given: str) -> None:
        """Open `given`: a path, or ``-`` for standard input."""
        self.label = "standard input" if given == STDIN else given
        self.stem = "stdin" if given == STDIN else stem(Path(given))
        self.damage: str | None = None
        """Why the lines ended before the file did."""
        self.left_out: list[int] = []
        """The numbers of the lines that are too long to be read."""
        self._is_shared = given == STDIN
        self._raw = _open(given)
        self._stream = _unpacked(self._raw)

    @property
    def bytes_read(self) -> int:
        """How far it was read, in bytes of the file as it lies there."""
        return 0 if self._raw.closed else self._raw.tell()

    @property
    def size(self) -> int:
        """How long it is, in bytes of the file as it lies there."""
        here = self._raw.tell()
        size = self._raw.seek(0, io.SEEK_END)
        self._raw.seek(here)
        return size

    def sample(self) -> bytes:
        """Its beginning; the reading starts there all the same."""
        sample = b""
        try:
            # Piece by piece, so that what stands before the fault of a damaged archive is seen.
            while len(sample) < SAMPLE_BYTES and (piece := self._stream.read1(SAMPLE_BYTES)):
                sample += piece
        except _DAMAGES as fault:
            if not sample:
                raise BadInput(f"{self.label} can't be unpacked: {fault}.") from fault
        self._stream.seek(0)
        return sample[:SAMPLE_BYTES]

    def lines(self) -> Iterator[bytes]:
        """Its lines; where an archive breaks off they end, and `damage` says so.

        One that is too long stands there as an empty one, and its number in `left_out`.
        """
        try:
            yield from lines_of(self._stream, self.left_out.append)
        except _DAMAGES as fault:
            self.damage = f"the archive breaks off ({fault}); what stands before that was kept."

    def read(self) -> bytes:
        """All of it."""
        try:
            return self._stream.read()
        except _DAMAGES as fault:
            raise BadInput(f"{self.label}: the archive breaks off ({fault}).") from fault

    def close(self) -> None:
        """Let go of it."""
        if self._stream is not self._raw:
            self._stream.close()
        if not self._is_shared:
            self._raw.close()

    def __enter__(self) -> LogFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def stem(path: Path) -> str:
    """A file's name without what only says how it is written; of a folder of events the name of its run."""
    name = Path(path.absolute().parent.name if path.is_dir() else path.name)
    while name.suffix in _SUFFIXES:
        name = name.with_suffix("")
    return name.name


def digest_of(given: str) -> str:
    """What tells a file by its content, as it lies there; empty for standard input, which can't be read twice."""
    if given == STDIN:
        return ""
    try:
        with _opened(given) as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError as fault:
        raise BadInput(f"{given} can't be read: {fault.strerror}.") from fault


def _open(given: str) -> io.BufferedIOBase:
    if given == STDIN:
        kept = _kept(sys.stdin.buffer)
        kept.seek(0)
        return kept
    try:
        return _opened(given)
    except FileNotFoundError:
        raise BadInput(f"There is no file {given}.") from None
    except OSError as fault:
        raise BadInput(f"{given} can't be read: {fault.strerror}.") from fault


def _opened(given: str) -> io.BufferedIOBase:
    path = Path(given)
    if path.is_dir() and event_files(path):
        return joined(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        # Whoever opens a pipe waits until somebody writes into it.
        raise BadInput(f"{given} is no file; give what it tells on standard input, as `-`.")
    return path.open("rb")


@cache
def _kept(stream: io.BufferedIOBase) -> io.BufferedIOBase:
    """All of `stream`, to be read more than once: a sample is taken first, and a pipe can't be wound back."""
    kept = tempfile.SpooledTemporaryFile(max_size=STDIN_BYTES)  # noqa: SIM115
    shutil.copyfileobj(stream, kept)
    return cast("io.BufferedIOBase", kept)


def _unpacked(raw: io.BufferedIOBase) -> io.BufferedIOBase:
    begins = raw.read(len(_XZ))
    raw.seek(0)
    if begins.startswith(_GZIP):
        return gzip.GzipFile(fileobj=raw)
    return lzma.LZMAFile(cast("IO[bytes]", raw)) if begins == _XZ else raw


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

    class Said(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            warn(record.getMessage())

    log, said = logging.getLogger("ireneo"), Said(logging.WARNING)
    log.addHandler(said)
    try:
        yield
    finally:
        log.removeHandler(said)


def warn_of_faults(label: str, faults: Sequence[tuple[int, str]]) -> None:
    """Name the file of each, and the line and what is wrong there, as `faults` give them."""
    for line, message in faults[:SHOWN]:
        warn(f"{label}:{line}: {message}")
    if len(faults) > SHOWN:
        warn(f"{label}: {counted(len(faults) - SHOWN, 'fault')} more.")


def warn_of_damage(file: LogFile) -> None:
    """Say that the file could not be unpacked to its end, or that a line of it is too long to be read."""
    told = f"is longer than {LONGEST_BYTES >> 20} MiB; it was left out."
    warn_of_faults(file.label, [(line, f"Line {line} {told}") for line in file.left_out])
    if file.damage:
        warn(f"{file.label}: {file.damage}")


LISTED = 5
"""So many sessions are named where none fits."""
_STORY = "chat"
"""The format that takes any text in which speakers take turns, which a page of notes may look like."""


def is_file(named: str) -> bool:
    """Whether `named` is a file to read, and not a session; a file that is not there is told as one."""
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


def is_worth_reading(file: LogFile, name: str) -> bool:
    """Whether a file that was found in a folder may be a log of the format called `name`, as far as its name tells.

    A page of notes and a log in Markdown are called alike: such a file counts only where an agent's own marks stand
    in it or, if it is the format for stories that was asked for, where speakers clearly take turns.
    """
    if Path(file.label).suffix not in DOUBTFUL_SUFFIXES:
        return True
    try:
        found = ireneo.recognise(file.sample(), file.label).name
    except UnknownFormat:
        return False
    return found != _STORY if name == AUTO else found == name


def read_session(given: str, session: str | None, format: str) -> tuple[ireneo.LoggedSession, ireneo.LogFormat]:
    """A session of a log (the first one, where none is named), and the log's format."""
    with LogFile(given) as file:
        log = log_format_of(file, format)
        try:
            logged, others = _chosen(file, log, session)
        except ireneo.BadInput as fault:
            raise type(fault)(f"{file.label}: {fault}") from fault
        if others:
            all_of = counted(others + 1, "session")
            warn(f"{file.label} holds {all_of}; this is the first, {logged.id}. Name another with --session.")
        warn_of_faults(file.label, [(fault.line, fault.message) for fault in logged.faults])
        warn_of_damage(file)
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


REPORTED_BYTES = 1 << 16
"""How much is read before the bar moves."""


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


def reported(file: LogFile, bar: ReadingBar) -> Iterator[bytes]:
    """The lines of a file; the bar moves as they are read."""
    told = 0
    for line in file.lines():
        told -= len(line)
        if told < 0:
            bar.reading(file.stem, file.bytes_read)
            told = REPORTED_BYTES
        yield line


def search(
    logs: Sequence[str], format: str, tally: SearchCounts, memories: frozenset[str] = frozenset()
) -> Iterator[FoundLog]:
    """The logs among the files that were named, and in the folders; what can't be read is said and counted."""
    names: set[str] = set()
    for given, searched in _files(logs):
        if given in memories:
            continue
        try:
            with LogFile(given) as file:
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

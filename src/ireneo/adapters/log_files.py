"""Log files on disk, plain, compressed or a folder of events, read line by line, and the labels next to them."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BufferedIOBase
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from ireneo.errors import BadInput
from ireneo.patterns import lazy_re

if TYPE_CHECKING:
    from ireneo.ports.models import LogPlace
import json
import logging
from functools import lru_cache
from typing import TypeAlias

LONGEST_BYTES = 1 << 28
"""Longer lines are left out: parsing one takes several times as much memory."""
PIECE_BYTES = 1 << 20


def lines_of(
    stream: BufferedIOBase, leave_out: Callable[[int], None], longest_bytes: int = LONGEST_BYTES
) -> Iterator[bytes]:
    """The lines of `stream`; one that is too long is replaced by an empty one, and its number passed to `leave_out`."""
    number = 0
    while line := stream.readline(PIECE_BYTES):
        number += 1
        if len(line) == PIECE_BYTES and not line.endswith(b"\n"):
            whole = _read_rest(stream, line, longest_bytes)
            if whole is None:
                leave_out(number)
            line = whole or b"\n"
        yield line


def _read_rest(stream: BufferedIOBase, begin: bytes, longest_bytes: int) -> bytes | None:
    """Read the rest of a line that starts with `begin`; None, after skipping it, if it is too long."""
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
# OpenHands' SDK writes `events/event-00001-<id>.json` and so on next to a `base_state.json`.


HELD_BYTES = 1 << 24
"""How much of a folder is held in memory; more goes to an anonymous temporary file."""
_EVENT = lazy_re(r"event-\d+-[^/]*\.json")


def event_files(folder: Path) -> list[Path]:
    """The events in `folder`, in order; nothing if it is not a folder of events."""
    if folder.name != "events":
        return []
    found = (path for path in folder.iterdir() if _is_event(path))
    return sorted(found, key=lambda path: (int(path.name.split("-")[1]), path.name))


def runs_among(files: Iterable[Path]) -> list[Path]:
    """Replace the event files among `files` by their folders."""
    return list(dict.fromkeys(path.parent if _is_event(path) else path for path in files))


def join_events(folder: Path) -> BufferedIOBase:
    """All events of `folder`, one a line; a damaged one is a damaged line. Raises OSError."""
    file = tempfile.SpooledTemporaryFile(max_size=HELD_BYTES)  # noqa: SIM115
    try:
        for path in event_files(folder):
            # Strings in JSON contain no line breaks, so all others can be replaced.
            file.write(path.read_bytes().replace(b"\r", b" ").replace(b"\n", b" ") + b"\n")
    except OSError:
        file.close()
        raise
    file.seek(0)
    return cast("BufferedIOBase", file)


def _is_event(path: Path) -> bool:
    return path.parent.name == "events" and _EVENT.fullmatch(path.name) is not None and path.is_file()


SAMPLE_BYTES = 65_536
"""How much of a file is used to recognise its format."""
_GZIP = b"\x1f\x8b"
_XZ = b"\xfd7zXZ\x00"
DOUBTFUL_SUFFIXES = {".md", ".traj"}
"""Suffixes of some agents' logs, and of many other files."""
LOG_SUFFIXES = {".jsonl", ".ndjson", ".json", ".gz", ".xz"} | DOUBTFUL_SUFFIXES
"""Suffixes of logs, which a folder is searched for."""
_SUFFIXES = LOG_SUFFIXES | {".log", ".txt", ".png"}
_DAMAGES = (EOFError, zlib.error, lzma.LZMAError, OSError)


class LogFile:
    """An open log file that is read line by line, with its progress and any damage."""

    def __init__(self, given: LogPlace, *, label: str = "", stem: str = "log") -> None:
        """Open a path, or use an open seekable file, named `label` and `stem`."""
        self._path = given if isinstance(given, str) else os.fspath(given) if isinstance(given, os.PathLike) else None
        self.label = self._path or label or getattr(given, "name", "") or stem
        self.stem = stem_of(Path(self._path)) if self._path is not None else stem
        self.damage: str | None = None
        """Why the lines ended before the file did."""
        self.left_out: list[int] = []
        """The numbers of the lines that are too long to be read."""
        if self._path is None:
            self._raw = cast("BufferedIOBase", given)
            self._raw.seek(0)
        else:
            self._raw = _open(self._path)
        self._stream = _unpack(self._raw)

    @property
    def bytes_read(self) -> int:
        """How many bytes of the file on disk were read so far."""
        return 0 if self._raw.closed else self._raw.tell()

    @property
    def size(self) -> int:
        """The size of the file on disk, in bytes."""
        here = self._raw.tell()
        size = self._raw.seek(0, io.SEEK_END)
        self._raw.seek(here)
        return size

    def sample(self) -> bytes:
        """The beginning of the file, which `lines` yields again. Raises BadInput if it can't be unpacked."""
        sample = b""
        try:
            # In pieces, so that the part before the damage of an archive is read.
            while len(sample) < SAMPLE_BYTES and (piece := self._stream.read1(SAMPLE_BYTES)):
                sample += piece
        except _DAMAGES as fault:
            if not sample:
                raise BadInput(f"{self.label} can't be unpacked: {fault}.") from fault
        self._stream.seek(0)
        return sample[:SAMPLE_BYTES]

    def lines(self) -> Iterator[bytes]:
        """Iterate over its lines, up to any damage, which is then in `damage`.

        A line that is too long is returned empty, and its number is added to `left_out`.
        """
        try:
            yield from lines_of(self._stream, self.left_out.append)
        except _DAMAGES as fault:
            self.damage = f"the archive breaks off ({fault}); what stands before that was kept."

    def read(self) -> bytes:
        """The whole content of the file, unpacked. Raises BadInput."""
        try:
            return self._stream.read()
        except _DAMAGES as fault:
            raise BadInput(f"{self.label}: the archive breaks off ({fault}).") from fault

    def raw(self) -> bytes:
        """All of its bytes, as they are on disk."""
        self._raw.seek(0)
        return self._raw.read()

    def digest(self) -> str:
        """A digest of its bytes on disk; empty for a stream."""
        if self._path is None:
            return ""
        with _open(self._path) as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()

    def label_of(self, session: str) -> Mapping[str, object] | None:
        """The label that files next to it give one of its sessions; None for a stream."""
        return find_label(Path(self._path), session) if self._path is not None else None

    @property
    def is_labelled(self) -> bool:
        """Whether a file next to it may label its sessions."""
        return self._path is not None and has_labels(Path(self._path))

    def close(self) -> None:
        """Close it."""
        if self._stream is not self._raw:
            self._stream.close()
        if self._path is not None:
            self._raw.close()

    def __enter__(self) -> LogFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def stem_of(path: Path) -> str:
    """A file's name without suffixes; for a folder of events the name of its run."""
    name = Path(path.absolute().parent.name if path.is_dir() else path.name)
    while name.suffix in _SUFFIXES:
        name = name.with_suffix("")
    return name.name


def _open(given: str) -> BufferedIOBase:
    path = Path(given)
    try:
        if path.is_dir() and event_files(path):
            return join_events(path)
        if path.exists() and not (path.is_file() or path.is_dir()):
            # Opening a pipe blocks until somebody writes to it.
            raise BadInput(f"{given} is not a regular file; pass its content on standard input, as `-`.")
        return path.open("rb")
    except FileNotFoundError:
        raise BadInput(f"There is no file {given}.") from None
    except OSError as fault:
        raise BadInput(f"{given} can't be read: {fault.strerror}.") from fault


def _unpack(raw: BufferedIOBase) -> BufferedIOBase:
    begins = raw.read(len(_XZ))
    raw.seek(0)
    if begins.startswith(_GZIP):
        return gzip.GzipFile(fileobj=raw)
    return lzma.LZMAFile(cast("IO[bytes]", raw)) if begins == _XZ else raw


# Files next to a log with labels of its runs: whether a run was solved, its reward, its lessons. An index holds entries
# for many logs, `index.jsonl` or the report of a benchmark; an entry belongs to a run by the name of its file or by its
# id. A file such as `metadata.json` describes the one log in its folder.

Label: TypeAlias = Mapping[str, object]

INDEXES = tuple("index.jsonl index.json labels.jsonl labels.json results.json results_summary.json report.json".split())
ABOUT = ("metadata.json", "result.json")
LEVELS = 3
"""Folders that are searched for an index: that of the log, and those around it."""
LARGEST_BYTES = 1 << 25
_IDS = ("session_id", "instance_id", "trial_name", "id")
_VERDICTS = {"resolved_ids": True, "unresolved_ids": False}
"""Lists of the runs that were solved, and that were not."""
_LOG = logging.getLogger("ireneo")


def find_label(log: Path, session: str) -> Label | None:
    """The label that files next to `log` give its run `session`; None if there is none."""
    place = log.absolute()
    if place.name in (*INDEXES, *ABOUT):
        return None
    for document in _documents(place):
        for entry in _entries(document, session):
            if _describes_run(entry, place, session):
                return entry
    return _label_in_folder(place, session)


def has_labels(log: Path) -> bool:
    """Whether there are files next to `log` that may label its runs."""
    place = log.absolute()
    indexes = (folder / name for folder in place.parents[:LEVELS] for name in INDEXES)
    return any(path.is_file() for path in (*indexes, *_descriptions(place)))


def _documents(log: Path) -> Iterator[object]:
    for folder in log.parents[:LEVELS]:
        for name in INDEXES:
            yield from _read(folder / name)


def _entries(document: object, session: str) -> Iterator[Label]:
    """The entries of an index, or of a report that lists the runs by id."""
    if isinstance(document, list):
        yield from (each for each in document if isinstance(each, dict))
    elif isinstance(document, dict):
        if isinstance(own := document.get(session), dict):
            yield {"id": session, **own}
        for key, verdict in _VERDICTS.items():
            listed = document.get(key)
            if isinstance(listed, list) and session in listed:
                yield {"id": session, "resolved": verdict}


def _describes_run(entry: Label, log: Path, session: str) -> bool:
    if isinstance(known := entry.get("session_id"), str):
        return known == session  # A file may hold other sessions besides the one that it is named after.
    file = entry.get("file")
    named = isinstance(file, str) and Path(file).name == log.name
    return named or any(entry.get(key) == session for key in _IDS)


def _label_in_folder(log: Path, session: str) -> Label | None:
    """The label in the files that describe the only log in its folder."""
    for path in _descriptions(log):
        for document in _read(path):
            given = [document[key] for key in _IDS[:2] if key in document] if isinstance(document, dict) else [None]
            if isinstance(document, dict) and (not given or session in given):
                return document
    return None


def _descriptions(log: Path) -> list[Path]:
    """The files that may describe a log: in its folder, and in the one above where a harness keeps an agent's log."""
    folders = [log.parent, *([log.parent.parent] if log.parent.name == "agent" else [])]
    return [folder / name for folder in folders for name in ABOUT]


def _read(path: Path) -> tuple[object, ...]:
    """The document in a file, as a tuple of one; empty if there is no such file or it can't be read."""
    try:
        about = path.stat()
    except OSError:
        return ()
    return _parse_file(path, about.st_mtime_ns) if about.st_size <= LARGEST_BYTES and path.is_file() else ()


@lru_cache(maxsize=16)
def _parse_file(path: Path, changed: int) -> tuple[object, ...]:
    """Parse a file once for each time that it `changed`: all logs of a folder share one index."""
    try:
        text = path.read_text("utf-8")
        if path.suffix == ".jsonl":
            return ([json.loads(line) for line in text.splitlines() if line.strip()],)
        return (json.loads(text),)
    except (OSError, ValueError, RecursionError) as fault:
        _LOG.warning("%s can't be read, and says nothing of the logs beside it: %s", path, fault)
        return ()

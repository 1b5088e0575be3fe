"""What in a file is not what was stored: rows that don't fit their checksum, and values that can't be read."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import cast

import apsw
import msgspec

from ireneo.adapters.sqlite.checksums import ROWS, checksum
from ireneo.adapters.sqlite.faults import NAMED
from ireneo.adapters.sqlite.queries import SQL
from ireneo.adapters.sqlite.rows import read_parts, read_time
from ireneo.adapters.sqlite.translate import UNPARSABLE
from ireneo.lessons.run import LearnedRun, Observation
from ireneo.log.tree import Annotation
from ireneo.memories.record import Record
from ireneo.memories.scratchpad import Pad
from ireneo.ports.upkeep import Altered
from ireneo.summaries.summary import Summary

NOT_STORED = "is not what was stored"
UNREAD = "can't be read"

Row = tuple[bytes | None, ...]
"""The columns of a row as bytes, without its checksum."""

_KINDS: Mapping[str, type[object]] = {
    "summaries": Summary,
    "annotations": Annotation,
    "memories": Record,
    "pads": Pad,
    "runs": LearnedRun,
    "sightings": Observation,
}
"""What the record of a row says, which is the last of its columns."""

NAMES: Mapping[str, str] = {
    "messages": "Message {3} at position {2} of {where}",
    "payloads": "What the provider and the log wrote of the message at position {1} of {where}",
    "branches": "Where branch {1!r} of {where} stands",
    "summaries": "Summary {1} of {where}",
    "annotations": "Annotation {1} of {where}",
    "memories": "Memory {1} of space {0!r}",
    "pads": "The scratchpad of task {1!r} of space {0!r}",
    "runs": "What was learned from session {1!r} of space {0!r}",
    "sightings": "What session {1!r} of space {0!r} shows of claim {2}",
    "vectors": "Vector {0}",
}
"""What a sentence calls a row, by the places of its columns; `where` names its session."""
OF_SESSIONS = ("messages", "payloads", "branches", "summaries", "annotations")


def find_altered(database: apsw.Connection, after: int, limit: int) -> Altered:
    """What is not what was stored among the next `limit` messages and, behind the last of them, in all else."""
    found: list[str] = []
    rows = database.execute(SQL[ROWS["messages"]], {"after": after, "limit": limit}).fetchall()
    numbers = [cast("int", row[0]) for row in rows]
    looked = ((row[1:-1], row[-1]) for row in cast("list[Row]", rows))
    found += _named(database, "messages", ((values, _of_message(values, kept)) for values, kept in looked))
    if len(rows) == limit:
        return Altered(faults=tuple(found), looked=len(rows), after=numbers[-1])
    for table in NAMES:
        if table != "messages":
            found += _named(database, table, _of_table(database, table))
    return Altered(faults=tuple(found), looked=len(rows), after=None)


def _of_table(database: apsw.Connection, table: str) -> Iterator[tuple[Row, str]]:
    rows = cast("Iterator[tuple[bytes | None, ...]]", database.execute(SQL[ROWS[table]]))
    if table == "payloads":
        yield from ((row, _of_payload(row[-1])) for row in rows)
    elif table in _KINDS:
        decode = msgspec.json.Decoder(_KINDS[table]).decode
        yield from ((row[:-1], _of_row(row[:-1], row[-1], lambda values: decode(values[-1] or b""))) for row in rows)
    elif table == "vectors":
        yield from ((row[:-1], _of_row(row[1:-1], row[-1], len)) for row in rows)
    else:
        # Numbers can always be read.
        yield from ((row[:-1], _of_row(row[:-1], row[-1], len)) for row in rows)


def _of_message(values: Row, kept: object) -> str:
    def read(values: Row) -> None:
        *_, at, source_id, _joined, parts, _erased = values
        read_time(None if at is None else at.decode())
        (source_id or b"").decode()
        read_parts((parts or b"").decode())

    return _of_row(values, kept, read)


def _of_row(values: Row, kept: object, read: Callable[[Row], object]) -> str:
    """What is wrong with a row: it doesn't fit its checksum or, where it has none, it can't be read."""
    if kept is not None:
        return "" if kept == checksum(values) else NOT_STORED
    try:
        read(values)
    except UNPARSABLE as fault:
        return f"{UNREAD} ({' '.join(str(fault).split())})"
    return ""


def _of_payload(packed: object) -> str:
    """What is wrong with a payload, which has a checksum of its own inside."""
    if not isinstance(packed, bytes):
        return NOT_STORED
    unpacking = zlib.decompressobj()
    try:
        unpacking.decompress(packed)
    except zlib.error:
        return NOT_STORED
    return "" if unpacking.eof and not unpacking.unused_data else NOT_STORED


def _named(database: apsw.Connection, table: str, looked: Iterator[tuple[Row, str]]) -> Iterator[str]:
    """A sentence for each row with which something is wrong, up to so many."""
    more = 0
    told = 0
    for values, wrong in looked:
        if not wrong:
            continue
        if told == NAMED:
            more += 1
            continue
        told += 1
        names = [(value or b"").decode(errors="replace") for value in values[:4]]
        where = _session(database, names[0]) if table in OF_SESSIONS else ""
        yield f"{NAMES[table].format(*names, where=where)} {wrong}."
    if more:
        yield f"{more:,} more of the {table} are wrong in the same way."


def _session(database: apsw.Connection, number: str) -> str:
    row = database.execute(SQL["name_of_session"], {"key": int(number)}).fetchone() if number.isdigit() else None
    if row is None:
        return f"session number {number}"
    space, session = ((each or b"").decode(errors="replace") for each in cast("tuple[bytes, bytes]", row))
    return f"session {session!r} of space {space!r}"

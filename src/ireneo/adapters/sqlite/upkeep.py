"""The upkeep of a SQLite file: what is wrong with it, what in it is not what was stored, and what can be put right."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

import apsw
import msgspec

from ireneo.adapters.sqlite.connection import (
    ROWS,
    SQL,
    UNPARSABLE,
    Port,
    checksum,
    read_head,
    read_parts,
    read_time,
    reads,
    writes,
)
from ireneo.adapters.sqlite.erasure import prune_session, recount
from ireneo.adapters.sqlite.log import find_session, need_session, settle_undone
from ireneo.adapters.sqlite.memories import remove_run
from ireneo.adapters.sqlite.search import MOST_NAMED, rebuild_words
from ireneo.adapters.sqlite.summaries import discard_summaries, list_summaries
from ireneo.lessons.run import LearnedRun, Observation
from ireneo.log.tree import Annotation, Head, SessionKey
from ireneo.memories.record import Record
from ireneo.memories.scratchpad import Pad
from ireneo.patterns import lazy_re
from ireneo.ports.store import TOGETHER, CorruptionReport, Pruned, UpkeepPort
from ireneo.summaries.summary import Summary, SummaryId

SENTENCES: Mapping[str, str] = {
    "rows_of_no_session": "{1} belongs to session number {0}, which is not there.",
    "messages_of_no_segment": "Positions {2} to {3} of {where} stand on segment {4}, which is not there.",
    "segments_without_parent": "Segment {2} of {where} goes on after position {3}, and no message is there.",
    "segments_without_first": "Segment {2} of {where} begins at position {3}, and no message is there.",
    "segments_with_gaps": "Segment {2} of {where} has a gap at position {3}.",
    "messages_behind_another": "Message {3} at position {2} of {where} stands behind a message that isn't its parent.",
    "messages_with_wrong_total": "Message {3} at position {2} of {where} gives a total that its path doesn't cost.",
    "sessions_with_wrong_counts": (
        "Of {where} {2} messages with {3} tokens were counted, and {4} messages with {5} tokens are there."
    ),
    "branches_to_nothing": "Branch {2!r} of {where} points to position {3}, and no message is there.",
    "payloads_of_nothing": "A payload hangs on position {2} of segment {3} of {where}, and no message is there.",
    "summaries_of_nothing": "Summary {4} of {where} covers positions {2} to {3}, and its messages aren't there.",
    "rebuilds_of_nothing": (
        "The mark of a rebuild to {3} tokens hangs on position {2} of {where}, and its message isn't there."
    ),
    "annotations_of_nothing": "Annotation {3} hangs on position {2} of {where}, and its message isn't there.",
    "leases_with_unknown_token": "The lease on {2!r} of {where} has token {3}, and only {4} were given.",
}
"""What the rows of each query say; `where` names their session."""


def _damage(database: apsw.Connection) -> Iterator[str]:
    try:
        database.execute(SQL["refresh_words"]).fetchall()
        for (found,) in database.execute(SQL["check_file"]):
            if found != "ok":
                yield f"The file is damaged: {found}."
    except apsw.CorruptError as fault:
        yield f"The file is damaged, so far that it can't be checked: {fault}."


def _faults(database: apsw.Connection, query: str) -> Iterator[str]:
    rows = database.execute(SQL[query], {"most": MOST_NAMED + 1}).fetchall()
    for row in rows[:MOST_NAMED]:
        yield SENTENCES[query].format(*row, where=f"session {row[1]!r} of space {row[0]!r}")
    if len(rows) > MOST_NAMED:
        yield f"There are more faults of this kind than these {MOST_NAMED}."


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
        if told == MOST_NAMED:
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


_INDEX = lazy_re(r"(?:missing from|entries in|entry in) index (\w+)")
_WORDS = lazy_re(r"fts5", re.IGNORECASE)
SAFE = ("messages", "summaries", "annotations", "memories", "runs", "sightings", "vectors")
"""Whose indexes are made anew: their rows have checksums, so that it is known which of the two is damaged."""
ALL = 1 << 62


def _recount(database: apsw.Connection) -> None:
    for query in ("sessions_with_wrong_counts", "rebuilds_of_nothing"):
        for space, session, *_ in database.execute(SQL[query], {"most": ALL}).fetchall():
            for (key,) in database.execute(SQL["key_of_session"], {"space": space, "session": session}).fetchall():
                if query == "rebuilds_of_nothing":
                    database.execute(SQL["delete_loose_rebuilds"], {"key": key})
                else:
                    recount(database, cast("int", key))


def _drop_altered_vectors(database: apsw.Connection) -> None:
    rows = database.execute(SQL[ROWS["vectors"]]).fetchall()
    for number, vector_set, document, vector, kept in cast("list[tuple[bytes, bytes, bytes, bytes, int | None]]", rows):
        if kept is not None and kept != checksum([vector_set, document, vector]):
            database.execute(SQL["drop_vector"], {"number": int(number)})


def _drop_altered_runs(database: apsw.Connection) -> None:
    """Runs are learned again from their sessions."""
    wrong: dict[tuple[str, str], None] = {}
    for table in ("runs", "sightings"):
        for *values, kept in database.execute(SQL[ROWS[table]]).fetchall():
            if kept is not None and kept != checksum(cast("list[bytes | None]", values)):
                space, session = (value.decode(errors="replace") for value in cast("list[bytes]", values[:2]))
                wrong[space, session] = None
    for space, session in wrong:
        remove_run(database, space, session)


def _mend_indexes(database: apsw.Connection) -> None:
    told = [str(each) for (each,) in database.execute(SQL["check_file"]).fetchall()]
    names = {name for each in told for name in _INDEX.findall(each)}
    for index, table in database.execute(SQL["list_indexes"]).fetchall():
        if index in names and table in SAFE and _fits(database, str(table)):
            # A name can't be bound; it is one of those that the schema gives.
            database.execute(f'REINDEX "{index}"')
    if any(_WORDS.search(each) for each in told):
        for query in ("reset_message_words", "reset_memory_words"):
            database.execute(SQL[query])
        for (space,) in database.execute(SQL["list_all_spaces"]).fetchall():
            rebuild_words(database, str(space))


def _fits(database: apsw.Connection, table: str) -> bool:
    """Whether every row of a table is what was stored: else its index may be what is right."""
    rows = database.execute(SQL[ROWS[table]], {"after": 0, "limit": ALL} if table == "messages" else {})
    first = 1 if table in ("messages", "vectors") else 0
    return all(row[-1] == checksum(row[first:-1]) for row in rows)


class SqliteUpkeep(Port, UpkeepPort):
    """`ireneo.ports.store.UpkeepPort` in SQLite."""

    @reads
    def faults(self) -> Sequence[str]:
        """What is wrong, a sentence each. Of a file that is damaged only that is told: its rows can't be trusted."""
        damage = list(_damage(self._database))
        return damage or [sentence for query in SENTENCES for sentence in _faults(self._database, query)]

    @reads
    def corrupted(self, after: int = 0, limit: int = TOGETHER) -> CorruptionReport:
        """What is not what was stored among the next `limit` messages and, behind the last of them, in all else."""
        found: list[str] = []
        rows = self._rows(ROWS["messages"], after=after, limit=limit).fetchall()
        numbers = [cast("int", row[0]) for row in rows]
        looked = ((row[1:-1], row[-1]) for row in cast("list[Row]", rows))
        found += _named(self._database, "messages", ((values, _of_message(values, kept)) for values, kept in looked))
        if len(rows) == limit:
            return CorruptionReport(faults=tuple(found), looked=len(rows), after=numbers[-1])
        for table in NAMES:
            if table != "messages":
                found += _named(self._database, table, _of_table(self._database, table))
        return CorruptionReport(faults=tuple(found), looked=len(rows), after=None)

    @writes
    def repair(self) -> None:
        """Mend all that can be; what is wrong with the log stays as it is."""
        _drop_altered_vectors(self._database)
        _drop_altered_runs(self._database)
        _recount(self._database)
        _mend_indexes(self._database)

    @reads
    def summaries(self, key: SessionKey) -> Sequence[SummaryId]:
        return list_summaries(self._database, key)

    @writes
    def discard(self, key: SessionKey, ids: Sequence[SummaryId]) -> int:
        return discard_summaries(self._database, key, ids)

    @reads
    def abandoned_heads(self, key: SessionKey) -> Sequence[Head]:
        session = find_session(self._database, key)
        if session is None:
            return []
        rows = self._rows("list_ends", key=session.key)
        return [read_head(*row) for row in rows]

    @writes
    def drop_branch(self, key: SessionKey, branch: str) -> bool:
        session = need_session(self._database, key)
        self._rows("drop_branch", key=session.key, branch=branch)
        dropped = self._database.changes() > 0
        if dropped:
            settle_undone(self._database, key.space, session.key)
        return dropped

    @writes
    def prune(self, key: SessionKey) -> Pruned:
        return prune_session(self._database, key)

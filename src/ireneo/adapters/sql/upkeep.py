"""The upkeep of a database: faults, corrupted values, and repairs; erasure and pruning."""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from ireneo.adapters.sql.database import (
    COVERED,
    END,
    UNPARSABLE,
    Bindings,
    Database,
    Port,
    Row,
    checksum,
    read_time,
    reads,
    time_range,
    with_checksum,
    write_json,
    write_time,
    writes,
)
from ireneo.adapters.sql.log import (
    find_place,
    find_session,
    forget_documents,
    forget_undone,
    need_place,
    need_session,
    read_head,
    read_parts,
    settle_undone,
)
from ireneo.adapters.sql.memories import remove_memories, remove_run
from ireneo.adapters.sql.search import MOST_NAMED
from ireneo.errors import BadInput
from ireneo.lessons.run import LearnedRun, Observation
from ireneo.log.message import Head, Message
from ireneo.log.tree import Annotation, AnnotationId, SessionKey
from ireneo.memories.record import Record
from ireneo.memories.scratchpad import Pad
from ireneo.patterns import readable
from ireneo.ports.store import TOGETHER, CorruptionReport, ErasurePort, Pruned, Rebuild, UpkeepPort
from ireneo.summaries.summary import Summary, SummaryId

READ_MARKS = ("delete_loose_read_marks", "cut_read_marks")
"""The queries that adjust read marks to the messages that are left."""
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
    "read_marks_of_nothing": "Segment {3} of {where} was read up to position {2}, and no message is there.",
    "annotations_of_nothing": "Annotation {3} hangs on position {2} of {where}, and its message isn't there.",
    "leases_with_unknown_token": "The lease on {2!r} of {where} has token {3}, and only {4} were given.",
}
"""The sentence for the rows of each query; `where` names their session."""

REPAIRS: Mapping[str, Sequence[str]] = {
    "rebuilds_of_nothing": ("delete_loose_rebuilds",),
    "read_marks_of_nothing": READ_MARKS,
}
"""The queries that delete the rows a query finds, which are only marks."""

NOT_STORED = "is not what was stored"
UNREAD = "can't be read"

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
"""How a sentence names a row, by its columns; `where` names its session."""
PLACES = 1 << 48
"""The stride of `after` between scopes: more than a scope has messages."""
OF_SESSIONS = ("messages", "payloads", "branches", "summaries", "annotations")


def _read_message(values: Row) -> None:
    *_, at, source_id, _joined, parts, _erased = values
    read_time(None if at is None else at.decode())
    (source_id or b"").decode()
    read_parts((parts or b"").decode())


def _decoder_of(kind: type[object]) -> Callable[[Row], object]:
    """A decoder for rows whose last column is a record of `kind`."""
    decode = msgspec.json.Decoder(readable(kind)).decode
    return lambda values: decode(values[-1] or b"")


_READERS: Mapping[str, Callable[[Row], object]] = {
    "messages": _read_message,
    "summaries": _decoder_of(Summary),
    "annotations": _decoder_of(Annotation),
    "memories": _decoder_of(Record),
    "pads": _decoder_of(Pad),
    "runs": _decoder_of(LearnedRun),
    "sightings": _decoder_of(Observation),
}
"""Decoders for the rows of tables with values other than numbers."""


def is_sound(table: str, row: Row) -> bool:
    """Whether a row matches its checksum, if it has one."""
    first = 1 if table in ("messages", "vectors") else 0
    return row[-1] is None or bool(row[-1] == checksum(row[first:-1]))


def _fault(table: str, row: Row) -> str:
    """The fault of a row: it doesn't match its checksum or, without one, can't be decoded."""
    if table == "payloads":
        packed = row[-1]
        if not isinstance(packed, bytes):
            return NOT_STORED
        unpacking = zlib.decompressobj()
        try:
            unpacking.decompress(packed)
        except zlib.error:
            return NOT_STORED
        return "" if unpacking.eof and not unpacking.unused_data else NOT_STORED
    if not is_sound(table, row):
        return NOT_STORED
    if row[-1] is None and table in _READERS:
        try:
            _READERS[table](row[:-1])
        except UNPARSABLE as fault:
            return f"{UNREAD} ({' '.join(str(fault).split())})"
    return ""


def _corrupted(database: Database, table: str, rows: Iterable[Row]) -> Iterator[str]:
    """A sentence for each faulty row, up to `MOST_NAMED`, and one that counts further rows."""
    more = 0
    named = 0
    for row in rows:
        fault = _fault(table, row)
        if not fault:
            continue
        if named == MOST_NAMED:
            more += 1
            continue
        named += 1
        columns = row[1:5] if table == "messages" else row[:4]
        names = [value.decode(errors="replace") if isinstance(value, bytes) else "" for value in columns]
        where = _session(database, names[0]) if table in OF_SESSIONS else ""
        yield f"{NAMES[table].format(*names, where=where)} {fault}."
    if more:
        yield f"{more:,} more of the {table} are wrong in the same way."


def _session(database: Database, number: str) -> str:
    row = database.row("name_of_session", key=int(number)) if number.isdigit() else None
    if row is None:
        return f"session number {number}"
    space, session = ((each or b"").decode(errors="replace") for each in row)
    return f"session {session!r} of space {space!r}"


class SqlUpkeep(Port, UpkeepPort):
    """`ireneo.ports.store.UpkeepPort` in a database."""

    @reads
    def faults(self) -> Sequence[str]:
        """All faults; if the file itself is damaged only that, since its rows can't be trusted."""
        return self._damage() or [sentence for query in SENTENCES for sentence in self._faults(query)]

    @reads
    def corrupted(self, after: int = 0, limit: int = TOGETHER) -> CorruptionReport:
        """Check the next `limit` messages and, after the last, everything else."""
        scopes = self._database.scopes()
        scope, place = divmod(after, PLACES)
        if scope < len(scopes):
            rows = scopes[scope].rows("rows_of_messages", after=place, limit=limit)
            faults = tuple(_corrupted(scopes[scope], "messages", rows))
            if len(rows) == limit:
                return CorruptionReport(faults=faults, looked=len(rows), after=scope * PLACES + rows[-1][0])
            if scope + 1 < len(scopes):
                return CorruptionReport(faults=faults, looked=len(rows), after=(scope + 1) * PLACES)
        else:
            rows, faults = [], ()
        found = [
            fault
            for table in NAMES
            if table != "messages"
            for database in scopes
            for fault in _corrupted(database, table, database.scan(f"rows_of_{table}"))
        ]
        return CorruptionReport(faults=(*faults, *found), looked=len(rows), after=None)

    @writes
    def repair(self) -> None:
        """Repair what can be derived; faults of the log itself stay."""
        for database in self._database.scopes():
            _repair(database)
        self._repair_indexes()

    @reads
    def spaces(self) -> Sequence[str]:
        return self._database.column("list_all_spaces")

    @reads
    def summaries(self, key: SessionKey) -> Sequence[SummaryId]:
        return self._db(key.space).column("list_summaries", key=find_session(self._db(key.space), key))

    @writes
    def discard(self, key: SessionKey, ids: Sequence[SummaryId]) -> int:
        session = need_session(self._db(key.space), key)
        return sum(self._db(key.space).change("delete_summary", key=session, id=name) for name in ids)

    @reads
    def abandoned_heads(self, key: SessionKey) -> Sequence[Head]:
        rows = self._db(key.space).rows("list_ends", key=find_session(self._db(key.space), key))
        return [read_head(*row) for row in rows]

    @writes
    def drop_branch(self, key: SessionKey, branch: str) -> bool:
        session = need_session(self._db(key.space), key)
        dropped = self._db(key.space).change("drop_branch", key=session, branch=branch) > 0
        if dropped:
            settle_undone(self._db(key.space), key.space, session)
        return dropped

    @writes
    def prune(self, key: SessionKey) -> Pruned:
        database = self._db(key.space)
        session = need_session(database, key)
        ((branches, segments),) = database.rows("count_branches", key=session)
        if segments > 0 and branches == 0:
            raise BadInput(f"Session {key.session!r} has no branch; fork or rewind one first.")
        messages, tokens = _cut_segments(database, key.space, session)
        forget_undone(database, key.space, session)
        if messages == 0:
            return Pruned()
        summaries = database.change("delete_loose_summaries", key=session)
        for query in ("delete_loose_rebuilds", "delete_loose_annotations", *READ_MARKS):
            database.send(query, key=session)
        run = database.row("head_of_run", space=key.space, session=key.session)
        if run is not None and find_place(database, session, run[0]) is None:
            remove_run(database, key.space, key.session)
        recount(database, session)
        return Pruned(messages=messages, tokens=tokens, summaries=summaries)

    def _damage(self) -> list[str]:
        """Damage of the file itself, if the database can tell."""
        return []

    def _repair_indexes(self) -> None:
        """Rebuild damaged indexes, if the database can tell."""

    def _faults(self, query: str) -> Iterator[str]:
        rows = [row for database in self._database.scopes() for row in database.rows(query, most=MOST_NAMED + 1)]
        for row in rows[:MOST_NAMED]:
            yield SENTENCES[query].format(*row, where=f"session {row[1]!r} of space {row[0]!r}")
        if len(rows) > MOST_NAMED:
            yield f"There are more faults of this kind than these {MOST_NAMED}."


def _repair(database: Database) -> None:
    wrong = [row for row in database.scan("rows_of_vectors") if not is_sound("vectors", row)]
    for _, key, document, *_ in wrong:
        database.send("drop_vector", key=int(key), document=int(document))
    # Runs are learned again from their sessions.
    runs = {
        (space.decode(errors="replace"), session.decode(errors="replace"))
        for table in ("runs", "sightings")
        for space, session, *rest in database.rows(f"rows_of_{table}")
        if not is_sound(table, (space, session, *rest))
    }
    for space, session in runs:
        remove_run(database, space, session)
    for space, session, *_ in database.rows("sessions_with_wrong_counts", most=END):
        recount(database, need_session(database, SessionKey(space, session)))
    for query, repairs in REPAIRS.items():
        for space, session, *_ in database.rows(query, most=END):
            number = None if session is None else find_session(database, SessionKey(space, session))
            for repair in repairs:
                database.send(repair, key=number)


# Deleting content: erasure and pruning.


def _cut_segments(database: Database, space: str, session: int) -> tuple[int, int]:
    """Cut each segment after the last position needed; return how many messages and tokens were deleted."""
    messages = tokens = 0
    for segment, last in database.rows("list_segments", key=session):
        rest = {"key": session, "segment": segment, "last": -1 if last is None else last}
        ((behind, cost),) = database.rows("count_after", **rest)
        if behind:
            forget_documents(database, space, session, segment, rest["last"] + 1, END)
            database.send("delete_payloads_after", **rest)
            database.send("delete_messages_after", **rest)
        if last is None:
            database.send("delete_segment", key=session, segment=segment)
        messages += behind
        tokens += cost
    return messages, tokens


def recount(database: Database, session: int) -> None:
    """Recompute the counters of a session from its messages."""
    first_at, last_at = time_range(map(read_time, database.column("list_times", key=session)))
    database.send("recount_messages", key=session, first_at=write_time(first_at), last_at=write_time(last_at))


STANDS = tuple(name for name in COVERED["messages"] if name not in ("source_id", "parts", "erased"))
"""The columns that an erasure keeps, in the order of the query ``message_to_erase``."""
OF_SESSION = (
    *("delete_messages", "delete_payloads", "delete_segments", "delete_branches", "delete_summaries"),
    *("delete_rebuilds", "delete_annotations", "delete_read_marks", "delete_leases", "delete_session"),
)
"""The queries that delete everything of a session."""
OF_SPACE = (
    *("delete_spending", "delete_pads", "delete_runs", "delete_observations", "delete_ledger"),
    "delete_traps",
    *("delete_authors", "delete_space"),
)
"""The queries that delete what is left of a space after its sessions and memories."""


class SqlErasure(Port, ErasurePort):
    """`ireneo.ports.store.ErasurePort` in a database."""

    @writes
    def begin(self) -> None:
        """Have deleted content overwritten, and add a mark that only a complete scrub removes."""
        self._database.rows("overwrite_deleted")
        self._database.send("add_scrub", mark=secrets.token_hex(8))

    @writes
    def messages(self, key: SessionKey, messages: Sequence[Message]) -> int:
        """Overwrite messages with their erased form, and delete their payloads."""
        database, session = self._db(key.space), need_session(self._db(key.space), key)
        for message in messages:
            if not message.erased:
                wanted = "hand in what `ireneo.log.message.erase` leaves"
                raise BadInput(f"Message {message.id} is not marked as erased; {wanted}.")
            place = need_place(database, session, key, message.id)
            forget_documents(database, key.space, session, place.segment, place.position, place.position)
            stand = {"key": session, "segment": place.segment, "position": place.position}
            # A message without a row here would count as not indexed yet.
            database.send("add_document", **stand, document=None, terms=0)
            kept = dict(zip(STANDS, database.row("message_to_erase", key=session, id=message.id) or (), strict=True))
            left = {**kept, "source_id": None, "parts": write_json(message.parts), "erased": 1}
            check = with_checksum("messages", left)["checksum"]
            database.send("erase_message", key=session, id=message.id, parts=left["parts"], checksum=check)
            database.send("delete_payload", **stand)
        return len(messages)

    @writes
    def notes(self, key: SessionKey, annotations: Sequence[AnnotationId], marks: Sequence[Rebuild]) -> int:
        """Delete annotations by id, and marks by place, summarizer and budget."""
        database, session = self._db(key.space), need_session(self._db(key.space), key)
        gone = sum(database.change("delete_annotation", key=session, id=name) for name in annotations)
        for mark in marks:
            place = find_place(database, session, mark.at)
            if place is not None:
                stand = {"key": session, "segment": place.segment, "at_position": mark.at_position}
                of: Bindings = {"summarizer": mark.summarizer, "budget_tokens": mark.budget_tokens}
                gone += database.change("delete_rebuild", **stand, **of)
        return gone

    @writes
    def session(self, key: SessionKey) -> bool:
        """Delete everything of a session, and its name from the spending."""
        if key.session:
            for query in ("unname_spending", "delete_spending_of_session"):
                self._db(key.space).send(query, space=key.space, session=key.session)
        remove_run(self._db(key.space), key.space, key.session)
        session = find_session(self._db(key.space), key)
        if session is not None:
            _delete_rows(self._db(key.space), key.space, session)
        return session is not None

    @writes
    def space(self, space: str) -> int:
        """Delete everything of a space."""
        keys = self._db(space).column("list_keys", space=space)
        for key in keys:
            _delete_rows(self._db(space), space, key)
        remove_memories(self._db(space), space, self._db(space).column("list_memory_ids", space=space))
        for query in OF_SPACE:
            self._db(space).send(query, space=space)
        return len(keys)


def _delete_rows(database: Database, space: str, session: int) -> None:
    for segment in database.column("segments_of_session", key=session):
        forget_documents(database, space, session, segment, 0, END)
    for query in OF_SESSION:
        database.send(query, key=session)

"""Deleting content from a database: erasure and pruning."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from ireneo.adapters.sql.database import (
    COVERED,
    END,
    Bindings,
    Database,
    Port,
    between,
    read_time,
    with_checksum,
    write_json,
    write_time,
    writes,
)
from ireneo.adapters.sql.log import find_place, find_session, forget_documents, forget_undone, need_place, need_session
from ireneo.adapters.sql.memories import remove_memories, remove_run
from ireneo.errors import BadInput
from ireneo.log.message import Message
from ireneo.log.tree import AnnotationId, SessionKey
from ireneo.ports.store import ErasurePort, Pruned, Rebuild

READ_MARKS = ("delete_loose_read_marks", "cut_read_marks")
"""The queries that adjust read marks to the messages that are left."""


def prune_session(database: Database, key: SessionKey) -> Pruned:
    """Delete every message that no branch leads to.

    A segment is kept up to the last position that a branch needs. Segments that fork off after that are not needed
    either, and those that fork off before it still have their parent, so no segment has to move.
    """
    session = need_session(database, key)
    ((branches, segments),) = database.rows("count_branches", key=session)
    if segments > 0 and branches == 0:
        raise BadInput(f"Session {key.session!r} has no branch; fork or rewind one first.")
    messages, tokens = _cut(database, key.space, session)
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


def _cut(database: Database, space: str, session: int) -> tuple[int, int]:
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
    first_at, last_at = between(map(read_time, database.column("list_times", key=session)))
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
"""The queries that delete the rest of a space, after its sessions and memories."""


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
        database, session = self._of(key.space), need_session(self._of(key.space), key)
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
        database, session = self._of(key.space), need_session(self._of(key.space), key)
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
                self._of(key.space).send(query, space=key.space, session=key.session)
        remove_run(self._of(key.space), key.space, key.session)
        session = find_session(self._of(key.space), key)
        if session is not None:
            _delete_rows(self._of(key.space), key.space, session)
        return session is not None

    @writes
    def space(self, space: str) -> int:
        """Delete everything of a space."""
        keys = self._of(space).column("list_keys", space=space)
        for key in keys:
            _delete_rows(self._of(space), space, key)
        remove_memories(self._of(space), space, self._of(space).column("list_memory_ids", space=space))
        for query in OF_SPACE:
            self._of(space).send(query, space=space)
        return len(keys)


def _delete_rows(database: Database, space: str, session: int) -> None:
    for segment in database.column("segments_of_session", key=session):
        forget_documents(database, space, session, segment, 0, END)
    for query in OF_SESSION:
        database.send(query, key=session)

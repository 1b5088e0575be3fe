"""Take content out of a SQLite file for good."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import cast

import apsw
import msgspec

from ireneo.adapters.chain import check_erased
from ireneo.adapters.sqlite.channel import Channel
from ireneo.adapters.sqlite.checksums import COVERED, with_checksum
from ireneo.adapters.sqlite.documents import END, forget_documents
from ireneo.adapters.sqlite.memories import remove_memories
from ireneo.adapters.sqlite.places import find_place, find_session, need_place, need_session
from ireneo.adapters.sqlite.queries import SQL
from ireneo.adapters.sqlite.rows import Bindings
from ireneo.adapters.sqlite.runs import remove_run
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import AnnotationId, SessionKey
from ireneo.ports.store import Rebuild

STANDS = tuple(name for name in COVERED["messages"] if name not in ("source_id", "parts", "erased"))
"""What an erasure leaves of a message, in the order in which the query ``message_to_erase`` gives it."""
OF_SESSION = (
    *("delete_messages", "delete_payloads", "delete_segments", "delete_branches", "delete_summaries"),
    *("delete_rebuilds", "delete_annotations", "delete_leases", "delete_session"),
)
"""All that is kept by a session's number."""
OF_SPACE = (
    *("delete_spending", "delete_pads", "delete_runs", "delete_sightings", "delete_ledger"),
    *("delete_authors", "delete_space"),
)
"""All that is kept by the name of a space, once its sessions and its memories are gone."""


class SqliteErasure:
    """`ireneo.ports.erasure.ErasurePort` over one open transaction."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def begin(self) -> None:
        """Say that this transaction erases."""
        self._channel.change(begin_erasure)

    def count(self, key: SessionKey) -> int:
        """How many messages of a session were erased."""
        return self._channel.ask(count_erased, key)

    def messages(self, key: SessionKey, messages: Sequence[Message]) -> int:
        """Put what is left of erased messages in their place."""
        return self._channel.change(erase_messages, key, messages)

    def notes(self, key: SessionKey, annotations: Sequence[AnnotationId], marks: Sequence[Rebuild]) -> int:
        """Take out annotations and the marks of rebuilds."""
        return self._channel.change(delete_notes, key, annotations, marks)

    def session(self, key: SessionKey) -> bool:
        """Take a session out with all that hangs on it."""
        return self._channel.change(delete_session, key)

    def space(self, space: str) -> int:
        """Take out all that is kept of a space."""
        return self._channel.change(delete_space, space)


def begin_erasure(database: apsw.Connection) -> None:
    """Overwrite what is deleted, and leave a mark that only a complete scrub takes away."""
    database.execute(SQL["overwrite_deleted"]).fetchall()
    database.execute(SQL["add_scrub"], {"mark": secrets.token_hex(8)})


def count_erased(database: apsw.Connection, key: SessionKey) -> int:
    """How many messages of a session were erased; 0 of one that was never made."""
    session = find_session(database, key)
    if session is None:
        return 0
    ((count,),) = database.execute(SQL["count_erased"], {"key": session.key})
    return int(count)


def erase_messages(database: apsw.Connection, key: SessionKey, messages: Sequence[Message]) -> int:
    """Write what is left of messages over what they were, and take their payloads out."""
    session = need_session(database, key)
    check_erased(messages)
    for message in messages:
        place = need_place(database, session.key, key, message.id)
        forget_documents(database, key.space, session.key, place.segment, place.position, place.position)
        stand: Bindings = {"key": session.key, "segment": place.segment, "position": place.position}
        # A message without a row here would be taken for one that is still to be indexed.
        database.execute(SQL["add_document"], {**stand, "document": None, "terms": 0})
        parts = msgspec.json.encode(message.parts).decode()
        database.execute(SQL["erase_message"], _erased_row(database, session.key, message.id, parts))
        database.execute(SQL["delete_payload"], stand)
    return len(messages)


def _erased_row(database: apsw.Connection, session: int, name: MessageId, parts: str) -> Bindings:
    """The row of a message as it is once it was erased, with its checksum."""
    values = database.execute(SQL["message_to_erase"], {"key": session, "id": name}).fetchone()
    stands = dict(zip(STANDS, values or (), strict=True))
    return with_checksum("messages", {**stands, "source_id": None, "parts": parts, "erased": 1})


def delete_notes(
    database: apsw.Connection, key: SessionKey, annotations: Sequence[AnnotationId], marks: Sequence[Rebuild]
) -> int:
    """Delete annotations by id, and marks by where they stand and what they are for."""
    session = need_session(database, key)
    gone = 0
    for name in annotations:
        database.execute(SQL["delete_annotation"], {"key": session.key, "id": name})
        gone += database.changes()
    for mark in marks:
        place = find_place(database, session.key, mark.at)
        if place is None:
            continue
        database.execute(
            SQL["delete_rebuild"],
            {
                "key": session.key,
                "family": mark.family,
                "budget_tokens": mark.budget_tokens,
                "segment": place.segment,
                "at_position": mark.at_position,
            },
        )
        gone += database.changes()
    return gone


def delete_session(database: apsw.Connection, key: SessionKey) -> bool:
    """Delete all that is kept of a session, and its name from what was spent."""
    named = {"space": key.space, "session": key.session}
    if key.session:
        database.execute(SQL["unname_spending"], named)
        database.execute(SQL["delete_spending_of_session"], named)
    remove_run(database, key.space, key.session)
    session = find_session(database, key)
    if session is None:
        return False
    _delete_rows(database, key.space, session.key)
    return True


def delete_space(database: apsw.Connection, space: str) -> int:
    """Delete all that is kept of a space."""
    keys = [key for (key,) in database.execute(SQL["list_keys"], {"space": space})]
    for key in keys:
        _delete_rows(database, space, key)
    remove_memories(database, space, [name for (name,) in database.execute(SQL["list_memory_ids"], {"space": space})])
    for query in OF_SPACE:
        database.execute(SQL[query], {"space": space})
    return len(keys)


def _delete_rows(database: apsw.Connection, space: str, session: int) -> None:
    rows = cast(list[tuple[int]], database.execute(SQL["list_segment_numbers"], {"key": session}).fetchall())
    for (segment,) in rows:
        forget_documents(database, space, session, segment, 0, END)
    for query in OF_SESSION:
        database.execute(SQL[query], {"key": session})

"""What takes content out of a SQLite file: an erasure, a prune, and what overwrites the bytes that they leave."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import cast

import apsw
import msgspec

from ireneo.adapters.rules import between, check_branches, check_erased
from ireneo.adapters.sqlite.connection import (
    COVERED,
    END,
    SQL,
    Bindings,
    Port,
    read_time,
    reads,
    with_checksum,
    write_time,
    writes,
)
from ireneo.adapters.sqlite.index import forget_documents
from ireneo.adapters.sqlite.log import find_place, find_session, forget_undone, need_place, need_session
from ireneo.adapters.sqlite.memories import remove_memories, remove_run
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import AnnotationId, SessionKey
from ireneo.ports.store import ErasurePort, Pruned, Rebuild, Scrubbed

WAIT_SECONDS = 5.0
"""So long at most it waits for others who read or write."""

AGAIN = "forget again, or run `ireneo doctor --repair`, when they are done"
LEFT = "An erasure may have left its bytes in the file or its WAL; forget again, or run `ireneo doctor --repair`."
READ = f"Another reader still holds an old state of the file, so that its WAL can't be emptied yet; {AGAIN}."
BUSY = f"Another process is at the file, so that it can't be written anew; {AGAIN}."
FULL = (
    "There is no room to write the file anew, which takes twice its size; free some, and forget again or run "
    "`ireneo doctor --repair`."
)


def look_at_scrubs(database: apsw.Connection) -> Scrubbed:
    """Whether an erasure waits for a scrub."""
    waiting = database.execute(SQL["list_scrubs"]).fetchall()
    return Scrubbed(complete=not waiting, note=LEFT if waiting else "")


def scrub_file(database: apsw.Connection) -> Scrubbed:
    """Write the file anew and empty its WAL, unless nothing was erased since that was done last.

    Overwriting what is deleted (`secure_delete`) is not enough: when SQLite moves rows from page to page, it leaves
    their old copies where they were, and nobody knows of them any more when the row itself is deleted. So the file is
    written anew from what is there (VACUUM), and then the WAL is brought into it and emptied.
    """
    marks = [mark for (mark,) in database.execute(SQL["list_scrubs"])]
    if not marks:
        return Scrubbed(complete=True)
    try:
        for query in ("settle_message_words", "settle_memory_words", "vacuum"):
            database.execute(SQL[query])
        ((busy, _, _),) = database.execute(SQL["empty_wal"])
        if busy:
            return Scrubbed(complete=False, note=READ)
        _forget(database, marks)
    except (apsw.BusyError, apsw.LockedError):
        return Scrubbed(complete=False, note=BUSY)
    except apsw.FullError:
        return Scrubbed(complete=False, note=FULL)
    return Scrubbed(complete=True)


def _forget(database: apsw.Connection, marks: list[str]) -> None:
    """Take away the marks of the erasures that the scrub has reached; those that came since stay."""
    with database:
        for mark in marks:
            database.execute(SQL["delete_scrub"], {"mark": mark})


LOOSE = ("delete_loose_rebuilds", "delete_loose_annotations")
"""What hangs on a message that is gone, the summaries aside, which are counted."""


def prune_session(database: apsw.Connection, key: SessionKey) -> Pruned:
    """Take out every message that no branch leads to; says how much that was.

    A segment is kept up to the last position that a branch needs, so what branches off behind that is needed by nobody
    either, and what branches off before it finds its parent where it was: no segment changes its place.
    """
    session = need_session(database, key).key
    ((branches, segments),) = database.execute(SQL["count_branches"], {"key": session})
    check_branches(key, is_empty=segments == 0, has_branch=branches > 0)
    messages, tokens = _cut(database, key.space, session)
    forget_undone(database, key.space, session)
    if messages == 0:
        return Pruned()
    database.execute(SQL["delete_loose_summaries"], {"key": session})
    summaries = database.changes()
    for query in LOOSE:
        database.execute(SQL[query], {"key": session})
    _forget_run(database, key, session)
    recount(database, session)
    return Pruned(messages=messages, tokens=tokens, summaries=summaries)


def _cut(database: apsw.Connection, space: str, session: int) -> tuple[int, int]:
    """Cut each segment after the last position that is needed; says how many messages and tokens went."""
    messages = tokens = 0
    rows = cast(list[tuple[int, int | None]], database.execute(SQL["list_segments"], {"key": session}).fetchall())
    for segment, last in rows:
        kept = -1 if last is None else last
        rest: Bindings = {"key": session, "segment": segment, "last": kept}
        ((behind, cost),) = database.execute(SQL["count_after"], rest)
        if behind:
            forget_documents(database, space, session, segment, kept + 1, END)
            database.execute(SQL["delete_payloads_after"], rest)
            database.execute(SQL["delete_messages_after"], rest)
        if last is None:
            database.execute(SQL["delete_segment"], {"key": session, "segment": segment})
        messages += behind
        tokens += cost
    return messages, tokens


def _forget_run(database: apsw.Connection, key: SessionKey, session: int) -> None:
    """Take out what was learned from the session, where it was read up to a message that is gone."""
    row = database.execute(SQL["head_of_run"], {"space": key.space, "session": key.session}).fetchone()
    if row is not None and find_place(database, session, row[0]) is None:
        remove_run(database, key.space, key.session)


def recount(database: apsw.Connection, session: int) -> None:
    """Reckon the counters of a session anew from its messages."""
    times = (read_time(at) for (at,) in database.execute(SQL["list_times"], {"key": session}))
    first_at, last_at = between([at for at in times if at is not None])
    database.execute(
        SQL["recount_messages"], {"key": session, "first_at": write_time(first_at), "last_at": write_time(last_at)}
    )


STANDS = tuple(name for name in COVERED["messages"] if name not in ("source_id", "parts", "erased"))
"""What an erasure leaves of a message, in the order in which the query ``message_to_erase`` gives it."""
OF_SESSION = (
    *("delete_messages", "delete_payloads", "delete_segments", "delete_branches", "delete_summaries"),
    *("delete_rebuilds", "delete_annotations", "delete_leases", "delete_session"),
)
"""All that is kept by a session's number."""
OF_SPACE = (
    *("delete_spending", "delete_pads", "delete_runs", "delete_observations", "delete_ledger"),
    *("delete_authors", "delete_space"),
)
"""All that is kept by the name of a space, once its sessions and its memories are gone."""


class SqliteErasure(Port, ErasurePort):
    """`ireneo.ports.store.ErasurePort` in SQLite."""

    @writes
    def begin(self) -> None:
        """Overwrite what is deleted, and leave a mark that only a complete scrub takes away."""
        self._rows("overwrite_deleted").fetchall()
        self._rows("add_scrub", mark=secrets.token_hex(8))

    @reads
    def count(self, key: SessionKey) -> int:
        """How many messages of a session were erased; 0 of one that was never made."""
        session = find_session(self._database, key)
        if session is None:
            return 0
        ((count,),) = self._rows("count_erased", key=session.key)
        return int(count)

    @writes
    def messages(self, key: SessionKey, messages: Sequence[Message]) -> int:
        """Write what is left of messages over what they were, and take their payloads out."""
        session = need_session(self._database, key)
        check_erased(messages)
        for message in messages:
            place = need_place(self._database, session.key, key, message.id)
            forget_documents(self._database, key.space, session.key, place.segment, place.position, place.position)
            stand: Bindings = {"key": session.key, "segment": place.segment, "position": place.position}
            # A message without a row here would be taken for one that is still to be indexed.
            self._rows("add_document", **stand, document=None, terms=0)
            parts = msgspec.json.encode(message.parts).decode()
            self._rows("erase_message", **_erased_row(self._database, session.key, message.id, parts))
            self._rows("delete_payload", **stand)
        return len(messages)

    @writes
    def notes(self, key: SessionKey, annotations: Sequence[AnnotationId], marks: Sequence[Rebuild]) -> int:
        """Delete annotations by id, and marks by where they stand and what they are for."""
        session = need_session(self._database, key)
        gone = 0
        for name in annotations:
            self._rows("delete_annotation", key=session.key, id=name)
            gone += self._database.changes()
        for mark in marks:
            place = find_place(self._database, session.key, mark.at)
            if place is None:
                continue
            self._rows(
                "delete_rebuild",
                key=session.key,
                summarizer=mark.summarizer,
                budget_tokens=mark.budget_tokens,
                segment=place.segment,
                at_position=mark.at_position,
            )
            gone += self._database.changes()
        return gone

    @writes
    def session(self, key: SessionKey) -> bool:
        """Delete all that is kept of a session, and its name from what was spent."""
        named = {"space": key.space, "session": key.session}
        if key.session:
            self._rows("unname_spending", **named)
            self._rows("delete_spending_of_session", **named)
        remove_run(self._database, key.space, key.session)
        session = find_session(self._database, key)
        if session is None:
            return False
        _delete_rows(self._database, key.space, session.key)
        return True

    @writes
    def space(self, space: str) -> int:
        """Delete all that is kept of a space."""
        keys = [key for (key,) in self._rows("list_keys", space=space)]
        for key in keys:
            _delete_rows(self._database, space, key)
        remove_memories(
            self._database,
            space,
            [name for (name,) in self._rows("list_memory_ids", space=space)],
        )
        for query in OF_SPACE:
            self._rows(query, space=space)
        return len(keys)


def _erased_row(database: apsw.Connection, session: int, name: MessageId, parts: str) -> Bindings:
    """The row of a message as it is once it was erased, with its checksum."""
    values = database.execute(SQL["message_to_erase"], {"key": session, "id": name}).fetchone()
    stands = dict(zip(STANDS, values or (), strict=True))
    return with_checksum("messages", {**stands, "source_id": None, "parts": parts, "erased": 1})


def _delete_rows(database: apsw.Connection, space: str, session: int) -> None:
    rows = cast(list[tuple[int]], database.execute(SQL["list_segment_numbers"], {"key": session}).fetchall())
    for (segment,) in rows:
        forget_documents(database, space, session, segment, 0, END)
    for query in OF_SESSION:
        database.execute(SQL[query], {"key": session})

"""Make the indexes of words anew: of a file that an earlier version wrote, and where they don't fit what is stored.

The number of the rules that all of a file's words are indexed by stands in its header, as SQLite's `user_version`. It
is 0 for as long as messages may be there that no index knows of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import apsw
import msgspec

from ireneo.adapters.sqlite.channel import Channel
from ireneo.adapters.sqlite.documents import Placed, index_messages
from ireneo.adapters.sqlite.memories import index_memory
from ireneo.adapters.sqlite.queries import SQL
from ireneo.adapters.sqlite.rows import from_row, message_row
from ireneo.adapters.sqlite.undone import settle_undone
from ireneo.adapters.sqlite.word_faults import find_word_faults
from ireneo.memories.index import CLASS_BITS, ORDINAL_BITS
from ireneo.memories.recall.words import FORMAT
from ireneo.memories.record import Record

BATCH = 20_000
"""Messages that are indexed in one transaction: a few seconds, in which nobody else writes."""

_RECORD = msgspec.json.Decoder(Record)
_SHIFT = CLASS_BITS + ORDINAL_BITS


class SqliteWords:
    """`ireneo.ports.search.WordsPort` over one open transaction."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def faults(self, space: str) -> Sequence[str]:
        """What is wrong with the index of a space."""
        return self._channel.ask(find_word_faults, space)

    def rebuild(self, space: str) -> int:
        """Index a space anew."""
        return self._channel.change(rebuild_words, space)


def is_current(database: apsw.Connection) -> bool:
    """Whether all of a file's words are indexed, by the rules of this version."""
    return read_format(database) == FORMAT


def read_format(database: apsw.Connection) -> int:
    """The number of the rules that a file's words are indexed by; 0: some are not."""
    ((number,),) = database.execute(SQL["read_format"])
    return int(number)


def reindex(database: apsw.Connection, limit: int) -> int:
    """Index up to `limit` messages that are not indexed yet, or are by other rules, in one transaction.

    Returns how many were; once there are none left, `is_current`. Several processes may do this at once, and one that
    ends in the middle is gone on from where it stopped.
    """
    database.execute(SQL["begin_write"])
    try:
        indexed = 0 if is_current(database) else _step(database, limit)
        database.execute(SQL["commit"])
    except BaseException:
        if database.in_transaction:
            database.execute(SQL["roll_back"])
        raise
    return indexed


def rebuild_words(database: apsw.Connection, space: str) -> int:
    """Index a space anew, every message and memory under the number that it had; says how many messages that were."""
    sessions = cast(list[tuple[int, str]], database.execute(SQL["sessions_of_space"], {"space": space}).fetchall())
    database.execute(SQL["forget_authors"], {"space": space})
    database.execute(SQL["reset_space"], {"space": space})
    for key, _ in sessions:
        _forget_words(database, key)
    _index_memories(database, space)
    return sum(_index_session(database, key, space, -1) for key, _ in sessions)


def _step(database: apsw.Connection, limit: int) -> int:
    sessions = cast(list[tuple[int, str]], database.execute(SQL["list_all_sessions"]).fetchall())
    if read_format(database) != 0:
        for (space,) in database.execute(SQL["list_all_spaces"]).fetchall():
            database.execute(SQL["forget_authors"], {"space": space})
            database.execute(SQL["reset_space"], {"space": space})
            _index_memories(database, str(space))
        for key, _ in sessions:
            _forget_words(database, key)
        _write_format(database, 0)
    indexed = 0
    for key, space in sessions:
        indexed += _index_session(database, key, space, limit - indexed)
        if indexed >= limit:
            return indexed
    _write_format(database, FORMAT)
    return indexed


def _write_format(database: apsw.Connection, number: int) -> None:
    # A pragma takes no bindings.
    database.execute(f"PRAGMA user_version = {number:d}")


def _forget_words(database: apsw.Connection, session: int) -> None:
    """Leave of a session's documents only their numbers, and a mark that they are to be indexed."""
    run = {"key": session, "first": session << _SHIFT, "last": (session + 1 << _SHIFT) - 1}
    database.execute(SQL["forget_all_words"], run)
    for query in ("forget_documents_of_nothing", "mark_documents", "mend_ordinals"):
        database.execute(SQL[query], {"key": session})


def _index_session(database: apsw.Connection, session: int, space: str, limit: int) -> int:
    placed = [
        Placed(segment=segment, message=from_row(message_row(light)), document=document)
        for segment, document, *light in database.execute(SQL["list_unindexed"], {"key": session, "limit": limit})
    ]
    if placed:
        index_messages(database, space, session, placed)
    settle_undone(database, space, session)
    return len(placed)


def _index_memories(database: apsw.Connection, space: str) -> None:
    """Index every memory of a space anew, after its counters were set to nothing."""
    rows = database.execute(SQL["list_memories_to_index"], {"space": space}).fetchall()
    for number, name, document, text in cast(list[tuple[int, str, int | None, str]], rows):
        if document is not None:
            database.execute(SQL["forget_memory_words"], {"space": space, "document": document})
        index_memory(database, space, name, number, _RECORD.decode(text))

"""What finds messages and memories by their words, in SQLite, and makes the indexes anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import apsw
import msgspec

from ireneo.adapters.sqlite.connection import SQL, Port, from_row, message_row, reads, writes
from ireneo.adapters.sqlite.index import Placed, find_prefix, index_messages, token
from ireneo.adapters.sqlite.log import list_aside, need_place, need_session, settle_undone
from ireneo.adapters.sqlite.memories import index_memory
from ireneo.language.words import FORMAT
from ireneo.log.message import MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.index import CLASS_BITS, ORDINAL_BITS, numbers_at, place_of, session_of
from ireneo.memories.record import Record
from ireneo.ports.memories import FoundMemory, FoundMessage, FoundSession, IndexName, IndexSize, SearchPort, WordsPort

MOST_NAMED = 20
"""So many faults of one kind are named."""

WORD_SENTENCES: Mapping[str, str] = {
    "messages_without_document": "{1} messages of session {0!r} are in no index of words.",
    "documents_of_nothing": "{1} documents of session {0!r} are of messages that aren't there.",
    "documents_without_words": "{1} documents of session {0!r} have no words in the index.",
    "words_of_no_document": "The index has the words of {1} documents of session {0!r} that aren't there.",
    "memories_without_words": "Memory {0} has no words in the index.",
    "wrong_counts_of_messages": "Of the index {0} terms were counted, and {1} are there.",
    "wrong_counts_of_memories": "Of the index {0} terms were counted, and {1} are there.",
}
"""What the rows of each query say."""


def find_word_faults(database: apsw.Connection, space: str) -> list[str]:
    """What is wrong with the index of a space, a sentence each."""
    found: list[str] = []
    for query, sentence in WORD_SENTENCES.items():
        rows = database.execute(SQL[query], {"space": space}).fetchall()
        found += [sentence.format(*row) for row in rows[:MOST_NAMED]]
        if len(rows) > MOST_NAMED:
            found.append(f"There are more faults of this kind than these {MOST_NAMED}.")
    return found


_NUMBERS = msgspec.json.Decoder(list[int])
_RECORD = msgspec.json.Decoder(Record)

_SIZE: Mapping[IndexName, str] = {"messages": "size_of_messages", "memories": "size_of_memories"}
_COUNT: Mapping[IndexName, str] = {"messages": "count_messages_with", "memories": "count_memories_with"}
_FIND: Mapping[IndexName, str] = {"messages": "messages_with", "memories": "memories_with"}


class SqliteSearch(Port, SearchPort):
    """`ireneo.ports.memories.SearchPort` in SQLite."""

    @reads
    def size(self, space: str, index: IndexName) -> IndexSize:
        """How many documents and terms a space has in an index, as they were counted."""
        row = self._row(_SIZE[index], space=space)
        return IndexSize(documents=0, terms=0) if row is None else IndexSize(documents=row[0], terms=row[1])

    @reads
    def count(self, space: str, index: IndexName, terms: Sequence[str]) -> Mapping[str, int]:
        """How many documents have each term: its postings are walked, and none of them is handed out."""
        prefix = find_prefix(self._database, space)
        if prefix is None:
            return dict.fromkeys(terms, 0)
        counted: dict[str, int] = {}
        for term in dict.fromkeys(terms):
            ((counted[term],),) = self._rows(_COUNT[index], space_term=_phrase(prefix, term))
        return counted

    @reads
    def postings(self, space: str, index: IndexName, terms: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """The numbers of the documents that have each term, rising, as the index has them."""
        prefix = find_prefix(self._database, space)
        found: dict[str, list[int]] = {term: [] for term in terms}
        if prefix is not None:
            for term in found:
                ((numbers,),) = self._rows(_FIND[index], space_term=_phrase(prefix, term))
                found[term] = _NUMBERS.decode(numbers)
        return found

    @reads
    def messages(self, space: str, documents: Sequence[int]) -> Sequence[FoundMessage]:
        """Read messages by the place in their number, in the order asked."""
        found: list[FoundMessage] = []
        for document in documents:
            first, last = numbers_at(place_of(document))
            row = self._row("message_of_document", space=space, key=session_of(document), first=first, last=last)
            if row is not None:
                session, number, *light = row
                message = from_row(message_row(light))
                found.append(FoundMessage(document=number, key=SessionKey(space, session), message=message))
        return found

    @reads
    def memories(self, space: str, documents: Sequence[int]) -> Sequence[FoundMemory]:
        found: list[FoundMemory] = []
        for document in documents:
            row = self._row("memory_of_document", space=space, number=place_of(document))
            if row is not None:
                found.append(FoundMemory(document=row[0], record=_RECORD.decode(row[1])))
        return found

    @reads
    def authors(self, space: str) -> Mapping[str, int]:
        return dict(cast(list[tuple[str, int]], self._rows("list_authors", space=space).fetchall()))

    @reads
    def abandoned(self, space: str) -> Sequence[tuple[int, int]]:
        return cast(list[tuple[int, int]], self._rows("list_undone", space=space).fetchall())

    @reads
    def off_path(self, key: SessionKey, to: MessageId) -> Sequence[tuple[int, int]]:
        session = need_session(self._database, key)
        return list_aside(self._database, session.key, need_place(self._database, session.key, key, to))

    @reads
    def of_project(self, space: str, documents: Sequence[int], project: str) -> Sequence[int]:
        ((numbers,),) = self._rows(
            "documents_of_project",
            space=space,
            documents=msgspec.json.encode(list(documents)).decode(),
            project=project,
        )
        return _NUMBERS.decode(numbers)

    @reads
    def sessions(self, space: str, keys: Sequence[int]) -> Mapping[int, FoundSession]:
        found: dict[int, FoundSession] = {}
        for key in keys:
            row = self._row("session_of_number", key=key, space=space)
            if row is not None:
                found[key] = FoundSession(session=row[0], project=row[1] or "")
        return found


def _phrase(prefix: str, term: str) -> str:
    """A term as the index is asked for it: quoted, so that no word of its own language is heard in it."""
    return f'"{token(prefix, term)}"'


BATCH = 20_000
"""Messages that are indexed in one transaction: a few seconds, in which nobody else writes."""

_SHIFT = CLASS_BITS + ORDINAL_BITS


class SqliteWords(Port, WordsPort):
    """`ireneo.ports.memories.WordsPort` in SQLite."""

    @reads
    def faults(self, space: str) -> Sequence[str]:
        """What is wrong with the index of a space."""
        return find_word_faults(self._database, space)

    @writes
    def rebuild(self, space: str) -> int:
        """Index a space anew."""
        return rebuild_words(self._database, space)


def is_current(database: apsw.Connection) -> bool:
    """Whether all of a file's words are indexed, by the rules of this version."""
    return read_format(database) == FORMAT


def read_format(database: apsw.Connection) -> int:
    """The number of the rules that a file's words are indexed by; 0: some are not.

    It stands in the file's header, as SQLite's `user_version`, and is 0 for as long as messages may be there that no
    index knows of.
    """
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

"""What finds messages and memories by their words, in SQLite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import apsw
import msgspec

from ireneo.adapters.sqlite.channel import Channel
from ireneo.adapters.sqlite.places import need_place, need_session
from ireneo.adapters.sqlite.queries import SQL
from ireneo.adapters.sqlite.rows import from_row, message_row
from ireneo.adapters.sqlite.undone import list_aside
from ireneo.adapters.sqlite.words import find_prefix, token
from ireneo.log.message import MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.index import numbers_at, place_of, session_of
from ireneo.memories.record import Record
from ireneo.ports.search import FoundMemory, FoundMessage, FoundSession, Shelf, Size

_NUMBERS = msgspec.json.Decoder(list[int])
_RECORD = msgspec.json.Decoder(Record)

_SIZE: Mapping[Shelf, str] = {"messages": "size_of_messages", "memories": "size_of_memories"}
_COUNT: Mapping[Shelf, str] = {"messages": "count_messages_with", "memories": "count_memories_with"}
_FIND: Mapping[Shelf, str] = {"messages": "messages_with", "memories": "memories_with"}


class SqliteSearch:
    """`ireneo.ports.search.SearchPort` over one open transaction."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def size(self, space: str, shelf: Shelf) -> Size:
        """How much there is."""
        return self._channel.ask(read_size, space, shelf)

    def count(self, space: str, shelf: Shelf, terms: Sequence[str]) -> Mapping[str, int]:
        """How many documents have each term."""
        return self._channel.ask(count_documents, space, shelf, terms)

    def postings(self, space: str, shelf: Shelf, terms: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """The numbers of the documents that have each term."""
        return self._channel.ask(find_documents, space, shelf, terms)

    def messages(self, space: str, documents: Sequence[int]) -> Sequence[FoundMessage]:
        """Read messages by number."""
        return self._channel.ask(read_messages, space, documents)

    def memories(self, space: str, documents: Sequence[int]) -> Sequence[FoundMemory]:
        """Read memories by number."""
        return self._channel.ask(read_memories, space, documents)

    def authors(self, space: str) -> Mapping[str, int]:
        """In how many of the space's messages each author speaks."""
        return self._channel.ask(list_authors, space)

    def undone(self, space: str) -> Sequence[tuple[int, int]]:
        """The messages that lie on no branch, as runs of numbers."""
        return self._channel.ask(list_undone, space)

    def aside(self, key: SessionKey, to: MessageId) -> Sequence[tuple[int, int]]:
        """The messages of a session that don't lie on the path to one of them, as runs of numbers."""
        return self._channel.ask(find_aside, key, to)

    def of_project(self, space: str, documents: Sequence[int], project: str) -> Sequence[int]:
        """Those of the documents of memories that may be of a project, or of none."""
        return self._channel.ask(find_of_project, space, documents, project)

    def sessions(self, space: str, keys: Sequence[int]) -> Mapping[int, FoundSession]:
        """The sessions whose keys begin numbers."""
        return self._channel.ask(read_sessions, space, keys)


def read_size(database: apsw.Connection, space: str, shelf: Shelf) -> Size:
    """How many documents and terms a space has on a shelf, as they were counted."""
    row = database.execute(SQL[_SIZE[shelf]], {"space": space}).fetchone()
    return Size(documents=0, terms=0) if row is None else Size(documents=row[0], terms=row[1])


def count_documents(database: apsw.Connection, space: str, shelf: Shelf, terms: Sequence[str]) -> dict[str, int]:
    """How many documents have each term: its postings are walked, and none of them is handed out."""
    prefix = find_prefix(database, space)
    if prefix is None:
        return dict.fromkeys(terms, 0)
    counted: dict[str, int] = {}
    for term in dict.fromkeys(terms):
        ((counted[term],),) = database.execute(SQL[_COUNT[shelf]], {"space_term": _phrase(prefix, term)})
    return counted


def find_documents(database: apsw.Connection, space: str, shelf: Shelf, terms: Sequence[str]) -> dict[str, list[int]]:
    """The numbers of the documents that have each term, rising, as the index has them."""
    prefix = find_prefix(database, space)
    found: dict[str, list[int]] = {term: [] for term in terms}
    if prefix is not None:
        for term in found:
            ((numbers,),) = database.execute(SQL[_FIND[shelf]], {"space_term": _phrase(prefix, term)})
            found[term] = _NUMBERS.decode(numbers)
    return found


def read_messages(database: apsw.Connection, space: str, documents: Sequence[int]) -> list[FoundMessage]:
    """Read messages by the place in their number, in the order asked."""
    found: list[FoundMessage] = []
    for document in documents:
        first, last = numbers_at(place_of(document))
        asked = {"space": space, "key": session_of(document), "first": first, "last": last}
        row = database.execute(SQL["message_of_document"], asked).fetchone()
        if row is not None:
            session, number, *light = row
            message = from_row(message_row(light))
            found.append(FoundMessage(document=number, key=SessionKey(space, session), message=message))
    return found


def read_memories(database: apsw.Connection, space: str, documents: Sequence[int]) -> list[FoundMemory]:
    """Read memories by the place in their number, in the order asked."""
    found: list[FoundMemory] = []
    for document in documents:
        asked = {"space": space, "number": place_of(document)}
        row = database.execute(SQL["memory_of_document"], asked).fetchone()
        if row is not None:
            found.append(FoundMemory(document=row[0], record=_RECORD.decode(row[1])))
    return found


def list_authors(database: apsw.Connection, space: str) -> dict[str, int]:
    """In how many of a space's messages each author speaks, by name."""
    return dict(cast(list[tuple[str, int]], database.execute(SQL["list_authors"], {"space": space}).fetchall()))


def list_undone(database: apsw.Connection, space: str) -> list[tuple[int, int]]:
    """The messages of a space that lie on no branch, as runs of numbers."""
    return cast(list[tuple[int, int]], database.execute(SQL["list_undone"], {"space": space}).fetchall())


def find_aside(database: apsw.Connection, key: SessionKey, to: MessageId) -> list[tuple[int, int]]:
    """The messages of a session that don't lie on the path to one of them."""
    session = need_session(database, key)
    return list_aside(database, session.key, need_place(database, session.key, key, to))


def find_of_project(database: apsw.Connection, space: str, documents: Sequence[int], project: str) -> list[int]:
    """Those of the documents of memories that may be of a project, or of none."""
    asked = {"space": space, "documents": msgspec.json.encode(list(documents)).decode(), "project": project}
    ((numbers,),) = database.execute(SQL["documents_of_project"], asked)
    return _NUMBERS.decode(numbers)


def read_sessions(database: apsw.Connection, space: str, keys: Sequence[int]) -> dict[int, FoundSession]:
    """The sessions whose keys begin numbers; unknown ones are passed over."""
    found: dict[int, FoundSession] = {}
    for key in keys:
        row = database.execute(SQL["session_of_number"], {"key": key, "space": space}).fetchone()
        if row is not None:
            found[key] = FoundSession(session=row[0], project=row[1] or "")
    return found


def _phrase(prefix: str, term: str) -> str:
    """A term as the index is asked for it: quoted, so that no word of its own language is heard in it."""
    return f'"{token(prefix, term)}"'

"""What the engine needs of a store to find messages and memories by their words.

Every message and every memory is a document with a number (`ireneo.memories.index`); its terms
(`ireneo.memories.recall.words`) are indexed in the transaction that stores it. No call sees a document of another
space, and nothing that it gives depends on one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from ireneo.log.message import Message, MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.record import Record

Shelf = Literal["messages", "memories"]


class Size(Struct, frozen=True, kw_only=True):
    """How much a space holds of a shelf."""

    documents: int
    terms: int
    """Of all documents together."""


class FoundMessage(Struct, frozen=True, kw_only=True):
    """A message by its document's number."""

    document: int
    key: SessionKey
    message: Message


class FoundMemory(Struct, frozen=True, kw_only=True):
    """A memory by its document's number."""

    document: int
    record: Record


class FoundSession(Struct, frozen=True, kw_only=True):
    """A session by the key that the numbers of its documents begin with."""

    session: str
    project: str
    """The project that it worked on; empty where none is known."""


class SearchPort(Protocol):
    """The documents of a space."""

    def size(self, space: str, shelf: Shelf) -> Size:
        """How much there is."""

    def count(self, space: str, shelf: Shelf, terms: Sequence[str]) -> Mapping[str, int]:
        """How many documents have each term; those that none has count 0."""

    def postings(self, space: str, shelf: Shelf, terms: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """The numbers of the documents that have each term, rising; none of a term that no document has."""

    def messages(self, space: str, documents: Sequence[int]) -> Sequence[FoundMessage]:
        """Read messages without natives and records, in the order asked; unknown ones are passed over.

        They are known by the place in their number: what it says of length and role needn't be right in what is asked,
        and is in what is found.
        """

    def memories(self, space: str, documents: Sequence[int]) -> Sequence[FoundMemory]:
        """Read memories, known as messages are, in the order asked; unknown ones are passed over."""

    def authors(self, space: str) -> Mapping[str, int]:
        """In how many of the space's messages each author speaks, as the names are written, by name."""

    def undone(self, space: str) -> Sequence[tuple[int, int]]:
        """The messages of a space that lie on no branch, as runs of numbers: the first and the last of each, rising.

        No number of a message that lies on a branch stands within a run.
        """

    def aside(self, key: SessionKey, to: MessageId) -> Sequence[tuple[int, int]]:
        """The messages of a session that don't lie on the path to `to`, as such runs."""

    def of_project(self, space: str, documents: Sequence[int], project: str) -> Sequence[int]:
        """Those of these documents of memories that may be of `project` or of none, in the order asked.

        Of what alone another one is known to have shown, none is given; the others are to be looked at more closely.
        """

    def sessions(self, space: str, keys: Sequence[int]) -> Mapping[int, FoundSession]:
        """The sessions whose keys (`session_of` a number) these are; unknown ones are passed over."""


class WordsPort(Protocol):
    """The index of words itself: it follows from what is stored, so it can always be made anew."""

    def faults(self, space: str) -> Sequence[str]:
        """Where the index of a space doesn't fit what is stored, a sentence each."""

    def rebuild(self, space: str) -> int:
        """Index a space anew, each message and memory under its number. Returns how many messages were looked at."""

"""What one space has learned, in memory: its memories and its scratchpads."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ireneo.lessons.run import LearnedRun, Observation
from ireneo.memories.index import Vector, memory_number, terms_of_memory
from ireneo.memories.record import MemoryId, Record
from ireneo.memories.scratchpad import Pad
from ireneo.ports.runs import LearnedFile
from ireneo.ports.search import Shelf


class VectorSet(Struct, frozen=True, kw_only=True):
    """The vectors of one space, shelf and embedder."""

    changes: int = 0
    vectors: Mapping[int, tuple[int, str, Vector]] = {}
    """By document: the change that brought it, the text that it is of (where that may change), and the vector."""
    gone: Mapping[int, int] = {}
    """The documents that lost theirs, and the change that took it."""
    forgotten: int = 0
    """Of what went before this change nobody knows any more what was lost."""


class Kept:
    """The state of a space. A transaction changes a copy, so one that a reader holds never changes."""

    def __init__(self) -> None:
        """Make a space that has learned nothing."""
        self.memories: dict[MemoryId, Record] = {}
        self.numbers: dict[MemoryId, int] = {}
        self.numbered = 0
        """The last number that a memory was given."""
        self.terms: dict[MemoryId, tuple[str, ...]] = {}
        self.documents: dict[int, MemoryId] = {}
        """By number; a memory without terms is none."""
        self.pads: dict[str, Pad] = {}
        """By task."""
        self.runs: dict[str, LearnedRun] = {}
        """By session."""
        self.sightings: dict[str, Mapping[str, Observation]] = {}
        """By cue, then session; no mapping in it is ever changed."""
        self.ledger: dict[tuple[str, str], LearnedFile] = {}
        """By learner and digest."""
        self.vectors: dict[tuple[Shelf, str], VectorSet] = {}
        """By shelf and embedder."""

    def copy(self) -> Kept:
        """One of its own with the same values, which are immutable."""
        other = Kept()
        other.memories = dict(self.memories)
        other.numbers = dict(self.numbers)
        other.numbered = self.numbered
        other.terms = dict(self.terms)
        other.documents = dict(self.documents)
        other.pads = dict(self.pads)
        other.runs = dict(self.runs)
        other.sightings = dict(self.sightings)
        other.ledger = dict(self.ledger)
        other.vectors = dict(self.vectors)
        return other

    def put(self, record: Record) -> bool:
        """Store a memory, in the place of the one with its id; says whether there was none."""
        new = record.id not in self.memories
        if new:
            self.numbered += 1
            self.numbers[record.id] = self.numbered
        else:
            self._forget_words(record.id)
        self.memories[record.id] = record
        self.terms[record.id] = tuple(terms_of_memory(record))
        if self.terms[record.id]:
            self.documents[self.number(record.id)] = record.id
        return new

    def remove(self, name: MemoryId) -> bool:
        """Take a memory out; says whether it was there."""
        if name not in self.memories:
            return False
        self._forget_words(name)
        del self.memories[name], self.numbers[name], self.terms[name]
        return True

    def number(self, name: MemoryId) -> int:
        """The number of the document that a memory is."""
        return memory_number(self.numbers[name], len(self.terms[name]))

    def _forget_words(self, name: MemoryId) -> None:
        self.documents.pop(self.number(name), None)

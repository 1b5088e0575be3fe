"""The vectors that are searched, held in memory and kept up to date with what other processes write and erase."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from ireneo.errors import EmbedderError, MissingExtra
from ireneo.memories.recall.vector import Vector
from ireneo.ports.search import Shelf
from ireneo.ports.transition import VectorsPort
from ireneo.ports.vectors import VectorChanges

if TYPE_CHECKING:
    from ireneo.memories.recall.nearest import Vectors

MOST_BYTES = 512 * 1024 * 1024
"""What the vectors of all spaces together may take: those of about a million documents of 384 dimensions."""
SMALL = 5_000
"""Vectors up to which a search takes less time than handing it to another thread."""

_Key: TypeAlias = tuple[str, Shelf, str]


class HeldVectors:
    """The vectors of the spaces that were searched last, of one store; for the tasks of one event loop."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        """Hold none yet, and never more than `most_bytes`, but for one space that is larger by itself."""
        self._most_bytes = most_bytes
        self._held: dict[_Key, _Held] = {}

    @property
    def size_bytes(self) -> int:
        """The memory that they take."""
        return sum(held.vectors.size_bytes for held in self._held.values())

    def count(self, space: str, shelf: Shelf, embedder: str) -> int:
        """How many documents had a vector when they were searched last."""
        held = self._held.get((space, shelf, embedder))
        return len(held.vectors) if held else 0

    async def nearest(
        self, port: VectorsPort, space: str, shelf: Shelf, embedder: str, query: Vector, k: int
    ) -> Sequence[tuple[int, float]]:
        """The `k` documents whose vectors are nearest to `query`, with their cosines, the nearest first.

        `port` is that of a `read()`: what a transaction has not committed must not be remembered. What was erased
        before that snapshot is never among them; what another task has read since may be. Raises MissingExtra without
        the extra `vectors`, EmbedderError where `query` has another number of dimensions than the vectors.
        """
        key = (space, shelf, embedder)
        # Taken out and put back at the end: the one that was used last stands last.
        held = self._held.pop(key) if key in self._held else _Held()
        self._held[key] = held
        async with held.turn:
            changes = await port.since(space, shelf, embedder, held.change)
            try:
                if len(changes.added) + len(held.vectors) > SMALL:
                    found = await asyncio.to_thread(held.search, held.change, changes, query, k)
                else:
                    found = held.search(held.change, changes, query, k)
            except ValueError as wrong:
                raise EmbedderError(
                    f"The vectors of {embedder} can't be compared: {wrong}. Give it another name, and make them anew."
                ) from wrong
        self._let_go(key)
        return found

    def _let_go(self, used: _Key) -> None:
        """Drop the spaces that were not used for the longest, until the others fit."""
        for key in list(self._held):
            if self.size_bytes <= self._most_bytes:
                return
            if key != used:
                del self._held[key]


class _Held:
    """The vectors of one space, shelf and embedder, and the change up to which they are known."""

    def __init__(self) -> None:
        self.change = 0
        self.vectors = _vectors()
        self.turn = asyncio.Lock()
        self._guard = Lock()

    def search(self, known: int, changes: VectorChanges, query: Vector, k: int) -> Sequence[tuple[int, float]]:
        """Take in what changed since `known`, and search."""
        # A task that is cancelled leaves its thread behind: that must neither disturb the next one, nor put what it
        # read over what is newer.
        with self._guard:
            if self.change == known:
                if changes.whole:
                    self.vectors = _vectors()
                self.vectors.change(changes.added, changes.removed)
                self.change = changes.change
            return self.vectors.nearest(query, k)


def _vectors() -> Vectors:
    """None of them yet. Raises MissingExtra."""
    try:
        from ireneo.memories.recall.nearest import Vectors
    except ImportError as missing:
        told = "To search by vectors needs the extra `vectors`: pip install 'ireneo[vectors]'."
        raise MissingExtra(told) from missing
    return Vectors()

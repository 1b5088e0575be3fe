"""Vectors: computed for documents without one, and kept in memory up to date with the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from ireneo.errors import EmbedderError, MissingExtra
from ireneo.log.message import text_of_message
from ireneo.memories.index import Vector
from ireneo.ports.memories import IndexName, SearchPort, VectorChanges, VectorsPort
from ireneo.ports.models import Embedder
from ireneo.ports.store import Store, Transaction

if TYPE_CHECKING:
    from ireneo.memories.nearest import Vectors

INDEXES: tuple[IndexName, ...] = ("memories", "messages")
"""Memories first: they are few, and searched most."""
TOGETHER = 256
"""The number of documents per transaction: a stopped process loses at most this much work."""


class EmbedReport(Struct, frozen=True, kw_only=True):
    """How many vectors were computed."""

    documents: int
    """How many messages and memories got a vector."""
    left: bool
    """Whether some are still missing."""


async def embed_missing(store: Store, space: str, embedder: Embedder, limit: int = 1_000) -> EmbedReport:
    """Compute the vectors of at most `limit` documents, memories first, then the newest messages.

    The stored data determine what is due, so this may be stopped anywhere; concurrent processes only do some work
    twice. The embedder is asked outside any transaction: a document that was erased or rewritten meanwhile gets no
    vector. Raises EmbedderError, with the vectors before it kept.
    """
    done = 0
    for index in INDEXES:
        while done < limit:
            texts = await store.read(_due_texts, space, index, embedder.name, min(TOGETHER, limit - done))
            if not texts:
                break
            vectors = await vectors_of(embedder, list(texts.values()))
            kept = await store.write(_store_vectors, space, index, embedder.name, texts, vectors)
            done += kept
            if not kept:
                # Other processes were quicker, or all texts were rewritten: leave the rest to a later call.
                break
    left = await store.read(lambda tx: [tx.vectors.due(space, index, embedder.name, 1) for index in INDEXES])
    return EmbedReport(documents=done, left=any(left))


def _due_texts(tx: Transaction, space: str, index: IndexName, name: str, most: int) -> Mapping[int, str]:
    return _texts(tx.search, space, index, tx.vectors.due(space, index, name, most))


async def vectors_of(embedder: Embedder, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
    """The vector of each text. Raises EmbedderError, also for a wrong number or size of vectors."""
    vectors = await embedder.embed(texts, query=query)
    if len(vectors) != len(texts):
        raise EmbedderError(f"{embedder.name} gave {len(vectors):,} vectors for {len(texts):,} texts.")
    size = embedder.dimensions or len(vectors[0])
    if odd := [each for each in vectors if len(each) != size]:
        raise EmbedderError(f"{embedder.name} gave a vector of {len(odd[0]):,} bytes, and {size:,} are wanted.")
    return vectors


def _store_vectors(
    tx: Transaction, space: str, index: IndexName, name: str, texts: Mapping[int, str], vectors: Sequence[Vector]
) -> int:
    """Store the vectors of those documents whose text has not changed."""
    now = _texts(tx.search, space, index, list(texts))
    still = {
        document: vector
        for (document, text), vector in zip(texts.items(), vectors, strict=True)
        if now.get(document) == text
    }
    return tx.vectors.put(space, index, name, still)


def _texts(port: SearchPort, space: str, index: IndexName, documents: Sequence[int]) -> Mapping[int, str]:
    if index == "messages":
        return {each.document: text_of_message(each.message.draft) for each in port.messages(space, documents)}
    return {each.document: each.record.text for each in port.memories(space, documents)}


MOST_BYTES = 512 * 1024 * 1024
"""Limit for the vectors of all spaces: about a million documents of 384 dimensions."""

_Key: TypeAlias = tuple[str, IndexName, str]


class VectorCache:
    """The vectors of the most recently searched spaces of a store."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        """Hold at most `most_bytes`, unless a single space is larger."""
        self._most_bytes = most_bytes
        self._held: dict[_Key, _CachedVectors] = {}
        self._guard = Lock()

    @property
    def size_bytes(self) -> int:
        """The memory they take."""
        return sum(held.vectors.size_bytes for held in self._held.values())

    def count(self, space: str, index: IndexName, embedder: str) -> int:
        """How many documents had a vector when they were last searched."""
        held = self._held.get((space, index, embedder))
        return len(held.vectors) if held else 0

    def nearest(
        self, port: VectorsPort, space: str, index: IndexName, embedder: str, query: Vector, k: int
    ) -> Sequence[tuple[int, float]]:
        """The `k` documents whose vectors are nearest to `query`, with their cosines, the nearest first.

        `port` must be that of a `read()`, since uncommitted vectors must not be cached. Nothing erased before that
        snapshot is returned. Raises MissingExtra without the extra `vectors`, and EmbedderError if `query` has another
        number of dimensions than the vectors.
        """
        key = (space, index, embedder)
        if (likely := port.likely(space, index, embedder, query, k)) is not None:
            with self._guard:
                self._held.pop(key, None)
            return _CachedVectors().search(VectorChanges(change=0, added=likely, removed=(), whole=False), query, k)
        with self._guard:
            held = self._held[key] = self._held.pop(key) if key in self._held else _CachedVectors()
        with held.turn:
            changes = port.since(space, index, embedder, held.change)
            try:
                found = held.search(changes, query, k)
            except ValueError as wrong:
                raise EmbedderError(
                    f"The vectors of {embedder} can't be compared: {wrong}. Give it another name, and make them anew."
                ) from wrong
        with self._guard:
            self._drop_oldest(key)
        return found

    def _drop_oldest(self, used: _Key) -> None:
        """Drop the least recently used spaces until all others fit."""
        for key in list(self._held):
            if self.size_bytes <= self._most_bytes:
                return
            if key != used:
                del self._held[key]


class _CachedVectors:
    """The vectors of one space, index and embedder, and the number of their last change."""

    def __init__(self) -> None:
        self.change = 0
        self.vectors = _vectors()
        self.turn = Lock()
        """Held from reading changes to applying them, so that no older change overwrites a newer one."""

    def search(self, changes: VectorChanges, query: Vector, k: int) -> Sequence[tuple[int, float]]:
        if changes.whole:
            self.vectors = _vectors()
        self.vectors.change(changes.added, changes.removed)
        self.change = changes.change
        return self.vectors.nearest(query, k)


def _vectors() -> Vectors:
    """Create an empty set of vectors. Raises MissingExtra."""
    try:
        from ireneo.memories.nearest import Vectors
    except ImportError as missing:
        told = "To search by vectors needs the extra `vectors`: pip install 'ireneo[vectors]'."
        raise MissingExtra(told) from missing
    return Vectors()

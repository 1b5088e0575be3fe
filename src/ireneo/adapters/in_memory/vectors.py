"""The vectors of documents, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ireneo.adapters.in_memory.kept import VectorSet
from ireneo.adapters.in_memory.shelf import Shelf
from ireneo.adapters.vector_lengths import check_lengths
from ireneo.memories.index import Vector
from ireneo.ports.search import Shelf as Shelved
from ireneo.ports.vectors import VectorChanges


class MemoryVectors:
    """`ireneo.ports.vectors.VectorsPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def put(self, space: str, shelf: Shelved, embedder: str, vectors: Mapping[int, Vector]) -> int:
        """Keep vectors of documents that are still there."""
        kept = self._shelf.change_kept(space)
        if not vectors:
            return 0
        there = _documents(self._shelf, space, shelf)
        known = _set(self._shelf, space, shelf, embedder)
        before = next((len(vector) for _, _, vector in known.vectors.values()), None)
        check_lengths(embedder, vectors, before)
        now, changes = dict(known.vectors), known.changes
        for document, vector in vectors.items():
            if document in there and (document not in now or now[document][2] != vector):
                changes += 1
                now[document] = (changes, there[document], bytes(vector))
        gone = {document: change for document, change in known.gone.items() if document not in now}
        kept.vectors[shelf, embedder] = replace(known, changes=changes, vectors=now, gone=gone)
        return changes - known.changes

    def since(self, space: str, shelf: Shelved, embedder: str, change: int) -> VectorChanges:
        """What changed after a change."""
        known = _set(self._shelf, space, shelf, embedder)
        whole = change < known.forgotten
        after = 0 if whole else change
        return VectorChanges(
            change=max(change, known.changes),
            added={document: vector for document, (at, _, vector) in known.vectors.items() if at > after},
            removed=[document for document, at in known.gone.items() if at > after] if after else [],
            whole=whole,
        )

    def due(self, space: str, shelf: Shelved, embedder: str, limit: int) -> Sequence[int]:
        """The documents that have no vector of an embedder yet."""
        vectors = _set(self._shelf, space, shelf, embedder).vectors
        due = [document for document in _documents(self._shelf, space, shelf) if document not in vectors]
        return sorted(due, reverse=True)[:limit]

    def embedders(self, space: str) -> Sequence[str]:
        """The embedders of which the space has vectors."""
        names = {embedder for _, embedder in self._shelf.kept(space).vectors}
        shelves: tuple[Shelved, ...] = ("messages", "memories")
        return sorted(name for name in names if any(_set(self._shelf, space, shelf, name).vectors for shelf in shelves))

    def drop(self, space: str, embedder: str) -> int:
        """Take out all vectors of an embedder."""
        kept, dropped = self._shelf.change_kept(space), 0
        for shelf, name in list(kept.vectors):
            if name == embedder:
                known = _set(self._shelf, space, shelf, name)
                dropped += len(known.vectors)
                # The numbers of changes must never come again.
                changes = known.changes + len(known.vectors)
                kept.vectors[shelf, name] = VectorSet(changes=changes, forgotten=changes)
        return dropped


def settle(shelf: Shelf) -> None:
    """Take out the vectors of what the transaction took out or rewrote, whoever did it."""
    for space in shelf.spaces():
        for (shelved, embedder), known in shelf.kept(space).vectors.items():
            settled = _set(shelf, space, shelved, embedder)
            if settled is not known:
                shelf.change_kept(space).vectors[shelved, embedder] = settled


def _set(shelf: Shelf, space: str, shelved: Shelved, embedder: str) -> VectorSet:
    """A set of vectors without those of documents that are gone, or that say something else by now."""
    known = shelf.kept(space).vectors.get((shelved, embedder)) or VectorSet()
    there = _documents(shelf, space, shelved) if known.vectors else {}
    lost = [document for document, (_, text, _) in known.vectors.items() if there.get(document) != text]
    if not lost:
        return known
    return VectorSet(
        changes=known.changes + len(lost),
        vectors={document: each for document, each in known.vectors.items() if document not in set(lost)},
        gone={**known.gone, **{document: known.changes + at for at, document in enumerate(lost, 1)}},
        forgotten=known.forgotten,
    )


def _documents(shelf: Shelf, space: str, shelved: Shelved) -> Mapping[int, str]:
    """The documents that are there; of a memory with its text, since that may change."""
    if shelved == "messages":
        return dict.fromkeys((number for tree in shelf.space(space) for number in tree.numbers), "")
    kept = shelf.kept(space)
    return {number: kept.memories[name].text for number, name in kept.documents.items()}

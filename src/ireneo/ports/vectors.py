"""What the engine needs of a store to keep the vectors of what is recalled, and to know which are still to be made.

A document is a message or a memory (the shelf says which) and goes by its number, as in `ireneo.ports.search`. Each
embedder has vectors of its own, under its name. What has none yet follows from the documents that are there, so no
queue can lose it.

Each change of a space's vectors on one shelf by one embedder has a number, which only grows: whoever has read up to
one asks for what came after it, and so notices what other processes wrote and what was erased. Taking out a document
takes out its vectors in the same transaction, whoever does it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from ireneo.memories.index import Vector
from ireneo.ports.search import Shelf


class VectorChanges(Struct, frozen=True, kw_only=True):
    """What became of the vectors since a change; a document stands in `added` or in `removed`, never in both."""

    change: int
    """The newest change that is in it: what to ask from the next time."""
    added: Mapping[int, Vector]
    """The vectors that were added or replaced, by document."""
    removed: Sequence[int]
    """The documents that have no vector any more."""
    whole: bool
    """`added` is all that there is, and whatever was read before is to be forgotten."""


class VectorsPort(Protocol):
    """The vectors of the documents of a space."""

    def put(self, space: str, shelf: Shelf, embedder: str, vectors: Mapping[int, Vector]) -> int:
        """Keep vectors; returns how many are new or other than before.

        Those of documents that are no longer there are passed over, since they may have been erased while the vector
        was made. Raises BadInput where they are not as long as those that the embedder has there already.
        """

    def since(self, space: str, shelf: Shelf, embedder: str, change: int) -> VectorChanges:
        """What changed after `change`, a number that this has told; 0: from the beginning."""

    def due(self, space: str, shelf: Shelf, embedder: str, limit: int) -> Sequence[int]:
        """The documents that have no vector of `embedder` yet, the newest first, at most `limit`."""

    def embedders(self, space: str) -> Sequence[str]:
        """The embedders of which the space has vectors, in order of their names."""

    def drop(self, space: str, embedder: str) -> int:
        """Take out all vectors of an embedder that is no longer used. Returns how many there were."""

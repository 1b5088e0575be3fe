"""Vectors on a server: those of a large set are found by pgvector's index, and few are compared by whoever asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from types import MappingProxyType

from ireneo.adapters.sql.database import reads
from ireneo.adapters.sql.search import SqlVectors
from ireneo.adapters.sql.upkeep import SqlUpkeep
from ireneo.memories.index import Vector
from ireneo.ports.memories import IndexName

INDEXED_FROM = 20_000
"""Vectors of a set up to which all are compared: it takes some 2 ms, and no index is as exact."""
SPARE = 2
"""So many times as many are taken from the index as are asked for: it compares rounded numbers."""
LEAST_TAKEN = 100
LOOKED_FURTHER = 4
"""The index may look at so many times as many as lie around what is wanted, where a set is spread evenly."""
LEAST_LOOKED_AT = 20_000

MISSING = "The {2} of space {0!r} have {3:,} vectors of {1}, and no index for them: each process reads them all. {why}"
WHY: Mapping[str, str] = MappingProxyType(
    {
        "": "Run `ireneo doctor --repair` as the owner of the tables.",
        "absent": "Install pgvector 0.8 or newer on the server, and run `ireneo doctor --repair` as their owner.",
        "old": "Bring pgvector to 0.8 or newer, and run `ireneo doctor --repair` as the owner of the tables.",
    }
)


def is_worth_it(kept: int, beside: int, wanted: int) -> bool:
    """Whether an index finds `wanted` of a set of `kept` vectors sooner than comparing them all.

    The index looks at what is near in all spaces that share it: `beside` vectors, of which only some are of the set.
    """
    return kept >= max(INDEXED_FROM, sqrt(wanted * beside))


class PostgresVectors(SqlVectors):
    """`ireneo.ports.memories.VectorsPort` on a server."""

    @reads
    def likely(self, space: str, index: IndexName, embedder: str, query: Vector, k: int) -> Mapping[int, Vector] | None:
        """What the index gives of a large set; None where all are to be compared, or where it gives too few."""
        database, found = self._of(space), self._find(space, index, embedder)
        wanted = max(SPARE * k, LEAST_TAKEN)
        if found is None or found.kept < INDEXED_FROM or found.dimensions != len(query):
            return None
        beside = max(found.kept, database.number("vectors_beside", key=found.key))
        if not is_worth_it(found.kept, beside, wanted):
            return None
        looked_at = max(LEAST_LOOKED_AT, LOOKED_FURTHER * wanted * beside // found.kept)
        rows = database.rows("likely_vectors", key=found.key, query=query, wanted=wanted, looked_at=looked_at)
        return dict(rows) if len(rows) >= min(wanted, found.kept) else None


class PostgresUpkeep(SqlUpkeep):
    """`ireneo.ports.store.UpkeepPort` on a server."""

    def faults(self) -> Sequence[str]:
        """What is wrong, and which large sets of vectors are searched without an index."""
        return [*super().faults(), *self._unindexed()]

    @reads
    def _unindexed(self) -> list[str]:
        found = [row for each in self._database.scopes() for row in each.rows("large_vector_sets", least=INDEXED_FROM)]
        if not found:
            return []
        ((hindrance,),) = self._database.rows("what_hinders_vectors")
        return [
            MISSING.format(space, embedder, shelf, kept, why=WHY[hindrance]) for space, shelf, embedder, kept in found
        ]

    def _repair_indexes(self) -> None:
        self._database.rows("index_vectors")

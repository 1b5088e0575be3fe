"""The ports that PostgreSQL implements in its own way: leases, vectors, upkeep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import sqrt
from types import MappingProxyType
from typing import cast

from ireneo.adapters.postgres.connection import PostgresDatabase
from ireneo.adapters.sql.database import microseconds, reads, time_of, utc, write_json, writes
from ireneo.adapters.sql.leases import FAR, FAR_LEASE, SqlLeases, check_holder
from ireneo.adapters.sql.search import SqlVectors
from ireneo.adapters.sql.upkeep import SqlUpkeep
from ireneo.log.tree import SessionKey
from ireneo.memories.index import Vector
from ireneo.ports.memories import IndexName
from ireneo.ports.store import Lease


class PostgresLeases(SqlLeases):
    """The leases in a PostgreSQL database; looking for a free one waits for no lock."""

    @writes
    def take_first(
        self, space: str, sessions: Sequence[str], work: str, holder: str, now: datetime, until: datetime
    ) -> Lease | None:
        """See `ireneo.ports.store.LeasesPort`."""
        check_holder(holder)
        # A single statement that skips locked sessions, so the space need not be locked.
        database = cast("PostgresDatabase", self._database).of(space, alone=False)
        at, end = microseconds(utc(now)), microseconds(utc(until))
        row = database.row(
            "take_first_lease",
            sessions=write_json(sessions),
            work=work,
            holder=holder,
            now=at,
            tomorrow=microseconds(utc(now) + FAR),
            until=end,
            far=max(2 * end - at, microseconds(utc(until) + FAR_LEASE)),
        )
        if row is None:
            return None
        session, token, failures, error = row
        return Lease(
            key=SessionKey(space, session),
            work=work,
            holder=holder,
            token=token,
            until=time_of(end),
            failures=failures,
            error=error,
        )


INDEXED_FROM = 20_000
"""The size from which a set uses the index; comparing fewer vectors takes some 2 ms, and is exact."""
SPARE = 2
"""How many times more candidates than needed to take from the index, which compares rounded values."""
LEAST_TAKEN = 100
LOOKED_FURTHER = 4
"""How many times more vectors the index may scan than needed if the set were spread evenly."""
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
    """Whether the index finds `wanted` of a set of `kept` vectors faster than comparing them all.

    The index is shared with other spaces: it scans `beside` vectors, only some of which are in the set.
    """
    return kept >= max(INDEXED_FROM, sqrt(wanted * beside))


class PostgresVectors(SqlVectors):
    """`ireneo.ports.memories.VectorsPort` with pgvector's index for large sets."""

    @reads
    def likely(self, space: str, index: IndexName, embedder: str, query: Vector, k: int) -> Mapping[int, Vector] | None:
        """Candidates from the index; None if all vectors should be compared, or the index returns too few."""
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
    """`ireneo.ports.store.UpkeepPort` that also checks for missing vector indexes."""

    def faults(self) -> Sequence[str]:
        """All faults, and the large sets of vectors without an index."""
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

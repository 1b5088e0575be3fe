"""The store in memory: for tests and for what need not last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from ireneo.adapters.in_memory.log import (
    MemoryAnnotations,
    MemoryLeases,
    MemoryLog,
    MemoryRebuilds,
    MemorySessions,
    MemorySpending,
    MemorySummaries,
)
from ireneo.adapters.in_memory.memories import (
    MemoryLedger,
    MemoryMemories,
    MemoryPads,
    MemoryRuns,
    MemorySearch,
    MemoryVectors,
    MemoryWords,
    settle,
)
from ireneo.adapters.in_memory.state import Snapshot, StoreState
from ireneo.adapters.in_memory.upkeep import MemoryErasure, MemoryUpkeep
from ireneo.adapters.pool import Cancellation, Pool, ReentryGuard, check_plain, check_result
from ireneo.ports.store import Scrubbed, Transaction

P = ParamSpec("P")
T = TypeVar("T")

READERS = 4
"""So many read at a time; what is more waits its turn."""


class MemoryTransaction:
    """All ports over one open transaction."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.log = MemoryLog(snapshot)
        self.sessions = MemorySessions(snapshot)
        self.summaries = MemorySummaries(snapshot)
        self.rebuilds = MemoryRebuilds(snapshot)
        self.annotations = MemoryAnnotations(snapshot)
        self.spending = MemorySpending(snapshot)
        self.leases = MemoryLeases(snapshot)
        self.vectors = MemoryVectors(snapshot)
        self.memories = MemoryMemories(snapshot)
        self.pads = MemoryPads(snapshot)
        self.runs = MemoryRuns(snapshot)
        self.ledger = MemoryLedger(snapshot)
        self.search = MemorySearch(snapshot)
        self.words = MemoryWords(snapshot)
        self.upkeep = MemoryUpkeep(snapshot)
        self.erasure = MemoryErasure(snapshot)


class InMemoryStore:
    """`ireneo.ports.store.Store` in memory: the same words and the same transactions, and gone when it is let go.

    A transaction copies what it changes, and the copies take the place of what was there when it commits; so it costs
    the size of the session. Paths are walked. Use it up to some 10,000 messages.
    """

    def __init__(self) -> None:
        """Make an empty store."""
        self._guard = ReentryGuard()
        self._held = StoreState()
        self._writers = self._pool(1)
        self._readers = self._pool(READERS)

    async def read(self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """A snapshot: all that is read inside belongs together."""
        check_plain(function)

        def read(_: None, cancellation: Cancellation) -> T:
            return _called(lambda tx: function(tx, *args, **kwargs), Snapshot(self._held, writes=False), cancellation)

        return await self._readers.run(read)

    async def write(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """One transaction, alone among writers."""
        check_plain(function)

        def write(_: None, cancellation: Cancellation) -> T:
            snapshot = Snapshot(self._held, writes=True)
            result = _called(lambda tx: function(tx, *args, **kwargs), snapshot, cancellation)
            cancellation.begin_commit()
            self._held = snapshot.shut()
            return result

        return await self._writers.run(write)

    async def scrub(self, *, look: bool = False) -> Scrubbed:
        """Nothing is left to overwrite."""
        return Scrubbed(complete=True)

    async def close(self) -> None:
        """Take no more calls."""
        self._readers.close()
        self._writers.close()

    def _pool(self, size: int) -> Pool[None]:
        return Pool([None] * size, lambda _: None, self._guard, "ireneo-memory")


def _called(work: Callable[[MemoryTransaction], T], snapshot: Snapshot, cancellation: Cancellation) -> T:
    cancellation.check()
    try:
        result = work(MemoryTransaction(snapshot))
        check_result(result)
        if snapshot.writes:
            settle(snapshot)
    finally:
        snapshot.shut()
    return result

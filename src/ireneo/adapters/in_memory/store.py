"""The store in memory: for tests and for what need not last."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
from ireneo.adapters.pool import Cancellation, PooledStore
from ireneo.ports.store import Scrubbed

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


class InMemoryStore(PooledStore[None]):
    """`ireneo.ports.store.Store` in memory: the same words and the same transactions, and gone when it is let go.

    A transaction copies what it changes, and the copies take the place of what was there when it commits; so it costs
    the size of the session. Paths are walked. Use it up to some 10,000 messages.
    """

    def __init__(self) -> None:
        """Make an empty store."""
        super().__init__(None, [None] * READERS, lambda _: None, "ireneo-memory")
        self._held = StoreState()

    async def scrub(self, *, look: bool = False) -> Scrubbed:
        """Nothing is left to overwrite."""
        return Scrubbed(complete=True)

    @contextmanager
    def _transaction(
        self, connection: None, cancellation: Cancellation, *, writes: bool
    ) -> Iterator[MemoryTransaction]:
        snapshot = Snapshot(self._held, writes=writes)
        try:
            yield MemoryTransaction(snapshot)
            if writes:
                settle(snapshot)
                cancellation.begin_commit()
                self._held = snapshot.state()
        finally:
            snapshot.is_over = True

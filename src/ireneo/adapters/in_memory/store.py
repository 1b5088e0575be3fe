"""The store in memory: for tests and for what need not last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Concatenate, ParamSpec, TypeVar

from msgspec import Struct

from ireneo.adapters.in_memory.log import (
    MemoryAnnotations,
    MemoryLeases,
    MemoryLog,
    MemoryRebuilds,
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
from ireneo.adapters.pool import Cancellation, Pool, check_plain, check_result
from ireneo.adapters.transition import TransitionalStore
from ireneo.log.tree import Head, SessionKey
from ireneo.ports.store import Scrubbed, SessionInfo, Transaction

P = ParamSpec("P")
T = TypeVar("T")

READERS = 4
"""So many read at a time; what is more waits its turn."""


class MemorySessions:
    """`ireneo.ports.store.SessionsPort` over one open transaction."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def create(self, key: SessionKey, source: str | None) -> bool:
        """Make a session unless it is there."""
        return self._snapshot.add(key, source)

    def list(self, space: str) -> Sequence[SessionInfo]:
        """Every session of a space."""
        trees = sorted(self._snapshot.space(space), key=lambda tree: tree.appended, reverse=True)
        return [tree.info() for tree in trees]

    def get(self, key: SessionKey) -> SessionInfo | None:
        """What the list says of one session."""
        return next((tree.info() for tree in self._snapshot.space(key.space) if tree.info().key == key), None)

    def branches(self, key: SessionKey) -> Mapping[str, Head | None]:
        """Each branch of a session."""
        tree = self._snapshot.need(key)
        return {branch: tree.head(branch) for branch in sorted(tree.branches)}

    def set_project(self, key: SessionKey, project: str) -> None:
        """Note which project a session worked on."""
        self._snapshot.change(key).project = project

    def without_project(self, space: str) -> Sequence[SessionKey]:
        """The sessions of which nobody noted that yet."""
        return sorted(
            (tree.key for tree in self._snapshot.space(space) if tree.project is None), key=lambda key: key.session
        )

    def projects(self, space: str, sessions: Sequence[str]) -> Mapping[str, str]:
        """The projects of sessions, by name."""
        there = {tree.key.session: tree.project for tree in self._snapshot.space(space)}
        return {session: project for session in sessions if (project := there.get(session))}


class MemoryTransaction(Struct, frozen=True, kw_only=True):
    """All ports over one open transaction."""

    log: MemoryLog
    sessions: MemorySessions
    summaries: MemorySummaries
    rebuilds: MemoryRebuilds
    annotations: MemoryAnnotations
    spending: MemorySpending
    leases: MemoryLeases
    vectors: MemoryVectors
    memories: MemoryMemories
    pads: MemoryPads
    runs: MemoryRuns
    ledger: MemoryLedger
    search: MemorySearch
    words: MemoryWords
    upkeep: MemoryUpkeep
    erasure: MemoryErasure


class InMemoryStore(TransitionalStore):
    """`ireneo.ports.store.Store` in memory: the same words and the same transactions, and gone when it is let go.

    A transaction copies what it changes, and the copies take the place of what was there when it commits; so it costs
    the size of the session. Paths are walked. Use it up to some 10,000 messages.
    """

    def __init__(self) -> None:
        """Make an empty store."""
        super().__init__()
        self._held = StoreState()
        self._writers = self._pool(1)
        self._readers = self._pool(READERS)

    async def _read(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        check_plain(function)

        def read(_: None, cancellation: Cancellation) -> T:
            return _called(lambda tx: function(tx, *args, **kwargs), Snapshot(self._held, writes=False), cancellation)

        return await self._readers.run(read)

    async def _write(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
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
        result = work(_over(snapshot))
        check_result(result)
        if snapshot.writes:
            settle(snapshot)
    finally:
        snapshot.shut()
    return result


def _over(snapshot: Snapshot) -> MemoryTransaction:
    return MemoryTransaction(
        log=MemoryLog(snapshot),
        sessions=MemorySessions(snapshot),
        summaries=MemorySummaries(snapshot),
        rebuilds=MemoryRebuilds(snapshot),
        annotations=MemoryAnnotations(snapshot),
        spending=MemorySpending(snapshot),
        leases=MemoryLeases(snapshot),
        vectors=MemoryVectors(snapshot),
        memories=MemoryMemories(snapshot),
        pads=MemoryPads(snapshot),
        runs=MemoryRuns(snapshot),
        ledger=MemoryLedger(snapshot),
        search=MemorySearch(snapshot),
        words=MemoryWords(snapshot),
        upkeep=MemoryUpkeep(snapshot),
        erasure=MemoryErasure(snapshot),
    )

"""The store in memory: for tests and for what need not last."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from msgspec import Struct

from ireneo.adapters.in_memory.derived import MemoryAnnotations, MemoryRebuilds, MemorySummaries
from ireneo.adapters.in_memory.erasure import MemoryErasure
from ireneo.adapters.in_memory.leases import MemoryLeases
from ireneo.adapters.in_memory.log import MemoryLog
from ireneo.adapters.in_memory.memories import MemoryMemories, MemoryPads
from ireneo.adapters.in_memory.runs import MemoryLedger, MemoryRuns
from ireneo.adapters.in_memory.search import MemorySearch, MemoryWords
from ireneo.adapters.in_memory.shelf import Held, Shelf
from ireneo.adapters.in_memory.spending import MemorySpending
from ireneo.adapters.in_memory.upkeep import MemoryUpkeep
from ireneo.adapters.in_memory.vectors import MemoryVectors, settle
from ireneo.adapters.nesting import Nesting
from ireneo.adapters.pool import Pool
from ireneo.errors import StoreError
from ireneo.log.branch import Head, SessionKey
from ireneo.ports.erasure import Scrubbed
from ireneo.ports.store import SessionInfo


class MemorySessions:
    """`ireneo.ports.store.SessionsPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def create(self, key: SessionKey, source: str | None) -> bool:
        """Make a session unless it is there."""
        return self._shelf.add(key, source)

    async def list(self, space: str) -> Sequence[SessionInfo]:
        """Every session of a space."""
        trees = sorted(self._shelf.space(space), key=lambda tree: tree.appended, reverse=True)
        return [tree.info() for tree in trees]

    async def get(self, key: SessionKey) -> SessionInfo | None:
        """What the list says of one session."""
        return next((tree.info() for tree in self._shelf.space(key.space) if tree.info().key == key), None)

    async def branches(self, key: SessionKey) -> Mapping[str, Head | None]:
        """Each branch of a session."""
        tree = self._shelf.need(key)
        return {branch: tree.head(branch) for branch in sorted(tree.branches)}

    async def place(self, key: SessionKey, project: str) -> None:
        """Note which project a session worked on."""
        self._shelf.change(key).project = project

    async def unplaced(self, space: str) -> Sequence[SessionKey]:
        """The sessions of which nobody noted that yet."""
        return sorted(
            (tree.key for tree in self._shelf.space(space) if tree.project is None), key=lambda key: key.session
        )

    async def projects(self, space: str, sessions: Sequence[str]) -> Mapping[str, str]:
        """The projects of sessions, by name."""
        there = {tree.key.session: tree.project for tree in self._shelf.space(space)}
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


class InMemoryStore:
    """`ireneo.ports.store.Store` in memory: the same words and the same transactions, and gone when it is let go.

    A transaction copies what it changes, and the copies take the place of what was there when it commits; so it costs
    the size of the session. Paths are walked. Use it up to some 10,000 messages.
    """

    def __init__(self) -> None:
        """Make an empty store."""
        self._held = Held()
        self._writers = Pool([object()], lambda _: None)
        self._nesting = Nesting()
        self._closed = False

    @asynccontextmanager
    async def read(self) -> AsyncIterator[MemoryTransaction]:
        """A snapshot: all that is read inside belongs together."""
        if self._closed:
            raise StoreError("The store is closed; open it again.")
        with self._nesting.entered():
            shelf = Shelf(self._held, writes=False)
            try:
                yield _over(shelf)
            finally:
                shelf.shut()

    @asynccontextmanager
    async def write(self) -> AsyncIterator[MemoryTransaction]:
        """One transaction, alone among writers."""
        with self._nesting.entered():
            seat = await self._writers.take()
            shelf = Shelf(self._held, writes=True)
            try:
                yield _over(shelf)
                settle(shelf)
                self._held = shelf.shut()
            finally:
                shelf.shut()
                self._writers.give(seat)

    async def scrub(self, *, look: bool = False) -> Scrubbed:
        """Nothing is left to overwrite."""
        return Scrubbed(complete=True)

    async def close(self) -> None:
        """Take no more calls."""
        self._closed = True
        self._writers.close()


def _over(shelf: Shelf) -> MemoryTransaction:
    return MemoryTransaction(
        log=MemoryLog(shelf),
        sessions=MemorySessions(shelf),
        summaries=MemorySummaries(shelf),
        rebuilds=MemoryRebuilds(shelf),
        annotations=MemoryAnnotations(shelf),
        spending=MemorySpending(shelf),
        leases=MemoryLeases(shelf),
        vectors=MemoryVectors(shelf),
        memories=MemoryMemories(shelf),
        pads=MemoryPads(shelf),
        runs=MemoryRuns(shelf),
        ledger=MemoryLedger(shelf),
        search=MemorySearch(shelf),
        words=MemoryWords(shelf),
        upkeep=MemoryUpkeep(shelf),
        erasure=MemoryErasure(shelf),
    )

"""Every check of the shipped suite, on every store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from weakref import WeakValueDictionary

import pytest
from tests.databases import new_database
from tests.postgres_server import empty_database, own_database

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.postgres.store import open_postgres
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.errors import StoreError
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Store
from ireneo.testing.conformance import CAPABILITIES, CHECKS, check_store
from ireneo.testing.conformance.check import Check, UnmetError

Opener = Callable[[Path], Awaitable[Store]]


IN_MEMORY = WeakValueDictionary[Path, InMemoryStore]()
"""By the place that it stands for: the store that was opened there last."""


async def open_in_memory(place: Path) -> Store:
    store = IN_MEMORY[place] = InMemoryStore(IN_MEMORY.get(place))
    return store


async def open_full(place: Path) -> Store:
    return await open_sqlite(place / "store.db")


async def open_normal(place: Path) -> Store:
    return await open_sqlite(place / "store.db", durability="normal")


async def open_in_postgres(_: Path) -> Store:
    return await open_postgres(own_database())


KEPT: list[Store] = []
"""The store over this process's own database on a server: to open its connections takes longer than most checks."""


async def kept_in_postgres() -> Store:
    """The store that is kept, emptied; a new one where a check has closed it."""
    empty_database()
    for store in KEPT:
        with suppress(StoreError):
            await store.read(lambda tx: None)
            return store
    KEPT[:] = [await open_in_postgres(Path())]
    return KEPT[0]


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    """The loop of all checks, and of the store that is kept."""
    with asyncio.Runner() as runner:
        yield runner
        for store in KEPT:
            runner.run(store.close())


STORES: dict[str, Opener] = {
    "in_memory": open_in_memory,
    "sqlite": open_full,
    "sqlite_normal": open_normal,
    "postgres": open_in_postgres,
}
"""By name: how a store is opened in a folder."""


class Places:
    """Makes stores in a folder, each in one of its own, and opens the newest of them again."""

    def __init__(self, folder: Path, opener: Opener) -> None:
        self._folder = folder
        self._opener = opener
        self._numbers = count()
        self._place = folder

    @asynccontextmanager
    async def fresh(self) -> AsyncIterator[Store]:
        self._place = self._folder / str(next(self._numbers))
        self._place.mkdir()
        if self._opener in (open_full, open_normal):
            new_database(self._place / "store.db")
        if self._opener is open_in_postgres:
            yield await kept_in_postgres()
            return
        store = await self._opener(self._place)
        try:
            yield store
        finally:
            await store.close()

    async def again(self, _: Store) -> Store:
        return await self._opener(self._place)


SYNCED = {"transactions", "sharing"}
"""What the durability of a store might make a difference to: the rest is looked at with the full one alone."""
EXAMINED = [
    pytest.param(check, opener, id=f"{name}: {check}")
    for name, opener in STORES.items()
    for check in CHECKS
    if name != "sqlite_normal" or check.capability in SYNCED
]


@pytest.mark.parametrize(("check", "opener"), EXAMINED)
def test_store(check: Check, opener: Opener, tmp_path: Path, loop: asyncio.Runner) -> None:
    places = Places(tmp_path, opener)
    loop.run(check.run(places.fresh, places.again))


def test_every_check_is_a_sentence_with_a_name_of_its_own() -> None:
    assert len({(check.capability, check.name) for check in CHECKS}) == len(CHECKS)
    for check in CHECKS:
        assert check.sentence.endswith("."), check.name
    assert CAPABILITIES == (
        "log",
        "summaries",
        "memories",
        "runs",
        "search",
        "vectors",
        "leases",
        "upkeep",
        "erasure",
        "transactions",
        "spaces",
        "sharing",
    )


def fresh_of(make: Callable[[], Store]) -> Callable[[], AbstractAsyncContextManager[Store]]:
    @asynccontextmanager
    async def fresh() -> AsyncIterator[Store]:
        yield make()

    return fresh


def test_a_report_says_how_a_store_did() -> None:
    report = asyncio.run(check_store(fresh_of(InMemoryStore), capabilities=("leases", "sharing")))
    assert report.conforms, str(report)
    assert {result.verdict for result in report.results if result.check.capability == "sharing"} == {"skipped"}
    assert "leases: " in str(report)


class Forgetful(InMemoryStore):
    """A store that loses what it was given: the suite must notice."""

    async def write(self, function: Callable[..., object], /, *args: object, **kwargs: object) -> object:
        before = self._copies.newest
        known = await self.read(lambda tx: tx.sessions.get(SessionKey("space", "session")))
        result = await super().write(function, *args, **kwargs)
        if known is not None:
            self._copies.newest = before
        return result


def test_the_suite_finds_a_store_that_forgets() -> None:
    report = asyncio.run(check_store(fresh_of(Forgetful), capabilities=("log",)))
    assert not report.conforms
    assert any(result.check.name == "a_chain_may_begin_anywhere" for result in report.unmet)
    assert "unmet: " in str(report)


def test_an_unmet_check_raises() -> None:
    check = next(check for check in CHECKS if check.name == "after_a_rewind_an_append_forks")
    with pytest.raises((UnmetError, AssertionError)):
        asyncio.run(check.run(fresh_of(Forgetful)))

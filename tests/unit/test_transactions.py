"""A transaction is a plain function: what it may be, what it may not do, and what becomes of one that is cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.errors import StoreError
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Store, Transaction

KEY = SessionKey("space", "session")
every_store = pytest.mark.parametrize("kind", ["in memory", "sqlite"])


@asynccontextmanager
async def opened(kind: str, folder: Path, readers: int = 1) -> AsyncIterator[Store]:
    store: Store = InMemoryStore() if kind == "in memory" else await open_sqlite(folder / "store.db", readers=readers)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def on(kind: str, folder: Path) -> AsyncIterator[Store]:
    async with asyncio.timeout(60), opened(kind, folder) as store:
        yield store


def make(tx: Transaction, name: str, *, source: str | None = None) -> bool:
    return tx.sessions.create(SessionKey("space", name), source)


def names(tx: Transaction) -> list[str]:
    return [info.key.session for info in tx.sessions.list("space")]


@every_store
async def test_it_runs_beside_the_event_loop(kind: str, tmp_path: Path) -> None:
    async with on(kind, tmp_path) as store:
        here = threading.get_ident()
        for ask in (store.read, store.write):
            assert await ask(lambda tx: threading.get_ident()) != here


async def a_coroutine(tx: Transaction) -> list[str]:
    return names(tx)


def a_generator(tx: Transaction) -> Iterator[str]:
    yield from names(tx)


async def an_async_generator(tx: Transaction) -> AsyncIterator[str]:
    for name in names(tx):
        yield name


@every_store
@pytest.mark.parametrize("late", [a_coroutine, a_generator, an_async_generator], ids=lambda late: late.__name__)
async def test_what_would_run_after_the_transaction_is_refused(
    kind: str, late: Callable[[Transaction], object], tmp_path: Path
) -> None:
    def hidden(tx: Transaction) -> object:
        make(tx, "one")
        return late(tx)

    async with on(kind, tmp_path) as store:
        for ask in (store.read, store.write):
            with pytest.raises(StoreError, match="plain function"):
                await ask(late)
        with pytest.raises(StoreError, match="plain function"):
            await store.write(hidden)
        assert await store.read(names) == []


@every_store
async def test_a_transaction_inside_another_is_refused_from_wherever_it_is_asked_for(kind: str, tmp_path: Path) -> None:
    async with on(kind, tmp_path) as store:
        loop = asyncio.get_running_loop()

        def in_a_loop_of_its_own(tx: Transaction) -> object:
            return asyncio.run(store.read(names))

        def in_the_loop_outside(tx: Transaction) -> object:
            return asyncio.run_coroutine_threadsafe(store.read(names), loop).result()

        for nested in (in_a_loop_of_its_own, in_the_loop_outside):
            for ask in (store.read, store.write):
                with pytest.raises(StoreError, match="open here already"):
                    await ask(nested)
        # What it started may have its own once it is over.
        started: list[asyncio.Future[list[str]]] = []

        def starting(tx: Transaction) -> None:
            started.append(asyncio.run_coroutine_threadsafe(later(), loop))

        over = asyncio.Event()

        async def later() -> list[str]:
            await over.wait()
            return await store.read(names)

        await store.read(starting)
        over.set()
        assert await asyncio.wrap_future(started[0]) == []


@every_store
async def test_another_store_may_be_used_inside(kind: str, tmp_path: Path) -> None:
    async with on(kind, tmp_path) as store:
        other = InMemoryStore()
        assert await store.write(lambda tx: asyncio.run(other.write(make, "there")))
        assert await other.read(names) == ["there"]


@every_store
async def test_one_store_serves_several_loops(kind: str, tmp_path: Path) -> None:
    async with on(kind, tmp_path) as store:

        def elsewhere(number: int) -> bool:
            return asyncio.run(store.write(make, f"session {number}"))

        made = await asyncio.gather(*(asyncio.to_thread(elsewhere, number) for number in range(8)))
        assert made == [True] * 8
        assert len(await store.read(names)) == 8


@every_store
async def test_a_fault_of_ours_is_not_blamed_on_the_database_alone(kind: str, tmp_path: Path) -> None:
    async with on(kind, tmp_path) as store:
        with pytest.raises(
            StoreError, match=r"if it finds nothing, this is a fault in Ireneo, .+ \(TypeError: "
        ) as told:
            await store.read(lambda tx: tx.memories.citing("space", None))  # type: ignore[arg-type]
        assert isinstance(told.value.__cause__, TypeError)

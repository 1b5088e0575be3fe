"""Connections to a server that are lost, at each moment of a transaction: it is stored once, or says that it isn't."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import psycopg
import pytest
from tests.cutting_proxy import CuttingProxy
from tests.postgres_server import empty_database

from ireneo.adapters.postgres.store import PostgresStore, open_postgres
from ireneo.errors import StoreError, Unreachable
from ireneo.log.message import Draft, Text
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Transaction
from ireneo.testing.conformance.check import tell

KEY = SessionKey("mine", "one")


@pytest.fixture
def url() -> str:
    return empty_database()


@asynccontextmanager
async def opened(url: str, busy_seconds: float = 20.0) -> AsyncIterator[PostgresStore]:
    store = await open_postgres(url, busy_seconds=busy_seconds)
    try:
        yield store
    finally:
        await store.close()


def say(tx: Transaction, word: str) -> str:
    """Append a message, wherever the session stands: what is stored twice is there twice."""
    draft = Draft(role="user", parts=(Text(text=word),))
    return tell(tx, [draft], KEY)[0].id


def said(tx: Transaction) -> list[str]:
    head = tx.log.head(KEY)
    return [each.text for each in tx.log.path(KEY, head.id, 0, 1_000)] if head else []


def cut(url: str) -> None:
    """Break off every other connection to a database, as a server does that is started anew."""
    with psycopg.connect(url, autocommit=True) as driver:
        driver.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


async def test_a_lost_connection_is_made_anew(url: str) -> None:
    async with opened(url) as store:
        await store.write(say, "one")
        await asyncio.to_thread(cut, url)
        await store.write(say, "two")
        assert await store.read(said) == ["one", "two"]
        await asyncio.to_thread(cut, url)
        assert await store.read(said) == ["one", "two"]


def once(break_off: Callable[[], None]) -> Callable[[], int]:
    """What breaks connections off the first time that it is called, and says how often it was."""
    times = 0

    def called() -> int:
        nonlocal times
        times += 1
        if times == 1:
            break_off()
        return times

    return called


@pytest.mark.parametrize("ended_by", ["the server", "the way there"])
def test_what_is_lost_in_the_middle_is_done_again_from_its_beginning(url: str, ended_by: str) -> None:
    async def lose(proxy: CuttingProxy) -> None:
        async with opened(proxy.url) as store:
            await store.write(say, "one")
            broken = once(proxy.cut if ended_by == "the way there" else lambda: cut(url))

            def two(tx: Transaction) -> int:
                say(tx, "two")
                times = broken()
                say(tx, "three")
                return times

            assert await store.write(two) == 2
            broken = once(proxy.cut if ended_by == "the way there" else lambda: cut(url))

            def read(tx: Transaction) -> tuple[int, list[str]]:
                tx.log.head(KEY)
                return broken(), said(tx)

            assert await store.read(read) == (2, ["one", "two", "three"])

    with CuttingProxy(url) as proxy:
        asyncio.run(lose(proxy))


def test_a_commit_of_which_no_answer_came_is_asked_for(url: str) -> None:
    """Committed or not, it is stored once: the server knows what became of it."""

    async def lose(proxy: CuttingProxy) -> None:
        async with opened(proxy.url) as store:
            await store.write(say, "one")
            for word in ("two", "three", "four"):
                proxy.commits_to_hide = 1
                await store.write(say, word)
                assert proxy.commits_to_hide == 0
            broken = once(proxy.cut)

            def five(tx: Transaction) -> int:
                say(tx, "five")
                return broken()

            # The commit itself is what finds the connection cut.
            assert await store.write(five) == 2
            assert await store.read(said) == ["one", "two", "three", "four", "five"]

    with CuttingProxy(url) as proxy:
        asyncio.run(lose(proxy))


async def test_whoever_goes_on_after_a_loss_is_told_that_nothing_is_stored(url: str) -> None:
    async with opened(url, busy_seconds=0.2) as store:
        await store.write(say, "one")

        def careless(tx: Transaction) -> None:
            cut(url)
            with pytest.raises(StoreError):
                say(tx, "two")

        with pytest.raises(Unreachable):
            await store.write(careless)
        assert await store.read(said) == ["one"]


async def test_what_failed_unseen_is_not_called_stored(url: str) -> None:
    """A transaction in which a statement failed is undone by its commit, and the server calls that no error."""
    async with opened(url) as store:

        def careless(tx: Transaction) -> None:
            say(tx, "one")
            with pytest.raises(psycopg.Error):
                tx.database.of("mine").rows("read_lease", key="no number", work="none")  # type: ignore[attr-defined]

        with pytest.raises(StoreError, match="has undone"):
            await store.write(careless)
        assert await store.read(said) == []


def test_a_server_that_is_away_for_a_moment_is_waited_for_and_then_no_longer(url: str) -> None:
    async def wait(proxy: CuttingProxy) -> None:
        async with opened(proxy.url) as store:
            await store.write(say, "one")
            proxy.is_away = True
            proxy.cut()
            threading.Timer(1.0, lambda: setattr(proxy, "is_away", False)).start()
            await asyncio.gather(store.write(say, "two"), store.read(said), store.read(said))
            assert await store.read(said) == ["one", "two"]
        async with opened(proxy.url, busy_seconds=0.5) as store:
            proxy.is_away = True
            proxy.cut()
            began = time.monotonic()
            with pytest.raises(Unreachable, match="can't be reached"):
                await store.write(say, "three")
            assert 0.5 <= time.monotonic() - began < 10
            proxy.is_away = False
            await store.write(say, "four")
            assert await store.read(said) == ["one", "two", "four"]

    with CuttingProxy(url) as proxy:
        asyncio.run(wait(proxy))


def test_who_is_no_longer_wanted_stops_waiting_for_a_server(url: str) -> None:
    async def wait(proxy: CuttingProxy) -> None:
        async with opened(proxy.url, busy_seconds=60.0) as store:
            await store.write(say, "one")
            proxy.is_away = True
            proxy.cut()
            writing = asyncio.create_task(store.write(say, "two"))
            await asyncio.sleep(0.3)
            writing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writing
            proxy.is_away = False
            await store.write(say, "three")
            assert await store.read(said) == ["one", "three"]

    with CuttingProxy(url) as proxy:
        asyncio.run(wait(proxy))


def test_whatever_is_cut_each_message_is_stored_once(url: str) -> None:
    """Several clients of one session, through a way that is cut all the time, at whatever moment that is."""
    clients, each = 4, 25
    done = threading.Event()
    stored = threading.Semaphore(0)

    async def talk(store: PostgresStore, number: int) -> None:
        for count in range(each):
            await store.write(say, f"{number} {count}")
            stored.release()

    async def talk_all(proxy: CuttingProxy) -> list[str]:
        stores = [await open_postgres(proxy.url, busy_seconds=60.0) for _ in range(clients)]
        try:
            threading.Thread(target=cut_on, args=(proxy,)).start()
            await asyncio.gather(*(talk(store, number) for number, store in enumerate(stores)))
            done.set()
            return await stores[0].read(said)
        finally:
            done.set()
            for store in stores:
                await store.close()

    def cut_on(proxy: CuttingProxy) -> None:
        chance = random.Random(7)
        while not done.wait(chance.uniform(0.0, 0.06)):
            # However slow the machine is, something comes through between two cuts.
            stored.acquire(timeout=1.0)
            proxy.cut(chance)
            proxy.commits_to_hide = chance.choice((0, 0, 1))

    with CuttingProxy(url) as proxy:
        kept = asyncio.run(talk_all(proxy))
        assert proxy.cuts > 10
    assert sorted(kept) == sorted(f"{number} {count}" for number in range(clients) for count in range(each))
    for number in range(clients):
        own = [int(word.split()[1]) for word in kept if word.startswith(f"{number} ")]
        assert own == sorted(own)

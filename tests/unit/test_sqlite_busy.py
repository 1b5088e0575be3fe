"""The wait for a file that another process holds: random, growing, limited, and given up when nobody wants it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import apsw
import pytest
from tests.property.invariants.material import Teller
from tests.property.verbs import memory_with_all

from ireneo.adapters.sql.database import LONGEST_SECONDS, SHORTEST_SECONDS
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.adapters.sqlite.store import BusyHandler, SqliteStore
from ireneo.errors import StoreBusy
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Transaction

KEY = SessionKey("space", "session")


def pauses_of(patience: BusyHandler, tries: int, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that it would make."""
    pauses: list[float] = []

    def wait(_: threading.Event, timeout: float | None = None) -> bool:
        pauses.append(timeout or 0.0)
        return False

    with monkeypatch.context() as patch:
        patch.setattr(threading.Event, "wait", wait)
        assert all(patience(number) for number in range(tries))
    return pauses


def test_pauses_grow_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (pauses_of(BusyHandler(30.0), 2000, monkeypatch) for _ in range(2))
    assert one != two
    assert max(one[:3]) < 4 * SHORTEST_SECONDS
    assert max(one) <= LONGEST_SECONDS
    assert min(one[100:]) >= LONGEST_SECONDS / 4
    assert len(set(one)) > 1900


def test_a_wait_ends_at_its_limit() -> None:
    patience = BusyHandler(0.1)
    began = time.monotonic()
    tries = 0
    while patience(tries):
        tries += 1
    assert 0.1 <= time.monotonic() - began < 5
    assert tries > 3
    assert patience(0), "the next wait has a limit of its own"


def test_a_wait_that_is_given_up_ends_at_once() -> None:
    patience = BusyHandler(30.0)
    patience.given_up.set()
    assert not patience(0)
    patience.given_up = threading.Event()
    assert patience(0)


@asynccontextmanager
async def foreign_lock(path: Path, *, busy_seconds: float = 0.2) -> AsyncIterator[tuple[SqliteStore, apsw.Connection]]:
    """A store, and another connection that holds the file's lock for writing."""
    store = await open_sqlite(path, busy_seconds=busy_seconds)
    other = apsw.Connection(str(path))
    try:
        other.execute("BEGIN IMMEDIATE")
        yield store, other
    finally:
        other.close()
        await store.close()


def never(_: Transaction) -> None:
    raise AssertionError("the transaction must not be begun")


async def test_a_file_that_stays_locked_is_busy(tmp_path: Path) -> None:
    async with foreign_lock(tmp_path / "store.db") as (store, other):
        with pytest.raises(StoreBusy, match="kept locked") as caught:
            await store.write(never)
        assert isinstance(caught.value.__cause__, apsw.BusyError)
        assert await store.read(lambda tx: tx.log.head(KEY)) is None
        other.execute("ROLLBACK")
        assert await store.write(lambda tx: tx.sessions.create(KEY, None))


async def test_a_context_that_can_not_be_kept_is_given_out_and_says_so(tmp_path: Path) -> None:
    async with foreign_lock(tmp_path / "store.db") as (store, other):
        other.execute("ROLLBACK")
        session = await memory_with_all(store).session("run")
        await session.append(Teller().tell(["ask", "work", "answer"] * 30))
        other.execute("BEGIN IMMEDIATE")
        shown = await session.context(2_000)
        assert "kept locked" in shown.unkept
        other.execute("ROLLBACK")
        again = await session.context(2_000)
        assert (again.messages, again.unkept) == (shown.messages, "")
        assert await store.read(lambda tx: tx.summaries.find(SessionKey("mine", "run"), "s_"))


async def test_the_loop_runs_on_while_a_transaction_waits(tmp_path: Path) -> None:
    async with foreign_lock(tmp_path / "store.db", busy_seconds=60.0) as (store, other):
        waiting = asyncio.create_task(store.write(lambda tx: tx.sessions.create(KEY, None)))
        ticks = 0
        while ticks < 20:
            await asyncio.sleep(0.001)
            ticks += 1
        assert not waiting.done()
        other.execute("ROLLBACK")
        await waiting


async def test_a_wait_that_is_cancelled_frees_the_connection_at_once(tmp_path: Path) -> None:
    async with foreign_lock(tmp_path / "store.db", busy_seconds=60.0) as (store, _):
        waiting = asyncio.create_task(store.write(never))
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled()
        # The thread of the connection is idle again, though the file is still locked.
        async with asyncio.timeout(10):
            await store.close()


async def test_an_up_to_date_file_opens_while_it_is_locked(tmp_path: Path) -> None:
    async with foreign_lock(tmp_path / "store.db"):
        second = await open_sqlite(tmp_path / "store.db", busy_seconds=0.2)
        await second.close()


def test_a_new_file_that_stays_locked_is_busy(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    other = apsw.Connection(str(path))
    try:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreBusy):
            asyncio.run(open_sqlite(path, busy_seconds=0.1))
    finally:
        other.close()


@pytest.mark.parametrize("lock", ["BEGIN; SELECT count(*) FROM sqlite_schema", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_opening_waits_for_one_who_works_on_a_file_that_is_not_in_wal_yet(tmp_path: Path, lock: str) -> None:
    path = tmp_path / "new.db"
    path.touch()
    other = apsw.Connection(str(path))
    other.execute(lock).fetchall()

    async def main() -> None:
        opening = asyncio.create_task(open_sqlite(path))
        await asyncio.sleep(0.1)
        assert not opening.done()
        other.execute("COMMIT")
        await (await opening).close()

    try:
        asyncio.run(main())
    finally:
        other.close()

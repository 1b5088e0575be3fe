"""The pool works on each connection for one task at a time, in order, and loses none of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError

import pytest

from ireneo.adapters.sql.database import Cancellation, Pool, ReentryGuard
from ireneo.errors import StoreError


def pool_of(*connections: str) -> tuple[Pool[str], list[str]]:
    retired: list[str] = []
    return Pool(connections, retired.append, ReentryGuard(), "test"), retired


class Gate:
    """Work that has begun, and goes on when it is let."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.cancelled: bool | None = None

    def work(self, connection: str, cancellation: Cancellation) -> str:
        self.begun.set()
        assert self.go_on.wait(30)
        self.cancelled = cancellation.requested.is_set()
        return connection

    async def begin(self, pool: Pool[str]) -> asyncio.Task[str]:
        task = asyncio.create_task(pool.run(self.work))
        assert await asyncio.to_thread(self.begun.wait, 30)
        return task


def giving(connection: str, _: Cancellation) -> str:
    return connection


def test_work_is_done_in_the_order_in_which_it_was_asked_for() -> None:
    async def main() -> None:
        pool, _ = pool_of("one")
        order: list[int] = []

        def noting(number: int) -> Callable[[str, Cancellation], None]:
            return lambda connection, cancellation: order.append(number)

        await asyncio.gather(*(pool.run(noting(number)) for number in range(20)))
        assert order == list(range(20))

    asyncio.run(main())


async def test_the_connection_that_came_back_last_is_used_first() -> None:
    pool, _ = pool_of("one", "two", "three")
    first = await pool.run(giving)
    assert [await pool.run(giving) for _ in range(5)] == [first] * 5


async def test_work_that_is_cancelled_before_it_began_never_does() -> None:
    pool, _ = pool_of("one")
    gate, late = Gate(), Gate()
    first = await gate.begin(pool)
    waiting = asyncio.create_task(pool.run(late.work))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()
    gate.go_on.set()
    assert await first == "one"
    assert await pool.run(giving) == "one"
    assert not late.begun.is_set()


async def test_work_that_is_cancelled_hands_back_when_it_is_through() -> None:
    pool, _ = pool_of("one")
    gate = Gate()
    task = await gate.begin(pool)
    task.cancel()
    # The task leaves at once, and the connection is still in use.
    await asyncio.wait([task])
    assert task.cancelled()
    following = asyncio.create_task(pool.run(giving))
    await asyncio.sleep(0.01)
    assert not following.done()
    gate.go_on.set()
    assert await following == "one"
    assert gate.cancelled


async def test_a_closed_pool_takes_nothing_on_and_retires_what_comes_back() -> None:
    pool, retired = pool_of("one", "two")
    gate, other = Gate(), Gate()
    first, second = await gate.begin(pool), await other.begin(pool)
    late = asyncio.create_task(pool.run(giving))
    await asyncio.sleep(0)
    gate.go_on.set()
    one = await first
    await asyncio.wait([late])
    assert list(pool.close()) == [one]
    with pytest.raises(StoreError):
        await pool.run(giving)
    assert retired == []
    other.go_on.set()
    two = await second
    assert retired == [two]
    assert {one, two} == {"one", "two"}
    assert list(pool.close()) == []


async def test_work_that_waits_when_the_pool_is_closed_is_refused() -> None:
    pool, retired = pool_of("one")
    gate = Gate()
    first = await gate.begin(pool)
    waiting = asyncio.create_task(pool.run(giving))
    await asyncio.sleep(0)
    assert list(pool.close()) == []
    gate.go_on.set()
    assert await first == "one"
    with pytest.raises(StoreError):
        await waiting
    assert retired == ["one"]


def test_one_pool_serves_one_loop_after_the_other() -> None:
    pool, _ = pool_of("one")

    async def leave_a_waiter() -> None:
        gate = Gate()
        first = await gate.begin(pool)
        waiting = asyncio.create_task(pool.run(giving))
        await asyncio.sleep(0)
        waiting.cancel()
        gate.go_on.set()
        assert await first == "one"

    for _ in range(3):
        asyncio.run(leave_a_waiter())


def test_a_commit_that_has_begun_is_not_cancelled() -> None:
    cancellation = Cancellation()
    cancellation.begin_commit()
    cancellation.request()
    assert not cancellation.requested.is_set()
    cancellation = Cancellation()
    cancellation.request()
    with pytest.raises(CancelledError):
        cancellation.begin_commit()

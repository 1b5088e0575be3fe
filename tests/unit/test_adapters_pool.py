"""The pool lends each thing to one task, in order, and loses none of them."""

from __future__ import annotations

import asyncio

import pytest

from ireneo.adapters.pool import Pool
from ireneo.errors import StoreError


def pool_of(*things: str) -> tuple[Pool[str], list[str]]:
    retired: list[str] = []
    return Pool(things, retired.append), retired


def test_things_go_to_those_who_waited_longest() -> None:
    async def main() -> None:
        pool, _ = pool_of("one")
        order: list[int] = []

        async def work(number: int) -> None:
            thing = await pool.take()
            order.append(number)
            await asyncio.sleep(0)
            pool.give(thing)

        await asyncio.gather(*(work(number) for number in range(20)))
        assert order == list(range(20))

    asyncio.run(main())


def test_the_thing_that_came_back_last_is_lent_first() -> None:
    async def main() -> None:
        pool, _ = pool_of("one", "two", "three")
        first = await pool.take()
        pool.give(first)
        assert await pool.take() == first

    asyncio.run(main())


def test_a_waiter_that_is_cancelled_just_as_it_is_served_hands_back() -> None:
    async def main() -> None:
        for pause in range(4):
            pool, _ = pool_of("one")
            thing = await pool.take()
            waiting = asyncio.create_task(pool.take())
            await asyncio.sleep(0)
            pool.give(thing)
            for _ in range(pause):
                await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
            if not waiting.cancelled():
                pool.give(waiting.result())
            async with asyncio.timeout(5):
                assert await pool.take() == "one"

    asyncio.run(main())


def test_a_closed_pool_lends_nothing_and_retires_what_comes_back() -> None:
    async def main() -> None:
        pool, retired = pool_of("one", "two")
        one = await pool.take()
        two = await pool.take()
        waiting = asyncio.create_task(pool.take())
        await asyncio.sleep(0)
        pool.give(one)
        assert await waiting == one
        late = asyncio.create_task(pool.take())
        await asyncio.sleep(0)
        assert list(pool.close()) == []
        with pytest.raises(StoreError):
            await late
        with pytest.raises(StoreError):
            await pool.take()
        pool.give(one)
        pool.give(two)
        assert retired == [one, two]
        assert list(pool.close()) == []

    asyncio.run(main())


def test_what_was_lent_in_one_loop_serves_the_next() -> None:
    pool, _ = pool_of("one")

    async def leave_a_waiter() -> None:
        thing = await pool.take()
        waiting = asyncio.create_task(pool.take())
        await asyncio.sleep(0)
        waiting.cancel()
        pool.give(thing)

    for _ in range(3):
        asyncio.run(leave_a_waiter())

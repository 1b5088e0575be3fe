"""What was spent on models."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta

from ireneo.errors import SessionNotFound
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Spent, Store
from ireneo.testing.conformance.check import check, expect, expect_error
from ireneo.testing.conformance.material import DAY, KEY, SPACE, numbered, tell

TASKS = 24

NEXT_DAY = DAY + timedelta(days=1)
OTHER = SessionKey(SPACE, "other")


async def add(store: Store, calls: int, tokens: int, *, key: SessionKey = KEY, day: date = DAY) -> None:
    """Add to what a session spent in a transaction of its own."""
    async with store.write() as tx:
        await tx.spending.add(key, day, Spent(calls=calls, tokens=tokens))


async def of_session(store: Store, key: SessionKey = KEY) -> tuple[int, int]:
    """Read the calls and tokens of a session."""
    async with store.read() as tx:
        spent = await tx.spending.of_session(key)
    return spent.calls, spent.tokens


async def of_day(store: Store, day: date = DAY) -> tuple[int, int]:
    """Read the calls and tokens of a day."""
    async with store.read() as tx:
        spent = await tx.spending.of_day(SPACE, day)
    return spent.calls, spent.tokens


@check
async def nothing_is_spent_at_first(store: Store) -> None:
    """Where nothing was spent, nothing is counted, whether or not the session was made."""
    expect((await of_session(store), await of_day(store)), ((0, 0), (0, 0)), "what an empty store counts")
    await tell(store, numbered(2))
    expect((await of_session(store), await of_day(store)), ((0, 0), (0, 0)), "what a session without a model counts")


@check
async def what_is_spent_adds_up(store: Store) -> None:
    """A session counts what it spent on all days, and a day what all sessions of the space spent on it."""
    await add(store, 1, 100)
    await add(store, 2, 30)
    await add(store, 1, 7, day=NEXT_DAY)
    await add(store, 4, 1000, key=OTHER)
    expect(await of_session(store), (4, 137), "what the session spent")
    expect(await of_session(store, OTHER), (4, 1000), "what the other one spent")
    expect(await of_day(store), (7, 1130), "what was spent on the day")
    expect(await of_day(store, NEXT_DAY), (1, 7), "what was spent on the next one")
    expect(await of_day(store, DAY - timedelta(days=1)), (0, 0), "what was spent the day before")


@check
async def what_was_reserved_is_given_back(store: Store) -> None:
    """Negative numbers give back what was reserved, down to nothing."""
    await add(store, 1, 5000)
    await add(store, 0, -3800)
    expect((await of_session(store), await of_day(store)), ((1, 1200), (1, 1200)), "what is left of a reserve")
    await add(store, -1, -1200)
    expect((await of_session(store), await of_day(store)), ((0, 0), (0, 0)), "what is left when all is given back")


@check
async def large_numbers_are_kept_exactly(store: Store) -> None:
    """Tokens are counted exactly, far over what four bytes or a float hold."""
    await add(store, 3_000_000_000, 2**53)
    await add(store, 1, 1)
    expect(await of_session(store), (3_000_000_001, 2**53 + 1), "what the session spent")
    expect(await of_day(store), (3_000_000_001, 2**53 + 1), "what was spent on the day")


@check
async def spending_makes_no_session(store: Store) -> None:
    """What is spent needs no session and makes none; one that is made later finds what it spent."""
    await add(store, 1, 50)
    async with store.read() as tx:
        expect(list(await tx.sessions.list(SPACE)), [], "the sessions")
        expect(await tx.sessions.get(KEY), None, "the session")
        with expect_error(SessionNotFound, "the branches"):
            await tx.sessions.branches(KEY)
    async with store.write() as tx:
        expect(await tx.sessions.create(KEY, None), True, "whether the session was made")
    expect(await of_session(store), (1, 50), "what it spent")


@check
async def spending_leaves_the_list_of_sessions(store: Store) -> None:
    """What is spent changes neither the order of the sessions nor what the list says of them."""
    await tell(store, numbered(2))
    await tell(store, numbered(2), OTHER)
    async with store.read() as tx:
        before = list(await tx.sessions.list(SPACE))
    await add(store, 1, 50)
    async with store.read() as tx:
        expect(list(await tx.sessions.list(SPACE)), before, "the sessions")


@check
async def what_is_added_at_once_adds_up(store: Store) -> None:
    """Tasks that add at once lose nothing of what the others added."""
    await asyncio.gather(*(add(store, 1, number, key=(KEY, OTHER)[number % 2]) for number in range(TASKS)))
    total = sum(range(TASKS))
    expect(await of_day(store), (TASKS, total), "what was spent on the day")
    expect(await of_session(store), (TASKS // 2, sum(range(0, TASKS, 2))), "what the session spent")


@check
async def a_limit_holds_between_tasks(store: Store) -> None:
    """Tasks that read what was spent and add to it in one transaction never go over a limit together."""

    async def spend_within(limit: int) -> bool:
        async with store.write() as tx:
            spent = await tx.spending.of_day(SPACE, DAY)
            if spent.calls >= limit:
                return False
            # Another task would have its turn here, if the transaction let it.
            await asyncio.sleep(0)
            await tx.spending.add(KEY, DAY, Spent(calls=1, tokens=10))
            return True

    done = await asyncio.gather(*(spend_within(5) for _ in range(TASKS)))
    expect(sum(done), 5, "how many were let through")
    expect(await of_day(store), (5, 50), "what was spent on the day")

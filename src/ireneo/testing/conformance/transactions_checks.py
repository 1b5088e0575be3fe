"""Transactions: all of one or nothing, and snapshots that stand still."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from ireneo.errors import MessageNotFound, StoreError
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import SessionKey
from ireneo.ports.store import SessionInfo, Spent, Store
from ireneo.testing.conformance.check import check, expect, expect_error
from ireneo.testing.conformance.material import (
    DAY,
    FAMILY,
    KEY,
    NOON,
    NOWHERE,
    SPACE,
    append,
    noted,
    numbered,
    read_path,
    rebuilt,
    say,
    summarise,
    tell,
)


class StoppedError(Exception):
    """Raised by a check, in the middle of a transaction."""


async def fill_and_stop(store: Store, error: BaseException) -> None:
    """Write through every port, and raise before the block is left."""
    async with store.write() as tx:
        m = await append(tx, KEY, numbered(4, "lost"))
        await tx.log.move(KEY, "lost", m[0].id)
        await tx.summaries.put(KEY, [summarise(m[0], m[3])])
        await tx.rebuilds.put(KEY, rebuilt(m[1]))
        await tx.annotations.put(KEY, [noted(m[0], "lost")])
        await tx.spending.add(KEY, DAY, Spent(calls=1, tokens=100))
        await tx.leases.take(KEY, "lost", "one", NOON, NOON)
        await tx.sessions.create(SessionKey(SPACE, "lost"), None)
        await tx.upkeep.drop(KEY, "main")
        await tx.upkeep.prune(KEY)
        raise error


async def expect_untouched(store: Store, infos: list[object]) -> None:
    """Check that nothing is left of `fill_and_stop`."""
    async with store.read() as tx:
        expect(list(await tx.sessions.list(SPACE)), infos, "the sessions")
        expect(await tx.log.head(KEY, "lost"), None, "the head of the branch")
        expect(list(await tx.leases.of_session(KEY)), [], "the leases")
        expect(list(await tx.summaries.find(KEY, "s_")), [], "the summaries")
        expect(await tx.spending.of_session(KEY), Spent(), "what the session spent")
        expect(await tx.spending.of_day(SPACE, DAY), Spent(), "what the space spent")


@check
async def an_exception_leaves_nothing(store: Store) -> None:
    """A transaction that raises leaves nothing of what it wrote through any port, and the exception comes through."""
    before = await tell(store, numbered(2))
    async with store.read() as tx:
        infos: list[object] = list(await tx.sessions.list(SPACE))
    try:
        await fill_and_stop(store, StoppedError())
    except StoppedError:
        await expect_untouched(store, infos)
    else:
        raise AssertionError("the exception did not come through")
    expect(await read_path(store, before[-1]), before, "the path from before")
    again = await tell(store, numbered(4, "lost"))
    expect(await read_path(store, again[-1]), before + again, "the path when it is written after all")
    async with store.read() as tx:
        expect(list(await tx.annotations.on_path(KEY, again[-1].id)), [], "the annotations on it")
        expect(await tx.rebuilds.last(KEY, again[-1].id, FAMILY, 1000), None, "the mark on it")


@check
async def a_cancelled_task_leaves_nothing(store: Store) -> None:
    """A task that is cancelled inside a transaction leaves nothing, and the next transaction goes on at once."""
    await tell(store, numbered(2))
    async with store.read() as tx:
        infos: list[object] = list(await tx.sessions.list(SPACE))
    reached = asyncio.Event()

    async def write_and_wait() -> None:
        async with store.write() as tx:
            await append(tx, KEY, numbered(3, "lost"))
            reached.set()
            await asyncio.sleep(3600)

    task = asyncio.create_task(write_and_wait())
    await reached.wait()
    task.cancel()
    await asyncio.wait([task])
    expect(task.cancelled(), True, "whether the task was cancelled")
    await expect_untouched(store, infos)
    kept = await tell(store, say("next"))
    expect((await read_path(store, kept[-1]))[-1:], kept, "what was written next")


@check
async def a_call_cancelled_anywhere_leaves_all_or_nothing(store: Store) -> None:
    """A task that is cancelled at any moment of an append leaves all of it or nothing, and never a lock."""
    for pause in range(40):
        task = asyncio.create_task(tell(store, numbered(5, f"round {pause}")))
        # Fractions of a millisecond reach into the middle of the calls.
        await asyncio.sleep(pause / 8000)
        task.cancel()
        await asyncio.wait([task])
        async with store.write() as tx:
            await tx.sessions.create(KEY, None)
            head = await tx.log.head(KEY)
            size = 0 if head is None else len(await tx.log.path(KEY, head.id, 0, head.position))
            expect(size % 5, 0, "messages over a whole append")
            expect(size, 0 if head is None else head.position + 1, "the length of the path")


@check
async def an_error_that_is_caught_leaves_the_rest(store: Store) -> None:
    """A call that raises changes nothing, and a transaction that catches it can go on and commit."""
    async with store.write() as tx:
        kept = await append(tx, KEY, numbered(2))
        with expect_error(MessageNotFound, "the move"):
            await tx.log.move(KEY, "main", MessageId(NOWHERE))
        kept += await append(tx, KEY, numbered(2, "more"))
    expect(await read_path(store, kept[-1]), kept, "the path")


async def sessions_of(store: Store) -> list[SessionInfo]:
    """The sessions as another task sees them."""
    async with store.read() as tx:
        return list(await tx.sessions.list(SPACE))


@check
async def a_transaction_sees_what_it_wrote(store: Store) -> None:
    """Inside a transaction its own writes are seen; outside nothing is, until it commits."""
    async with store.write() as tx:
        m = await append(tx, KEY, numbered(3))
        expect(list(await tx.log.path(KEY, m[-1].id, 0, 2)), m, "the path inside")
        expect(await asyncio.create_task(sessions_of(store)), [], "the sessions outside")
    async with store.read() as tx:
        expect(len(await tx.sessions.list(SPACE)), 1, "the sessions after it")


@check
async def a_snapshot_stands_still(store: Store) -> None:
    """What is read in one transaction belongs together, whatever is written meanwhile."""
    m = await tell(store, numbered(4))

    async def write_more() -> list[Message]:
        more = await tell(store, numbered(2, "more"))
        await tell(store, say("other"), SessionKey(SPACE, "other"))
        async with store.write() as writing:
            await writing.summaries.put(KEY, [summarise(m[0], m[3])])
            await writing.annotations.put(KEY, [noted(m[0], "later")])
            await writing.spending.add(KEY, DAY, Spent(calls=1, tokens=100))
        return more

    async with store.read() as tx:
        more = await asyncio.create_task(write_more())
        head = await tx.log.head(KEY)
        expect(head.id if head else None, m[-1].id, "the head in the snapshot")
        expect(list(await tx.log.find(KEY, [more[0].id])), [], "a later message")
        expect(len(await tx.sessions.list(SPACE)), 1, "the sessions in the snapshot")
        expect(list(await tx.summaries.frontier(KEY, m[-1].id, FAMILY)), [], "the frontier in the snapshot")
        expect(list(await tx.annotations.on_path(KEY, m[-1].id)), [], "the annotations in the snapshot")
        expect(await tx.spending.of_day(SPACE, DAY), Spent(), "what was spent in the snapshot")
    async with store.read() as tx:
        head = await tx.log.head(KEY)
        expect(head.id if head else None, more[-1].id, "the head after it")


@check
async def a_reader_writes_nothing(store: Store) -> None:
    """Writing in a transaction that reads raises StoreError."""
    m = await tell(store, numbered(2))
    async with store.read() as tx:
        with expect_error(StoreError, "an insert"):
            await tx.log.insert(KEY, m)
        with expect_error(StoreError, "a move"):
            await tx.log.move(KEY, "main", None)
        with expect_error(StoreError, "making a session"):
            await tx.sessions.create(SessionKey(SPACE, "other"), None)
        with expect_error(StoreError, "a summary"):
            await tx.summaries.put(KEY, [summarise(m[0], m[1])])
        with expect_error(StoreError, "a mark"):
            await tx.rebuilds.put(KEY, rebuilt(m[0]))
        with expect_error(StoreError, "an annotation"):
            await tx.annotations.put(KEY, [noted(m[0], "no")])
        with expect_error(StoreError, "what was spent"):
            await tx.spending.add(KEY, DAY, Spent(calls=1, tokens=100))
        with expect_error(StoreError, "a lease"):
            await tx.leases.take(KEY, "work", "one", NOON, NOON)
        with expect_error(StoreError, "to drop a branch"):
            await tx.upkeep.drop(KEY, "main")
        with expect_error(StoreError, "to discard summaries"):
            await tx.upkeep.discard(KEY, [])
        with expect_error(StoreError, "to prune"):
            await tx.upkeep.prune(KEY)
        expect(await tx.spending.of_session(KEY), Spent(), "what the session spent")


@check
async def a_transaction_ends_with_its_block(store: Store) -> None:
    """A transaction that is used after its block raises StoreError."""
    async with store.write() as writing:
        m = await append(writing, KEY, numbered(2))
    async with store.read() as reading:
        await reading.log.head(KEY)
    for tx in (writing, reading):
        with expect_error(StoreError, "a late call"):
            await tx.log.head(KEY)
        with expect_error(StoreError, "late reading of what was spent"):
            await tx.spending.of_session(KEY)
        with expect_error(StoreError, "late spending"):
            await tx.spending.add(KEY, DAY, Spent(calls=1, tokens=100))
        with expect_error(StoreError, "late annotations"):
            await tx.annotations.on_path(KEY, m[-1].id)
        with expect_error(StoreError, "late reading of leases"):
            await tx.leases.of_session(KEY)
        with expect_error(StoreError, "a late look for faults"):
            await tx.upkeep.faults()


@check
async def a_store_closes_once(store: Store) -> None:
    """A store may be closed twice, and refuses what comes after."""
    await tell(store, numbered(2))
    await store.close()
    await store.close()
    with expect_error(StoreError, "a read"):
        async with store.read():
            pass
    with expect_error(StoreError, "a write"):
        async with store.write():
            pass


@check
async def a_task_has_one_transaction_at_a_time(store: Store) -> None:
    """A task that opens a transaction inside another one is refused, of whichever kind the two are, and may go on."""
    m = await tell(store, numbered(2))
    for outer in (store.read, store.write):
        for inner in (store.read, store.write):
            async with outer() as tx:
                with expect_error(StoreError, "a transaction inside another"):
                    async with inner():
                        pass
                expect(list(await tx.log.path(KEY, m[-1].id, 0, 1)), m, "the path in the transaction that goes on")
        async with outer():
            # Another task has its own: nobody waits for anybody there.
            expect(len(await asyncio.create_task(sessions_of(store))), 1, "the sessions that another task sees")
    expect(await read_path(store, m[-1]), m, "the path afterwards")


@check
async def what_is_yielded_inside_a_transaction_is_seen(store: Store) -> None:
    """A generator that stands still inside a transaction keeps its caller from opening another, until it is closed."""
    m = await tell(store, numbered(2))

    async def told() -> AsyncGenerator[Message, None]:
        async with store.read() as tx:
            for message in await tx.log.path(KEY, m[-1].id, 0, 1):
                yield message

    generator = told()
    await anext(generator)
    with expect_error(StoreError, "a transaction of the caller"):
        await sessions_of(store)
    await asyncio.create_task(generator.aclose())
    expect(len(await sessions_of(store)), 1, "the sessions once it was closed, by another task")


@check
async def a_store_that_is_closed_lets_open_transactions_end(store: Store) -> None:
    """Closing a store in the middle of a transaction lets that go on and commit, and no other begin."""
    async with store.write() as tx:
        await append(tx, KEY, numbered(2))
        await store.close()
        more = await append(tx, KEY, numbered(2, "more"))
        expect(list(await tx.log.path(KEY, more[-1].id, 2, 3)), more, "the path inside")
    with expect_error(StoreError, "a read"):
        async with store.read():
            pass

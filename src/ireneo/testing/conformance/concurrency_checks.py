"""Many tasks on one store at once."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from ireneo.log.tree import SessionKey
from ireneo.ports.store import Lease, Store
from ireneo.testing.conformance.check import check, expect
from ireneo.testing.conformance.material import KEY, MINUTE, NOON, SPACE, after, numbered, read_path, say, tell

TASKS = 24


@check
async def appends_to_one_session_queue_up(store: Store) -> None:
    """Tasks that append to one session at once stand behind each other, each append whole and none lost."""
    done = await asyncio.gather(*(tell(store, numbered(3, f"task {number}")) for number in range(TASKS)))
    end = max((messages[-1] for messages in done), key=lambda message: message.position)
    path = await read_path(store, end)
    expect(len(path), 3 * TASKS, "the length of the path")
    for messages in done:
        at = messages[0].position
        expect(path[at : at + 3], messages, "one append on the path")


@check
async def appends_to_many_sessions_stay_apart(store: Store) -> None:
    """Tasks that append each to its own session find it whole."""
    keys = [SessionKey(SPACE, f"session {number}") for number in range(TASKS)]

    async def work(key: SessionKey) -> None:
        told = [message for number in range(4) for message in await tell(store, say(f"{key.session} {number}"), key)]
        expect(await read_path(store, told[-1], key), told, "the path")

    await asyncio.gather(*(work(key) for key in keys))
    async with store.read() as tx:
        expect({info.key for info in await tx.sessions.list(SPACE)}, set(keys), "the sessions")


@check
async def the_same_offered_at_once_is_stored_once(store: Store) -> None:
    """Tasks that offer the same messages at once store them once between them."""
    messages = after(None, numbered(20))

    async def offer() -> int:
        async with store.write() as tx:
            await tx.sessions.create(KEY, None)
            return await tx.log.insert(KEY, messages)

    expect(sum(await asyncio.gather(*(offer() for _ in range(TASKS)))), 20, "new among all tasks")
    expect(await read_path(store, messages[-1]), messages, "the path")


@check
async def readers_do_not_wait_for_a_writer(store: Store) -> None:
    """Reads go on while a transaction that writes is open."""
    m = await tell(store, numbered(4))
    async with store.write() as tx:
        await tx.log.move(KEY, "main", None)
        paths = await asyncio.gather(*(read_path(store, m[-1]) for _ in range(TASKS)))
    expect(paths, [m] * TASKS, "the paths")


@check
async def writers_go_in_the_order_in_which_they_came(store: Store) -> None:
    """Tasks of one process write in the order in which they asked."""
    order: list[int] = []

    async def work(number: int) -> None:
        async with store.write() as tx:
            order.append(number)
            await tx.sessions.create(KEY, None)

    async with asyncio.TaskGroup() as tasks, store.write():
        for number in range(TASKS):
            tasks.create_task(work(number))
            await asyncio.sleep(0)
        await asyncio.sleep(0.01)
    expect(order, list(range(TASKS)), "the order")


@check
async def a_waiter_that_is_cancelled_holds_nobody_up(store: Store) -> None:
    """Tasks that are cancelled while they wait to write let those behind them pass."""
    async with store.write() as tx:
        await tx.sessions.create(KEY, None)
        waiting = [asyncio.create_task(tell(store, say(f"waiting {number}"))) for number in range(TASKS)]
        await asyncio.sleep(0.01)
        for task in waiting[::2]:
            task.cancel()
    await asyncio.wait(waiting)
    expect([task.cancelled() for task in waiting], [True, False] * (TASKS // 2), "who was cancelled")
    async with store.read() as tx:
        (info,) = await tx.sessions.list(SPACE)
    expect(info.messages, TASKS // 2, "the messages")


@check
async def a_lease_is_taken_by_one_of_many(store: Store) -> None:
    """Of tasks that try to take one lease at once exactly one gets it, whichever looked at the clock first."""
    async with store.write() as tx:
        await tx.sessions.create(KEY, None)

    async def take(number: int) -> Lease | None:
        now = NOON - timedelta(milliseconds=number)
        async with store.write() as tx:
            return await tx.leases.take(KEY, "work", f"task {number}", now, now + MINUTE)

    leases = [lease for lease in await asyncio.gather(*(take(number) for number in range(TASKS))) if lease]
    async with store.read() as tx:
        expect(leases, list(await tx.leases.of_session(KEY)), "the leases that were got")
    expect(len(leases), 1, "how many got it")


@check
async def calls_inside_one_transaction_may_overlap(store: Store) -> None:
    """Calls of one transaction may be made at once."""
    m = await tell(store, numbered(30))
    async with store.read() as tx:
        runs = await asyncio.gather(*(tx.log.path(KEY, m[-1].id, first, first + 9) for first in range(20)))
    expect([list(run) for run in runs], [m[first : first + 10] for first in range(20)], "the runs")

"""What outlives a store, and what two stores over one place share."""

from __future__ import annotations

import asyncio

from ireneo.errors import SessionNotFound
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Lease, Spent, Store
from ireneo.summaries.summary import SummaryId
from ireneo.testing.conformance.check import Again, expect, expect_error, shared_check
from ireneo.testing.conformance.material import (
    DAY,
    FAMILY,
    KEY,
    MINUTE,
    NOON,
    SPACE,
    after,
    append,
    noted,
    numbered,
    read_path,
    rebuilt,
    say,
    summarise,
    tell,
    with_native,
)


@shared_check
async def what_was_committed_is_there_when_it_is_opened_again(store: Store, again: Again) -> None:
    """A store that is closed and opened again holds all that was committed."""
    drafts = [with_native(draft, {"n": number}) for number, draft in enumerate(numbered(5))]
    async with store.write() as tx:
        m = await append(tx, KEY, drafts)
        mark = rebuilt(m[3], taken_up=(SummaryId("s_one"),))
        await tx.summaries.put(KEY, [summarise(m[0], m[3])])
        await tx.rebuilds.put(KEY, mark)
        await tx.annotations.put(KEY, [noted(m[2], "kept")])
        await tx.spending.add(KEY, DAY, Spent(calls=1, tokens=100))
        lease = await tx.leases.take(KEY, "work", "one", NOON, NOON + MINUTE)
    async with store.read() as tx:
        infos = list(await tx.sessions.list(SPACE))
    await store.close()
    other = await again(store)
    try:
        async with other.read() as tx:
            expect(list(await tx.sessions.list(SPACE)), infos, "the sessions")
            natives = await tx.log.natives(KEY, [message.id for message in m])
            expect([natives[message.id] for message in m], drafts, "the drafts")
            expect(list(await tx.summaries.frontier(KEY, m[-1].id, FAMILY)), [summarise(m[0], m[3])], "the frontier")
            expect(await tx.rebuilds.last(KEY, m[-1].id, FAMILY, 1000), mark, "the mark")
            expect(list(await tx.annotations.on_path(KEY, m[-1].id)), [noted(m[2], "kept")], "the annotations")
            expect(await tx.spending.of_session(KEY), Spent(calls=1, tokens=100), "what the session spent")
            expect(list(await tx.leases.of_session(KEY)), [lease], "the leases")
            expect(list(await tx.upkeep.faults()), [], "the faults")
        more = await tell(other, say("and on"))
        expect(more[0].parent, m[-1].id, "the parent of what came next")
    finally:
        await other.close()


@shared_check
async def two_stores_see_each_other(store: Store, again: Again) -> None:
    """What one store commits, the other one reads at once and goes on from."""
    other = await again(store)
    try:
        with expect_error(SessionNotFound, "the branches before anything was written"):
            async with other.read() as tx:
                await tx.sessions.branches(KEY)
        told = []
        for number in range(6):
            told += await tell((store, other)[number % 2], say(f"turn {number}"))
            expect(await read_path((other, store)[number % 2], told[-1]), told, "the path in the other")
    finally:
        await other.close()


@shared_check
async def two_stores_append_at_once(store: Store, again: Again) -> None:
    """Two stores that append to one session at once lose nothing, and neither fails."""
    other = await again(store)
    try:
        done = await asyncio.gather(
            *(tell((store, other)[number % 2], numbered(2, f"task {number}")) for number in range(40))
        )
        end = max((messages[-1] for messages in done), key=lambda message: message.position)
        expect(len(await read_path(store, end)), 80, "the length of the path")
    finally:
        await other.close()


@shared_check
async def two_stores_store_the_same_once(store: Store, again: Again) -> None:
    """The same messages, summaries and annotations, offered by two stores at once, are stored once."""
    other = await again(store)
    messages = after(None, numbered(10))

    async def offer(to: Store) -> tuple[int, int, int]:
        async with to.write() as tx:
            await tx.sessions.create(KEY, None)
            inserted = await tx.log.insert(KEY, messages)
            summarised = await tx.summaries.put(KEY, [summarise(messages[0], messages[4])])
            return inserted, summarised, await tx.annotations.put(KEY, [noted(messages[2], "note")])

    try:
        offers = await asyncio.gather(*(offer(to) for to in (store, other) * 5))
        expect([sum(column) for column in zip(*offers, strict=True)], [10, 1, 1], "new among all")
    finally:
        await other.close()


@shared_check
async def two_stores_spend_at_once(store: Store, again: Again) -> None:
    """What two stores add at once to what one session spent adds up, and both read the same."""
    other = await again(store)

    async def spend(to: Store, tokens: int) -> None:
        async with to.write() as tx:
            await tx.spending.add(KEY, DAY, Spent(calls=1, tokens=tokens))

    try:
        await asyncio.gather(*(spend((store, other)[number % 2], number) for number in range(40)))
        for each in (store, other):
            async with each.read() as tx:
                expect(await tx.spending.of_session(KEY), Spent(calls=40, tokens=780), "what the session spent")
                expect(await tx.spending.of_day(SPACE, DAY), Spent(calls=40, tokens=780), "what the space spent")
    finally:
        await other.close()


@shared_check
async def two_stores_take_a_lease_at_once(store: Store, again: Again) -> None:
    """Of tasks of two stores that try to take one lease at once exactly one gets it, and both see whose it is."""
    other = await again(store)
    async with store.write() as tx:
        await tx.sessions.create(KEY, None)

    async def take(to: Store, holder: str) -> Lease | None:
        async with to.write() as tx:
            return await tx.leases.take(KEY, "work", holder, NOON, NOON + MINUTE)

    try:
        tried = await asyncio.gather(*(take((store, other)[number % 2], f"task {number}") for number in range(40)))
        got = [lease for lease in tried if lease]
        expect(len(got), 1, "how many got it")
        for each in (store, other):
            async with each.read() as tx:
                expect(list(await tx.leases.of_session(KEY)), got, "the leases")
    finally:
        await other.close()


@shared_check
async def a_writer_waits_for_the_other_store(store: Store, again: Again) -> None:
    """A store waits while another one writes, and what that wrote is there when its turn comes."""
    other = await again(store)
    try:
        async with store.write() as tx:
            first = await append(tx, KEY, say("first"))
            waiting = asyncio.create_task(tell(other, say("second")))
            await asyncio.sleep(0.05)
            expect(waiting.done(), False, "whether the second has written already")
        second = await waiting
        expect(second[0].parent, first[0].id, "the parent of the second")
    finally:
        await other.close()


@shared_check
async def a_wait_that_is_cancelled_ends(store: Store, again: Again) -> None:
    """A task that is cancelled while it waits for another store ends at once and leaves its own store fit for use."""
    other = await again(store)
    try:
        async with store.write() as tx:
            await tx.sessions.create(KEY, None)
            waiting = asyncio.create_task(tell(other, say("never"), SessionKey(SPACE, "never")))
            await asyncio.sleep(0.05)
            waiting.cancel()
            await asyncio.wait([waiting])
            async with other.read() as reading:
                expect(list(await reading.sessions.list(SPACE)), [], "what is seen while the first one writes")
        await tell(other, say("after all"))
        async with store.read() as tx:
            expect([info.key for info in await tx.sessions.list(SPACE)], [KEY], "the sessions")
    finally:
        await other.close()

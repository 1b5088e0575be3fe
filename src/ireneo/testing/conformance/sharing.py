"""What outlives a store, and what two stores over one place share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ireneo.errors import SessionNotFound
from ireneo.log.message import Message
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Lease, Rebuild, Spent, Store, Transaction
from ireneo.summaries.summary import SummaryId
from ireneo.testing.conformance.check import Again, expect, expect_error
from ireneo.testing.conformance.material import (
    DAY,
    KEY,
    MINUTE,
    NOON,
    SPACE,
    SUMMARIZER,
    after,
    learned,
    noted,
    numbered,
    read_path,
    rebuilt,
    say,
    summarise,
    tell,
    with_native,
)
from ireneo.testing.conformance.transactions import make, paused, sessions_of

TASKS = 40


@asynccontextmanager
async def beside(store: Store, again: Again) -> AsyncIterator[Store]:
    """Another store over the same place."""
    other = await again(store)
    try:
        yield other
    finally:
        await other.close()


class SharingChecks:
    """What two stores over one place share."""

    async def who_waits_for_work_hears_of_it_or_looks_again(self, store: Store, again: Again) -> None:
        """A wait ends after a moment, or when another store commits a message, also between two waits."""
        await store.write(make)
        async with beside(store, again) as other, store.hearing(SPACE) as wait:
            await wait(0.01, 0.01)
            for number in range(3):
                await other.write(tell, say(f"There is more to do: {number}."))
                await asyncio.wait_for(wait(0.01, 600.0), 30.0)

    async def what_was_committed_is_there_when_it_is_opened_again(self, store: Store, again: Again) -> None:
        """A store that is closed and opened again holds all that was committed."""
        drafts = [with_native(draft, {"n": number}) for number, draft in enumerate(numbered(5))]

        def fill(tx: Transaction) -> tuple[list[Message], Rebuild, Lease | None]:
            m = tell(tx, drafts)
            mark = rebuilt(m[3], taken_up=(SummaryId("s_one"),))
            tx.summaries.put(KEY, [summarise(m[0], m[3])])
            tx.rebuilds.put(KEY, mark)
            tx.annotations.put(KEY, [noted(m[2], "kept")])
            tx.spending.add(KEY, DAY, Spent(calls=1, tokens=100))
            return m, mark, tx.leases.take(KEY, "work", "one", NOON, NOON + MINUTE)

        m, mark, lease = await store.write(fill)
        infos = await store.read(sessions_of)

        def look(tx: Transaction) -> None:
            expect(tx.sessions.list(SPACE), infos, "the sessions")
            natives = tx.log.drafts(KEY, [message.id for message in m])
            expect([natives[message.id] for message in m], drafts, "the drafts")
            expect(tx.summaries.frontier(KEY, m[-1].id, SUMMARIZER), [summarise(m[0], m[3])], "the frontier")
            expect(tx.rebuilds.last(KEY, m[-1].id, SUMMARIZER, 1000), mark, "the mark")
            expect(tx.annotations.on_path(KEY, m[-1].id), [noted(m[2], "kept")], "the annotations")
            expect(tx.spending.of_session(KEY), Spent(calls=1, tokens=100), "what the session spent")
            expect(tx.leases.of_session(KEY), [lease], "the leases")
            expect(tx.upkeep.faults(), [], "the faults")

        await store.close()
        async with beside(store, again) as other:
            await other.read(look)
            more = await other.write(tell, say("and on"))
            expect(more[0].parent, m[-1].id, "the parent of what came next")

    async def two_stores_see_each_other(self, store: Store, again: Again) -> None:
        """What one store commits, the other one reads at once and goes on from."""
        async with beside(store, again) as other:
            with expect_error(SessionNotFound, "the branches before anything was written"):
                await other.read(lambda tx: tx.sessions.branches(KEY))
            told: list[Message] = []
            for number in range(6):
                told += await (store, other)[number % 2].write(tell, say(f"turn {number}"))
                expect(await (other, store)[number % 2].read(read_path, told[-1]), told, "the path in the other")

    async def two_stores_append_at_once(self, store: Store, again: Again) -> None:
        """Two stores that append to one session at once lose nothing, and neither fails."""
        async with beside(store, again) as other:
            done = await asyncio.gather(
                *((store, other)[number % 2].write(tell, numbered(2, f"task {number}")) for number in range(TASKS))
            )
            end = max((messages[-1] for messages in done), key=lambda message: message.position)
            expect(len(await store.read(read_path, end)), 2 * TASKS, "the length of the path")

    async def two_stores_store_the_same_once(self, store: Store, again: Again) -> None:
        """The same messages, summaries and annotations, offered by two stores at once, are stored once."""
        messages = after(None, numbered(10))

        def offer(tx: Transaction) -> tuple[int, int, int]:
            make(tx)
            inserted = tx.log.insert(KEY, messages)
            summarised = tx.summaries.put(KEY, [summarise(messages[0], messages[4])])
            return inserted, summarised, tx.annotations.put(KEY, [noted(messages[2], "note")])

        async with beside(store, again) as other:
            offers = await asyncio.gather(*(to.write(offer) for to in (store, other) * 5))
            expect([sum(column) for column in zip(*offers, strict=True)], [10, 1, 1], "new among all")

    async def two_stores_spend_at_once(self, store: Store, again: Again) -> None:
        """What two stores add at once to what one session spent adds up, and both read the same."""

        def spend(tx: Transaction, tokens: int) -> None:
            tx.spending.add(KEY, DAY, Spent(calls=1, tokens=tokens))

        total = Spent(calls=TASKS, tokens=sum(range(TASKS)))
        async with beside(store, again) as other:
            await asyncio.gather(*((store, other)[number % 2].write(spend, number) for number in range(TASKS)))
            for each in (store, other):
                expect(await each.read(lambda tx: tx.spending.of_session(KEY)), total, "what the session spent")
                expect(await each.read(lambda tx: tx.spending.of_day(SPACE, DAY)), total, "what the space spent")

    async def two_stores_take_a_lease_at_once(self, store: Store, again: Again) -> None:
        """Of tasks of two stores that try to take one lease at once exactly one gets it, and both see whose it is."""

        def take(tx: Transaction, holder: str) -> Lease | None:
            return tx.leases.take(KEY, "work", holder, NOON, NOON + MINUTE)

        async with beside(store, again) as other:
            await store.write(make)
            tried = await asyncio.gather(
                *((store, other)[number % 2].write(take, f"task {number}") for number in range(TASKS))
            )
            got = [lease for lease in tried if lease]
            expect(len(got), 1, "how many got it")
            for each in (store, other):
                expect(await each.read(lambda tx: tx.leases.of_session(KEY)), got, "the leases")

    async def a_writer_waits_for_the_other_store(self, store: Store, again: Again) -> None:
        """A store waits while another one writes, and what that wrote is there when its turn comes."""
        first: list[Message] = []
        async with beside(store, again) as other:
            async with paused(store.write, lambda tx: first.extend(tell(tx, say("first")))):
                waiting = asyncio.create_task(other.write(tell, say("second")))
                await asyncio.sleep(0.05)
                expect(waiting.done(), False, "whether the second has written already")
            expect((await waiting)[0].parent, first[0].id, "the parent of the second")

    async def a_wait_that_is_cancelled_ends(self, store: Store, again: Again) -> None:
        """A task cancelled while waiting for another store ends at once, and its own store stays usable."""
        async with beside(store, again) as other:
            async with paused(store.write, make):
                waiting = asyncio.create_task(other.write(tell, say("never"), SessionKey(SPACE, "never")))
                await asyncio.sleep(0.05)
                waiting.cancel()
                await asyncio.wait([waiting])
                expect(await other.read(sessions_of), [], "what is seen while the first one writes")
            await other.write(tell, say("after all"))
            expect([info.key for info in await store.read(sessions_of)], [KEY], "the sessions")

    async def changed_vectors_are_reported_to_another_store(self, store: Store, again: Again) -> None:
        """What one store puts and removes, another that asks since its last change is told."""
        gone, stays = learned("a fact"), learned("another")

        def fill(tx: Transaction) -> list[int]:
            tx.memories.put(SPACE, [gone, stays])
            documents = sorted(tx.vectors.due(SPACE, "memories", "tiny:1", 10))
            tx.vectors.put(SPACE, "memories", "tiny:1", dict.fromkeys(documents, bytes([127, 0, 3])))
            return documents

        async with beside(store, again) as other:
            documents = await store.write(fill)
            seen = await other.read(lambda tx: tx.vectors.since(SPACE, "memories", "tiny:1", 0))
            expect(sorted(seen.added), documents, "what the other one sees")
            await store.write(lambda tx: tx.memories.remove(SPACE, [gone.id]))
            changed = await other.read(lambda tx: tx.vectors.since(SPACE, "memories", "tiny:1", seen.change))
            expect((dict(changed.added), list(changed.removed)), ({}, documents[:1]), "what it sees of the removal")

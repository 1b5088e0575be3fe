"""Transactions: all or nothing, stable snapshots, many tasks at once; and what two stores share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import cast

from ireneo.errors import MessageNotFound, SessionNotFound, StoreError
from ireneo.log.message import Message, MessageId, head_of
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Lease, Rebuild, SessionInfo, Spent, Store, Transaction
from ireneo.summaries.summary import SummaryId
from ireneo.testing.conformance.check import (
    DAY,
    KEY,
    MINUTE,
    NOON,
    NOWHERE,
    PATIENCE_SECONDS,
    SPACE,
    SUMMARIZER,
    Again,
    BrokenOffError,
    Place,
    UnmetError,
    after,
    break_off,
    expect,
    expect_error,
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

TASKS = 24
MANY_TASKS = 64


@asynccontextmanager
async def paused(
    transaction: Callable[[Callable[[Transaction], None]], Coroutine[None, None, None]],
    steps: Callable[[Transaction], object],
    then: Callable[[Transaction], object] = lambda tx: None,
) -> AsyncIterator[asyncio.Task[None]]:
    """A transaction that has done its steps and stays open during the block; then it ends."""
    reached, on = threading.Event(), threading.Event()

    def taken(tx: Transaction) -> None:
        steps(tx)
        reached.set()
        if not on.wait(PATIENCE_SECONDS):
            raise UnmetError("a transaction was left waiting")
        then(tx)

    task = asyncio.create_task(transaction(taken))
    await asyncio.to_thread(reached.wait, PATIENCE_SECONDS)
    try:
        yield task
    finally:
        on.set()
    await asyncio.wait([task])
    if not task.cancelled():
        task.result()


def fill(tx: Transaction) -> None:
    """Write through every port."""
    m = tell(tx, numbered(4, "lost"))
    tx.log.move(KEY, "lost", m[0].id)
    tx.summaries.put(KEY, [summarise(m[0], m[3])])
    tx.rebuilds.put(KEY, rebuilt(m[1]))
    tx.annotations.put(KEY, [noted(m[0], "lost")])
    tx.read_marks.put(KEY, m[3].id, "one")
    tx.spending.add(KEY, DAY, Spent(calls=1, tokens=100))
    tx.leases.take(KEY, "lost", "one", NOON, NOON)
    tx.sessions.create(SessionKey(SPACE, "lost"), None)
    tx.upkeep.drop_branch(KEY, "main")
    tx.upkeep.prune(KEY)


def sessions_of(tx: Transaction) -> list[SessionInfo]:
    """The sessions of the space."""
    return list(tx.sessions.list(SPACE))


def make(tx: Transaction) -> bool:
    """Make the session."""
    return tx.sessions.create(KEY, None)


def expect_untouched(tx: Transaction, infos: Sequence[SessionInfo]) -> None:
    """Check that nothing of `fill` was kept."""
    expect(tx.sessions.list(SPACE), infos, "the sessions")
    expect(tx.log.head(KEY, "lost"), None, "the head of the branch")
    expect(tx.leases.of_session(KEY), [], "the leases")
    expect(tx.summaries.find(KEY, "s_"), [], "the summaries")
    expect(tx.spending.of_session(KEY), Spent(), "what the session spent")
    expect(tx.spending.of_day(SPACE, DAY), Spent(), "what the space spent")


def expect_whole_appends(tx: Transaction, size: int) -> int:
    """Check that the main branch consists of whole appends of `size` messages; returns how many messages it has."""
    head = tx.log.head(KEY)
    length = 0 if head is None else len(tx.log.path(KEY, head.id, 0, head.position))
    expect(length % size, 0, "messages over a whole append")
    expect(length, 0 if head is None else head.position + 1, "the length of the path")
    return length


async def _awaited(waiting: object) -> object:
    return await waiting  # type: ignore[misc]


class TransactionChecks:
    """Checks of a store's transactions."""

    async def a_function_is_given_its_arguments_and_gives_what_it_returns(self, store: Store) -> None:
        """A transaction's function gets its arguments unchanged, and its result comes back unchanged."""
        given = object()

        def look(tx: Transaction, one: object, *, two: object) -> tuple[object, object, Sequence[SessionInfo]]:
            return one, two, tx.sessions.list(SPACE)

        for transaction in (store.read, store.write):
            expect(await transaction(look, given, two=[given]), (given, [given], []), "what comes back")

    async def an_exception_leaves_nothing(self, store: Store) -> None:
        """A transaction that raises keeps nothing that it wrote, and the exception is passed on."""
        before = await store.write(tell, numbered(2))
        infos = await store.read(sessions_of)
        try:
            await store.write(break_off, fill)
        except BrokenOffError:
            await store.read(expect_untouched, infos)
        else:
            raise UnmetError("the exception did not come through")
        expect(await store.read(read_path, before[-1]), before, "the path from before")
        again = await store.write(tell, numbered(4, "lost"))
        expect(await store.read(read_path, again[-1]), before + again, "the path when it is written after all")

        def look(tx: Transaction) -> None:
            expect(tx.annotations.on_path(KEY, again[-1].id), [], "the annotations on it")
            expect(tx.rebuilds.last(KEY, again[-1].id, SUMMARIZER, 1000), None, "the mark on it")

        await store.read(look)

    async def a_cancelled_task_leaves_nothing(self, store: Store) -> None:
        """A task that is cancelled inside a transaction ends at once and leaves nothing; the next one can start."""
        await store.write(tell, numbered(2))
        infos = await store.read(sessions_of)
        async with paused(store.write, fill) as task:
            task.cancel()
            await asyncio.wait([task])
            expect(task.cancelled(), True, "whether the task was cancelled")
        kept = await store.write(tell, say("next"))
        expect((await store.read(read_path, kept[-1]))[-1:], kept, "what was written next")
        (info,) = await store.read(sessions_of)
        expect(info.messages, infos[0].messages + 1, "the messages")
        expect(await store.read(lambda tx: tx.spending.of_day(SPACE, DAY)), Spent(), "what the space spent")

    async def a_call_cancelled_anywhere_leaves_all_or_nothing(self, store: Store) -> None:
        """A task that is cancelled at any moment of an append leaves all or nothing of it, and never a lock."""
        for pause in range(40):
            task = asyncio.create_task(store.write(tell, numbered(5, f"round {pause}")))
            # Fractions of a millisecond, so that some fall in the middle of a call.
            await asyncio.sleep(pause / 8000)
            task.cancel()
            await asyncio.wait([task])
            await store.write(make)
            await store.read(expect_whole_appends, 5)

    async def many_tasks_never_hang(self, store: Store) -> None:
        """Any number of tasks that read and write, some cancelled at any moment, all come to an end."""
        chance = Random(7)

        async def work(number: int) -> None:
            for turn in range(3):
                told = await store.write(tell, numbered(2, f"task {number}, turn {turn}"))
                expect((await store.read(read_path, told[-1]))[-2:], told, "what was just written")

        tasks = [asyncio.create_task(work(number)) for number in range(MANY_TASKS)]
        doomed = chance.sample(tasks, MANY_TASKS // 4)
        for task in doomed:
            await asyncio.sleep(chance.random() / 500)
            task.cancel()
        await asyncio.wait(tasks)
        for task in tasks:
            expect(task.cancelled() or task.exception() is None, True, "whether a task ended as it should")
            expect(task.cancelled() and task not in doomed, False, "whether a task was cancelled that nobody cancelled")
        length = await store.read(expect_whole_appends, 2)
        expect(length >= 6 * (MANY_TASKS - len(doomed)), True, "whether all is there that was acknowledged")

    def an_error_that_is_caught_leaves_the_rest(self, store: Place) -> None:
        """A call that raises changes nothing, and a transaction that catches the error can commit the rest."""

        def steps(tx: Transaction) -> list[Message]:
            kept = tell(tx, numbered(2))
            with expect_error(MessageNotFound, "the move"):
                tx.log.move(KEY, "main", MessageId(NOWHERE))
            return kept + tell(tx, numbered(2, "more"))

        kept = store.write(steps)
        expect(read_path(store, kept[-1]), kept, "the path")

    async def a_transaction_sees_what_it_wrote(self, store: Store) -> None:
        """A transaction sees its own writes; others see nothing of them before it commits."""

        def steps(tx: Transaction) -> None:
            m = tell(tx, numbered(3))
            expect(tx.log.path(KEY, m[-1].id, 0, 2), m, "the path inside")

        async with paused(store.write, steps):
            expect(await store.read(sessions_of), [], "the sessions outside")
        expect(len(await store.read(sessions_of)), 1, "the sessions after it")

    async def a_snapshot_stands_still(self, store: Store) -> None:
        """All reads of one transaction show the same state, whatever is written meanwhile."""
        m = await store.write(tell, numbered(4))
        more = after(m[-1], numbered(2, "more"))

        def look(tx: Transaction) -> None:
            expect(tx.log.head(KEY), head_of(m[-1]), "the head in the snapshot")
            expect(tx.log.find(KEY, [more[0].id]), [], "a later message")
            expect(len(tx.sessions.list(SPACE)), 1, "the sessions in the snapshot")
            expect(tx.summaries.frontier(KEY, m[-1].id, SUMMARIZER), [], "the frontier in the snapshot")
            expect(tx.annotations.on_path(KEY, m[-1].id), [], "the annotations in the snapshot")
            expect(tx.spending.of_day(SPACE, DAY), Spent(), "what was spent in the snapshot")

        def derive(tx: Transaction) -> None:
            tx.summaries.put(KEY, [summarise(m[0], m[3])])
            tx.annotations.put(KEY, [noted(m[0], "later")])
            tx.spending.add(KEY, DAY, Spent(calls=1, tokens=100))

        async with paused(store.read, look, look):
            await store.write(tell, numbered(2, "more"))
            await store.write(tell, say("other"), SessionKey(SPACE, "other"))
            await store.write(derive)
        expect(await store.read(lambda tx: tx.log.head(KEY)), head_of(more[-1]), "the head after it")

    async def a_reader_writes_nothing(self, store: Store) -> None:
        """Writing in a transaction that reads raises StoreError."""
        m = await store.write(tell, numbered(2))
        writes: list[Callable[[Transaction], object]] = [
            lambda tx: tx.log.insert(KEY, m),
            lambda tx: tx.log.move(KEY, "main", None),
            lambda tx: tx.sessions.create(SessionKey(SPACE, "other"), None),
            lambda tx: tx.summaries.put(KEY, [summarise(m[0], m[1])]),
            lambda tx: tx.rebuilds.put(KEY, rebuilt(m[0])),
            lambda tx: tx.annotations.put(KEY, [noted(m[0], "no")]),
            lambda tx: tx.read_marks.put(KEY, m[0].id, "one"),
            lambda tx: tx.spending.add(KEY, DAY, Spent(calls=1, tokens=100)),
            lambda tx: tx.leases.take(KEY, "work", "one", NOON, NOON),
            lambda tx: tx.upkeep.drop_branch(KEY, "main"),
            lambda tx: tx.upkeep.discard(KEY, []),
            lambda tx: tx.upkeep.prune(KEY),
        ]

        def look(tx: Transaction) -> None:
            for number, write in enumerate(writes):
                with expect_error(StoreError, f"write {number}"):
                    write(tx)
            expect(tx.spending.of_session(KEY), Spent(), "what the session spent")

        await store.read(look)

    async def a_transaction_ends_with_its_function(self, store: Store) -> None:
        """Using a transaction after its function has returned raises StoreError."""
        m = await store.write(tell, numbered(2))
        for transaction in (store.read, store.write):
            kept: list[Transaction] = []
            await transaction(kept.append)
            late: list[Callable[[Transaction], object]] = [
                lambda tx: tx.log.head(KEY),
                lambda tx: tx.spending.of_session(KEY),
                lambda tx: tx.spending.add(KEY, DAY, Spent(calls=1, tokens=100)),
                lambda tx: tx.annotations.on_path(KEY, m[-1].id),
                lambda tx: tx.leases.of_session(KEY),
                lambda tx: tx.upkeep.faults(),
            ]
            for number, call in enumerate(late):
                with expect_error(StoreError, f"late call {number}"):
                    call(kept[0])

    async def what_would_run_later_is_refused(self, store: Store) -> None:
        """A function that returns something to be awaited or iterated raises StoreError, and nothing is kept."""

        async def coroutine(tx: Transaction) -> None:
            make(tx)

        def generator(tx: Transaction) -> Generator[bool, None, None]:
            yield make(tx)

        def wrapped(tx: Transaction) -> object:
            make(tx)
            return generator(tx)

        for lazy in (coroutine, generator, wrapped):
            for transaction in (store.read, store.write):
                with expect_error(StoreError, f"a {lazy.__name__} function"):
                    await transaction(cast(Callable[[Transaction], object], lazy))
        expect(await store.read(sessions_of), [], "the sessions")

    async def a_transaction_opens_no_other(self, store: Store) -> None:
        """Opening a transaction inside another is refused, whatever kind they are; the outer one may continue."""
        m = await store.write(tell, numbered(2))

        def outer(tx: Transaction) -> None:
            for inner in (store.read, store.write):
                with expect_error(StoreError, "a transaction inside another"):
                    asyncio.run(_awaited(inner(sessions_of)))
            expect(tx.log.path(KEY, m[-1].id, 0, 1), m, "the path in the transaction that goes on")

        await store.read(outer)
        expect(await store.read(read_path, m[-1]), m, "the path afterwards")
        await store.write(outer)
        expect(await store.read(read_path, m[-1]), m, "the path at the end")

    async def a_store_closes_once(self, store: Store) -> None:
        """A store may be closed twice, and refuses calls after that."""
        await store.write(tell, numbered(2))
        await store.close()
        await store.close()
        for transaction in (store.read, store.write):
            with expect_error(StoreError, "a transaction of a store that is closed"):
                await transaction(sessions_of)

    async def a_store_that_is_closed_lets_open_transactions_end(self, store: Store) -> None:
        """Closing a store lets an open transaction continue and commit, and no other begin."""

        def go_on(tx: Transaction) -> None:
            more = tell(tx, numbered(2, "more"))
            expect(tx.log.path(KEY, more[-1].id, 2, 3), more, "the path inside")

        async with paused(store.write, lambda tx: tell(tx, numbered(2)), go_on):
            await store.close()
            with expect_error(StoreError, "a read"):
                await store.read(sessions_of)

    async def appends_to_one_session_queue_up(self, store: Store) -> None:
        """Tasks that append to one session at once follow each other; each append is whole, and none is lost."""
        done = await asyncio.gather(*(store.write(tell, numbered(3, f"task {number}")) for number in range(TASKS)))
        end = max((messages[-1] for messages in done), key=lambda message: message.position)
        path = await store.read(read_path, end)
        expect(len(path), 3 * TASKS, "the length of the path")
        for messages in done:
            at = messages[0].position
            expect(path[at : at + 3], messages, "one append on the path")

    async def the_same_offered_at_once_is_stored_once(self, store: Store) -> None:
        """Tasks that store the same messages at once store them only once."""
        messages = after(None, numbered(20))

        def offer(tx: Transaction) -> int:
            make(tx)
            return tx.log.insert(KEY, messages)

        expect(sum(await asyncio.gather(*(store.write(offer) for _ in range(TASKS)))), 20, "new among all tasks")
        expect(await store.read(read_path, messages[-1]), messages, "the path")

    async def readers_do_not_wait_for_a_writer(self, store: Store) -> None:
        """Reads continue while a transaction that writes is open."""
        m = await store.write(tell, numbered(4))
        async with paused(store.write, lambda tx: tx.log.move(KEY, "main", None)):
            paths = await asyncio.gather(*(store.read(read_path, m[-1]) for _ in range(TASKS)))
            expect(paths, [m] * TASKS, "the paths")

    async def writers_go_in_the_order_in_which_they_came(self, store: Store) -> None:
        """Tasks of one process write in the order in which they asked."""
        order: list[int] = []

        def work(tx: Transaction, number: int) -> None:
            order.append(number)
            make(tx)

        async with asyncio.TaskGroup() as tasks, paused(store.write, make):
            for number in range(TASKS):
                tasks.create_task(store.write(work, number))
                await asyncio.sleep(0)
            await asyncio.sleep(0.01)
        expect(order, list(range(TASKS)), "the order")

    async def a_waiter_that_is_cancelled_holds_nobody_up(self, store: Store) -> None:
        """Tasks that are cancelled while they wait to write don't hold up those behind them."""
        async with paused(store.write, make):
            waiting = [asyncio.create_task(store.write(tell, say(f"waiting {number}"))) for number in range(TASKS)]
            await asyncio.sleep(0.01)
            for task in waiting[::2]:
                task.cancel()
            await asyncio.sleep(0)
        await asyncio.wait(waiting)
        expect([task.cancelled() for task in waiting], [True, False] * (TASKS // 2), "who was cancelled")
        (info,) = await store.read(sessions_of)
        expect(info.messages, TASKS // 2, "the messages")

    async def a_limit_holds_between_tasks(self, store: Store) -> None:
        """Tasks that check and add spending in one transaction never exceed a limit together."""

        def spend_within(tx: Transaction, limit: int) -> bool:
            if tx.spending.of_day(SPACE, DAY).calls >= limit:
                return False
            tx.spending.add(KEY, DAY, Spent(calls=1, tokens=10))
            return True

        done = await asyncio.gather(*(store.write(spend_within, 5) for _ in range(TASKS)))
        expect(sum(done), 5, "how many were let through")
        expect(await store.read(lambda tx: tx.spending.of_day(SPACE, DAY)), Spent(calls=5, tokens=50), "what was spent")


# What outlives a store, and what two stores over the same data share.

RIVALS = 40


@asynccontextmanager
async def beside(store: Store, again: Again) -> AsyncIterator[Store]:
    """Another store over the same data."""
    other = await again(store)
    try:
        yield other
    finally:
        await other.close()


class SharingChecks:
    """Checks of two stores over the same data."""

    async def who_waits_for_work_hears_of_it_or_looks_again(self, store: Store, again: Again) -> None:
        """A wait ends after a moment, or when another store commits a message, even between two waits."""
        await store.write(make)
        async with beside(store, again) as other, store.hearing(SPACE) as wait:
            await wait(0.01, 0.01)
            for number in range(3):
                await other.write(tell, say(f"There is more to do: {number}."))
                await asyncio.wait_for(wait(0.01, 600.0), 30.0)

    async def what_was_committed_is_there_when_it_is_opened_again(self, store: Store, again: Again) -> None:
        """A store that is closed and opened again has all that was committed."""
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
        """What one store commits, the other can read at once and build on."""
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
                *((store, other)[number % 2].write(tell, numbered(2, f"task {number}")) for number in range(RIVALS))
            )
            end = max((messages[-1] for messages in done), key=lambda message: message.position)
            expect(len(await store.read(read_path, end)), 2 * RIVALS, "the length of the path")

    async def two_stores_store_the_same_once(self, store: Store, again: Again) -> None:
        """Two stores that store the same messages, summaries and annotations at once store them only once."""
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
        """Spending that two stores add to one session at once adds up, and both read the same."""

        def spend(tx: Transaction, tokens: int) -> None:
            tx.spending.add(KEY, DAY, Spent(calls=1, tokens=tokens))

        total = Spent(calls=RIVALS, tokens=sum(range(RIVALS)))
        async with beside(store, again) as other:
            await asyncio.gather(*((store, other)[number % 2].write(spend, number) for number in range(RIVALS)))
            for each in (store, other):
                expect(await each.read(lambda tx: tx.spending.of_session(KEY)), total, "what the session spent")
                expect(await each.read(lambda tx: tx.spending.of_day(SPACE, DAY)), total, "what the space spent")

    async def two_stores_take_a_lease_at_once(self, store: Store, again: Again) -> None:
        """If tasks of two stores try to take one lease at once, exactly one gets it, and both see whose it is."""

        def take(tx: Transaction, holder: str) -> Lease | None:
            return tx.leases.take(KEY, "work", holder, NOON, NOON + MINUTE)

        async with beside(store, again) as other:
            await store.write(make)
            tried = await asyncio.gather(
                *((store, other)[number % 2].write(take, f"task {number}") for number in range(RIVALS))
            )
            got = [lease for lease in tried if lease]
            expect(len(got), 1, "how many got it")
            for each in (store, other):
                expect(await each.read(lambda tx: tx.leases.of_session(KEY)), got, "the leases")

    async def a_writer_waits_for_the_other_store(self, store: Store, again: Again) -> None:
        """A store waits while another one writes, and then sees what that wrote."""
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
        """A store is told which vectors another store has stored and deleted since it last asked."""
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

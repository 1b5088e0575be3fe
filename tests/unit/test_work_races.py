"""Two workers at one text, and what another process does to a story while a worker is at it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from functools import partial

from msgspec.structs import replace
from tests.progress import progress_of
from tests.story_parts import replied

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.context.view import ContextOptions
from ireneo.engine.context import text_id
from ireneo.engine.memory import Memory
from ireneo.engine.models import Models, Worker
from ireneo.engine.resources import Resources
from ireneo.engine.summarise import stretch_of, write_text
from ireneo.engine.work import SpaceWork, SummaryWork, TextWriter, WorkResult
from ireneo.engine.writing import WrittenSummary
from ireneo.log.message import Draft, Role, Text
from ireneo.log.tree import MAIN, SessionKey
from ireneo.ports.models import Prompt, R, Reply
from ireneo.ports.store import Lease, Transaction
from ireneo.summaries.policy import Policy, StorySettings
from ireneo.summaries.summary import Summary, SummaryId
from ireneo.testing.scripted import ManualClock, Scripted, ScriptedLLM

KEY = SessionKey("work", "story")
POLICY = Policy(name="small", story=StorySettings(leaf_messages=4, fan_in=2, limit=2, live_messages=2), live_share=0.5)
OPTIONS = ContextOptions(budget=0, policy=POLICY, count=lambda text: len(text) // 4 + 1)
HOUR = timedelta(hours=1)


def said(role: Role, number: int) -> Draft:
    return Draft(role=role, parts=(Text(text=f"Mira took the oar number {number} down to the boat in the morning."),))


def retold(shown: str) -> dict[str, object]:
    told = shown.partition("<messages>")[2].partition("</messages>")[0] or shown
    return {"text": " ".join(line.partition(": ")[2] for line in told.strip().splitlines())}


def answer(prompt: Prompt) -> Scripted:
    return replied(prompt, retold)


class House:
    """A store with one story, a clock, and as many desks as are wanted."""

    def __init__(self) -> None:
        self.store = InMemoryStore()
        self.clock = ManualClock()
        self.model = ScriptedLLM(answer)
        self.means = Resources(
            store=self.store,
            count=lambda text: len(text) // 4 + 1,
            clock=self.clock,
            models=Models.of(self.model),
            preset=POLICY,
        )
        self.memory = Memory(self.means, KEY.space)

    async def tell(self, count: int, first: int = 0) -> None:
        session = await self.memory.session(KEY.session)
        roles: tuple[Role, Role] = ("user", "assistant")
        await session.append([said(roles[number % 2], number) for number in range(first, first + count)])

    def desk(self, branch: str = MAIN) -> TextWriter:
        return TextWriter(self.means, Worker(self.store, self.clock), KEY, branch)

    async def first_leaf(self) -> tuple[Summary, SummaryId]:
        desk = self.desk()
        await everything(SummaryWork(desk, OPTIONS).catch_up())

        def look(tx: Transaction) -> Summary:
            head = tx.log.head(KEY)
            assert head is not None
            (leaf, *_) = tx.summaries.spans(KEY, head.id, POLICY.summarizer, 1)
            (summary,) = tx.summaries.get(KEY, [leaf.id])
            return summary

        summary = await self.store.read(look)
        return summary, text_id(summary, (), "third")

    async def prune(self) -> None:
        """Go back before the first message, and take everything out."""

        def change(tx: Transaction) -> None:
            tx.log.move(KEY, MAIN, None)
            tx.upkeep.prune(KEY)

        await self.store.write(change)


async def everything(work: AsyncIterator[WorkResult]) -> list[WorkResult]:
    return [worked async for worked in work]


async def asked_by(
    house: House, desk: TextWriter, before: Callable[[], Awaitable[object]], summary: Summary
) -> WrittenSummary:
    """Write a text as a desk does, but that something happens `before` the model is asked."""
    await before()
    model = desk.models().for_task("story")
    assert model is not None
    terms = ContextOptions(budget=0, policy=POLICY, count=house.means.count)
    return await write_text(house.store, KEY, stretch_of([summary], terms, "third"), terms, "third", model)


async def test_who_was_overtaken_before_the_call_does_not_make_it() -> None:
    house = House()
    await house.tell(12)
    summary, name = await house.first_leaf()
    slow, quick = house.desk(), house.desk()

    async def overtake() -> None:
        house.clock.move(HOUR)
        (worked,) = await everything(SummaryWork(quick, OPTIONS).visit(1))
        assert (worked.did, worked.id) == ("written", name)

    assert await slow.write(summary, name, partial(asked_by, house, slow, overtake)) is None
    assert slow.waits, "more may be due by now"
    assert len(house.model.prompts) == 1


async def test_who_is_overtaken_while_another_is_at_it_leaves_it_to_them() -> None:
    house = House()
    await house.tell(12)
    summary, name = await house.first_leaf()
    slow, quick = house.desk(), Worker(house.store, house.clock)

    async def overtake() -> None:
        house.clock.move(HOUR)
        now = house.clock.now()
        assert await house.store.write(lambda tx: tx.leases.take(KEY, name, quick.name, now, now + HOUR))

    assert await slow.write(summary, name, partial(asked_by, house, slow, overtake)) is None
    assert slow.waits
    assert house.model.prompts == []
    assert [lease.holder for lease in await house.store.read(lambda tx: tx.leases.of_session(KEY))] == [quick.name]


class SlowLLM:
    """A model during whose answer something else happens."""

    def __init__(self, inner: ScriptedLLM, meanwhile: Callable[[], Awaitable[object]]) -> None:
        self._inner = inner
        self._meanwhile = meanwhile

    async def ask(self, prompt: Prompt, reply: type[R]) -> Reply[R]:
        answered = await self._inner.ask(prompt, reply)
        await self._meanwhile()
        return answered


async def test_of_an_answer_with_several_texts_only_those_are_reported_that_nobody_else_stored_meanwhile() -> None:
    house = House()
    await house.tell(12)
    summary, name = await house.first_leaf()
    quick = house.desk()
    reported: list[WorkResult] = []

    async def overtake() -> None:
        house.clock.move(HOUR)
        worked = await quick.write(summary, name, partial(asked_by, house, quick, partial(asyncio.sleep, 0)))
        assert worked is not None
        reported.append(worked)

    means = replace(house.means, models=Models.of(SlowLLM(house.model, overtake)))
    slow = TextWriter(means, Worker(house.store, house.clock), KEY, MAIN)
    reported += await everything(SummaryWork(slow, OPTIONS).visit(1))
    first, rest = reported
    assert (first.id, first.summaries, first.did) == (name, 1, "written")
    assert rest.did == "written"
    assert rest.id != name, "a text was reported by two"
    assert rest.first_position > first.last_position
    assert (rest.summaries, rest.due) == (1, 0)


async def test_a_text_whose_messages_are_pruned_meanwhile_is_dropped() -> None:
    house = House()
    await house.tell(12)
    summary, name = await house.first_leaf()
    desk = house.desk()
    assert await desk.write(summary, name, partial(asked_by, house, desk, house.prune)) is None
    assert house.model.prompts == []

    async def answered(again: Summary) -> WrittenSummary:
        written = await asked_by(house, desk, partial(asyncio.sleep, 0), again)
        await house.prune()
        return written

    await house.tell(12)
    summary, name = await house.first_leaf()
    assert await desk.write(summary, name, answered) is None
    assert len(house.model.prompts) == 1

    def look(tx: Transaction) -> None:
        assert tx.upkeep.summaries(KEY) == []
        assert tx.leases.of_session(KEY) == []

    await house.store.read(look)


async def test_only_what_failed_is_not_waited_for() -> None:
    house = House()
    await house.tell(12)
    summary, name = await house.first_leaf()
    desk, other = house.desk(), Worker(house.store, house.clock)
    async with other.leased(KEY, name) as lease:
        assert lease is not None
        assert await desk.write(summary, name, partial(asked_by, house, desk, house.prune)) is None
        assert desk.waits
        await other.failed(lease, "It failed.")
    desk = house.desk()
    assert await desk.write(summary, name, partial(asked_by, house, desk, house.prune)) is None
    assert not desk.waits


class TooLate(Worker):
    """A worker who finds every lease held, by somebody who lets go of it in the next moment."""

    @asynccontextmanager
    async def leased(self, key: SessionKey, work: str, most_seconds: float = math.inf) -> AsyncIterator[Lease | None]:
        yield None


async def test_a_lease_that_was_let_go_of_at_once_is_worth_another_look() -> None:
    house = House()
    await house.tell(12)
    await house.first_leaf()
    desk = TextWriter(house.means, TooLate(house.store, house.clock), KEY, MAIN)
    assert await everything(SummaryWork(desk, OPTIONS).visit(1)) == []
    assert desk.waits


class SlowToWrite:
    """A store whose lock is long in coming."""

    def __init__(self, house: House, before: Callable[[], Awaitable[object]]) -> None:
        self._house = house
        self._before = before
        self.read = house.store.read
        self.close = house.store.close

    async def write(self, function: Callable[..., object], /, *args: object, **kwargs: object) -> object:
        await self._before()
        return await self._house.store.write(function, *args, **kwargs)


async def test_a_lease_lasts_from_when_it_is_taken() -> None:
    house = House()
    await house.tell(12)

    async def wait() -> None:
        house.clock.move(HOUR)

    worker = Worker(SlowToWrite(house, wait), house.clock, lease_seconds=60)
    async with worker.leased(KEY, "anything") as lease:
        assert lease is not None
        assert lease.until == house.clock.now() + timedelta(seconds=60)


async def test_a_context_may_be_pruned_away_while_it_is_made() -> None:
    house = House()
    await house.tell(60)
    means = Resources(store=SlowToWrite(house, house.prune), count=house.means.count, clock=house.clock, preset=POLICY)
    session = await Memory(means, KEY.space).session(KEY.session)
    assert sum(row.covers for row in (await session.context(600)).view) == 60
    await house.tell(60)
    assert [worked.summaries for worked in await progress_of(session.catch_up)] == []


async def test_branches_catch_up_with_what_they_share_under_one_lease() -> None:
    house = House()
    await house.tell(12)
    await (await house.memory.session(KEY.session)).fork("other")
    names: list[str] = []

    class Noted(TooLate):
        def leased(
            self, key: SessionKey, work: str, most_seconds: float = math.inf
        ) -> AbstractAsyncContextManager[Lease | None]:
            names.append(work)
            return super().leased(key, work, most_seconds)

    for branch in (MAIN, "other"):
        desk = TextWriter(house.means, Noted(house.store, house.clock), KEY, branch)
        assert await everything(SummaryWork(desk, OPTIONS).catch_up()) == []
        assert desk.waits
    assert len(names) == 2
    assert len(set(names)) == 1


async def test_a_session_rests_no_longer_when_the_clock_is_put_back() -> None:
    house = House()
    await house.tell(12)
    works = SpaceWork(house.means, KEY.space, Worker(house.store, house.clock), POLICY)
    assert await everything(works.run(until_idle=True))
    assert await everything(works.run(until_idle=True)) == []
    await house.store.write(lambda tx: tx.upkeep.discard(KEY, tx.upkeep.summaries(KEY)))
    assert await everything(works.run(until_idle=True)) == [], "it rests"
    house.clock.move(-HOUR)
    assert await everything(works.run(until_idle=True))

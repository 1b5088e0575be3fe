"""In which order the texts of a story are due, what is passed over, and what a running summary is."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from tests.progress import progress_of
from tests.property.stories.checks import caught_up
from tests.property.stories.fickle import FickleLLM, memory_with
from tests.property.stories.material import TINY_STORY, Storyteller

from ireneo import Memory, Policy, Session
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.engine.context import text_id
from ireneo.engine.summarise import OFFERED, PATIENCE
from ireneo.engine.work import WorkResult
from ireneo.ports.store import Transaction
from ireneo.summaries.summary import Summary
from ireneo.testing.scripted import ManualClock


class Desk:
    """A story of some leaves, and a model."""

    def __init__(self) -> None:
        self.store, self.model, self.clock = InMemoryStore(), FickleLLM(), ManualClock()
        self.memory: Memory = memory_with(self.store, self.model, self.clock)

    async def begin(self, *pieces: str) -> Session:
        session = await self.memory.session("run")
        await session.append(Storyteller().tell(pieces))
        return session

    async def work(self, policy: Policy = TINY_STORY) -> list[WorkResult]:
        """What was summarised; what was remembered of it besides is another matter."""
        done = await progress_of(self.memory.work, until_idle=True, preset=policy)
        return [each for each in done if each.did not in ("listened", "remembered", "reflected")]

    async def summaries(self, summarizer: str) -> list[Summary]:

        def look(tx: Transaction) -> list[Summary]:
            (info,) = tx.sessions.list("mine")
            found = tx.summaries.get(info.key, tx.upkeep.summaries(info.key))
            return [each for each in found if each.summarizer == summarizer]

        return await self.store.read(look)


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_leaves_come_in_order_and_a_deeper_one_after_all_under_it(desk: Desk) -> None:
    await desk.begin(*["chats", "scene", "chats", "chats", "promise", "chats"] * 2)
    texts = [each for each in await desk.work() if each.did != "caught_up"]
    leaves = [each for each in texts if each.depth == 1]
    assert [each.first_position for each in leaves] == sorted(each.first_position for each in leaves)
    assert sum(each.summaries for each in leaves) > len(leaves) > 1, "several are asked for at a time"
    for place, deep in enumerate(texts):
        if deep.depth > 1:
            told = max(each.last_position for each in texts[:place] if each.depth == 1)
            assert told >= deep.last_position
    left = sum(each.summaries for each in texts)
    for each in texts:
        left -= each.summaries
        assert each.due == left
    assert left == 0


async def test_a_leaf_that_keeps_failing_is_passed_over_after_some_tries(desk: Desk) -> None:
    session = await desk.begin("chats", "chats")
    desk.model.mood = "refuses"
    for tries in range(PATIENCE):
        assert [each.did for each in await desk.work() if each.did != "caught_up"] == ["failed"], tries
        desk.clock.move(timedelta(hours=1))
    desk.model.mood = "fine"
    due = await session.due(0, preset=TINY_STORY)
    written = [each for each in await desk.work() if each.did == "written" or each.did == "repaired"]
    assert sum(each.summaries for each in written) == due


async def test_many_that_fail_for_good_keep_no_other_waiting(desk: Desk) -> None:
    session = await desk.begin(*["chats"] * 14)
    await caught_up(session, TINY_STORY)
    canonical = await desk.summaries(TINY_STORY.summarizer)

    def change(tx: Transaction) -> list[Summary]:
        (info,) = tx.sessions.list("mine")
        now = desk.clock.now()
        leaves = sorted((each for each in canonical if each.depth == 1), key=lambda each: each.first_position)
        for leaf in leaves[: OFFERED + 2]:
            name = text_id(leaf, (), "third")
            for _ in range(PATIENCE):
                lease = tx.leases.take(info.key, name, "somebody", now, now + timedelta(seconds=60))
                assert lease is not None
                tx.leases.fail(lease, "It was refused.", now)
            lease = tx.leases.take(info.key, name, "somebody", now, now + timedelta(seconds=60))
            assert lease is not None
            tx.leases.fail(lease, "It was refused.", now + timedelta(hours=6))
        return leaves

    leaves = await desk.store.write(change)
    assert len(leaves) > OFFERED + 2
    await desk.work()
    written = [each for each in await desk.summaries(f"story-1/third/{TINY_STORY.summarizer}") if each.depth == 1]
    assert len(written) == len(leaves) - OFFERED - 2


async def test_what_is_disputed_is_due_again_and_once(desk: Desk) -> None:
    session = await desk.begin("chats", "chats")
    await desk.work()
    assert await session.due(0, preset=TINY_STORY) == 0
    leaf = (await desk.summaries(f"story-1/third/{TINY_STORY.summarizer}"))[0]
    await session.dispute(leaf.id, "It was the other harbour.")
    assert await session.due(0, preset=TINY_STORY) == 1
    assert [each.depth for each in await desk.work()] == [leaf.depth]
    assert "It was the other harbour." in desk.model.prompts[-1].user + desk.model.prompts[-2].user
    assert await session.due(0, preset=TINY_STORY) == 0


async def test_work_goes_on_after_the_clock_was_set_back(desk: Desk) -> None:
    session = await desk.begin("chats", "chats")
    desk.model.mood = "fails"
    seen: list[str] = []

    def tell(done: WorkResult) -> None:
        seen.append(done.did)
        if done.did == "failed":
            desk.model.mood = "fine"
            desk.clock.move(timedelta(days=-3))

    working = asyncio.create_task(desk.memory.work(until_idle=False, preset=TINY_STORY, on_progress=tell))
    async with asyncio.timeout(15):
        # Nothing is due before the summaries are there for which it fails.
        while "failed" not in seen or await session.due(0, preset=TINY_STORY):
            await asyncio.sleep(0.01)
    working.cancel()
    assert await session.due(0, preset=TINY_STORY) == 0

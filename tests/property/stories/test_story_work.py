"""Many workers at one story, a model of changing moods, leases that expire and a clock that jumps: all goes on."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.progress import progress_of
from tests.property.invariants.houses import calm, housed, stores

from ireneo import Memory, Policy
from ireneo.engine import work as loop
from ireneo.engine.work import WorkResult
from ireneo.ports.store import Store, Transaction
from ireneo.testing.scripted import ManualClock

from .checks import goes_as_undisturbed, sound, stored_once
from .fickle import ERROR_TEXT, MOODS, FickleLLM, memory_with
from .material import TINY_STORY, Storyteller, budgets, formats, stories

MOST = 3_000
"""More pieces of work than any of these stories has."""
moods = st.sampled_from(MOODS)
jumps = st.sampled_from([-100_000.0, -60.0, 0.0, 0.0, 0.0, 40.0, 200.0, 100_000.0])


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "POLL_SECONDS", 0.001)


async def worked(memory: Memory, policy: Policy = TINY_STORY, **how: float) -> list[WorkResult]:
    """Work until nothing is due; it ends. What was remembered of the story besides is another matter."""
    done: list[WorkResult] = []
    for each in await progress_of(memory.work, until_idle=True, preset=policy, **how):  # type: ignore[arg-type]
        done.append(each)
        assert len(done) < MOST, "the work never ends"
    return [each for each in done if each.did not in ("remembered", "reflected")]


async def nothing_is_due(memory: Memory, policy: Policy = TINY_STORY) -> None:
    session = await memory.session("run")
    assert await session.due(0, preset=policy) == 0
    assert (await session.context(600, preset=policy)).behind == 0


async def texts_by_models(store: Store) -> list[str]:
    """All that a model's words became, in every summary."""

    def look(tx: Transaction) -> list[str]:
        out = []
        for info in tx.sessions.list("mine"):
            for each in tx.summaries.get(info.key, tx.upkeep.summaries(info.key)):
                out += [line.text for section in each.sections for line in section.lines if each.writing]
        return out

    return await store.read(look)


@calm(4)
@given(store=stores, script=st.lists(st.tuples(stories(max_size=3), moods, jumps), min_size=1, max_size=3), to=formats)
async def test_whatever_a_model_answers_work_ends_and_the_context_is_sound(
    store: str, script: list[tuple[list[str], str, float]], to: str
) -> None:
    async with housed(store) as house:
        model, clock = FickleLLM(), ManualClock()
        inner = await house.store()
        memory = memory_with(inner, model, clock)
        session = await memory.session("run")
        teller = Storyteller()
        drafts = []
        for pieces, mood, jump in script:
            new = teller.tell(["chats", *pieces])
            drafts += new
            await session.append(new)
            before = await session.context(700, to=to, preset=TINY_STORY)
            asked = len(model.prompts)
            model.mood = mood
            done = await worked(memory)
            if mood not in ("fine", "rubbish", "error text", "invents"):
                assert sum(each.did == "failed" for each in done) <= 1
            after = await session.context(700, to=to, preset=TINY_STORY)
            sound(after, await session.messages(), 700)
            assert after.behind == 0
            if not any(each.did in ("written", "repaired", "caught_up", "offline") for each in done):
                assert after.messages == before.messages
            assert len(model.prompts) == asked or mood != "out of money" or done[-1].did == "failed"
            clock.move(timedelta(seconds=jump))
        texts = " ".join(await texts_by_models(inner))
        assert "529" not in texts
        assert ERROR_TEXT not in texts
        assert "zq99x99" not in texts
        model.mood = "fine"
        for _ in range(3):
            clock.move(timedelta(days=2))
            await worked(memory)
        await nothing_is_due(memory)
        await stored_once(inner, session.key)
        await goes_as_undisturbed(inner, session, drafts)


@calm(3)
@given(
    store=stores,
    pieces=stories(min_size=2, max_size=5),
    jumps=st.lists(jumps, max_size=8),
    moods=st.lists(moods, max_size=6),
    workers=st.integers(2, 4),
)
async def test_workers_that_overtake_each_other_write_each_text_once(
    store: str, pieces: list[str], jumps: list[float], moods: list[str], workers: int
) -> None:
    async with housed(store) as house:
        clock = ManualClock()
        inner = await house.store()
        model = FickleLLM()
        left, turns = list(jumps), list(moods)

        def meanwhile() -> None:
            clock.move(timedelta(seconds=left.pop() if left else 0.0))
            model.mood = turns.pop() if turns else "fine"

        model.before = meanwhile
        memories = [memory_with(inner, model, clock) for _ in range(workers)]
        session = await memories[0].session("run")
        await session.append(Storyteller().tell(["chats", *pieces]))

        async def tick() -> None:
            for _ in range(400):
                await asyncio.sleep(0.002)
                clock.move(timedelta(seconds=30))

        ticking = asyncio.create_task(tick())
        async with asyncio.timeout(120):
            found = await asyncio.gather(*(worked(memory) for memory in memories))
        ticking.cancel()
        clock.move(timedelta(days=1))
        for _ in range(3):
            clock.move(timedelta(hours=7))
            await worked(memories[0])
        await nothing_is_due(memories[0])
        await stored_once(inner, session.key)
        written = [each.id for done in found for each in done if each.did in ("written", "repaired", "offline")]
        assert len(written) == len(set(written)), "a text was stored twice"
        assert [lease for lease in await inner.read(lambda tx: tx.leases.of_session(session.key)) if lease.holder] == []


async def test_two_workers_that_are_never_overtaken_ask_for_each_text_once() -> None:
    async with housed("sqlite") as house:
        inner, model = await house.store(), FickleLLM()
        memories = [memory_with(inner, model) for _ in range(3)]
        session = await memories[0].session("run")
        await session.append(Storyteller().tell(["chats", "scene", "chats", "scene", "chats", "chats", "promise"]))
        found = await asyncio.gather(*(worked(memory) for memory in memories))
        texts = [each for done in found for each in done if each.did != "caught_up"]
        assert texts
        assert {each.did for each in texts} <= {"written", "repaired", "offline"}
        assert len({each.id for each in texts}) == len(texts)
        asked = [prompt.user for prompt in model.prompts]
        assert len(set(asked)) == len(asked)
        await nothing_is_due(memories[1])


@calm(3)
@given(store=stores, pieces=stories(max_size=3), more=stories(max_size=2), budget=budgets)
async def test_a_context_waits_for_no_model_and_a_cancelled_call_leaves_nothing_behind(
    store: str, pieces: list[str], more: list[str], budget: int
) -> None:
    async with housed(store) as house:
        inner, model = await house.store(), FickleLLM()
        model.waits = asyncio.Event()
        memory = memory_with(inner, model)
        session = await memory.session("run")
        teller = Storyteller()
        await session.append(teller.tell(["chats", "chats", *pieces]))
        working = asyncio.create_task(worked(memory))
        async with asyncio.timeout(20):
            while not model.running:
                await asyncio.sleep(0.001)
        asked = len(model.prompts)
        async with asyncio.timeout(5):
            before = await session.context(budget, preset=TINY_STORY)
            await session.append(teller.tell(more))
            after = await session.context(budget, preset=TINY_STORY)
        path = await session.messages()
        sound(after, path, budget)
        assert before.budget == after.budget
        assert (len(model.prompts), model.running) == (asked, 1)
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
        assert model.running == 0
        assert list(await inner.read(lambda tx: tx.leases.of_session(session.key))) == []
        model.waits = None
        await worked(memory)
        await nothing_is_due(memory)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_what_is_pruned_while_a_model_writes_about_it_stops_no_work(when: str) -> None:
    async with housed() as house:
        inner, model = await house.store(), FickleLLM()
        memory = memory_with(inner, model)
        session = await memory.session("run")
        ids = (await session.append(Storyteller(1).tell(["chats", "chats", "chats"]))).ids
        model.waits = asyncio.Event()
        working = asyncio.create_task(worked(memory))
        async with asyncio.timeout(20):
            while not model.running:
                await asyncio.sleep(0.001)
            await session.rewind(ids[0] if when == "before" else ids[20])
            await session.append(Storyteller(2).tell(["chats", "chats"]))
            await inner.write(lambda tx: tx.upkeep.prune(session.key))
            model.waits.set()
            model.waits = None
            await working
        await worked(memory)
        await nothing_is_due(memory)
        assert not [text for text in await texts_by_models(inner) if when == "before" and "zq1x9q " in text]
        sound(await session.context(600, preset=TINY_STORY), await session.messages(), 600)

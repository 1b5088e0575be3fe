"""What a session keeps at hand of a story saves time and changes nothing: another session shows the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest
from tests.progress import progress_of
from tests.property.verbs import memory_with_all

import ireneo
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.context.story import PASSING
from ireneo.engine.models import LEASE_SECONDS, Worker
from ireneo.engine.work import CHUNK, CHUNK_LEASE_SECONDS
from ireneo.log.message import Draft, Text
from ireneo.log.tree import SessionKey
from ireneo.summaries.policy import STORY, Policy, StorySettings
from ireneo.summaries.summary import RecentValues
from ireneo.testing.scripted import ManualClock

T = TypeVar("T")
PEOPLE = ("Nessa", "Orrin", "Pell")
SMALL = Policy(
    name="story",
    story=StorySettings(leaf_messages=6, leaf_tokens=400, fan_in=2, limit=2, live_messages=4),
    live_share=STORY.live_share,
)
BUDGETS = (300, 900, 2_000)


def said(source: random.Random) -> Draft:
    speaker, other = source.sample(PEOPLE, 2)
    text = source.choice(
        [
            f"{other} rowed to the island behind Port Kelm with the {source.randint(2, 900)}th net.",
            f"I promise you, {other}, I will mend the net number {source.randint(2, 900)}.",
            f"Where is {other}? The gate of the boathouse stands open.",
        ]
    )
    role = source.choice(("user", "assistant"))
    return Draft(role="user" if role == "user" else "assistant", parts=(Text(text=text, author=speaker),))


async def both_show_the_same(memory: ireneo.Memory, session: ireneo.Session, viewpoint: str = "") -> None:
    """The session that was asked before, and one that knows nothing yet."""
    for budget in BUDGETS:
        kept = await session.context(budget, preset=SMALL, viewpoint=viewpoint)
        fresh = await (await memory.session(session.id, branch=session.branch)).context(
            budget, preset=SMALL, viewpoint=viewpoint
        )
        assert kept == fresh


@pytest.mark.parametrize(("seed", "system"), [(0, False), (1, True), (2, False)])
async def test_what_is_kept_changes_no_context(seed: int, system: bool) -> None:
    source = random.Random(seed)
    async with ireneo.open(":memory:", preset=SMALL) as memory:
        session = await memory.session("tale")
        if system:
            await session.append(Draft(role="system", parts=(Text(text="You tell of Port Kelm."),)))
        for _ in range(18):
            await session.append([said(source) for _ in range(source.randint(1, 5))])
            await both_show_the_same(memory, session)
            if source.random() < 0.2:
                path = await session.messages()
                await session.rewind(source.choice(path[-30:]).id)
        assert await progress_of(session.catch_up, preset=SMALL, viewpoint="Nessa")
        await both_show_the_same(memory, session, viewpoint="Nessa")


class Counting(InMemoryStore):
    """A store that counts the transactions that write."""

    def __init__(self) -> None:
        super().__init__()
        self.written = 0

    async def write(self, function: Callable[..., T], /, *args: object, **kwargs: object) -> T:
        self.written += 1
        return await super().write(function, *args, **kwargs)


async def test_contexts_of_two_widths_in_turn_store_their_blocks_once() -> None:
    source, store = random.Random(4), Counting()
    session = await memory_with_all(store).session("tale")
    await session.append([said(source) for _ in range(400)])
    await session.catch_up(preset="story")
    for budget in (1_000, 3_000):
        assert any(row.depth == 0 for row in (await session.context(budget, preset="story")).view)
    before = store.written
    for budget in (1_000, 3_000) * 2:
        await session.context(budget, preset="story")
    assert store.written == before


@pytest.mark.parametrize("preset", ["story", SMALL])
async def test_no_block_is_stored_for_one_context_that_does_not_show_it(preset: str | Policy) -> None:
    store = Counting()
    session = await memory_with_all(store).session("tale")
    shown: set[str] = set()
    for seed in range(8):
        source = random.Random(seed)
        await session.append([said(source) for _ in range(source.randint(5, 60))])
        for budget in (*BUDGETS, 6_000):
            blocks = [row.id for row in (await session.context(budget, preset=preset)).view if row.what == "summary"]
            for name in blocks:
                assert await session.expand(name)
            shown.update(blocks)
        newest = await store.read(lambda tx: tx.summaries.find(SessionKey("mine", "tale"), "s_"))
        assert {each.id for each in newest if each.summarizer.endswith(PASSING)} <= shown


async def test_branches_of_one_session_don_t_mix() -> None:
    source = random.Random(5)
    async with ireneo.open(":memory:", preset=SMALL) as memory:
        session = await memory.session("tale")
        await session.append([said(source) for _ in range(50)])
        await both_show_the_same(memory, session)
        await session.fork("other", at=(await session.messages())[31].id)
        for _ in range(12):
            await session.append(said(source))
            await both_show_the_same(memory, session)


@pytest.mark.parametrize("leaves", [CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK])
async def test_all_that_is_due_is_made_however_many_leaves_it_is(leaves: int) -> None:
    async with ireneo.open(":memory:", preset=SMALL) as memory:
        session = await memory.session("tale")
        story = SMALL.story
        assert story is not None
        drafts = [
            Draft(role="user", parts=(Text(text=f"Orrin counts net {number}.", author="Pell"),))
            for number in range(leaves * story.leaf_messages + story.live_messages)
        ]
        await session.append(drafts)
        made = await progress_of(session.catch_up, preset=SMALL)
        assert made[-1].behind == 0
        assert not await progress_of(session.catch_up, preset=SMALL)
        rows = (await session.context(10_000, preset=SMALL)).view
        assert sum(row.covers for row in rows) == len(drafts)


async def test_work_that_asks_no_model_is_leased_for_a_short_time() -> None:
    clock = ManualClock(datetime(2031, 5, 1, tzinfo=UTC))
    async with ireneo.open(":memory:") as memory:
        await (await memory.session("tale")).append("Pell rows.")
        store, key = memory._store, SessionKey("default", "tale")
        # One that died lets go of nothing.
        dead = await Worker(store, clock).leased(key, "catch up", CHUNK_LEASE_SECONDS).__aenter__()
        assert dead is not None
        clock.move(timedelta(seconds=CHUNK_LEASE_SECONDS + 1))
        async with Worker(store, clock).leased(key, "catch up", CHUNK_LEASE_SECONDS) as lease:
            assert lease is not None
        async with Worker(store, clock, lease_seconds=4 * LEASE_SECONDS).leased(key, "a text") as lease:
            assert lease is not None
            assert (lease.until - clock.now()).total_seconds() == 4 * LEASE_SECONDS


def test_only_so_much_is_kept_and_what_was_needed_last() -> None:
    kept: RecentValues[int] = RecentValues(2)
    made = [kept.get(name, lambda name=name: len(name)) for name in ("a", "bb", "a", "ccc")]
    assert made == [1, 2, 1, 3]
    assert kept.find("a") == 1
    assert kept.find("bb") is None

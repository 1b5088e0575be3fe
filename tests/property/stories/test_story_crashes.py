"""A story whose store breaks at any step: what was acknowledged is there, and the next run goes on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property.invariants.faults import BreakingStore, BrokenOffError, Fuse, everything
from tests.property.invariants.houses import calm, housed, stores

from ireneo import Memory, Message
from ireneo.engine import work as loop
from ireneo.ports.store import Store
from ireneo.testing.scripted import ManualClock

from .checks import caught_up, goes_as_undisturbed, sound, stored_once
from .fickle import FickleLLM, memory_with
from .material import TINY_STORY, Storyteller, places, stories
from .test_story_work import nothing_is_due, worked

Act = Callable[[Memory], Awaitable[object]]
STEPS = {"look": range(0, 400, 7), "catch up": range(0, 400, 11), "work": range(0, 180, 23)}
"""At which steps each act breaks off; work has some for every text, and another text comes with every try."""
FAMILIES = (TINY_STORY.summarizer, f"story-1/third/{TINY_STORY.summarizer}")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "POLL_SECONDS", 0.001)


async def looks(memory: Memory) -> object:
    return await (await memory.session("run")).context(600, preset=TINY_STORY)


async def catches_up(memory: Memory) -> object:
    return await caught_up(await memory.session("run"), TINY_STORY)


ACTS: dict[str, Act] = {"look": looks, "catch up": catches_up, "work": worked}


async def path_of(memory: Memory) -> list[Message]:
    return list(await (await memory.session("run")).messages())


async def begun(store: Store, fuse: Fuse, pieces: list[str]) -> tuple[Memory, Memory, ManualClock]:
    """The memory of a process that will die, and that of the next one."""
    clock = ManualClock()
    sound_one = memory_with(store, FickleLLM(), clock)
    await (await sound_one.session("run")).append(Storyteller().tell(pieces))
    return memory_with(BreakingStore(store, fuse), FickleLLM(), clock), sound_one, clock  # type: ignore[arg-type]


async def goes_on(memory: Memory, store: Store, clock: ManualClock, path: list[Message]) -> None:
    """What the next process finds, and that it ends where an undisturbed one does."""
    session = await memory.session("run")
    assert await path_of(memory) == path
    sound(await session.context(600, preset=TINY_STORY), path, 600)
    # A lease of the one that died runs out.
    clock.move(timedelta(minutes=10))
    await worked(memory)
    await nothing_is_due(memory)
    await stored_once(store, session.key)
    await goes_as_undisturbed(store, session, [message.draft for message in path])


@pytest.mark.parametrize(("store", "act"), [("sqlite", "look"), ("in memory", "catch up"), ("sqlite", "work")])
async def test_any_step_may_be_the_last(store: str, act: str) -> None:
    async with housed(store) as house:
        fuse, inner = Fuse(), await house.store()
        breaking, memory, clock = await begun(inner, fuse, ["instruct", "chats"])
        for number, at in enumerate(STEPS[act]):
            # Each try has something new to do before it.
            await (await memory.session("run")).append(Storyteller(2 + at).tell(["chat", "scene"]))
            path = await path_of(memory)
            fuse.set(at)
            try:
                await ACTS[act](breaking)
            except BrokenOffError:
                fuse.set(None)
                if number % 6 == 0:
                    await goes_on(memory, inner, clock, path)
                clock.move(timedelta(minutes=10))
                continue
            fuse.set(None)
            assert at > 4, "nothing was broken off"
            if act != "work":
                break
        await goes_on(memory, inner, clock, path)


@calm(2)
@given(
    store=stores,
    script=st.lists(st.tuples(stories(max_size=3), st.sampled_from([*ACTS]), places), min_size=1, max_size=3),
)
async def test_a_story_that_is_broken_off_again_and_again_goes_on(
    store: str, script: list[tuple[list[str], str, int]]
) -> None:
    async with housed(store) as house:
        fuse, inner = Fuse(), await house.store()
        breaking, memory, clock = await begun(inner, fuse, ["chats", "chats"])
        for number, (pieces, act, at) in enumerate(script):
            path = await path_of(memory)
            acknowledged = [message.id for message in path]
            fuse.set(at % 60)
            try:
                session = await breaking.session("run")
                acknowledged += (await session.append(Storyteller(2 + number).tell(pieces))).ids
                await ACTS[act](breaking)
            except BrokenOffError:
                pass
            fuse.set(None)
            path = await path_of(memory)
            assert [message.id for message in path][: len(acknowledged)] == acknowledged
            await goes_on(memory, inner, clock, path)


@calm(4)
@given(store=stores, pieces=stories(max_size=5), at=places)
async def test_a_context_that_breaks_off_has_written_all_or_nothing(store: str, pieces: list[str], at: int) -> None:
    async with housed(store) as house:
        fuse, inner = Fuse(), await house.store()
        breaking, memory, _ = await begun(inner, fuse, ["chats", *pieces])
        before = await inner.read(everything, "mine", FAMILIES, ())
        fuse.set(at % 60)
        with suppress(BrokenOffError):
            await looks(breaking)
        fuse.set(None)
        after = await inner.read(everything, "mine", FAMILIES, ())
        await looks(memory)
        assert after in (before, await inner.read(everything, "mine", FAMILIES, ()))

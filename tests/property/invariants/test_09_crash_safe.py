"""Broken off at any step, nothing is half written, and the next run goes on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ireneo import Draft, Memory, log_format
from ireneo.log.tree import ROOT

from .faults import BreakingStore, BrokenOffError, Fuse, everything
from .houses import calm, housed, memory_over, stores, transcript
from .journeys import Look
from .material import LOGGED, TINY, Teller, pieces, places, scripts

LOOK = Look(700, TINY, "openai")
Act = Callable[[Memory], Awaitable[None]]


def appends(drafts: list[Draft], after: str) -> Act:
    async def act(memory: Memory) -> None:
        await (await memory.session("run")).append(drafts, after=after)

    return act


def imports(lines: list[bytes], name: str) -> Act:
    async def act(memory: Memory) -> None:
        await memory.import_log(lines, log_format(name), name="log")

    return act


def rewinds(to: str) -> Act:
    async def act(memory: Memory) -> None:
        await (await memory.session("run")).rewind(to)

    return act


async def looks_at(memory: Memory) -> None:
    await LOOK.at(await memory.session("run"))


async def next_act(memory: Memory, kind: str, steps: tuple[str, ...], place: int, number: int) -> Act:
    """What is done next; each of these may be done again without harm."""
    teller = Teller(f"era{number}")
    path = await (await memory.session("run")).messages()
    if kind == "append" or not path:
        return appends(teller.tell(steps), path[-1].id if path else ROOT)
    if kind == "import":
        name = LOGGED[place % len(LOGGED)]
        return imports(transcript(name, teller.tell(("ask", *steps))), name)
    if kind == "rewind":
        return rewinds(path[place % len(path)].id)
    return looks_at


KINDS = st.sampled_from(["append", "append", "append", "import", "rewind", "look", "look"])
acts = st.lists(st.tuples(KINDS, pieces, places, places), min_size=1, max_size=8)


@calm(6)
@given(store=stores, script=acts)
async def test_an_act_that_is_broken_off_is_done_or_not_begun_and_can_be_done_again(
    store: str, script: list[tuple[str, tuple[str, ...], int, int]]
) -> None:
    async with housed(store) as house:
        fuse, inner = Fuse(), await house.store()
        sound = await house.memory()
        breaking = memory_over(BreakingStore(inner, fuse))

        async def held() -> object:
            return await inner.read(everything, "mine", (TINY.summarizer,), (LOOK.budget,))

        for number, (kind, steps, place, at) in enumerate(script):
            act = await next_act(sound, kind, steps, place, number)
            before = await held()
            fuse.set(at % 40)
            try:
                await act(breaking)
                broken = False
            except BrokenOffError:
                broken = True
            after = await held()
            # The next run, which knows nothing of the one that died.
            await act(sound)
            assert after in (before, await held())
            assert broken or after == await held()


@pytest.mark.parametrize(
    ("store", "kind"), [("sqlite", "append"), ("in memory", "import"), ("in memory", "rewind"), ("sqlite", "look")]
)
async def test_every_single_step_may_be_the_last(store: str, kind: str) -> None:
    async with housed(store) as house:
        fuse, inner = Fuse(), await house.store()
        breaking = memory_over(BreakingStore(inner, fuse))
        sound = await house.memory()
        await appends(Teller("first").tell(["instruct", "ask", "work", "answer", "ask", "work"]), ROOT)(sound)
        # Each try begins with something new to do, so that it has all of its steps before it.
        for at in range(200):
            await appends(Teller(f"era{at}").tell(["read"]), (await _path(sound))[-1])(sound)
            act = await next_act(sound, kind, ("ask", "read"), 2 + at % 3, 1_000 + at)
            fuse.set(at)
            try:
                await act(breaking)
            except BrokenOffError:
                await act(sound)
                continue
            assert at > 4, "nothing was broken off"
            return
        raise AssertionError(f"{kind} never ends")


async def _path(memory: Memory) -> list[str]:
    return [message.id for message in await (await memory.session("run")).messages()]


@calm(6)
@given(store=stores, steps=scripts(max_size=5), more=pieces, at=places)
async def test_what_was_acknowledged_is_there_after_a_crash(
    store: str, steps: list[str], more: tuple[str, ...], at: int
) -> None:
    async with housed(store) as house:
        fuse = Fuse()
        memory = memory_over(BreakingStore(await house.store(), fuse))
        session = await memory.session("run")
        teller = Teller()
        acknowledged = (await session.append(teller.tell(steps))).ids
        fuse.set(at % 12)
        with suppress(BrokenOffError):
            acknowledged += (await session.append(teller.tell(more))).ids
        stored = [message.id for message in await (await (await house.memory()).session("run")).messages()]
        assert tuple(stored[: len(acknowledged)]) == acknowledged

"""A compaction makes the context smaller, and the next one is far off: between two the beginning stays the same."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ireneo import CODING, Context, Policy, Session

from .houses import House, calm, live_in, stores
from .material import FORMATS, HASTY, SPARING, TINY, Teller
from .promises import bounded, valid

STEPS = ("read", "edit", "check fails", "edit", "check passes", "say")
ODD = ("parallel", "parallel, split", "interleaved", "late", "think", "plan", "remind", "unanswered", "answer", "ask")


def is_prefix(before: Context, now: Context) -> bool:
    """Whether all of an earlier context stands unchanged at the beginning of a later one, as a cache wants it."""
    at = len(before.messages) - 1
    if now.system != before.system or now.messages[:at] != before.messages[:at] or at >= len(now.messages):
        return False
    last, grown = before.messages[at], now.messages[at]
    parts, more = last.get("parts"), grown.get("parts")
    if isinstance(parts, list) and isinstance(more, list):
        # The last content grows by what the model does next; what was sent of it still stands first.
        return {**grown, "parts": more[: len(parts)]} == last
    return grown == last


@pytest.mark.parametrize(
    ("store", "budget", "to", "preset"),
    [("in memory", 3_000, "openai", "coding"), ("sqlite", 8_000, "anthropic", TINY)],
)
def test_an_agent_that_lives_on_is_rebuilt_rarely(store: str, budget: int, to: str, preset: str | Policy) -> None:
    async def work(house: House) -> None:
        session = await (await house.memory()).session("run")
        teller = Teller()
        await session.append(teller.tell(["instruct", "ask"]))
        before: Context | None = None
        rebuilt: list[int] = []
        for step in range(120):
            name = "ask" if step % 40 == 39 else STEPS[step % len(STEPS)]
            await session.append(teller.tell([name]))
            now = await session.context(budget, to=to, preset=preset)
            bounded(now, budget)
            if before is not None and not is_prefix(before, now):
                rebuilt.append(step)
                # The first one that cuts may fill the budget; each after it leaves room for many steps.
                assert len(rebuilt) <= 2 or now.tokens <= budget * (CODING.low_water + 0.1)
            before = now
        added = (await session.messages())[-1].total_tokens / (budget * (1 - CODING.low_water))
        assert 2 <= len(rebuilt) <= added * 1.5 + 3, f"rebuilt at {rebuilt}, where about {added:.0f} were expected"

    live_in(store, work)


@calm(4)
@example(
    store="in memory", steps=["read"] * 8 + ["unanswered", "read"], budget=2_134, to="openai-responses", preset="coding"
)
@given(
    store=stores,
    steps=st.lists(st.sampled_from(STEPS) | st.sampled_from(ODD), min_size=15, max_size=40),
    budget=st.integers(600, 3_000),
    to=st.sampled_from(FORMATS),
    preset=st.sampled_from(["coding", "forge", TINY, HASTY, SPARING]),
)
def test_nothing_that_was_sent_changes_while_there_is_room(
    store: str, steps: list[str], budget: int, to: str, preset: str | Policy
) -> None:
    async def work(house: House) -> None:
        session = await (await house.memory()).session("run")
        teller = Teller()
        await session.append(teller.tell(["instruct", "ask"]))
        before = await session.context(budget, to=to, preset=preset)
        for step in steps:
            added = await append(session, teller, step)
            now = await session.context(budget, to=to, preset=preset)
            # A format's own additions, and counting by letters, may take a little of the room. Where a summary of
            # everything is all that there is room for, its role follows from what comes next.
            if before.tokens + added < budget * 0.8 and before.view[-1].what != "summary":
                assert is_prefix(before, now), f"{before.tokens} + {added} of {budget}, and yet it was rebuilt"
            before = now

    live_in(store, work)


async def append(session: Session, teller: Teller, step: str) -> int:
    """Append a step; says what it costs."""
    ids = (await session.append(teller.tell([step]))).ids
    return sum(message.tokens + message.thinking_tokens for message in (await session.messages())[-len(ids) :])


@calm(3)
@given(
    steps=st.lists(
        st.sampled_from(("read hugely", "write hugely", "wide", "ask hugely", "work")), min_size=1, max_size=4
    )
)
@pytest.mark.parametrize("to", FORMATS)
def test_what_can_never_fit_is_cut_and_does_not_loop(to: str, steps: list[str]) -> None:
    async def work(house: House) -> None:
        session = await (await house.memory()).session("run")
        await session.append(Teller().tell(["ask", *steps]))
        for budget in (256, 300, 600):
            first = await session.context(budget, to=to)
            bounded(first, budget)
            valid(first)
            assert (await session.context(budget, to=to)).messages == first.messages

    live_in("in memory", work)

"""A compaction makes the context smaller, and the next one is far off: between two the beginning stays the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ireneo import CODING, Context

from .houses import House, calm, every_store, live_in
from .material import FORMATS, Teller
from .promises import bounded, valid

STEPS = ("read", "edit", "check fails", "edit", "check passes", "say")


@every_store
@pytest.mark.parametrize("budget", [3_000, 8_000])
def test_an_agent_that_lives_on_is_rebuilt_rarely(store: str, budget: int) -> None:
    async def work(house: House) -> None:
        session = await (await house.memory()).session("run")
        teller = Teller()
        await session.append(teller.tell(["instruct", "ask"]))
        before: Context | None = None
        rebuilds = 0
        for step in range(150):
            name = "ask" if step % 40 == 39 else STEPS[step % len(STEPS)]
            await session.append(teller.tell([name]))
            now = await session.context(budget, to="openai")
            bounded(now, budget)
            if before is not None and now.messages[: len(before.messages)] != before.messages:
                rebuilds += 1
                # The first one that cuts may fill the budget; each after it leaves room for many steps.
                assert rebuilds <= 2 or now.tokens <= budget * (CODING.low_water + 0.1)
            before = now
        added = teller_tokens(await session.messages()) / (budget * (1 - CODING.low_water))
        assert 2 <= rebuilds <= added * 1.5 + 3, f"{rebuilds} rebuilds where about {added:.0f} were to be expected"

    live_in(store, work)


def teller_tokens(path: object) -> int:
    """What the whole path costs."""
    return path[-1].total_tokens  # type: ignore[index, no-any-return]


@calm(10)
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

"""A rebuild fills its budget where there is that much to show: no overshoot makes a context collapse."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

import ireneo
from ireneo import Context, Policy, chat_format

from .houses import House, calm, live_in, stores
from .material import FORMATS, PRESETS, TINY, Teller
from .promises import bounded, strings

FILLED = 0.85
WORK = ("ask", "read", "edit", "check fails", "edit", "check passes", "parallel", "say", "answer", "work")
HUGE = ("read hugely", "ask at length", "write hugely")
BY_BUDGET: tuple[str | Policy, ...] = ("coding", TINY)
"""They summarise what has no room and nothing else; the others summarise by age, or move by steps on purpose."""

presets = st.sampled_from((*PRESETS, "story"))
sessions = st.lists(st.sampled_from(WORK) | st.sampled_from(WORK + HUGE), min_size=2, max_size=16)


def heeded(context: Context) -> int:
    """What a budget heeds of a context: its tokens, or four characters a token where that is more."""
    letters = sum(len(text) for text in strings([context.system, context.messages]))
    return max(context.tokens, letters // 4)


@calm(26)
@given(
    steps=sessions, budget=st.integers(1_000, 24_000), to=st.sampled_from(FORMATS), preset=st.sampled_from(BY_BUDGET)
)
def test_a_list_that_is_cut_fills_its_budget(steps: list[str], budget: int, to: str, preset: str | Policy) -> None:
    payload = chat_format(to).encode(Teller().tell(["instruct", "ask", *steps]))
    context = ireneo.compact(payload, budget, to=to, preset=preset)
    bounded(context, budget)
    if context.tokens_before > budget:
        assert heeded(context) >= FILLED * budget


@calm(16)
@given(steps=sessions, budget=st.integers(1_000, 24_000), to=st.sampled_from(FORMATS), preset=presets)
def test_no_cut_collapses_to_a_line(steps: list[str], budget: int, to: str, preset: str | Policy) -> None:
    """Presets that cut by age or by steps leave room on purpose, but not for the newest words."""
    payload = chat_format(to).encode(Teller().tell(["instruct", "ask", *steps]))
    context = ireneo.compact(payload, budget, to=to, preset=preset)
    bounded(context, budget)
    assert context.view[-1].what in ("message", "masked")


@calm(4)
@example(store="in memory", steps=["ask"] * 13 + ["write hugely", "ask"], budget=1_000, to="openai")
@given(store=stores, steps=sessions, budget=st.integers(1_000, 12_000), to=st.sampled_from(FORMATS))
def test_a_first_rebuild_fills_its_budget_and_a_later_one_its_low_mark(
    store: str, steps: list[str], budget: int, to: str
) -> None:
    async def work(house: House) -> None:
        session = await (await house.memory()).session("run")
        teller = Teller()
        await session.append(teller.tell(["instruct", "ask", *steps]))
        for again in range(3):
            context = await session.context(budget, to=to, explain=True)
            bounded(context, budget)
            assert context.explained is not None
            if context.tokens_before > budget and context.explained.decision.startswith("Rebuilt"):
                # By the low mark the rest is kept free for what comes next.
                aim = budget if not again or context.explained.tokens_after > budget * 0.6 else budget * 0.6
                assert heeded(context) >= FILLED * aim
            await session.append(teller.tell(["work", "ask", "edit"]))

    live_in(store, work)

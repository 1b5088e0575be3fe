"""A rebuild fills its budget where there is that much to show: no overshoot makes a context collapse."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ireneo
from ireneo import Context, Policy, chat_format

from .houses import House, calm, every_store, live_in
from .material import FORMATS, TINY, Teller
from .promises import bounded, strings

FILLED = 0.85
WORK = ("ask", "read", "edit", "check fails", "edit", "check passes", "parallel", "say", "answer", "work")
HUGE = ("read hugely", "ask at length", "write hugely")
BY_BUDGET: tuple[str | Policy, ...] = ("coding", TINY)
"""They summarise what has no room and nothing else; the others summarise by age, or move by steps on purpose."""

sessions = st.lists(st.sampled_from(WORK) | st.sampled_from(WORK + HUGE), min_size=2, max_size=16)


def heeded(context: Context) -> int:
    """What a budget heeds of a context: its tokens, or four characters a token where that is more."""
    letters = sum(len(text) for text in strings([context.system, context.messages]))
    return max(context.tokens, letters // 4)


@calm(40)
@given(steps=sessions, budget=st.integers(1_000, 24_000), to=st.sampled_from(FORMATS), preset=st.sampled_from(BY_BUDGET))
def test_a_list_that_is_cut_fills_its_budget(steps: list[str], budget: int, to: str, preset: str | Policy) -> None:
    payload = chat_format(to).encode(Teller().tell(["instruct", "ask", *steps]))
    context = ireneo.compact(payload, budget, to=to, preset=preset)
    bounded(context, budget)
    if context.tokens_before > budget:
        assert heeded(context) >= FILLED * budget

"""A rebuild fills its budget where there is that much to show: no overshoot makes a context collapse."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st

import ireneo
from ireneo import Context, Draft, Policy, chat_format
from ireneo.context.story_blocks import is_header_only
from ireneo.log.message import Call, Result, Text

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


FREE = 60
"""Tokens that hold a header's worth of words: with so many left no block says nothing."""
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
IDLE = (
    "The rain goes on over the quay all day.",
    "He shrugs and pours a little more tea.",
    "We walk along the wall and talk of the weather.",
    "Vera hides the silver key in the captain's coffin.",
    "I burned the letter because my brother would have died of it.",
)


def no_block_is_silent(context: Context, budget: int) -> None:
    """No block is only a header while there is room for a line."""
    silent = [row.text for row in context.view if row.what == "summary" and is_header_only(row.text)]
    assert not silent or budget - heeded(context) < FREE


def call_of(number: int, tool: str, output: str | None) -> list[Draft]:
    """A call, with what came back if anything did."""
    id = f"call-{number}"
    arguments = {"command": f"make part-{number}"} if tool == "Bash" else {"file_path": f"src/part_{number}.py"}
    called = Draft(role="assistant", parts=(Call(id=id, name=tool, arguments=arguments),))
    if output is None:
        return [called]
    failed = output == REFUSED
    answered = Draft(role="tool", parts=(Result(call_id=id, parts=(Text(text=output),), failed=failed),))
    return [called, answered]


def no_silent_block_over(drafts: Sequence[Draft], budgets: Sequence[int], preset: str | Policy) -> None:
    async def work(house: House) -> None:
        session = await (await house.memory()).session("run")
        await session.append(drafts)
        for budget in budgets:
            no_block_is_silent(await session.context(budget, preset=preset), budget)

    live_in("in memory", work)


@calm(16)
@given(
    turns=st.lists(
        st.lists(
            st.tuples(
                st.sampled_from(("Bash", "Read", "AskUserQuestion", "ExitPlanMode")),
                st.sampled_from((REFUSED, "", "done", None)),
            ),
            min_size=1,
            max_size=6,
        ),
        min_size=3,
        max_size=12,
    )
)
def test_no_block_of_work_is_silent(turns: list[list[tuple[str, str | None]]]) -> None:
    drafts: list[Draft] = []
    for number, turn in enumerate(turns):
        asked = Draft(role="user", parts=(Text(text=f"Build part {number} of it, please. " * 20),))
        calls = (call_of(number * 10 + place, *each) for place, each in enumerate(turn))
        drafts += [*([asked] if number else []), *(draft for call in calls for draft in call)]
    no_silent_block_over(drafts, (700, 1_000, 1_500), "coding")


@calm(12)
@given(
    said=st.lists(st.sampled_from(IDLE[:3]), min_size=160, max_size=240),
    told=st.dictionaries(st.integers(0, 239), st.sampled_from(IDLE[3:]), max_size=3),
)
def test_no_block_of_a_story_is_silent(said: list[str], told: dict[int, str]) -> None:
    drafts = [
        Draft(
            role="user", parts=(Text(text=f"{told.get(number, text)} ({number})", author=("Vera", "Tom")[number % 2]),)
        )
        for number, text in enumerate(said)
    ]
    no_silent_block_over(drafts, (600, 900, 1_500, 2_500), "story")

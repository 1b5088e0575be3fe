"""A context is never over its budget, and what is larger than its share says so."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ireneo
from ireneo import Context, Message, Policy, Session, chat_format

from .houses import STORES, calm, housed, stores
from .journeys import Journey, Look, journeys, looks, travel
from .material import FORMATS, TINY, Teller, says, scripts
from .promises import bounded, exactly_once, recount, strings, valid


@calm(5)
@given(store=stores, journey=journeys())
def test_a_context_costs_no_more_than_its_budget(store: str, journey: Journey) -> None:
    async def check(session: Session, context: Context, path: Sequence[Message]) -> None:
        bounded(context, context.budget)

    travel(store, journey, check)


@calm(14)
@given(steps=scripts(), look=looks)
def test_a_compacted_list_costs_no_more_than_its_budget(steps: list[str], look: Look) -> None:
    payload = chat_format(look.to).encode(Teller().tell(steps))
    bounded(ireneo.compact(payload, look.budget, to=look.to, preset=look.preset), look.budget)


# What a context shows is the same over every store, so formats and budgets are dealt out among them, here and below.
NARROW = {"in memory": (256, 420), "sqlite": (300, 700)}


@pytest.mark.parametrize(("store", "to"), list(zip(itertools.cycle(STORES), FORMATS, strict=False)))
async def test_what_a_format_adds_to_a_list_is_paid_for_as_well(store: str, to: str) -> None:
    """Each call that nobody answered is given a result that says so."""

    async with housed(store) as house:
        session = await (await house.memory()).session("run")
        teller = Teller()
        await session.append(teller.tell(["ask"]))
        for _ in range(40):
            await session.append(teller.tell(["unanswered"]))
            for budget in NARROW[store]:
                bounded(await session.context(budget, to=to), budget)


class Letters:
    """A tokenizer to which every letter is one token."""

    name = "letters"

    def count(self, text: str) -> int:
        return len(text)


@calm(5)
@given(steps=scripts(), look=looks)
def test_another_tokenizers_budget_is_kept_as_well(steps: list[str], look: Look) -> None:
    payload = chat_format(look.to).encode(Teller().tell(steps))
    budget = look.budget * 4
    context = ireneo.compact(payload, budget, to=look.to, preset=look.preset, tokens=Letters())
    assert context.tokens <= budget


@calm(7)
@given(steps=scripts(), to=st.sampled_from(FORMATS), room=st.integers(0, 2_000))
def test_what_fits_is_shown_as_it_is(steps: list[str], to: str, room: int) -> None:
    payload = chat_format(to).encode(Teller().tell(["ask", *steps]))
    whole = ireneo.compact(payload, 10_000_000, to=to)
    assert whole.messages == payload.messages
    assert whole.system == payload.system
    assert all(row.what == "message" for row in whole.view)
    # A budget has to hold by the rule of thumb of four characters a token as well.
    letters = sum(len(text) + 3 for text in strings([whole.system, whole.messages]))
    fitting = ireneo.compact(payload, max(whole.tokens, letters // 4, 256) + room, to=to)
    assert fitting.messages == payload.messages


HUGE = ("read", "edit", "ask", "instruct")
ROOMS: dict[str, list[tuple[int, str | Policy]]] = {
    "in memory": [(256, "coding"), (2_500, "forge")],
    "sqlite": [(700, TINY), (20_000, "coding")],
}


@pytest.mark.parametrize(("store", "where"), list(zip(itertools.cycle(STORES), HUGE, strict=False)))
async def test_fifty_thousand_tokens_in_the_newest_message_fit_any_budget(store: str, where: str) -> None:
    async with housed(store) as house:
        session = await (await house.memory()).session("run")
        teller = Teller()
        await session.append(teller.tell(["instruct", "ask", "work"]))
        huge = teller.words(30_000)
        newest = {
            "read": lambda: teller.work("read", huge, path="huge.log"),
            "edit": lambda: teller.work("write", "ok", path="huge.py", content=huge),
            "ask": lambda: [says("user", huge)],
            "instruct": lambda: [says("system", huge)],
        }[where]()
        await session.append(newest)
        path = await session.messages()
        assert path[-1].total_tokens > 50_000
        for budget, preset in ROOMS[store]:
            await _fits(session, path, budget, preset)


async def _fits(session: Session, path: Sequence[Message], budget: int, preset: str | Policy) -> None:
    context = await session.context(budget, preset=preset)
    bounded(context, budget)
    valid(context)
    exactly_once(context, path)
    if budget < path[-1].total_tokens:
        assert recount(context) > budget // 8, "the room is there and nothing is in it"

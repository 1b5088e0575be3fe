"""What a session may spend on models: set aside before a call, settled after it, and never overshot by two at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any

import apsw
import pytest
from msgspec import Struct

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.engine.models import Limits, Spending
from ireneo.errors import BadInput, BadReply, ModelTimeout, ModelUnavailable, SpendingLimit
from ireneo.log.tree import SessionKey
from ireneo.ports.models import LanguageModel, Prompt, Reply, Usage
from ireneo.ports.store import Spent
from ireneo.testing.scripted import ManualClock, ScriptedLLM

KEY = SessionKey("default", "monday")
OTHER = SessionKey("default", "tuesday")
ELSEWHERE = SessionKey("another", "monday")
PROMPT = Prompt(task="turn", name="turn-1", system="s" * 400, user="u" * 4_000, max_tokens=500)
ASIDE = 1_100
"""What a call sets aside at least: the prompt, and the reply."""


class Told(Struct, frozen=True):
    summary: str


class Till(InMemoryStore):
    """A store of which only what was spent is looked at."""

    @property
    def spent(self) -> Mapping[tuple[SessionKey, date], Spent]:
        database = apsw.Connection(":memory:")
        database.deserialize("main", self._copies.newest)
        rows = database.execute("SELECT space, session, day, calls, tokens FROM spending").fetchall()
        return {
            (SessionKey(space, session), date.fromisoformat(day)): Spent(calls=calls, tokens=tokens)
            for space, session, day, calls, tokens in rows
        }

    def sum(self, chosen: Callable[[SessionKey, date], bool]) -> Spent:
        found = [spent for (key, day), spent in self.spent.items() if chosen(key, day)]
        return Spent(calls=sum(each.calls for each in found), tokens=sum(each.tokens for each in found))

    @property
    def all(self) -> Spent:
        return self.sum(lambda key, day: True)


class Priced:
    """A model that tells what it cost, and looks whether a transaction is open meanwhile."""

    def __init__(self, till: Till, usage: Usage) -> None:
        self.till = till
        self.usage = usage
        self.seen: list[Spent] = []

    async def ask(self, prompt: Prompt, reply: type[Any]) -> Reply[Any]:
        # Refused inside a transaction.
        await self.till.read(lambda tx: None)
        self.seen.append(self.till.all)
        return Reply(value=reply("done"), usage=self.usage, model="priced")


def count(text: str) -> int:
    return -(-len(text) // 4)


def spending(
    model: LanguageModel, till: Till, *, key: SessionKey = KEY, clock: ManualClock | None = None, **limits: int | None
) -> Spending:
    return Spending(model, till, key, Limits(**limits), clock or ManualClock(), count)


def test_there_is_always_a_limit() -> None:
    assert all(getattr(Limits(), name) for name in Limits.__struct_fields__)
    with pytest.raises(BadInput, match="calls_per_day is -1"):
        Limits(calls_per_day=-1)


async def test_what_a_call_may_cost_is_set_aside_and_settled() -> None:
    till = Till()
    model = Priced(till, Usage(calls=2, tokens_in=1_000, tokens_out=30))
    reply = await spending(model, till).ask(PROMPT, Told)
    assert reply.value == Told("done")
    (during,) = model.seen
    assert during.calls == 1
    assert during.tokens >= ASIDE + PROMPT.max_tokens
    assert till.all == Spent(calls=2, tokens=1_030)


async def test_a_server_that_tells_nothing_is_estimated() -> None:
    till = Till()
    await spending(Priced(till, Usage()), till).ask(PROMPT, Told)
    assert till.all.calls == 1
    assert ASIDE <= till.all.tokens < ASIDE + PROMPT.max_tokens


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (ModelUnavailable(calls=3), Spent(calls=3)),
        (BadReply(calls=1, tokens=1_234), Spent(calls=1, tokens=1_234)),
        (ModelTimeout(calls=0), Spent()),
        (BadInput("a key is missing"), Spent()),
    ],
)
async def test_a_call_that_failed_is_settled_too(error: Exception, kept: Spent) -> None:
    till = Till()
    with pytest.raises(type(error)):
        await spending(ScriptedLLM([error]), till).ask(PROMPT, Told)
    assert till.all == kept


async def test_what_nobody_saw_the_end_of_stays_spent() -> None:
    till = Till()
    with pytest.raises(ModelTimeout):
        await spending(ScriptedLLM([ModelTimeout(calls=2)]), till).ask(PROMPT, Told)
    assert till.all.calls == 2
    assert till.all.tokens >= ASIDE + PROMPT.max_tokens
    with pytest.raises(RuntimeError, match="killed"):
        await spending(ScriptedLLM([RuntimeError("killed")]), till).ask(PROMPT, Told)
    assert till.all.calls == 3
    assert till.all.tokens >= 2 * (ASIDE + PROMPT.max_tokens)


@pytest.mark.parametrize(
    ("limits", "who", "what"),
    [
        ({"calls_per_session": 1}, "Session monday", "1 of its 1 calls, .* 1: raise calls_per_session"),
        ({"calls_per_day": 1}, "Space default", "1 of its 1 calls today, .* wait for the next day"),
        ({"tokens_per_session": 2_000}, "Session monday", "1,200 of its 2,000 tokens, .* raise tokens_per_session"),
        ({"tokens_per_day": 2_000}, "Space default", "1,200 of its 2,000 tokens today, .* raise tokens_per_day"),
    ],
)
async def test_a_limit_stops_before_the_model_is_asked(limits: dict[str, int], who: str, what: str) -> None:
    till = Till()
    model = Priced(till, Usage(tokens_in=1_100, tokens_out=100))
    within = spending(model, till, **limits)
    await within.ask(PROMPT, Told)
    with pytest.raises(SpendingLimit, match=f"{who} has used {what}") as caught:
        await within.ask(PROMPT, Told)
    assert (caught.value.calls, caught.value.tokens) == (0, 0)
    assert len(model.seen) == 1
    assert till.all == Spent(calls=1, tokens=1_200)


async def test_a_call_that_is_larger_than_the_limit_is_not_made() -> None:
    till = Till()
    with pytest.raises(SpendingLimit, match="used 0 of its 1,000 tokens"):
        await spending(ScriptedLLM([]), till, tokens_per_session=1_000).ask(PROMPT, Told)
    with pytest.raises(SpendingLimit):
        await spending(ScriptedLLM([]), till, calls_per_session=0).ask(PROMPT, Told)
    assert till.all == Spent()


async def test_no_limit_where_none_is_wanted() -> None:
    till = Till()
    none = dict.fromkeys(Limits.__struct_fields__)
    model = Priced(till, Usage(tokens_in=10**9))
    for _ in range(3):
        await spending(model, till, **none).ask(PROMPT, Told)
    assert till.all == Spent(calls=3, tokens=3 * 10**9)


async def test_a_session_and_a_space_count_for_themselves() -> None:
    till, clock = Till(), ManualClock(datetime(2026, 1, 1, 23, 30, tzinfo=timezone(timedelta(hours=-1))))
    model = Priced(till, Usage())

    async def ask(key: SessionKey) -> None:
        await spending(model, till, key=key, clock=clock, calls_per_session=2, calls_per_day=3).ask(PROMPT, Told)

    for key in (KEY, KEY, OTHER):
        await ask(key)
    # In UTC it is the second of January already.
    assert {day for _, day in till.spent} == {date(2026, 1, 2)}
    with pytest.raises(SpendingLimit, match="Space default"):
        await ask(OTHER)
    await ask(ELSEWHERE)
    clock.move(timedelta(days=1))
    await ask(OTHER)
    with pytest.raises(SpendingLimit, match="Session monday"):
        await ask(KEY)


async def test_many_at_once_don_t_overshoot() -> None:
    till = Till()
    model = Priced(till, Usage(tokens_in=1_100, tokens_out=100))
    asks = [spending(model, till, calls_per_session=5).ask(PROMPT, Told) for _ in range(20)]
    done = await asyncio.gather(*asks, return_exceptions=True)
    assert sum(isinstance(each, SpendingLimit) for each in done) == 15
    assert till.all == Spent(calls=5, tokens=6_000)
    tight = [spending(model, till, key=OTHER, tokens_per_session=4_000).ask(PROMPT, Told) for _ in range(20)]
    await asyncio.gather(*tight, return_exceptions=True)
    assert till.sum(lambda key, day: key == OTHER).tokens <= 4_000

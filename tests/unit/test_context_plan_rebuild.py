"""When a context is kept, and when it is rebuilt."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

import ireneo
from ireneo.errors import BadInput
from ireneo.log.message import Call, Draft, Message, Result, Role, Text, chain
from ireneo.summaries.policy import (
    CODING,
    KeepContext,
    Policy,
    RebuildContext,
    decide,
    first_target,
    idle_seconds,
    prices_named,
)

ANTHROPIC = prices_named("anthropic")
STEPS = 31
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def said(*spoken: tuple[Role, int | None]) -> list[Message]:
    """Messages, each so many seconds after noon, or of a time that is not known."""
    drafts = [
        Draft(role=role, parts=(Text(text="Yes."),), at=None if at is None else NOON + timedelta(seconds=at))
        for role, at in spoken
    ]
    return chain(None, drafts, lambda parts: (len(parts), 0))


def test_within_the_budget_the_beginning_stays() -> None:
    decision = decide(frozen_tokens=22_000, since_tokens=20_000, budget=45_000, low_water=0.5, prices=ANTHROPIC)
    assert isinstance(decision, KeepContext)
    assert decision.why.decision == "Kept at 42,000 tokens: within its budget of 45,000."
    assert decision.why.saved_tokens == decision.why.suffix_tokens == 0


def test_over_the_budget_it_is_rebuilt_down_to_the_low_mark() -> None:
    decision = decide(frozen_tokens=22_000, since_tokens=24_000, budget=45_000, low_water=0.5, prices=ANTHROPIC)
    assert isinstance(decision, RebuildContext)
    assert decision.target == 20_250
    # 20,250 × 1.15 = 23,288 for 25,750 × 0.1 = 2,575 a call.
    assert decision.why.calls == 10
    assert decision.why.decision == (
        "Rebuilt from 46,000 tokens to 20,250: over its budget of 45,000; it pays after 10 calls."
    )


def test_without_prices_only_the_budget_decides() -> None:
    kept = decide(frozen_tokens=22_000, since_tokens=22_000, budget=45_000, low_water=0.5, idle_seconds=9_000)
    rebuilt = decide(frozen_tokens=22_000, since_tokens=24_000, budget=45_000, low_water=0.5)
    assert isinstance(kept, KeepContext)
    assert isinstance(rebuilt, RebuildContext)
    assert rebuilt.why.calls is None


@pytest.mark.parametrize(("since_tokens", "idle", "rebuilt"), [(20_000, 301, True), (20_000, 299, False)])
def test_an_expired_cache_is_the_time_to_rebuild(since_tokens: int, idle: float, rebuilt: bool) -> None:
    decision = decide(
        frozen_tokens=22_000,
        since_tokens=since_tokens,
        budget=45_000,
        low_water=0.5,
        idle_seconds=idle,
        prices=ANTHROPIC,
    )
    assert isinstance(decision, RebuildContext) is rebuilt
    if isinstance(decision, RebuildContext):
        assert decision.why.expired
        assert decision.why.calls == 0
        assert decision.why.decision.endswith("the cache has expired; it pays at once.")


def test_what_saves_little_is_kept_even_where_it_would_cost_nothing() -> None:
    # 31,000 − 20,250 is less than a quarter of 45,000.
    decision = decide(
        frozen_tokens=22_000, since_tokens=9_000, budget=45_000, low_water=0.5, idle_seconds=900, prices=ANTHROPIC
    )
    assert isinstance(decision, KeepContext)
    assert decision.why.expired


def test_a_rebuilt_context_is_not_rebuilt_again_at_once() -> None:
    for budget in (256, 1_000, 45_000):
        decision = decide(
            frozen_tokens=int(budget * 0.6),
            since_tokens=0,
            budget=budget,
            low_water=0.6,
            idle_seconds=900,
            prices=ANTHROPIC,
        )
        assert isinstance(decision, KeepContext)


def test_a_first_rebuild_leaves_room_where_prices_say_that_more_calls_follow() -> None:
    assert first_target(46_000, 45_000, 0.5, None)[0] == 45_000
    assert first_target(46_000, 45_000, 0.5, ANTHROPIC)[0] == 20_250
    assert first_target(30_000, 45_000, 0.5, ANTHROPIC)[0] == 45_000


def test_idle_is_the_time_since_the_assistant_spoke() -> None:
    assert idle_seconds(said(("user", 0), ("assistant", 10), ("user", 400))) == 390
    assert idle_seconds(said(("assistant", 10), ("tool", 20), ("tool", 25))) == 15
    assert idle_seconds(said(("user", 0), ("assistant", 10))) == 0
    assert idle_seconds(said(("assistant", 20), ("tool", 10))) == 0


def test_idle_is_not_known_without_times_or_without_a_call() -> None:
    assert idle_seconds([]) is None
    assert idle_seconds(said(("user", 0), ("user", 900))) is None
    assert idle_seconds(said(("assistant", None), ("user", 900))) is None
    assert idle_seconds(said(("assistant", 0), ("user", None))) is None


def test_a_policy_takes_a_low_mark_and_prices() -> None:
    policy = CODING.down_to(0.4).priced("openai")
    assert policy.low_water == 0.4
    assert policy.prices == prices_named("openai")
    assert policy.summarizer == CODING.summarizer
    with pytest.raises(BadInput, match="above 0"):
        CODING.down_to(0)
    with pytest.raises(BadInput, match="There are no prices"):
        CODING.priced("acme")


def work(number: int, at: int) -> list[Draft]:
    """A call and its result, of some 230 tokens."""
    call = Call(id=f"c{number}", name="read", arguments={"path": f"src/part_{number}.py"})
    text = "\n".join(f"{line} value_{number}_{line} = compute({line})" for line in range(20))
    return [
        Draft(role="assistant", parts=(call,), at=NOON + timedelta(seconds=at)),
        Draft(role="tool", parts=(Result(call_id=call.id, parts=(Text(text=text),)),), at=NOON + timedelta(seconds=at)),
    ]


async def sizes(policy: Policy, pause: int) -> list[int]:
    """What the contexts of a run cost in 4,000 tokens, call by call; then of a request after a `pause`, asked twice."""
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("run")
        await session.append(Draft(role="user", parts=(Text(text="Read it all."),), at=NOON))
        out = []
        for number in range(STEPS):
            await session.append(work(number, number))
            out.append((await session.context(4_000, preset=policy)).tokens)
        late = NOON + timedelta(seconds=STEPS + pause)
        await session.append(Draft(role="user", parts=(Text(text="Go on."),), at=late))
        for _ in range(2):
            out.append((await session.context(4_000, preset=policy)).tokens)
        return out


def falls(tokens: list[int]) -> list[int]:
    """Where a context costs less than the one before."""
    return [place for place in range(1, len(tokens)) if tokens[place] < tokens[place - 1]]


def test_a_run_with_prices_is_rebuilt_once_where_one_without_is_rebuilt_twice() -> None:
    plain = asyncio.run(sizes(CODING.down_to(0.5), 10))
    priced = asyncio.run(sizes(CODING.down_to(0.5).priced("anthropic"), 10))
    first = falls(priced)[0]
    assert priced[first] <= 2_000 < plain[first]
    assert plain[first + 1] <= 2_000
    assert sum(priced) < sum(plain)


def test_a_run_that_goes_on_after_the_cache_expired_is_rebuilt_once() -> None:
    policy = CODING.down_to(0.5).priced("anthropic")
    soon, late = asyncio.run(sizes(policy, 10)), asyncio.run(sizes(policy, 1_000))
    assert soon[:STEPS] == late[:STEPS]
    assert soon[STEPS - 1] >= 2_500
    assert soon[STEPS] == soon[STEPS + 1] > soon[STEPS - 1]
    assert late[STEPS] == late[STEPS + 1] <= 2_000

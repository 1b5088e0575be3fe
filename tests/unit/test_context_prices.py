"""What it costs to change a cached prompt, in worked numbers."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.summaries.policy import PRICES, prices_named, rebuild_cost

ANTHROPIC = prices_named("anthropic")


def test_prices_are_found_by_name() -> None:
    assert prices_named("anthropic-1h").write == 2.0
    assert all(name == each.name for name, each in PRICES.items())
    assert all(0 < each.read <= 1 <= each.write for each in PRICES.values())


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(BadInput, match="anthropic, anthropic-1h, deepseek, google, none, openai"):
        prices_named("acme")


@pytest.mark.parametrize(
    ("summary_tokens", "summariser_tokens", "paid", "calls"),
    [
        # 40,000 × 1.15 = 46,000; and 2,000 × 1.25 + 20,000 × 0.2 = 6,500; each call spares 18,000 × 0.1 = 1,800.
        (2_000, 20_000, 52_500, 30),
        # 46,000 + 5,000 × 1.25 + 4,000 = 56,250; 1,500 a call.
        (5_000, 20_000, 56_250, 38),
        # Without a model: 46,000 + 2,500; 1,800 a call.
        (2_000, 0, 48_500, 27),
    ],
)
def test_a_change_in_the_midst_of_a_cached_prompt_pays_late(
    summary_tokens: int, summariser_tokens: int, paid: float, calls: int
) -> None:
    cost = rebuild_cost(
        suffix_tokens=40_000,
        saved_tokens=20_000,
        summary_tokens=summary_tokens,
        summariser_tokens=summariser_tokens,
        prices=ANTHROPIC,
    )
    assert cost.paid == pytest.approx(paid)
    assert cost.calls == calls


def test_what_saves_nothing_never_pays() -> None:
    cost = rebuild_cost(
        suffix_tokens=10_000, saved_tokens=500, summary_tokens=500, summariser_tokens=0, prices=ANTHROPIC
    )
    assert cost.calls is None


def test_once_the_cache_has_expired_a_shorter_prompt_is_cheaper_at_once() -> None:
    given = {"suffix_tokens": 40_000, "saved_tokens": 20_000, "summary_tokens": 2_000}
    cost = rebuild_cost(**given, summariser_tokens=20_000, prices=ANTHROPIC, expired=True)
    # Nothing for what follows; 2,500 + 4,000 for the summary, and 25,000 that need not be written.
    assert cost.paid == pytest.approx(-18_500)
    assert cost.calls == 0
    # A summariser that reads ten times as much, and is dear: 2,500 + 100,000 − 25,000, at 1,800 a call.
    dear = replace(ANTHROPIC, summariser=0.5)
    assert rebuild_cost(**given, summariser_tokens=200_000, prices=dear, expired=True).calls == 44


def test_where_nothing_is_cached_a_change_costs_its_summary_alone() -> None:
    cost = rebuild_cost(
        suffix_tokens=40_000,
        saved_tokens=20_000,
        summary_tokens=2_000,
        summariser_tokens=0,
        prices=prices_named("none"),
    )
    assert cost.paid == pytest.approx(2_000)
    assert cost.calls == 1


def test_a_cache_expires_only_after_its_time_and_never_unseen() -> None:
    assert ANTHROPIC.expired(301)
    assert not ANTHROPIC.expired(300)
    assert not ANTHROPIC.expired(None)
    assert prices_named("none").expired(None)

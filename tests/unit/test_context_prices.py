"""What it costs to change a cached prompt, in worked numbers."""

from __future__ import annotations

import pytest

from ireneo.errors import BadInput
from ireneo.summaries.policy import PRICES, RebuildContext, decide, prices_named

ANTHROPIC = prices_named("anthropic")


def test_prices_are_found_by_name() -> None:
    assert prices_named("anthropic-1h").write == 2.0
    assert all(name == each.name for name, each in PRICES.items())
    assert all(0 < each.read <= 1 <= each.write for each in PRICES.values())


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(BadInput, match="anthropic, anthropic-1h, deepseek, google, none, openai"):
        prices_named("acme")


def test_a_cache_expires_only_after_its_time_and_never_unseen() -> None:
    assert ANTHROPIC.expired(301)
    assert not ANTHROPIC.expired(300)
    assert not ANTHROPIC.expired(None)
    assert prices_named("none").expired(None)


def test_a_rebuild_pays_after_as_many_calls_as_writing_it_costs() -> None:
    given = {"frozen_tokens": 90_000, "since_tokens": 20_000, "budget": 100_000, "low_water": 0.6, "prices": ANTHROPIC}
    late, expired = decide(**given), decide(**given, idle_seconds=301)
    assert isinstance(late, RebuildContext)
    # 54,000 × 1.15 = 62,100; each call spares 56,000 × 0.1 = 5,600.
    assert (late.target, late.why.calls) == (54_000, 12)
    # All of it is written in any case, and less of it.
    assert expired.why.calls == 0

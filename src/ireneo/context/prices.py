"""What a provider takes for a prompt, and when it pays to change the part of it that is cached.

All prices are multiples of the price of an input token that is not cached, so that they hold for every model of a
provider that bills alike, and in every currency. The figures are those of November 2026:

- Anthropic, platform.claude.com/docs/en/about-claude/pricing: a read costs 0.1, a write 1.25 for five minutes and 2 for
  an hour, and each read begins the time anew. Some newer models read for 0.05 and 0.025.
- OpenAI, developers.openai.com/api/docs/guides/prompt-caching: a read costs 0.1. From GPT-5.6 on a write costs 1.25 and
  stays for 30 minutes at the least; models before it take nothing for a write.
- Google, docs.cloud.google.com (context cache overview): a read costs 0.1 and a write nothing besides the input. What
  is cached goes within 24 hours, most of it sooner; when, is not promised.
- DeepSeek, api-docs.deepseek.com/quick_start/pricing: a read costs 0.02 to 0.033 and a write nothing besides the input.
  What is cached on disk stays for hours to days.

The summariser is taken to be a smaller model of the same provider, at a fifth of the price.
"""

from __future__ import annotations

from math import ceil

from msgspec import Struct

from ireneo.errors import BadInput


class Prices(Struct, frozen=True, kw_only=True):
    """What a token of a prompt costs, as a multiple of an input token that is not cached."""

    name: str
    read: float
    """A token that the cache has."""
    write: float
    """A token that the cache does not have, and is given."""
    cache_seconds: float
    """After so long without a call the cache has surely forgotten (0: there is none)."""
    summariser: float = 0.2
    """A token that a summariser reads."""

    def expired(self, idle_seconds: float | None) -> bool:
        """Whether nothing is cached after `idle_seconds` without a call; None, where that is not known, is no."""
        return self.cache_seconds <= 0 or (idle_seconds is not None and idle_seconds > self.cache_seconds)


MINUTE = 60.0
HOUR = 60 * MINUTE
PRICES = {
    each.name: each
    for each in (
        Prices(name="anthropic", read=0.1, write=1.25, cache_seconds=5 * MINUTE),
        Prices(name="anthropic-1h", read=0.1, write=2.0, cache_seconds=HOUR),
        Prices(name="openai", read=0.1, write=1.25, cache_seconds=30 * MINUTE),
        Prices(name="google", read=0.1, write=1.0, cache_seconds=24 * HOUR),
        Prices(name="deepseek", read=0.03, write=1.0, cache_seconds=72 * HOUR),
        Prices(name="none", read=1.0, write=1.0, cache_seconds=0),
    )
}
"""By name; where a lifetime is not promised, the longest: to take a cache for gone that is still there costs more."""


def prices(name: str) -> Prices:
    """The prices of that name. Raises BadInput with the names that there are."""
    found = PRICES.get(name)
    if found is None:
        raise BadInput(f"There are no prices {name!r}; there are those of {', '.join(sorted(PRICES))}.")
    return found


class RebuildCost(Struct, frozen=True, kw_only=True):
    """What one change of a cached prompt costs, and what it saves; in input tokens that are not cached."""

    paid: float
    """Paid once, at the call that follows; below 0 where even that call is cheaper."""
    saved: float
    """Saved at each call."""
    calls: int | None
    """After so many calls it has paid for itself: 0 at once, None never."""


def rebuild_cost(
    *,
    suffix_tokens: int,
    saved_tokens: int,
    summary_tokens: int,
    summariser_tokens: int,
    prices: Prices,
    expired: bool = False,
) -> RebuildCost:
    """What it costs to put a summary in the place of a stretch of a cached prompt.

    With the tokens P that follow the stretch, S of the stretch, s of the summary, k that the summariser reads, and
    the prices r of a read, w of a write, c of a token that a summariser reads::

        paid  = P·(w − r) + w·s + c·k        what follows is written again instead of read; the summary is new
        saved = (S − s)·r                    at each call
        n     = paid / saved                 calls, rounded up

    Where the cache has expired the prompt is written anew in any case, so that what follows costs nothing more, and
    of the stretch only the summary has to be written::

        paid  = P·(w − w) + w·s + c·k − w·S
    """
    again = prices.write if expired else prices.read
    paid = suffix_tokens * (prices.write - again) + prices.write * summary_tokens
    paid += prices.summariser * summariser_tokens
    if expired:
        paid -= prices.write * saved_tokens
    saved = (saved_tokens - summary_tokens) * prices.read
    if saved <= 0:
        return RebuildCost(paid=paid, saved=saved, calls=None)
    return RebuildCost(paid=paid, saved=saved, calls=max(ceil(paid / saved), 0))

"""When a context is rebuilt, and how far down: what a rebuild saves against what it costs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ireneo.log.message import Message
from ireneo.summaries.policy import Prices, rebuild_cost

FILLED = 0.9
"""Of its low mark, so much a context is rebuilt to where calls have a price: what is needed least would be paid for at
every call until the next rebuild."""
ENOUGH = 0.25
"""A rebuild that no budget asks for has to save this share of the budget at the least: it is paid in recall."""


class Explained(Struct, frozen=True, kw_only=True):
    """Why a context was kept or rebuilt, in tokens, calls and one sentence."""

    tokens_before: int
    """What the context would cost if it were kept."""
    tokens_after: int
    """What it may cost."""
    suffix_tokens: int
    """What has to be written again, because what stands before it changes."""
    saved_tokens: int
    """What each further call is spared."""
    calls: int | None
    """After so many calls a rebuild has paid for itself; None: never, or there are no prices."""
    expired: bool
    """Whether the provider's cache has forgotten the context by now."""
    decision: str


class Stay(Struct, frozen=True):
    """The context keeps its beginning, and what came since follows it."""

    why: Explained


class RebuildTo(Struct, frozen=True):
    """The context is rebuilt, in `target` tokens."""

    target: int
    why: Explained


def decide(
    *,
    frozen_tokens: int,
    since_tokens: int,
    budget: int,
    low_water: float,
    idle_seconds: float | None = None,
    prices: Prices | None = None,
) -> Stay | RebuildTo:
    """Whether a context of `frozen_tokens`, followed by `since_tokens`, stays as it is in a `budget`.

    `idle_seconds` is how long ago the last call was; None, where that is not known. Without `prices` nothing is
    known of a cache, and only the budget decides.
    """
    before = frozen_tokens + since_tokens
    low = int(budget * low_water * (FILLED if prices else 1.0))
    expired = prices is not None and prices.expired(idle_seconds)
    if before > budget:
        return RebuildTo(low, _explain(before, low, prices, expired, f"over its budget of {budget:,}"))
    if expired and before - low >= budget * ENOUGH:
        return RebuildTo(low, _explain(before, low, prices, expired, "the cache has expired"))
    return Stay(_explain(before, before, prices, expired, f"within its budget of {budget:,}"))


def first_target(tokens: int, budget: int, low_water: float, prices: Prices | None) -> tuple[int, Explained]:
    """What the first rebuild of a path of `tokens` may cost, and why.

    Who gives no prices may be cutting a list once, and wants as much of it as there is room for. Who gives them calls
    again and again: full to the brim, the context would have to be rebuilt at the next call.
    """
    target = budget if prices is None or tokens <= budget else int(budget * low_water * FILLED)
    return target, _explain(tokens, min(target, tokens), prices, False, f"over its budget of {budget:,}")


def whole(tokens: int, budget: int) -> Explained:
    """Why a path that fits is shown whole."""
    return _explain(tokens, tokens, None, False, f"within its budget of {budget:,}")


def idle_seconds(since: Sequence[Message]) -> float | None:
    """How long before the newest of these messages the model was last called; None where the log does not say.

    The model was called when an assistant's message came; what followed is a tool's work, or a user who thinks.
    """
    now = since[-1].draft.at if since else None
    called = next((message.draft.at for message in reversed(since) if message.role == "assistant"), None)
    if now is None or called is None:
        return None
    return max((now - called).total_seconds(), 0.0)


def _explain(before: int, after: int, prices: Prices | None, expired: bool, why: str) -> Explained:
    """Put it into figures: a rebuild changes a context from near its beginning, so that all of it is written again."""
    rebuilt = after < before
    calls = None
    if rebuilt and prices is not None:
        calls = rebuild_cost(
            suffix_tokens=after,
            saved_tokens=before - after,
            summary_tokens=0,
            summariser_tokens=0,
            prices=prices,
            expired=expired,
        ).calls
    return Explained(
        tokens_before=before,
        tokens_after=after,
        suffix_tokens=after if rebuilt else 0,
        saved_tokens=before - after,
        calls=calls,
        expired=expired,
        decision=_sentence(before, after, calls, why),
    )


def _sentence(before: int, after: int, calls: int | None, why: str) -> str:
    if after >= before:
        return f"Kept at {before:,} tokens: {why}."
    sentence = f"Rebuilt from {before:,} tokens to {after:,}: {why}"
    if calls is None:
        return f"{sentence}."
    return f"{sentence}; it pays at once." if not calls else f"{sentence}; it pays after {calls:,} calls."

"""Cut a path to a budget: the tiers in their order, until one fits."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ireneo.context.forest import RowItem, open_block
from ireneo.context.parts import share
from ireneo.context.policy import Policy
from ireneo.context.summary import Summary
from ireneo.context.view import Shown, Slot, settle, slot_masked, slot_verbatim, slot_within
from ireneo.context.weigh import Count
from ireneo.log.message import Message

WORDS_SHARE = 0.35
"""Of the room for the past, so much may go to the words of the users and the system, verbatim."""
WORDS_FLOOR = 48
"""Tokens of a user message that are shown at the least where it stands for itself."""


class Composed(Struct, frozen=True, kw_only=True):
    """A context before it is written in a provider's format."""

    shown: tuple[Shown, ...]
    tokens: int


def with_masks(messages: Sequence[Message], edge: int, target: int, count: Count) -> Composed:
    """Show every message, the outputs before the place `edge` masked."""
    calls = {call.id: call for message in messages for call in message.draft.calls}
    slots = [slot_masked(message, calls, count) for message in messages[:edge]]
    slots += [slot_verbatim(message) for message in messages[edge:]]
    return _composed(settle(slots, target, count))


def with_blocks(row: Sequence[RowItem], live: Sequence[Message], target: int, count: Count) -> Composed:
    """Show a row as blocks and kept words, and the `live` messages after it, in `target` tokens."""
    limit = oversized_limit(target)
    rooms = share([message.tokens for message in live], max(limit, 0), floor=24)
    size = sum(message.tokens for message in live)
    newest = [slot_within(m, room if size > limit else m.tokens, count) for m, room in zip(live, rooms, strict=True)]
    blocks = [Slot(item, None) for item in row if isinstance(item, Summary)]
    left = target - sum(slot.fixed(count) for slot in (*newest, *blocks))
    kept = [item for item in row if isinstance(item, Message)]
    words = share([message.tokens for message in kept], int(max(left, 0) * WORDS_SHARE), floor=WORDS_FLOOR)
    said = {message.id: slot_within(message, room, count) for message, room in zip(kept, words, strict=True)}
    past = [Slot(item, None) if isinstance(item, Summary) else said[item.id] for item in row]
    return _composed(settle([*past, *newest], target, count))


def oversized_limit(target: int) -> int:
    """What the newest atom may take of `target` tokens when it alone is larger than the live share.

    A wide context shows the newest output as nearly whole as it can, since that is what the next step is decided on;
    a narrow one would show nothing else, and is better spent on what the past holds: 13 % at 1,000 tokens, 40 % from 28,000.
    """
    return int(target * min(0.12 + target / 100_000, 0.4))


def close_loose(row: Sequence[RowItem], policy: Policy) -> tuple[list[RowItem], list[Summary]]:
    """Cover the messages at the end of a row that wait for their block by an open one; returns the row, and what was made."""
    items = list(row)
    loose: list[Message] = []
    while items and isinstance(items[-1], Message) and not items[-1].opens_turn and items[-1].role != "system":
        loose.insert(0, items.pop())  # type: ignore[arg-type]
    if not loose:
        return items, []
    opener = next((item for item in reversed(items) if isinstance(item, Message) and item.opens_turn), None)
    block = open_block(loose, opener.text if opener else "", policy)
    return [*items, block], [block]


def _composed(shown: Sequence[Shown]) -> Composed:
    return Composed(shown=tuple(shown), tokens=sum(each.tokens for each in shown))

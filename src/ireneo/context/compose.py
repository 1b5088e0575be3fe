"""What a tier makes of a path, in a given room."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ireneo.context.forest import RowItem, loose_from, open_block
from ireneo.context.parts import share
from ireneo.context.policy import Policy
from ireneo.context.summary import Summary
from ireneo.context.view import Shown, Slot, block_limit, settle, slot_masked, slot_verbatim, slot_within, verbatim
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

    def followed_by(self, messages: Sequence[Message]) -> Composed:
        """The same context with messages that came since, as they are."""
        return composed([*self.shown, *(verbatim(message, thinking=False) for message in messages)])


def live(messages: Sequence[Message], budget: int) -> Composed:
    """Show every message as it is: with the model's thinking where there is room for it."""
    size = sum(message.tokens + message.thinking_tokens for message in messages)
    return composed([verbatim(message, thinking=size <= budget) for message in messages])


def with_masks(messages: Sequence[Message], edge: int, target: int, count: Count) -> Composed:
    """Show every message, the outputs of the oldest masked: of those before the place `edge` as few as will do."""
    calls = {call.id: call for message in messages for call in message.draft.calls}
    slots = [slot_verbatim(message, count) for message in messages]
    size = sum(slot.fixed(count) for slot in slots)
    for place in range(edge):
        if size <= target:
            break
        masked = slot_masked(messages[place], calls, count)
        size -= slots[place].fixed(count) - masked.fixed(count)
        slots[place] = masked
    return composed(settle(slots, target, count))


def with_blocks(
    row: Sequence[RowItem], newest: Sequence[Message], target: int, live_tokens: int, count: Count
) -> Composed:
    """Show a row as blocks and kept words, and the `newest` messages after it, in `target` tokens."""
    after = _newest(newest, max(oversized_limit(target), live_tokens), count)
    blocks = [Slot(item, None) for item in row if isinstance(item, Summary)]
    left = target - sum(slot.fixed(count) for slot in (*after, *blocks))
    kept = [item for item in row if isinstance(item, Message)]
    # Blocks can say no more than their share of what they stand for: what they leave is for words.
    sayable = sum(block_limit(slot.item) for slot in blocks if isinstance(slot.item, Summary))
    words_room = max(int(max(left, 0) * WORDS_SHARE), left - sayable)
    words = share([message.tokens for message in kept], words_room, floor=WORDS_FLOOR)
    said = {message.id: slot_within(message, room, count) for message, room in zip(kept, words, strict=True)}
    past = [Slot(item, None) if isinstance(item, Summary) else said[item.id] for item in row]
    return composed(settle([*past, *after], target, count))


def one_block(
    system: Sequence[Message], past: Sequence[Summary], newest: Sequence[Message], target: int, count: Count
) -> Composed:
    """Show the past as one block after the system's words, for a budget that has no room for more, and the newest."""
    after = _newest(newest, oversized_limit(target) if past else target - 40, count)
    rooms = share([message.tokens for message in system], int(target * WORDS_SHARE), floor=WORDS_FLOOR)
    before = [slot_within(message, room, count) for message, room in zip(system, rooms, strict=True)]
    return composed(settle([*before, *(Slot(block, None) for block in past), *after], target, count))


def all_in_one(whole: Summary, target: int, count: Count) -> Composed:
    """Show everything, the newest messages too, as one block: what is left where not even they fit."""
    return composed(settle([Slot(whole, None)], target, count))


def oversized_limit(target: int) -> int:
    """What the newest atom may take of `target` tokens when it alone is larger than the live share.

    A wide context shows the newest output as nearly whole as it can, since that is what the next step is decided on;
    a narrow one would show nothing else, and is better spent on the past: 13 % at 1,000 tokens, 40 % from 28,000.
    """
    return int(target * min(0.12 + target / 100_000, 0.4))


def close_loose(row: Sequence[RowItem], policy: Policy) -> tuple[list[RowItem], list[Summary]]:
    """Cover what waits for its block at the end of a row by an open one; returns the row, and what was made."""
    place = loose_from(row, policy)
    items = list(row[:place])
    loose = [item for item in row[place:] if isinstance(item, Message)]
    if not loose:
        return items, []
    opener = next((item for item in reversed(items) if isinstance(item, Message) and item.opens_turn), None)
    block = open_block(loose, opener.text if opener else "", policy)
    return [*items, block], [block]


def composed(shown: Sequence[Shown]) -> Composed:
    """Add up what is shown."""
    return Composed(shown=tuple(shown), tokens=sum(each.tokens for each in shown))


def _newest(messages: Sequence[Message], limit: int, count: Count) -> list[Slot]:
    """The newest messages, as they are where they fit into `limit` together."""
    if sum(message.tokens for message in messages) <= limit:
        return [slot_verbatim(message, count) for message in messages]
    rooms = share([message.tokens for message in messages], max(limit, 0), floor=24)
    return [slot_within(message, room, count) for message, room in zip(messages, rooms, strict=True)]

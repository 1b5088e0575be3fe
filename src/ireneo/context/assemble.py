"""From a head and a budget to a context: the order in which the tiers are tried, as one algorithm without I/O.

`assemble` is a generator: it yields what it needs to know (`NeedPath`, `NeedRow`, `NeedParts`), is sent the answer,
yields what is worth keeping (`Made`, `Keep`), and returns the context. A driver over a list of messages and one
over a store run the same text.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeAlias, cast

from msgspec import Struct

from ireneo.context.compose import Composed, all_in_one, close_loose, live, one_block, with_blocks, with_masks
from ireneo.context.cover import choose_edge, is_cramped, next_to_open, opened, split_system, too_fine
from ireneo.context.forest import RowItem, cover_row, grow
from ireneo.context.plan_rebuild import RebuildTo, Stay, decide, first_target, idle_seconds
from ireneo.context.policy import Policy
from ireneo.context.summary import Summary
from ireneo.context.weigh import Count
from ireneo.log.atoms import atoms, torn
from ireneo.log.branch import Head
from ireneo.log.message import Message, MessageId

MASKABLE = 12
"""Outputs are most of a run, but hardly ever more than eleven twelfths of it: longer paths are not tried with masks."""
TAIL = 64
"""Messages that are read at a time from the end of a path to find where it stops being live."""


WIDENINGS = 3
"""How often what the blocks leave of the room is given to the live part."""
SPARE_SHARE = 0.15
"""Less than this share of the room is not worth another round."""


class NeedPath(Struct, frozen=True):
    """Send the messages of positions `first` to `last` of the path."""

    first: int
    last: int


class NeedRow(Struct, frozen=True):
    """Send what is known of the path up to position `last`: a `KnownRow`."""

    last: int


class NeedParts(Struct, frozen=True):
    """Send the row that a summary was written from: its sources, and the messages between them."""

    summary: Summary


class Made(Struct, frozen=True):
    """Keep these summaries; nothing is sent back."""

    summaries: tuple[Summary, ...]


class KnownRow(Struct, frozen=True):
    """The row up to the last summary that is known, and the messages from there on."""

    row: tuple[RowItem, ...]
    following: tuple[Message, ...]


class Mark(Struct, frozen=True, kw_only=True):
    """Where and how the context was last rebuilt, so that its beginning stays the same until it has to be again."""

    at: MessageId
    """The head for which it was rebuilt."""
    at_position: int
    target_tokens: int
    """What the rebuilt context was allowed to cost."""


class Recall(Struct, frozen=True):
    """Send the context that was composed for this mark before, if it is at hand; else None."""

    mark: Mark


class Keep(Struct, frozen=True):
    """Keep the context that was composed for a mark at hand; nothing is sent back."""

    mark: Mark
    composed: Composed


class Assembled(Struct, frozen=True, kw_only=True):
    """A context, and the mark to keep for the next one (None: there was nothing to compact)."""

    composed: Composed
    mark: Mark | None


Need: TypeAlias = NeedPath | NeedRow | NeedParts | Made | Recall | Keep
Answer: TypeAlias = "Sequence[Message] | KnownRow | Sequence[RowItem] | Composed | None"
Assembling: TypeAlias = Generator[Need, Answer, Assembled]


def assemble(head: Head, budget: int, mark: Mark | None, policy: Policy, count: Count) -> Assembling:
    """Make the context of the path to `head` in `budget` tokens; `mark` is that of the last rebuild on this path."""
    if head.total_tokens <= budget and not policy.eager:
        messages = yield from _path(0, head.position)
        return Assembled(composed=live(messages, budget), mark=None)
    if mark is not None:
        frozen = cast("Composed | None", (yield Recall(mark)))
        if frozen is None:
            frozen = yield from _rebuild(mark.at_position, mark.target_tokens, policy, count)
            yield Keep(mark, frozen)
        since = yield from _path(mark.at_position + 1, head.position)
        decision = _decide(frozen.tokens, since, budget, policy)
        if isinstance(decision, Stay):
            return Assembled(composed=frozen.followed_by(since), mark=mark)
        target = decision.target
    else:
        target = first_target(head.total_tokens, budget, policy.low_water, policy.prices)
    composed = yield from _rebuild(head.position, target, policy, count)
    mark = Mark(at=head.id, at_position=head.position, target_tokens=target)
    yield Keep(mark, composed)
    return Assembled(composed=composed, mark=mark)


def _decide(frozen_tokens: int, since: Sequence[Message], budget: int, policy: Policy) -> Stay | RebuildTo:
    return decide(
        frozen_tokens=frozen_tokens,
        since_tokens=sum(message.tokens for message in since),
        budget=budget,
        low_water=policy.low_water,
        idle_seconds=idle_seconds(since),
        prices=policy.prices,
    )


def _rebuild(last: int, target: int, policy: Policy, count: Count) -> Generator[Need, Answer, Composed]:
    """Make the context of the path up to position `last` in `target` tokens, with whatever tier fits first."""
    live_tokens = int(target * policy.live_share)
    tail = yield from _tail(last, max(live_tokens, 1), policy)
    if policy.eager:
        eager = yield from _eager(tail, target, policy, count)
        if eager is not None:
            return eager
    edge = tail[choose_edge(tail, live_tokens, policy)].position
    if edge * 20 < target:
        messages = yield from _path(0, last)
        if sum(message.tokens for message in messages) <= target * MASKABLE:
            masked = with_masks(messages, edge, target, count)
            if masked.tokens <= target:
                return masked
    for _ in range(WIDENINGS):
        composed, made = yield from _with_blocks(tail, target, live_tokens, policy, count)
        free = target - composed.tokens
        if free < target * SPARE_SHARE:
            break
        # The past has said what it has to say: what is left is for more of the newest turns, verbatim.
        live_tokens += free - free // 10
        tail = yield from _tail(last, live_tokens, policy)
    yield Made(tuple(made))
    return composed


def _with_blocks(
    tail: Sequence[Message], target: int, live_tokens: int, policy: Policy, count: Count
) -> Generator[Need, Answer, tuple[Composed, list[Summary]]]:
    """Show all but the newest `live_tokens` as blocks, as fine as there is room for; and what was made for it alone."""
    newest = tail[choose_edge(tail, live_tokens, policy) :]
    row = yield from _row(newest[0].position - 1, newest, policy)
    row, made = close_loose(row, policy)
    size = sum(message.tokens for message in newest)
    room = target - min(size, max(live_tokens, target // 4))
    while block := next_to_open(row, room):
        parts = yield NeedParts(block)
        row = opened(row, block, cast("Sequence[RowItem]", parts))
    if not is_cramped(row, target):
        system, rest = split_system(row)
        if oldest := too_fine(rest, room):
            made.append(cover_row(rest[:oldest], policy))
            row = [*system, made[-1], *rest[oldest:]]
        composed = with_blocks(row, newest, target, live_tokens, count)
        if composed.tokens <= target:
            return composed, made
    system, rest = split_system(row)
    past = [cover_row(rest, policy)] if rest else []
    composed = one_block(system, past, newest, target, count)
    if composed.tokens <= target:
        return composed, past
    whole = cover_row([*row, *newest], policy)
    return all_in_one(whole, target, count), [whole]


def _eager(
    tail: Sequence[Message], target: int, policy: Policy, count: Count
) -> Generator[Need, Answer, Composed | None]:
    """Summarise what is old enough, whether or not the budget asks for it; None where that is not enough to fit."""
    newest = tail[choose_edge(tail, 0, policy) :]
    row = yield from _row(newest[0].position - 1, newest, policy)
    # What waits for its block stays as it is: blocks are made of enough calls, or not at all.
    waiting: list[Message] = []
    while row and isinstance(last := row[-1], Message):
        waiting.insert(0, last)
        row.pop()
    composed = with_blocks(row, [*waiting, *newest], target, target // 2, count)
    size = sum(message.tokens for message in (*waiting, *newest))
    return composed if size <= target // 2 and composed.tokens <= target else None


def _row(last: int, newest: Sequence[Message], policy: Policy) -> Generator[Need, Answer, list[RowItem]]:
    if last < 0:
        return []
    known = cast("KnownRow", (yield NeedRow(last)))
    growth = grow(known.row, known.following, policy, then=atoms(newest)[0])
    yield Made(growth.made)
    return list(growth.row)


def _tail(last: int, tokens: int, policy: Policy) -> Generator[Need, Answer, list[Message]]:
    """Read from the end of the path until the live part is surely in it, and one atom more."""
    first = last + 1
    tail: list[Message] = []
    while first > 0:
        begin = max(first - TAIL, 0)
        tail = [*(yield from _path(begin, first - 1)), *tail]
        first = begin
        # What may be the end of an atom that begins before is no place to cut.
        sound = tail[torn(tail) :] if first else tail
        enough = sum(message.tokens for message in sound) > tokens and len(sound) > policy.keep_messages
        if enough and len(atoms(sound)) > 2 and choose_edge(sound, tokens, policy) > 0:
            return sound
    return tail


def _path(first: int, last: int) -> Generator[Need, Answer, list[Message]]:
    if last < first:
        return []
    answer = yield NeedPath(first, last)
    return list(cast("Sequence[Message]", answer))

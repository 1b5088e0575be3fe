"""Which turns and leaves of a path no memory tells of yet."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ireneo.context.policy import Policy
from ireneo.log.branch import Head, SessionKey
from ireneo.log.message import Message, MessageId, opens_turn
from ireneo.ports.store import Span
from ireneo.ports.transition import Transaction

STEP = 400
"""Messages that are read at a time, from the end of a path backwards."""


class Bounds(Struct, frozen=True, kw_only=True):
    """Where a turn begins and ends."""

    opening: MessageId
    ending: MessageId
    first: int
    last: int
    work: bool
    """Whether a tool was called in it: else there is nothing to tell but what was said."""
    answered: bool
    """Whether it ends with the agent's words and no call."""


async def remembered(tx: Transaction, space: str, turns: Sequence[Bounds]) -> set[MessageId]:
    """The endings of those `turns` of which a memory tells: one piece of its evidence names both ends of the turn."""
    if not turns:
        return set()
    citing = await tx.memories.citing(space, [turn.ending for turn in turns])
    told = [set(piece.messages) for record in citing for piece in record.evidence]
    return {turn.ending for turn in turns if any({turn.opening, turn.ending} <= each for each in told)}


async def unseen_turns(tx: Transaction, key: SessionKey, head: Head, floor: int = 0) -> list[Bounds]:
    """The turns that are over and that no memory tells of, in order, from position `floor` on.

    They are looked for from the end backwards, up to the first that is remembered: turns are remembered in order.
    The newest turn is over once the agent has answered.
    """
    out: list[Bounds] = []
    later: list[Message] = []
    end = head.position
    while end >= floor:
        first = max(floor, end - STEP + 1)
        later = [*await tx.log.path(key, head.id, first, end), *later]
        turns, later = _cut(later)
        known = await remembered(tx, key.space, turns)
        for turn in reversed(turns):
            if turn.ending in known:
                return out[::-1]
            if turn.work and (turn.last < head.position or turn.answered):
                out.append(turn)
        end = first - 1
    return out[::-1]


async def unseen_leaves(tx: Transaction, key: SessionKey, head: Head, policy: Policy, floor: int = 0) -> list[Span]:
    """The leaves of a story that no memory tells of, in order, from position `floor` on."""
    leaves = await tx.summaries.spans(key, head.id, policy.family, 1, floor)
    citing = await tx.memories.citing(key.space, [leaf.id for leaf in leaves]) if leaves else ()
    told = {name for record in citing for piece in record.evidence for name in piece.summaries}
    return [leaf for leaf in leaves if leaf.id not in told]


def _cut(messages: Sequence[Message]) -> tuple[list[Bounds], list[Message]]:
    """The turns that `messages` hold whole, and what stands before the first of them."""
    starts = [place for place, message in enumerate(messages) if opens_turn(message.draft)]
    if not starts:
        return [], list(messages)
    ends = [*starts[1:], len(messages)]
    turns = [_bounds(messages[start:end]) for start, end in zip(starts, ends, strict=True)]
    return turns, list(messages[: starts[0]])


def _bounds(messages: Sequence[Message]) -> Bounds:
    return Bounds(
        opening=messages[0].id,
        ending=messages[-1].id,
        first=messages[0].position,
        last=messages[-1].position,
        work=any(message.draft.calls for message in messages),
        answered=messages[-1].role == "assistant" and not messages[-1].draft.calls,
    )

"""What a store knows of a path: its blocks, as far as no other branch has cut them short."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.context.forest import RowItem, is_kept
from ireneo.context.needs import KnownRow
from ireneo.context.plan_turns import leaf_is_full
from ireneo.context.policy import Policy
from ireneo.context.summary import Summary
from ireneo.log.atoms import atoms
from ireneo.log.branch import Head, SessionKey
from ireneo.log.message import Message
from ireneo.ports.transition import Transaction

AHEAD = 16
"""Messages that are read behind a block to see which atom comes next; of a longer one the beginning tells enough."""


async def known_row(tx: Transaction, key: SessionKey, head: Head, last: int, policy: Policy) -> KnownRow:
    """The blocks of the path to `head` up to position `last`, what stands between them, and what follows."""
    row, position = await known_blocks(tx, key, head, last, policy)
    following = await tx.log.path(key, head.id, position, last) if position <= last else ()
    return KnownRow(row, tuple(following))


async def known_blocks(
    tx: Transaction, key: SessionKey, head: Head, last: int, policy: Policy
) -> tuple[tuple[RowItem, ...], int]:
    """The blocks of the path to `head` up to position `last` with what stands between them, and where they end.

    A block ends where the next atom says so. Where a branch went its own way, it may have ended a block early that
    goes on here: from such a block on the path is read again, until a wider one of its own takes its place.
    """

    async def path(first: int, until: int) -> Sequence[Message]:
        return await tx.log.path(key, head.id, first, until) if first <= until else ()

    end = (await path(last, last))[0]
    row: list[RowItem] = []
    position = 0
    for summary in await tx.summaries.frontier(key, end.id, policy.family):
        if not await _ends_here(tx, key, head, summary, policy):
            break
        row.extend(await path(position, summary.first_position - 1))
        row.append(summary)
        position = summary.last_position + 1
    return tuple(row), position


async def _ends_here(tx: Transaction, key: SessionKey, head: Head, summary: Summary, policy: Policy) -> bool:
    """Whether what comes after `summary` on the path to `head` ends it."""
    place = summary.last_position + 1
    following = await tx.log.path(key, head.id, place, place + AHEAD)
    if not following:
        return True
    if summary.level == "goal":
        return following[0].opens_turn
    ahead = atoms(following)[0]
    if any(is_kept(message, policy) for message in ahead):
        return True
    while summary.sources:
        children = await tx.summaries.get(key, summary.sources)
        depths = {child.depth for child in children}
        # Blocks of one depth become a deeper one by their number; others, only where their run ends.
        if len(children) != policy.fan_in or len(depths) != 1:
            return False
        summary = children[-1]
    leaf = await tx.log.path(key, head.id, summary.first_position, summary.last_position)
    return leaf_is_full(atoms(leaf), ahead, policy)

"""Store what was made of messages that another process may have taken out or erased meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.context.summary import Summary
from ireneo.errors import MessageNotFound
from ireneo.log.branch import SessionKey
from ireneo.ports.transition import Transaction


async def keep(tx: Transaction, key: SessionKey, summaries: Sequence[Summary], erased: int | None) -> int:
    """Store `summaries`, but for those of a path that was pruned since it was read; returns how many were new.

    None of them is stored where an erasure came since: they may tell what was to be forgotten, and are made again.
    `erased` is how many messages of the session had been erased when they were read; None: nobody knows.
    """
    if await was_erased(tx, key, erased):
        return 0
    try:
        return await tx.summaries.put(key, summaries)
    except MessageNotFound:
        standing = [each for each in summaries if not await is_pruned(tx, key, each)]
        if len(standing) == len(summaries):
            raise
        return await tx.summaries.put(key, standing)


async def is_pruned(tx: Transaction, key: SessionKey, summary: Summary) -> bool:
    """Whether what a summary covers is gone, or its end at the least: only whole ends of a path are taken out."""
    return not await tx.log.find(key, [summary.last])


async def was_erased(tx: Transaction, key: SessionKey, erased: int | None) -> bool:
    """Whether more messages of a session are erased than the `erased` that were when something was made of them."""
    return erased is not None and await tx.erasure.count(key) != erased

"""The blocks of an agent's work, written ahead of the contexts that show them: some messages at a time, no model."""

from __future__ import annotations

from collections.abc import AsyncIterator

from msgspec import Struct

from ireneo.context.forest import RowItem, grow
from ireneo.context.policy import Policy
from ireneo.context.summary import Summary
from ireneo.engine.keep import keep
from ireneo.engine.known import known_blocks
from ireneo.errors import MessageNotFound
from ireneo.log.atoms import atoms, settled
from ireneo.log.branch import Head, SessionKey
from ireneo.ports.store import Store
from ireneo.ports.transition import Transaction

CHUNK = 512
"""Messages that are read at a time; what they make is stored in one transaction."""
STRETCH = 8
"""An atom that so many chunks don't end is taken to end where they do: a call that nobody answered."""
BEHIND = 1_024
"""A context writes the blocks of fewer messages in passing: then there is nothing to be done ahead of it."""


class Ahead(Struct, frozen=True, kw_only=True):
    """How far the blocks of a path are written."""

    row: tuple[RowItem, ...]
    """The blocks up to there, and what stands between and behind them."""
    position: int
    """Of the first message that they don't take in."""
    made: tuple[Summary, ...] = ()
    """What was written last."""


class Due(Struct, frozen=True, kw_only=True):
    """Blocks of a path that are still to be written."""

    head: Head
    ahead: Ahead
    erased: int
    """How many messages of the session had been erased when it was read."""


async def due_ahead(
    store: Store, key: SessionKey, to: str | Head, policy: Policy, ahead: Ahead | None = None
) -> Due | None:
    """What is due up to a branch's head, or any other; None where a context has little to write.

    `ahead` is how far it is on that path, where that is known.
    """
    async with store.read() as tx:
        head = await tx.log.head(key, to) if isinstance(to, str) else to
        if head is None or head.position < BEHIND:
            return None
        erased = await tx.erasure.count(key)
        if ahead is None:
            row, position = await known_blocks(tx, key, head, head.position, policy)
            ahead = Ahead(row=row, position=position)
    return Due(head=head, ahead=ahead, erased=erased) if head.position - ahead.position >= BEHIND else None


async def write_ahead(store: Store, key: SessionKey, policy: Policy, due: Due) -> AsyncIterator[Ahead]:
    """Write the blocks that are due, a chunk in each transaction; what is written stays, wherever it is broken off."""
    ahead, last = due.ahead, due.head.position
    while last - ahead.position >= CHUNK:
        try:
            async with store.read() as tx:
                ahead = await grown(tx, key, due.head, ahead, last, policy)
        except MessageNotFound:
            return  # Its end was taken out meanwhile.
        if ahead.made:
            async with store.write() as tx:
                await keep(tx, key, ahead.made, due.erased)
        yield ahead


async def grown(tx: Transaction, key: SessionKey, head: Head, ahead: Ahead, last: int, policy: Policy) -> Ahead:
    """Carry the blocks on over the next chunk of the path to `head`, whole atoms, up to `last` at the most."""
    for size in (CHUNK, CHUNK * STRETCH):
        messages = await tx.log.path(key, head.id, ahead.position, min(ahead.position + size - 1, last))
        end = settled(messages)
        if end:
            break
    else:
        groups = atoms(messages)
        end = len(messages) - (len(groups[-1]) if len(groups) > 1 else 0)
    growth = grow(ahead.row, messages[:end], policy)
    return Ahead(row=growth.row, position=ahead.position + end, made=growth.made)

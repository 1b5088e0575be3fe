"""Open, or dispute, whatever an id names, wherever in a space it is: a block, a message, a memory."""

from __future__ import annotations

from msgspec import Struct

from ireneo.engine import notes as noting
from ireneo.engine.expand import Expanded, expand
from ireneo.engine.means import Means
from ireneo.engine.remember import Remembered, settle_offers
from ireneo.errors import BadInput, MemoryNotFound, NotFound
from ireneo.log.annotation import Annotation
from ireneo.log.branch import SessionKey
from ireneo.memories.exchange.offers import against
from ireneo.memories.record import Record

SUMMARY = "s_"
"""What the id of a block begins with; those of messages and of memories begin alike, with another letter."""


class Opened(Struct, frozen=True, kw_only=True):
    """What an id names: a block or a message with the session that it stands in, or a memory."""

    session: str = ""
    expanded: Expanded | None = None
    memory: Record | None = None


async def open_id(means: Means, space: str, id: str) -> Opened:
    """What `id`, or the only id that begins so, names in the space. Raises NotFound, and BadInput for several."""
    if not id.startswith(SUMMARY):
        record = await _memory(means, space, id)
        if record is not None:
            return Opened(memory=record)
    key = await _place(means, space, id)
    return Opened(session=key.session, expanded=await expand(means.store, key, id))


async def dispute_id(means: Means, space: str, id: str, reason: str, claim: str = "") -> Annotation | Remembered:
    """Say that a block is wrong (or one claim of it), or that a memory is; with why. Raises NotFound, BadInput.

    A block is shown as disputed until it is written again. Against a memory it is one more word, told now: what it
    changes follows from whose words speak for it.
    """
    if not reason.strip():
        raise BadInput("Say what is wrong with it, and what is shown instead.")
    reason = means.cleaning().text(reason)
    if id.startswith(SUMMARY):
        return await noting.dispute(means.store, await _place(means, space, id), id, reason, claim)
    record = await _memory(means, space, id)
    if record is None:
        raise MemoryNotFound(f"There is no memory {id!r} in space {space!r}; only blocks and memories are disputed.")
    offer = against(record, means.clock.now(), origin="agent", why=" ".join(reason.split()))
    async with means.store.write() as tx:
        # It was opened and found wrong: that is a new word, however much it reads like the memory.
        return (await settle_offers(tx, space, [offer], judged=True))[0]


async def _memory(means: Means, space: str, id: str) -> Record | None:
    async with means.store.read() as tx:
        found = await tx.memories.get(space, [id]) if id else []
    if len(found) > 1:
        raise BadInput(f"Several memories begin with {id!r}; give more of the id.")
    return found[0] if found else None


async def _place(means: Means, space: str, id: str) -> SessionKey:
    """The session in which a block or a message stands."""
    async with means.store.read() as tx:
        for info in await tx.sessions.list(space):
            found = await (tx.summaries.find(info.key, id) if id.startswith(SUMMARY) else tx.log.find(info.key, [id]))
            if id and found:
                return info.key
    raise NotFound(f"There is nothing called {id!r} in space {space!r}; a context or a brief shows the ids there are.")

"""Open, or dispute, whatever an id names, wherever in a space it is: a block, a message, a memory."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine import notes as noting
from ireneo.engine.expand import Expanded, expand
from ireneo.engine.means import Means
from ireneo.engine.projects import place_all
from ireneo.engine.recall.asked import Asked
from ireneo.engine.recall.scope import Scope
from ireneo.engine.remember import Remembered, settle_offers
from ireneo.errors import BadInput, MemoryNotFound, NotFound
from ireneo.log.annotation import Annotation
from ireneo.log.branch import SessionKey
from ireneo.memories.exchange.offers import against
from ireneo.memories.record import TRUST, Record, Source

SUMMARY = "s_"
"""What the id of a block begins with; those of messages and of memories begin alike, with another letter."""


class Opened(Struct, frozen=True, kw_only=True):
    """What an id names: a block or a message with the session that it stands in, or a memory."""

    session: str = ""
    expanded: Expanded | None = None
    memory: Record | None = None


async def open_id(means: Means, space: str, id: str, project: str | None = None) -> Opened:
    """What `id`, or the only id that begins so, names in the space. Raises NotFound, and BadInput for several.

    With `project` (empty: none) what belongs to another one is not opened, and of a memory what is told there is not.
    """
    if project is not None:
        await place_all(means.store, space)
    if not id.startswith(SUMMARY):
        record = await _memory(means, space, id, project)
        if record is not None:
            return Opened(memory=record)
    key = await _place(means, space, id, project)
    return Opened(session=key.session, expanded=await expand(means.store, key, id))


async def dispute_id(
    means: Means,
    space: str,
    id: str,
    reason: str,
    claim: str = "",
    origin: Source = "agent",
    project: str | None = None,
) -> Annotation | Remembered:
    """Say that a block is wrong (or one claim of it), or that a memory is; with why. Raises NotFound, BadInput.

    A block is shown as disputed until it is written again. Against a memory it is one more word of `origin`, told now
    and kept with its reason: what it changes follows from whose words speak for it. With `project` (empty: none) what
    belongs to another one is not disputed.
    """
    if not reason.strip():
        raise BadInput("Say what is wrong with it, and what is shown instead.")
    if origin not in TRUST:
        raise BadInput(f"`origin` is {origin!r}, which is none; give one of {', '.join(TRUST)}.")
    if project is not None:
        await place_all(means.store, space)
    if id.startswith(SUMMARY):
        return await noting.dispute(means.store, await _place(means, space, id, project), id, reason, claim)
    if claim:
        raise BadInput("Only of a block can one claim be disputed; a memory is disputed as it stands: leave it out.")
    record = await _memory(means, space, id, project)
    if record is None:
        raise MemoryNotFound(f"There is no memory {id!r} in space {space!r}; only blocks and memories are disputed.")
    offer = against(record, means.clock.now(), origin=origin, why=" ".join(reason.split()))
    offer = replace(offer, project=project or "")
    async with means.store.write() as tx:
        # It was opened and found wrong: that is a new word, however much it reads like the memory.
        return (await settle_offers(tx, space, [offer], judged=True))[0]


async def _memory(means: Means, space: str, id: str, project: str | None) -> Record | None:
    async with means.store.read() as tx:
        found = list(await tx.memories.get(space, [id]) if id else ())
        if not found or project is None:
            seen = found
        else:
            scope = await Scope.of(tx, space, Asked(text=id, project=project, undone=True))
            seen = [each for each in await scope.seen(found) if each is not None]
    if found and not seen:
        raise _elsewhere(id, project)
    if len(seen) > 1:
        raise BadInput(f"Several memories begin with {id!r}; give more of the id.")
    return seen[0] if seen else None


async def _place(means: Means, space: str, id: str, project: str | None) -> SessionKey:
    """The session in which a block or a message stands."""
    elsewhere = False
    async with means.store.read() as tx:
        for info in await tx.sessions.list(space):
            found = await (tx.summaries.find(info.key, id) if id.startswith(SUMMARY) else tx.log.find(info.key, [id]))
            if id and found:
                if project is None or (info.project or "") in ("", project):
                    return info.key
                elsewhere = True
    if elsewhere:
        raise _elsewhere(id, project)
    raise NotFound(f"There is nothing called {id!r} in space {space!r}; a context or a brief shows the ids there are.")


def _elsewhere(id: str, project: str | None) -> NotFound:
    here = f"project {project!r}" if project else "no project that is known"
    return NotFound(f"{id} belongs to another project, and you work on {here}; only what belongs there is opened.")

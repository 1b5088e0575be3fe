"""Marks what was drawn from memories that no longer stand, in the transaction in which they fell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ireneo.memories.record import MemoryId, Record
from ireneo.memories.staleness import cites_memories, restaled
from ireneo.ports.transition import Transaction


async def restale(
    tx: Transaction, space: str, fallen: Iterable[MemoryId], drawn: Iterable[Record] = ()
) -> Sequence[Record]:
    """Mark or lift all that rests on the memories `fallen`, and on `drawn` themselves; gives those that changed.

    `fallen` are those that stand no more, that stand again or that are gone; `drawn` those whose own ground is another
    than before. All of them are stored already as they are now. It goes on through whatever was drawn from those.
    """
    reached = {each.id: each for each in drawn if cites_memories(each)}
    frontier = [*dict.fromkeys((*fallen, *reached))]
    while frontier:
        found = [each for each in await tx.memories.citing(space, frontier) if each.id not in reached]
        reached.update({each.id: each for each in found})
        frontier = [each.id for each in found]
    if not reached:
        return []
    cited = {name for each in reached.values() for piece in each.evidence for name in piece.memories} - set(reached)
    around = {each.id: each for each in await tx.memories.get(space, sorted(cited))} if cited else {}
    settled = restaled({name: reached[name] for name in sorted(reached)}, around)
    changed = [each for name, each in settled.items() if each != reached[name]]
    await tx.memories.put(space, changed)
    return changed

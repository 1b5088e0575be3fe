"""Which conclusions must be reconsidered, since none of what they were drawn from stands any more.

A conclusion stands while one piece of its evidence does: one that cites no memory, or only such as are active and need
not be reconsidered themselves. So it goes on through any number of conclusions, and is lifted when the ground is back.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from ireneo.log.ids import short
from ireneo.memories.evidence import for_it
from ireneo.memories.record import Evidence, MemoryId, Record
from ireneo.memories.wording import quoted


def restaled(reached: Mapping[MemoryId, Record], around: Mapping[MemoryId, Record]) -> dict[MemoryId, Record]:
    """`reached` with each record marked or lifted; `around` has what they cite besides, and what is in neither is gone.

    Only what does not stand for a reason is marked, so two conclusions that cite each other don't keep each other down.
    """
    known = {**around, **{name: replace(each, stale="") for name, each in reached.items()}}
    marked: dict[MemoryId, Record] = {}
    while fallen := [name for name in reached if name not in marked and _has_fallen(known[name], known)]:
        for name in fallen:
            marked[name] = known[name] = replace(known[name], stale="-")
    return {name: replace(known[name], stale=_reason(known[name], known) if name in marked else "") for name in reached}


def cites_memories(record: Record) -> bool:
    """Whether it was drawn from other memories, and may have to be reconsidered with them."""
    return any(each.memories for each in record.evidence)


def _has_fallen(record: Record, known: Mapping[MemoryId, Record]) -> bool:
    told = for_it(record)
    return bool(told) and all(_undermined(piece, known) for piece in told)


def _undermined(piece: Evidence, known: Mapping[MemoryId, Record]) -> list[MemoryId]:
    """The memories that a piece cites and that don't stand."""
    return [name for name in piece.memories if name not in known or not _stands(known[name])]


def _stands(record: Record) -> bool:
    return record.state == "active" and not record.stale


def _reason(record: Record, known: Mapping[MemoryId, Record]) -> str:
    name = next(name for piece in for_it(record) for name in _undermined(piece, known))
    ground = known.get(name)
    if ground is None or ground.state == "erased":
        return f"It was drawn from {short(name)}, which was erased."
    state = "must be reconsidered itself" if ground.state == "active" else f"is {ground.state}"
    return f"It was drawn from {quoted(ground.value or ground.text)} ({short(name)}), which {state}."

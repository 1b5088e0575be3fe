"""Which memories would be put away next and why, the cap of a space, and how one is taken out again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.branches import memory_named
from ireneo.engine.resources import Resources
from ireneo.errors import BadInput, MemoryNotFound
from ireneo.memories.kinds import KINDS
from ireneo.memories.record import MemoryId, Record
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Transaction

SLACK = 0.02
"""So much of the cap is freed at a time, so that the memories are weighed once in a while and not at each write."""
BATCH = 1_000
"""Memories that are put away in one transaction, so that nobody waits for long."""


class ArchiveCandidate(Struct, frozen=True, kw_only=True):
    """A memory, and how much it is worth keeping."""

    record: Record
    retention: float
    """From 0 to 1; what is least goes first."""
    reason: str
    """Why it is no more, in words."""


def archive_candidates(
    tx: Transaction, resources: Resources, space: str, limit: int = 20
) -> Sequence[ArchiveCandidate]:
    """The memories that would be put away next, the least retained first; those that are pinned never are."""
    if limit < 1:
        raise BadInput(f"A limit of {limit} shows nothing; give at least 1.")
    now = resources.clock.now()
    ranked = _by_retention(tx.memories.list(space, MemoryFilter(archived=False)), now)
    return [
        ArchiveCandidate(record=record, retention=retention, reason=_reason(record, now))
        for retention, record in ranked[:limit]
    ]


async def archive(resources: Resources, space: str, keep: int) -> Sequence[MemoryId]:
    """Put the least retained memories away until `keep` are left in use; returns which.

    They are not recalled any more, and `restore` takes them out again. Where the space has no more memories than
    `keep` this is one look at a counter. Otherwise all are weighed once, a little more than necessary is put away,
    and each batch in a transaction of its own. Raises BadInput for a negative number.
    """
    if keep < 0:
        raise BadInput(f"{keep} memories can't be kept; give 0 or more.")
    now = resources.clock.now()

    def least_retained(tx: Transaction) -> list[MemoryId]:
        if tx.search.size(space, "memories").documents <= keep:
            return []
        in_use = tx.memories.list(space, MemoryFilter(archived=False))
        over = len(in_use) - keep
        if over <= 0:
            return []
        return [record.id for _, record in _by_retention(in_use, now)[: over + int(keep * SLACK)]]

    def put_away(tx: Transaction, ids: Sequence[MemoryId]) -> list[MemoryId]:
        # Read again: it may have been used, pinned or forgotten since it was weighed.
        there = tx.memories.get(space, ids)
        gone = [replace(record, archived=True) for record in there if not (record.pinned or record.archived)]
        tx.memories.put(space, gone)
        return [record.id for record in gone]

    least = await resources.store.read(least_retained)
    out: list[MemoryId] = []
    for start in range(0, len(least), BATCH):
        out += await resources.store.write(put_away, least[start : start + BATCH])
    return out


def restore(tx: Transaction, space: str, ids: Sequence[str]) -> Sequence[Record]:
    """Take memories out again that were put away; ids may be shortened. Raises MemoryNotFound."""
    out: list[Record] = []
    for name in ids:
        found = memory_named(tx, space, name)
        if found is None:
            raise MemoryNotFound(f"There is no memory {name!r} in space {space!r}.")
        out.append(replace(found, archived=False))
    tx.memories.put(space, out)
    return out


def _by_retention(records: Sequence[Record], now: datetime) -> list[tuple[float, Record]]:
    """How much each is worth keeping, the least first; those that are pinned are left out."""
    weighed = [(KINDS[each.kind].retention(each, now), each) for each in records if not each.pinned]
    return sorted(weighed, key=lambda each: (each[0], each[1].id))


def _reason(record: Record, now: datetime) -> str:
    """Why a memory is not worth more, in words."""
    since = record.last_used or record.recorded
    days = max((now - since).days, 0)
    if days:
        used = "not used" if record.last_used else "never used"
        told = [f"{used} for {days} day{'' if days == 1 else 's'}"]
    else:
        told = ["used today" if record.last_used else "told today"]
    if record.state != "active":
        told.append(record.state)
    if record.reflected:
        told.append("reflected on")
    if record.harmed > record.helped:
        told.append(f"harmed {record.harmed} times and helped {record.helped}")
    if record.stale:
        told.append("to be reconsidered")
    return ", ".join(told)

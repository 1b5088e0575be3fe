"""What is put away: what passed and nobody asked for, and what is over the cap of a space; and how it is taken back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.branches import memory_named
from ireneo.engine.remember import used
from ireneo.engine.resources import Resources
from ireneo.errors import BadInput, MemoryNotFound
from ireneo.memories.kinds import KINDS
from ireneo.memories.record import MemoryId, Record, supporting
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Transaction

SLACK = 0.02
"""So much of the cap is freed at a time, so that the memories are weighed once in a while and not at each write."""
FADED = 0.15
"""What passed and is worth less than that is put away, however few there are: an event of middling weight that was
told once falls so low after two years, one from which a conclusion was drawn after half a year."""
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


def archived(tx: Transaction, space: str, limit: int = 20) -> Sequence[Record]:
    """The memories that were put away, the last of them first; each says when and why."""
    if limit < 1:
        raise BadInput(f"A limit of {limit} shows nothing; give at least 1.")
    away = tx.memories.list(space, MemoryFilter(archived=True))
    return sorted(away, key=lambda each: (-(each.archived_at or each.recorded).timestamp(), each.id))[:limit]


async def archive(resources: Resources, space: str, keep: int, *, faded: bool = False) -> Sequence[MemoryId]:
    """Put the least retained memories away until `keep` are left in use; returns which.

    They are not recalled any more, and `restore` takes them out again. With `faded` what passed and nobody asked for
    goes as well, as far as the messages that it was drawn from still tell it. All are weighed once, a little more than
    necessary is put away, and each batch in a transaction of its own. Raises BadInput for a negative number.
    """
    if keep < 0:
        raise BadInput(f"{keep} memories can't be kept; give 0 or more.")
    now = resources.clock.now()

    def least_retained(tx: Transaction) -> dict[MemoryId, str]:
        passed = tx.memories.list(space, MemoryFilter(kind="episodic", archived=False)) if faded else ()
        out = {each.id: f"{_reason(each, now)}: it has faded" for each in passed if has_faded(each, now)}
        if tx.search.size(space, "memories").documents <= keep:
            return out
        in_use = tx.memories.list(space, MemoryFilter(archived=False))
        over = len(in_use) - len(out) - keep
        if over > 0:
            ranked = [record for _, record in _by_retention(in_use, now) if record.id not in out]
            why = f"the least worth of more than {keep:,}"
            out.update((each.id, f"{_reason(each, now)}: {why}") for each in ranked[: over + int(keep * SLACK)])
        return out

    def put_away(tx: Transaction, ids: Sequence[MemoryId]) -> list[MemoryId]:
        # Read again: it may have been used, pinned or forgotten since it was weighed.
        there = tx.memories.get(space, ids)
        gone = [
            replace(record, archived=True, archived_at=now, archived_why=least[record.id])
            for record in there
            if not (record.pinned or record.archived)
        ]
        tx.memories.put(space, gone)
        return [record.id for record in gone]

    least = await resources.store.read(least_retained)
    names = list(least)
    out: list[MemoryId] = []
    for start in range(0, len(names), BATCH):
        out += await resources.store.write(put_away, names[start : start + BATCH])
    return out


def has_faded(record: Record, now: datetime) -> bool:
    """Whether a memory tells what passed, was told once and never asked for since, and its messages tell it still."""
    kind = KINDS[record.kind]
    may_go = kind.passing and not (record.pinned or record.cue or record.used) and len(supporting(record)) <= 1
    told_still = any(piece.messages for piece in record.evidence)
    return may_go and told_still and kind.retention(record, now) < FADED


def restore(tx: Transaction, resources: Resources, space: str, ids: Sequence[str]) -> Sequence[Record]:
    """Take memories out again that were put away; ids may be shortened. Raises MemoryNotFound.

    Whoever does that has asked for them: it counts as a use, so that they don't fade again at once.
    """
    out: list[Record] = []
    for name in ids:
        found = memory_named(tx, space, name)
        if found is None:
            raise MemoryNotFound(f"There is no memory {name!r} in space {space!r}.")
        out.append(replace(found, archived=False, archived_at=None, archived_why=""))
    tx.memories.put(space, out)
    return used(tx, resources, space, [each.id for each in out])


def _by_retention(records: Sequence[Record], now: datetime) -> list[tuple[float, Record]]:
    """How much each is worth keeping, the least first; those that are pinned are left out."""
    weighed = [(KINDS[each.kind].retention(each, now), each) for each in records if not each.pinned]
    # Of two that are worth the same the one that was written first.
    return sorted(weighed, key=lambda each: (each[0], each[1].recorded, each[1].at, each[1].id))


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

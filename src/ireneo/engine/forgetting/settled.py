"""Settle anew the memories that lost a source, and those that stood beside one that went."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from ireneo.engine.forgetting.plan import Plan
from ireneo.memories.kinds.registry import KINDS
from ireneo.memories.record import MemoryId, Record
from ireneo.ports.store import Transaction


async def settle_left(tx: Transaction, space: str, plan: Plan) -> None:
    """Settle each key that an erasure has touched, from the evidence that is left under it.

    What was drawn from a memory that ceased to hold must be reconsidered; what was drawn from one that holds again
    need not any more.
    """
    touched = dict.fromkeys((record.kind, record.key) for record in (*plan.memories, *plan.lessened))
    changed: dict[MemoryId, Record] = {}
    for kind, key in touched:
        under = await tx.memories.of_key(space, kind, key)
        if not under:
            continue
        before = {record.id: record for record in under}
        after = [record for record in KINDS[kind].settle(under) if record != before[record.id]]
        await tx.memories.put(space, after)
        changed.update((record.id, record) for record in after)
    drawn = await tx.memories.citing(space, list(changed))
    await _reconsider(tx, space, [record.id for record in (*plan.lessened, *drawn)])


async def _reconsider(tx: Transaction, space: str, ids: Iterable[MemoryId]) -> None:
    """Say of each memory whether something that it was drawn from no longer holds."""
    for record in await tx.memories.get(space, list(dict.fromkeys(ids))):
        cited = [name for piece in record.evidence for name in piece.memories]
        fallen = [each for each in await tx.memories.get(space, cited) if each.state != "active"]
        if bool(fallen) == bool(record.stale):
            continue
        stale = f"It was drawn from {fallen[0].id}, which no longer holds." if fallen else ""
        await tx.memories.put(space, [replace(record, stale=stale)])

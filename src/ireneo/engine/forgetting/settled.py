"""Settle anew the memories that lost a source, and those that stood beside one that went."""

from __future__ import annotations

from ireneo.engine.forgetting.plan import Plan
from ireneo.engine.stale import restale
from ireneo.memories.kinds.registry import KINDS
from ireneo.memories.record import MemoryId
from ireneo.ports.transition import Transaction


async def settle_left(tx: Transaction, space: str, plan: Plan) -> None:
    """Settle each key that an erasure has touched, from the evidence that is left under it.

    What was drawn from a memory that ceased to hold must be reconsidered; what was drawn from one that holds again
    need not any more.
    """
    touched = dict.fromkeys((record.kind, record.key) for record in (*plan.memories, *plan.lessened))
    fallen: list[MemoryId] = []
    for kind, key in touched:
        under = await tx.memories.of_key(space, kind, key)
        if not under:
            continue
        before = {record.id: record for record in under}
        after = [record for record in KINDS[kind].settle(under) if record != before[record.id]]
        await tx.memories.put(space, after)
        fallen += [record.id for record in after if record.state != before[record.id].state]
    drawn = await tx.memories.get(space, [record.id for record in plan.lessened])
    await restale(tx, space, fallen, drawn)

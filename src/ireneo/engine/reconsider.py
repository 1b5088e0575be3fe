"""Reconsider what was drawn from memories some of which no longer hold: it keeps the rest of its ground, or goes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from msgspec.structs import replace

from ireneo.engine.concluding import unsupported
from ireneo.engine.remember import Remembered, settle_offers
from ireneo.memories.offer import Offer
from ireneo.memories.record import MemoryId, Record
from ireneo.memories.reflect import Conclusion, still_stands
from ireneo.ports.memories import Wanted
from ireneo.ports.transition import Transaction

STALE = Wanted(states=("active",), stale=True)


async def reconsidered(tx: Transaction, space: str, now: datetime) -> list[Remembered]:
    """Settle every conclusion that lost ground, with the reason; it is for a transaction that writes."""
    out: list[Remembered] = []
    for record in await tx.memories.list(space, STALE):
        cited = tuple(dict.fromkeys(name for piece in record.evidence for name in piece.memories))
        # What was put away to make room is as true as it was.
        found = await tx.memories.get(space, cited)
        holding = {each.id: each for each in found if each.state == "active"}
        why = lost_ground(record, cited, holding)
        left = tuple(name for name in cited if name in holding)
        for settled in await settle_offers(tx, space, [_offer(record, left, now, why)]):
            if settled.did == "ignored":
                continue
            reason = f"It was given up: {why}" if why else f"{len(left)} of its {len(cited)} sources still carry it."
            out.append(replace(settled, reason=reason))
    return out


def lost_ground(record: Record, cited: tuple[MemoryId, ...], holding: Mapping[MemoryId, Record]) -> str:
    """Why a conclusion must go, of whose sources only those of `holding` still hold; "" where they are enough."""
    conclusion = Conclusion(text=record.text, memories=cited)
    return still_stands(conclusion, holding) or unsupported(conclusion, list(holding.values()))


def _offer(record: Record, left: tuple[MemoryId, ...], now: datetime, why: str) -> Offer:
    return Offer(
        text=record.text,
        kind=record.kind,
        at=record.at,
        timed=True,
        recorded=now,
        origin="derived",
        trust=record.trust,
        confidence=record.confidence,
        salience=record.salience,
        subject=record.subject,
        attribute=record.attribute,
        value=record.value,
        task_type=record.task_type,
        name=record.name,
        against=bool(why),
        why=why,
        memories=() if why else left,
    )

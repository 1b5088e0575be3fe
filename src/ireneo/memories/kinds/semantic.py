"""Facts: what is true. One value holds in a slot (subject, attribute) at a time, and none is ever forgotten by time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from ireneo.log.ids import digest
from ireneo.memories.evidence import for_it
from ireneo.memories.kinds.row import Factors, KindRow
from ireneo.memories.kinds.values import holds_at, settle_values
from ireneo.memories.likeness import likeness_key, normal, slot
from ireneo.memories.offer import Offer
from ireneo.memories.record import MemoryId, Record
from ireneo.memories.wording import day, with_notes

_OF_STATE = {"active": 1.0, "disputed": 0.5, "superseded": 0.4, "retired": 0.3, "erased": 0.0}


def _key(offer: Offer) -> str:
    if offer.subject and offer.attribute:
        return slot(offer.subject, offer.attribute)
    return likeness_key(offer.subject, offer.text)


def _id(offer: Offer) -> MemoryId:
    said = normal(offer.value or offer.text) if offer.attribute else normal(offer.text)
    return MemoryId(digest("m", b"semantic", _key(offer).encode(), said.encode()))


def _same(record: Record, offer: Offer) -> bool:
    return record.id == _id(offer)


def _fits(record: Record, conditions: Mapping[str, str]) -> bool:
    return True


def _retention(record: Record, now: datetime) -> float:
    """By how sure and how useful it is, never by its age."""
    use = 1 - 1 / (1 + record.used + len(for_it(record)))
    worth = 0.5 * record.confidence + 0.25 * record.salience + 0.25 * use
    return worth * _OF_STATE[record.state] * (0.6 if record.stale else 1.0)


def _score(record: Record, now: datetime) -> Factors:
    return (
        ("confidence", 0.5 + 0.5 * record.confidence),
        ("trust", 0.7 + 0.3 * record.trust),
        ("stale", 0.6 if record.stale else 1.0),
    )


def _line(record: Record, now: datetime) -> str:
    notes = []
    if record.state == "disputed":
        notes.append("disputed")
    elif not holds_at(record, now) and record.valid_to:
        notes.append(f"until {day(record.valid_to)}")
    if record.stale:
        notes.append(f"to be reconsidered: {record.stale.rstrip('.')}")
    return with_notes(record.text, notes)


SEMANTIC = KindRow(
    name="semantic",
    answers="What is true?",
    heading="Facts",
    key=_key,
    id=_id,
    same=_same,
    settle=settle_values,
    holds=holds_at,
    fits=_fits,
    retention=_retention,
    score=_score,
    line=_line,
)

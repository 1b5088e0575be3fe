"""Procedures: how something is done. Keyed by task type and name, versioned, and ranked by how often they helped."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from ireneo.log.ids import digest
from ireneo.memories.kinds.row import Factors, KindRow
from ireneo.memories.kinds.values import holds_at, settle_values
from ireneo.memories.likeness import likeness_key, normal, slot
from ireneo.memories.offer import Offer
from ireneo.memories.record import MemoryId, Record
from ireneo.memories.wording import with_notes

_OF_STATE = {"active": 1.0, "disputed": 0.5, "superseded": 0.4, "retired": 0.3, "erased": 0.0}
_Z = 1.2816
"""The normal quantile of the bound below: 80 % of the time the true share lies above it."""


def _key(offer: Offer) -> str:
    if offer.task_type or offer.name:
        return slot(offer.task_type, offer.name)
    return likeness_key(offer.text)


def _id(offer: Offer) -> MemoryId:
    return MemoryId(digest("m", b"procedural", _key(offer).encode(), normal(offer.text).encode()))


def _same(record: Record, offer: Offer) -> bool:
    return record.id == _id(offer)


def _settle(records: Sequence[Record]) -> list[Record]:
    """Other steps under the same name are another version, numbered as they were told."""
    settled = settle_values(records)
    told = sorted(settled, key=lambda each: (each.recorded, min(piece.at for piece in each.evidence), each.id))
    versions = {each.id: number for number, each in enumerate(told, 1)}
    return [replace(each, version=versions[each.id]) for each in settled]


def _fits(record: Record, conditions: Mapping[str, str]) -> bool:
    return True


def success(record: Record) -> float:
    """How often it can be relied on to help, from 0 to 1: 0.5 where it was never used.

    Laplace's rule of succession gives the share (one success and one failure are added); from it a part of Wilson's
    half width is taken off where it failed, so that two failures in a row weigh more than two in a hundred.
    """
    failed = record.harmed + sum(each.against for each in record.evidence)
    tries = record.helped + failed
    share = (record.helped + 1) / (tries + 2)
    if not failed:
        return share
    width = _Z * math.sqrt(share * (1 - share) / (tries + 2)) / (1 + _Z**2 / (tries + 2))
    return max(0.0, share - width)


def _retention(record: Record, now: datetime) -> float:
    worth = 0.7 * success(record) + 0.2 * record.salience + 0.1 * record.confidence
    return worth * _OF_STATE[record.state] * (0.6 if record.stale else 1.0)


def _score(record: Record, now: datetime) -> Factors:
    return (("helped", 0.5 + success(record)), ("stale", 0.6 if record.stale else 1.0))


def _line(record: Record, now: datetime) -> str:
    about = record.name or record.task_type
    text = "; ".join(line.strip().rstrip(";") for line in record.text.splitlines() if line.strip())
    tries = record.helped + record.harmed
    notes = [f"helped {record.helped} of {tries} times"] if tries else []
    if record.stale:
        notes.append(f"to be reconsidered: {record.stale.rstrip('.')}")
    said = text if not about or text.casefold().startswith(about.casefold()) else f"{about}: {text}"
    return with_notes(said, notes)


PROCEDURAL = KindRow(
    name="procedural",
    answers="How is it done?",
    heading="How it is done",
    key=_key,
    id=_id,
    same=_same,
    settle=_settle,
    holds=holds_at,
    fits=_fits,
    retention=_retention,
    score=_score,
    line=_line,
)

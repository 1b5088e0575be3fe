"""Failures: what must not be repeated. They gain weight when seen again, and are overturned when it works after all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from ireneo.log.ids import digest
from ireneo.memories.decay import held, meetings
from ireneo.memories.evidence import for_it, said_against, summed, why_against
from ireneo.memories.kinds.row import Factors, KindRow
from ireneo.memories.likeness import likeness_key
from ireneo.memories.offer import Offer
from ireneo.memories.record import Evidence, MemoryId, Record, State
from ireneo.memories.wording import day, with_notes

PACE = 0.125
"""How fast a failure ages beside an episode."""


def _key(offer: Offer) -> str:
    return offer.signature or likeness_key(offer.text)


def _id(offer: Offer) -> MemoryId:
    return MemoryId(digest("m", b"failure", _key(offer).encode()))


def _same(record: Record, offer: Offer) -> bool:
    return True


def _settle(records: Sequence[Record]) -> list[Record]:
    return [_settled(each) for each in sorted(records, key=lambda each: each.id)]


def _settled(record: Record) -> Record:
    failed = sorted(for_it(record), key=_when)
    worked = sorted((each for each in record.evidence if each.against), key=_when)
    shown = failed or worked
    # What bears a time of its own goes before what counts from when a log was read.
    at = ([each for each in shown if each.when is not None] or shown)[-1].at
    state: State = "erased" if record.state == "erased" else "active"
    record = replace(summed(record), at=at, state=state, reason="", retired=None)
    if state == "erased" or not worked:
        return record
    if failed and _when(worked[-1]) <= _when(failed[-1]):
        return record
    turned = next(each for each in worked if not failed or _when(each) > _when(failed[-1]))
    # That it worked is shown by a log, or said by somebody: what only was said is told as such.
    seen = bool(turned.messages) and not why_against(turned)
    reason = f"it worked on {day(turned.at)}." if seen else said_against(turned)
    reason = f"overturned: {reason[:1].lower()}{reason[1:]}"
    return replace(record, state="retired", reason=reason, retired=turned.recorded)


def _when(piece: Evidence) -> tuple[datetime, datetime]:
    return piece.at, piece.recorded


def _holds(record: Record, moment: datetime) -> bool:
    return record.holds


def _fits(record: Record, conditions: Mapping[str, str]) -> bool:
    """Not where one of the conditions that are known of both is another one now."""
    return all(conditions.get(name, value) == value for name, value in record.conditions.items())


def _weight(record: Record) -> float:
    """How often it was seen, from 0.5 (once) towards 1."""
    return 1 - 1 / (1 + math.log2(1 + max(1, record.seen)))


def _retention(record: Record, now: datetime) -> float:
    worth = held(meetings(record), now, pace=PACE) * (0.5 + 0.5 * _weight(record))
    return worth * (1.0 if record.state == "active" else 0.3)


def _score(record: Record, now: datetime) -> Factors:
    return (("seen", 0.5 + _weight(record)), ("recency", 0.6 + 0.4 * held(meetings(record), now, pace=PACE)))


def _line(record: Record, now: datetime) -> str:
    times = len(for_it(record))
    sessions = record.sessions
    seen = f"seen {max(times, record.seen)} times" if times > 1 else ""
    on = day(record.when) if record.when else ""
    notes = [
        f"{seen}, last on {on}" if seen and on else seen or on,
        f"in session {sessions[-1]}" if sessions else "",
        ", ".join(f"{name} {value}" for name, value in sorted(record.conditions.items())),
    ]
    return with_notes(record.text, notes)


FAILURE = KindRow(
    name="failure",
    answers="What must I not repeat?",
    heading="What failed",
    key=_key,
    id=_id,
    same=_same,
    settle=_settle,
    holds=_holds,
    fits=_fits,
    retention=_retention,
    score=_score,
    line=_line,
)

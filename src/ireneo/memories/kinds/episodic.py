"""Episodes: what happened. They are appended, fade with time and disuse, and faster once they were reflected on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from ireneo.log.ids import digest
from ireneo.memories.decay import REFLECTED_PACE, held, meetings
from ireneo.memories.evidence import for_it, said_against, summed
from ireneo.memories.kinds.row import Factors, KindRow
from ireneo.memories.likeness import likeness_key, normal
from ireneo.memories.offer import Offer
from ireneo.memories.record import MemoryId, Record, State
from ireneo.memories.wording import day, with_notes

_ONE_EVENT = timedelta(days=1)
"""Told in the same words of times no further apart than this, it is one event."""


def _key(offer: Offer) -> str:
    return likeness_key(offer.text)


def _id(offer: Offer) -> MemoryId:
    when = offer.at.isoformat() if offer.at != offer.recorded else ""
    return MemoryId(digest("m", b"episodic", normal(offer.text).encode(), offer.session.encode(), when.encode()))


def _same(record: Record, offer: Offer) -> bool:
    if record.sessions and offer.session and offer.session not in record.sessions:
        return False
    times = [each.at for each in record.evidence if each.timed]
    if offer.at == offer.recorded or not times:
        return True
    return any(abs(offer.at - each) <= _ONE_EVENT for each in times)


def _settle(records: Sequence[Record]) -> list[Record]:
    return [_settled(each) for each in sorted(records, key=lambda each: each.id)]


def _settled(record: Record) -> Record:
    told, against = for_it(record), [each for each in record.evidence if each.against]
    timed = [each.at for each in told if each.timed]
    at = min(timed or [each.at for each in told or record.evidence])
    record = replace(summed(record), at=at, reason="", retired=None, state=_unless_erased(record))
    if record.state == "erased":
        return record
    last = max((each.recorded for each in told), default=None)
    denied = [each for each in against if last is None or (each.recorded > last and each.trust >= record.trust)]
    if not denied:
        return record
    first = min(denied, key=lambda each: each.recorded)
    reason = said_against(first, "that it did not happen")
    return replace(record, state="retired", reason=reason, retired=first.recorded)


def _unless_erased(record: Record) -> State:
    return "erased" if record.state == "erased" else "active"


def _holds(record: Record, moment: datetime) -> bool:
    return record.holds and record.at <= moment


def _fits(record: Record, conditions: Mapping[str, str]) -> bool:
    return True


def _held(record: Record, now: datetime) -> float:
    return held(meetings(record), now, pace=REFLECTED_PACE if record.reflected else 1.0, since=record.reflected)


def _retention(record: Record, now: datetime) -> float:
    worth = _held(record, now) * (0.4 + 0.6 * record.salience)
    return worth * (1.0 if record.state == "active" else 0.3)


def _score(record: Record, now: datetime) -> Factors:
    return (("recency", 0.6 + 0.4 * _held(record, now)), ("salience", 0.75 + 0.5 * record.salience))


def _line(record: Record, now: datetime) -> str:
    return with_notes(record.text, [day(record.when) if record.when else ""])


EPISODIC = KindRow(
    name="episodic",
    answers="What happened?",
    heading="What happened",
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

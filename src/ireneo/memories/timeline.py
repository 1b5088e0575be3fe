"""When each of several values was true: a function of all that was ever said of them, in the order we were told.

Each piece of evidence says "from `at` on (until `until`) it is so". It is taken in, unless another value that is
trusted more holds at that time: then it is disputed. A value lasts until the next one begins, so that a late word about
the past goes where it belongs and changes nothing later, and A, B, A gives A two periods.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from ireneo.memories.record import Evidence, MemoryId, Period, Record


class Point(Struct, frozen=True, kw_only=True):
    """From here on a value holds: until `until`, where that was said, and no longer than the next point."""

    start: datetime
    until: datetime | None
    id: MemoryId
    trust: float
    recorded: datetime

    def covers(self, moment: datetime) -> bool:
        """Whether it holds at a moment after its start, as far as it says itself."""
        return self.until is None or moment < self.until


class Stretch(Struct, frozen=True, kw_only=True):
    """A time in which a value held, and what ended it."""

    period: Period
    ended_by: Point | None = None
    """Its own word where it was said that it ended, another value where that took its place."""


class Timeline(Struct, frozen=True, kw_only=True):
    """What held when."""

    stretches: dict[MemoryId, list[Stretch]]
    disputed: frozenset[MemoryId]
    """Those of which a word was not taken in, since a more trusted one stood against it."""
    told: datetime
    """When the last of it was told."""


def timeline(records: Sequence[Record]) -> Timeline:
    """The timeline of all the evidence of `records`, each of which says that another value is true."""
    claims = _claims(records)
    points: list[Point] = []
    disputed = {memory for piece, memory in claims if not _take_in(points, piece, memory)}
    return Timeline(
        stretches=_stretches(points),
        disputed=frozenset(disputed),
        told=max(piece.recorded for piece, _ in claims),
    )


def beliefs(records: Sequence[Record]) -> Iterator[tuple[datetime, dict[MemoryId, list[Stretch]]]]:
    """What held when, as it was believed after each moment at which something was told."""
    points: list[Point] = []
    for told, together in groupby(_claims(records), key=lambda claim: claim[0].recorded):
        for piece, memory in together:
            _take_in(points, piece, memory)
        yield told, _stretches(points)


def _claims(records: Sequence[Record]) -> list[tuple[Evidence, MemoryId]]:
    return sorted(((each, record.id) for record in records for each in record.evidence), key=_in_order)


def _in_order(claim: tuple[Evidence, MemoryId]) -> tuple[object, ...]:
    piece, memory = claim
    return (
        piece.recorded,
        piece.at,
        memory,
        piece.against,
        piece.until is not None,
        piece.until or piece.at,
        piece.trust,
    )


def _take_in(points: list[Point], piece: Evidence, memory: MemoryId) -> bool:
    """Put a piece of evidence in its place; False where a more trusted word stands against it."""
    at = bisect_right(points, piece.at, key=lambda point: point.start) - 1
    before = points[at] if at >= 0 else None
    holds = before if before and before.covers(piece.at) else None
    ends = piece.against or (piece.until is not None and piece.until <= piece.at)
    same = holds is not None and holds.id == memory
    if ends and holds and not same:
        # It says that something ended which does not hold there: nothing follows from that.
        return True
    if holds and (not same or ends or piece.until) and _trust(points, at) > piece.trust:
        return False
    if before and not ends and _denied(before, piece, memory):
        return False
    point = Point(
        start=piece.at,
        until=piece.at if ends else piece.until or (holds.until if holds and same else None),
        id=memory,
        trust=piece.trust,
        recorded=piece.recorded,
    )
    replaces = before is not None and before.start == piece.at
    if holds and (replaces if not same else ends or piece.until):
        _drop_rest(points, at, piece.trust)
    if replaces:
        points[at] = replace(point, trust=max(_trust(points, at), piece.trust)) if same and not ends else point
    else:
        points.insert(at + 1, point)
    return True


def _denied(before: Point, piece: Evidence, memory: MemoryId) -> bool:
    """Whether a more trusted word said that this is not so, and nothing was said since."""
    return before.id == memory and before.until == before.start and before.trust > piece.trust


def _drop_rest(points: list[Point], at: int, trust: float) -> None:
    """Drop what only said again that the value at a point holds, where that is corrected or said to have ended."""
    end = at + 1
    while end < len(points) and points[end].id == points[at].id and points[end - 1].covers(points[end].start):
        end += 1
    points[at + 1 : end] = [each for each in points[at + 1 : end] if each.trust > trust]


def _trust(points: Sequence[Point], at: int) -> float:
    """How far the value that holds at a point is trusted: as far as the most trusted word of its run."""
    most = points[at].trust
    while at > 0 and points[at - 1].id == points[at].id and points[at - 1].covers(points[at].start):
        at -= 1
        most = max(most, points[at].trust)
    return most


def _stretches(points: Sequence[Point]) -> dict[MemoryId, list[Stretch]]:
    found: dict[MemoryId, list[Stretch]] = {}
    for point, following in zip(points, [*points[1:], None], strict=True):
        end, ended_by = point.until, None if point.until is None else point
        if following and point.covers(following.start):
            end, ended_by = following.start, following
        if end == point.start:
            continue
        stretches = found.setdefault(point.id, [])
        start = point.start
        if stretches and stretches[-1].period.end == start:
            start = stretches.pop().period.start
        stretches.append(Stretch(period=Period(start=start, end=end), ended_by=ended_by))
    return found


def held_at(periods: Iterable[Period], moment: datetime) -> bool:
    """Whether one of `periods` covers `moment`."""
    return any(each.start <= moment and (each.end is None or moment < each.end) for each in periods)

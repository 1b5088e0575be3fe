"""Facts over time: which value of a slot was true when, and when that was believed.

A new value of a slot (a new home) replaces the old one here; `endings` decides which memories the meaning of a
statement ends in other slots.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby, pairwise
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import cached_data, topic
from ireneo.language.spoken import Attributes
from ireneo.memories.record import (
    Evidence,
    MemoryId,
    Period,
    Record,
    format_day,
    known_until,
    objection_sentence,
    objections,
    quoted,
    supporting,
    with_derived_fields,
)
from ireneo.short_repr import ShortRepr

# When each of several values was true: a function of all evidence, in the order in which we were told. Each piece of
# evidence says "from `at` on (until `until`) this is true". It is inserted, unless a more trusted value is true at that
# time: then it is disputed. A value lasts until the next one begins. So a late report about the past is inserted where
# it belongs and changes nothing later, and A, B, A gives A two periods.


class Point(Struct, frozen=True, kw_only=True):
    """The start of a value: it is true until `until` if that was stated, and at most until the next point."""

    start: datetime
    until: datetime | None
    id: MemoryId
    trust: float
    recorded: datetime

    def covers(self, moment: datetime) -> bool:
        """Whether it is true at a moment after its start, considering only its own end."""
        return self.until is None or moment < self.until


class HeldPeriod(Struct, frozen=True, kw_only=True):
    """A period in which a value was true, and what ended it."""

    period: Period
    ended_by: Point | None = None
    """The value's own evidence if that stated the end, or the value that replaced it."""


class Timeline(Struct, frozen=True, kw_only=True):
    """The values of a slot over time."""

    stretches: dict[MemoryId, list[HeldPeriod]]
    disputed: frozenset[MemoryId]
    """Memories with evidence that was not inserted, since more trusted evidence contradicts it."""
    told: datetime
    """When the last evidence was recorded."""


def timeline(records: Sequence[Record]) -> Timeline:
    """The timeline of the evidence of `records`, which state different values of one slot."""
    claims = _sorted_evidence(records)
    points: list[Point] = []
    disputed = {memory for piece, memory in claims if not _insert_evidence(points, piece, memory)}
    return Timeline(
        stretches=_periods_by_memory(points),
        disputed=frozenset(disputed),
        told=max(piece.recorded for piece, _ in claims),
    )


def beliefs(records: Sequence[Record]) -> Iterator[tuple[datetime, dict[MemoryId, list[HeldPeriod]]]]:
    """The timeline as it was believed after each moment at which evidence was recorded."""
    points: list[Point] = []
    for told, together in groupby(_sorted_evidence(records), key=lambda claim: claim[0].recorded):
        for piece, memory in together:
            _insert_evidence(points, piece, memory)
        yield told, _periods_by_memory(points)


def _sorted_evidence(records: Sequence[Record]) -> list[tuple[Evidence, MemoryId]]:
    return sorted(((each, record.id) for record in records for each in record.evidence), key=_evidence_key)


def _evidence_key(claim: tuple[Evidence, MemoryId]) -> tuple[object, ...]:
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


def _insert_evidence(points: list[Point], piece: Evidence, memory: MemoryId) -> bool:
    """Insert a piece of evidence; False if more trusted evidence contradicts it."""
    at = bisect_right(points, piece.at, key=lambda point: point.start) - 1
    before = points[at] if at >= 0 else None
    holds = before if before and before.covers(piece.at) else None
    ends = piece.against or (piece.until is not None and piece.until <= piece.at)
    same = holds is not None and holds.id == memory
    if ends and holds and not same:
        # It states the end of something that isn't true at that time, which has no consequence.
        return True
    if ends and before and before.id != memory and before.start == before.until == piece.at:
        # Something else ended at that moment, by the same evidence.
        return True
    if holds and (not same or ends or piece.until) and _trust_at(points, at) > piece.trust:
        return False
    if before and not ends and before.id == memory and before.until == before.start and before.trust > piece.trust:
        # More trusted evidence denies it, and nothing was said since.
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
        _drop_repetitions(points, at, piece.trust)
    if replaces:
        points[at] = replace(point, trust=max(_trust_at(points, at), piece.trust)) if same and not ends else point
    else:
        points.insert(at + 1, point)
    return True


def _drop_repetitions(points: list[Point], at: int, trust: float) -> None:
    """Drop repetitions of the value at a point that was corrected or has ended."""
    end = at + 1
    while end < len(points) and points[end].id == points[at].id and points[end - 1].covers(points[end].start):
        end += 1
    points[at + 1 : end] = [each for each in points[at + 1 : end] if each.trust > trust]


def _trust_at(points: Sequence[Point], at: int) -> float:
    """The trust in the value at a point: that of its most trusted evidence without interruption."""
    most = points[at].trust
    while at > 0 and points[at - 1].id == points[at].id and points[at - 1].covers(points[at].start):
        at -= 1
        most = max(most, points[at].trust)
    return most


def _periods_by_memory(points: Sequence[Point]) -> dict[MemoryId, list[HeldPeriod]]:
    found: dict[MemoryId, list[HeldPeriod]] = {}
    # The end of what was replaced before, as something said later shows, has no consequence.
    idle = {
        two for one, two in pairwise(points) if two.until == two.start and one.id != two.id and one.covers(two.start)
    }
    points = [each for each in points if each not in idle]
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
        stretches.append(HeldPeriod(period=Period(start=start, end=end), ended_by=ended_by))
    return found


def held_at(periods: Iterable[Period], moment: datetime) -> bool:
    """Whether one of `periods` covers `moment`."""
    return any(each.start <= moment and (each.end is None or moment < each.end) for each in periods)


# How memories with one key are settled as values in time: values of a slot, or versions of steps. Under most keys one
# value is true at a time. A slot with several values ("allergy") has a timeline for each of them.


def settle_values(records: Sequence[Record]) -> list[Record]:
    """The memories of one key, each with its state and periods, by id.

    Values of a slot that holds several are settled separately, since a statement ends only the value that it names. The
    state is that at the time of the last evidence; `holds_at` answers for any other time.
    """
    if len(records) > 1 and are_compatible(records):
        return [settled for each in sorted(records, key=lambda one: one.id) for settled in settle_values([each])]
    line = timeline(records)
    of_id = {each.id: each for each in records}
    return [
        _settle_record(of_id[name], line.stretches.get(name, []), line.told, of_id, name in line.disputed)
        for name in sorted(of_id)
    ]


def are_compatible(records: Sequence[Record]) -> bool:
    """Whether the values of a key are true side by side: the attribute is a set, or one was added to the others."""
    return any(
        cardinality_of(each.attribute) in ("set", "event") or any(piece.adds for piece in each.evidence)
        for each in records
    )


def holds_at(record: Record, moment: datetime) -> bool:
    """Whether a memory is true at `moment`, as believed now."""
    return not record.archived and record.state != "erased" and held_at(record.periods, moment)


def _settle_record(
    record: Record, stretches: list[HeldPeriod], told: datetime, of_id: Mapping[MemoryId, Record], disputed: bool
) -> Record:
    periods = tuple(each.period for each in stretches)
    last = periods[-1] if periods else None
    record = replace(
        with_derived_fields(record),
        at=last.start if last else min(each.at for each in supporting(record) or record.evidence),
        periods=periods,
        valid_from=last.start if last else None,
        valid_to=last.end if last else None,
        state="active",
        reason="",
        superseded_by=None,
        retired=None,
    )
    if record.id in of_id and of_id[record.id].state == "erased":
        return replace(record, state="erased")
    if last is None:
        if disputed:
            return replace(record, state="disputed", reason=_reason_disputed(record, of_id))
        denied = _newest_against(record)
        reason = objection_sentence(denied) if denied else "Nothing speaks for it."
        return replace(record, state="retired", reason=reason, retired=denied.recorded if denied else None)
    if any(each.end is None or each.end > told for each in periods):
        return record
    end = stretches[-1].ended_by
    assert end is not None  # something that has an end was ended by something
    if end.id == record.id:
        return replace(record, state="retired", reason=_reason_ended(record, last.end), retired=end.recorded)
    by = of_id[end.id]
    reason = f"Since {format_day(end.start)} {quoted(by.value or by.text)} holds in its place."
    return replace(record, state="superseded", reason=reason, superseded_by=by.id, retired=end.recorded)


def _reason_disputed(record: Record, of_id: Mapping[MemoryId, Record]) -> str:
    if len(of_id) == 1:
        last = _newest_against(record)
        said = f" {objection_sentence(last)}" if last else ""
        return f"The {record.origin} is trusted less than the word against it.{said}"
    return f"A more trusted word stands against what the {record.origin} said on {format_day(record.at)}."


def _reason_ended(record: Record, end: datetime | None) -> str:
    """Why a value ended that no other one replaced."""
    if end is None:
        return ""
    against = [each for each in record.evidence if each.against and each.at == end]
    if not against:
        return f"It was so until {format_day(end)}."
    last = max(against, key=lambda each: (each.trust, each.recorded))
    return objection_sentence(
        last, "that it is not so" if not last.timed else f"that it is not so since {format_day(end)}"
    )


def _newest_against(record: Record) -> Evidence | None:
    return max((each for each in record.evidence if each.against), key=lambda each: each.recorded, default=None)


class Fact(ShortRepr, frozen=True, kw_only=True):
    """Something that was true for a period."""

    record: Record
    period: Period
    """When it was true; for disputed evidence, when it was said to be true."""
    believed_from: datetime | None
    """When we began to believe it; None if we never did, since more trusted evidence contradicted it."""
    believed_to: datetime | None = None
    """When we stopped believing that it was ever true then; None if we still do."""

    @property
    def text(self) -> str:
        """What was true, in words."""
        return self.record.text

    @property
    def value(self) -> str:
        """The value of the slot, if it is known separately from the text."""
        return self.record.value

    @property
    def against(self) -> tuple[str, ...]:
        """The objections to it, in sentences: by whom, when and why."""
        return objections(self.record)


def facts(records: Sequence[Record], *, at: datetime | None = None, believed_at: datetime | None = None) -> list[Fact]:
    """The facts in the memories of one key, in order of their beginning: current, corrected and disputed ones.

    With `at` only those true at that moment. With `believed_at` everything is as it was believed at that moment, the
    records included.
    """
    told = [each for each in records if each.state != "erased"]
    if believed_at is not None:
        told = [each for record in told if (each := known_until(record, believed_at))]
    if not told:
        return []
    of_id = {each.id: each for each in settle_values(told)}
    found = [
        Fact(record=of_id[name], period=period, believed_from=since, believed_to=until)
        for name, period, since, until in _believed_periods(told)
    ]
    if at is not None:
        return [each for each in found if each.believed_to is None and held_at([each.period], at)]
    found += [fact for each in of_id.values() if each.state == "disputed" for fact in _disputed_facts(each)]
    return sorted(
        found, key=lambda each: (each.period.start, each.believed_from or each.record.recorded, each.record.id)
    )


def _believed_periods(records: Sequence[Record]) -> list[tuple[MemoryId, Period, datetime, datetime | None]]:
    """Each value with each of its periods, as it was last believed, and from when to when it was believed."""
    if len(records) > 1 and are_compatible(records):
        return [each for record in records for each in _believed_periods([record])]
    open_since: dict[tuple[MemoryId, datetime], tuple[datetime, Period]] = {}
    over: list[tuple[MemoryId, Period, datetime, datetime | None]] = []
    for told, stretches in beliefs(records):
        now = {(name, each.period.start): each for name, found in stretches.items() for each in found}
        for name_start in [each for each in open_since if each not in now]:
            since, period = open_since.pop(name_start)
            over.append((name_start[0], period, since, told))
        for name_start, stretch in now.items():
            since = open_since[name_start][0] if name_start in open_since else told
            open_since[name_start] = since, stretch.period
    return [*over, *((name, period, since, None) for (name, _), (since, period) in open_since.items())]


def _disputed_facts(record: Record) -> list[Fact]:
    return [
        Fact(record=record, period=Period(start=each.at, end=each.until), believed_from=None)
        for each in supporting(record)
    ]


# The one table of attributes: what each is called, and how its values hold.


Holding: TypeAlias = Literal["one", "set", "series", "event"]
"""How an attribute's values relate: ``one`` at a time; a ``set``, each until it ends; a ``series``, in which the
newest is current; each an ``event`` of its own."""

_HOLDING: dict[str, Holding] = {
    **dict.fromkeys(
        (
            "alias allergy avoids child colleague condition dislike friend goal grandchild has hobby household "
            "instrument language learns like manner medication member parent pet plan plays preference project "
            "relative restriction sibling skill subscription symptom uses vehicle volunteering"
        ).split(),
        "set",
    ),
    **dict.fromkeys(
        "weight rent salary blood_pressure heart_rate running_time savings mileage sleep score".split(), "series"
    ),
    "event": "event",
}
"""The codes of attributes that don't have one value at a time."""
MANNER = "manner"
"""The code of how the user wants to be answered."""
ONE_LIFE = {"employer": "job", "job": "employer"}
"""Pairs of attributes that may end together."""
_SELDOM_CHANGES = frozenset(
    "allergy birthday birthplace called condition diet employer home job language name origin studies".split()
)
_NO_PLURAL = ("ss", "us", "is", "os")


def attribute_of(name: str) -> str:
    """The code of an attribute by its name in any language; without a code, the name in lower case."""
    plain = " ".join(name.casefold().replace("_", " ").split())
    return _codes_by_name().get(plain, plain)


def is_attribute(name: str) -> bool:
    """Whether a name is a known attribute, or somebody's favourite of a kind."""
    plain = " ".join(name.casefold().split())
    return attribute_of(plain) in _codes_by_name().values() or plain.startswith(topic(Attributes).favourites)


def seldom_changes(attribute: str) -> bool:
    """Whether values of an attribute last for years, so that they are kept about other people as well."""
    return attribute in _SELDOM_CHANGES or cardinality_of(attribute) == "event"


def cardinality_of(attribute: str) -> Holding:
    """How the values of an attribute relate, by its code or, without one, by the last word of its name.

    A plural holds several. By default a new value replaces the last one.
    """
    code = attribute_of(attribute)
    known = _HOLDING.get(code) or _HOLDING.get(code.replace(" ", "_"))
    if known or not code:
        return known or "one"
    head, heads = code.split()[-1], topic(Attributes).heads
    by_head = _HOLDING.get(_codes_by_name().get(head, head))
    for holding, words in heads.items():
        if head in words or head.removesuffix("s") in words:
            return "series" if holding == "series" else "set"
    return by_head or ("set" if _is_plural(head) else "one")


@cached_data
def _codes_by_name() -> dict[str, str]:
    return {name: code for code, names in topic(Attributes).names.items() for name in (code.replace("_", " "), *names)}


def _is_plural(word: str) -> bool:
    # So DNS, SMS and the like aren't plurals.
    return (
        len(word) > 4
        and word.endswith("s")
        and word not in topic(Attributes).one_in_the_plural
        and not word.endswith(_NO_PLURAL)
    )

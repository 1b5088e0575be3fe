"""How memories are settled that stand under one key as values in time: of a slot, or versions of steps.

Of most keys one value holds at a time. A slot that holds several ("allergy") has a timeline for each of its values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from ireneo.memories.evidence import for_it, said_against, summed
from ireneo.memories.record import Evidence, MemoryId, Record
from ireneo.memories.slots import holds_several
from ireneo.memories.timeline import Stretch, held_at, timeline
from ireneo.memories.wording import day, quoted


def settle_values(records: Sequence[Record]) -> list[Record]:
    """The memories of one key, each with its state and periods, by id.

    Values of a slot that holds several are settled each for itself: what ends one of them is said of that one. What
    holds is judged by the moment at which the last of it was told; `holds_at` is for any other.
    """
    if len(records) > 1 and stand_together(records):
        return [settled for each in sorted(records, key=lambda one: one.id) for settled in settle_values([each])]
    line = timeline(records)
    of_id = {each.id: each for each in records}
    return [
        _settled(of_id[name], line.stretches.get(name, []), line.told, of_id, name in line.disputed)
        for name in sorted(of_id)
    ]


def stand_together(records: Sequence[Record]) -> bool:
    """Whether the values of a key hold beside each other: its attribute has several, or one of them was said to add."""
    return any(holds_several(each.attribute) or any(piece.adds for piece in each.evidence) for each in records)


def holds_at(record: Record, moment: datetime) -> bool:
    """Whether it is true at `moment`, as we believe now."""
    return not record.archived and record.state != "erased" and held_at(record.periods, moment)


def _settled(
    record: Record, stretches: list[Stretch], told: datetime, of_id: Mapping[MemoryId, Record], disputed: bool
) -> Record:
    periods = tuple(each.period for each in stretches)
    last = periods[-1] if periods else None
    record = replace(
        summed(record),
        at=last.start if last else min(each.at for each in for_it(record) or record.evidence),
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
            return replace(record, state="disputed", reason=_disputed(record, of_id))
        return replace(record, state="retired", reason=_denied(record), retired=_last_against(record))
    if any(each.end is None or each.end > told for each in periods):
        return record
    end = stretches[-1].ended_by
    assert end is not None  # what has an end was ended by something
    if end.id == record.id:
        return replace(record, state="retired", reason=_ended(record, last.end), retired=end.recorded)
    by = of_id[end.id]
    reason = f"Since {day(end.start)} {quoted(by.value or by.text)} holds in its place."
    return replace(record, state="superseded", reason=reason, superseded_by=by.id, retired=end.recorded)


def _disputed(record: Record, of_id: Mapping[MemoryId, Record]) -> str:
    if len(of_id) == 1:
        last = _newest_against(record)
        said = f" {said_against(last)}" if last else ""
        return f"The {record.origin} is trusted less than the word against it.{said}"
    return f"A more trusted word stands against what the {record.origin} said on {day(record.at)}."


def _denied(record: Record) -> str:
    last = _newest_against(record)
    return said_against(last) if last else "Nothing speaks for it."


def _ended(record: Record, end: datetime | None) -> str:
    """Why a value holds no longer that no other took the place of."""
    if end is None:
        return ""
    against = [each for each in record.evidence if each.against and each.at == end]
    if not against:
        return f"It was so until {day(end)}."
    last = max(against, key=lambda each: (each.trust, each.recorded))
    return said_against(last, "that it is not so" if not last.timed else f"that it is not so since {day(end)}")


def _newest_against(record: Record) -> Evidence | None:
    return max((each for each in record.evidence if each.against), key=lambda each: each.recorded, default=None)


def _last_against(record: Record) -> datetime | None:
    return max((each.recorded for each in record.evidence if each.against), default=None)

"""The history of facts: what was true when, and when we believed it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from ireneo.memories.evidence import as_told_until, disputes, for_it
from ireneo.memories.kinds.values import settle_values, stand_together
from ireneo.memories.record import MemoryId, Period, Record
from ireneo.memories.timeline import beliefs, held_at


class Fact(Struct, frozen=True, kw_only=True):
    """That something was true for a time."""

    record: Record
    period: Period
    """When it was so; of what was disputed, when it was said to be so."""
    believed_from: datetime | None
    """When we came to believe it; None where we never did, since a more trusted word stood against it."""
    believed_to: datetime | None = None
    """When we ceased to believe that it was ever so then; None: we believe it still."""

    @property
    def against(self) -> tuple[str, ...]:
        """The reasons that were given against it, by whom and when, in sentences."""
        return disputes(self.record)


def facts(records: Sequence[Record], *, at: datetime | None = None, believed_at: datetime | None = None) -> list[Fact]:
    """The facts that the memories of one key tell, by when they began: those of now, those corrected, those disputed.

    With `at` only what was true at that moment. With `believed_at` all is as it was for one who had been told nothing
    after that moment, the records too.
    """
    told = [each for each in records if each.state != "erased"]
    if believed_at is not None:
        told = [each for record in told if (each := as_told_until(record, believed_at))]
    if not told:
        return []
    of_id = {each.id: each for each in settle_values(told)}
    found = [
        Fact(record=of_id[name], period=period, believed_from=since, believed_to=until)
        for name, period, since, until in _believed(told)
    ]
    if at is not None:
        return [each for each in found if each.believed_to is None and held_at([each.period], at)]
    found += [fact for each in of_id.values() if each.state == "disputed" for fact in _disputed(each)]
    return sorted(
        found, key=lambda each: (each.period.start, each.believed_from or each.record.recorded, each.record.id)
    )


def _believed(records: Sequence[Record]) -> list[tuple[MemoryId, Period, datetime, datetime | None]]:
    """Each value with each of its beginnings, as it was believed last, from when to when that was."""
    if len(records) > 1 and stand_together(records):
        return [each for record in records for each in _believed([record])]
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


def _disputed(record: Record) -> list[Fact]:
    return [
        Fact(record=record, period=Period(start=each.at, end=each.until), believed_from=None) for each in for_it(record)
    ]

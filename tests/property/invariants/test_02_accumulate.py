"""A new summary never removes an earlier one from its place; only a deeper summary that covers it does."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from msgspec.structs import replace

from ireneo import Context, Message, Session, Summary

from .houses import calm, stores
from .journeys import Journey, Leg, journeys, travel
from .promises import stands


class Seen:
    """The summaries that were shown so far in each budget, but for those that cover a whole path for want of room."""

    def __init__(self) -> None:
        self.ranges: dict[tuple[int, str], tuple[int, int]] = {}
        self.records: dict[str, Summary] = {}

    async def look(self, session: Session, context: Context, path: Sequence[Message]) -> None:
        """Nothing that was shown before lies across the edge of what is shown now."""
        now = [stands(row, path) for row in context.view]
        before = [(name, reach) for (budget, name), reach in self.ranges.items() if budget == context.budget]
        for name, (first, last) in before:
            for start, end in now:
                apart = end < first or last < start
                within = first <= start and end <= last
                covered = start <= first and last <= end
                assert apart or within or covered, f"{name} ({first}-{last}) is cut by {start}-{end}"
        await self.remember(session, context, path)

    async def remember(self, session: Session, context: Context, path: Sequence[Message]) -> None:
        """Note the summaries, written from what they cover; a record, once it is there, stays what it is."""
        for name, record in self.records.items():
            assert (await session.expand(name)).summary == record
        for row in context.view:
            if row.what != "summary":
                continue
            opened = await session.expand(row.id)
            first, last = stands(row, path)
            assert [message.id for message in opened.messages] == [each.id for each in path[first : last + 1]]
            record = opened.summary
            assert record is not None
            assert (record.first, record.last, record.depth) == (row.first, row.last, row.depth)
            self.records[row.id] = record
            if not record.summarizer.endswith("/whole"):
                self.ranges[context.budget, row.id] = first, last


def through_one_preset(journey: Journey) -> Journey:
    """What another preset shows is cut in other places."""
    legs = [
        Leg(leg.steps, leg.besides and replace(leg.besides, preset=journey.usual.preset), leg.pad)
        for leg in journey.legs
    ]
    return Journey(journey.usual, legs)


@calm(6)
@given(store=stores, journey=journeys(legs=6, size=3))
def test_a_summary_stays_until_a_wider_one_covers_it_or_its_own_parts_are_shown(store: str, journey: Journey) -> None:
    travel(store, through_one_preset(journey), Seen().look)

"""Lessons kept by hand for the measures: what runs taught so far, as the engine would have stored it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from ireneo.adapters.tokens.estimate import EstimatedTokenizer
from ireneo.engine.brief import opening_lessons
from ireneo.lessons.lessons import lesson_drafts
from ireneo.lessons.run import Observation
from ireneo.memories.brief import Brief, make_brief
from ireneo.memories.kinds import KINDS
from ireneo.memories.reconcile import reconcile
from ireneo.memories.record import MemoryDraft, MemoryId, Record

MOST_NEW = 5
"""Lessons that one run may bring, as in the engine."""
_UNTIMED = datetime(2026, 1, 1, tzinfo=UTC)


class Book:
    """The lessons of the runs that were read into it, one after the other."""

    def __init__(self) -> None:
        self.seen: dict[str, list[Observation]] = {}
        self.records: dict[MemoryId, Record] = {}
        self.read = 0
        self._count = EstimatedTokenizer().count

    def clock(self, at: datetime | None) -> datetime:
        """When a run happens; runs without a time are an hour apart."""
        return at or _UNTIMED + timedelta(hours=self.read)

    def learn(self, observations: Sequence[Observation], at: datetime | None) -> int:
        """Learn from a run that begins at `at`; tells how many lessons it brought."""
        now = self.clock(at)
        self.read += 1
        for each in observations:
            self.seen.setdefault(each.cue, []).append(each)
        known = {each.cue: each for each in self.records.values()}
        new: list[tuple[float, str, tuple[MemoryDraft, ...]]] = []
        for cue in dict.fromkeys(each.cue for each in observations):
            drawn = lesson_drafts(self.seen[cue], known.get(cue), now)
            if cue in known:
                if drawn.words:
                    self.records[known[cue].id] = replace(known[cue], text=drawn.words)
                self._settle(drawn.drafts)
            elif drawn.drafts:
                new.append((-drawn.worth, cue, drawn.drafts))
        for _, _, offers in sorted(new, key=lambda each: each[:2])[:MOST_NEW]:
            self._settle(offers)
        return min(len(new), MOST_NEW)

    def brief(self, project: str, at: datetime | None, budget: int) -> Brief:
        """The brief at the beginning of a run."""
        now = self.clock(at)
        lessons = opening_lessons(list(self.records.values()), self.seen, now, project)
        return make_brief(None, [], now, budget, self._count, lessons)

    def _settle(self, offers: Sequence[MemoryDraft]) -> None:
        for offer in offers:
            row = KINDS[offer.kind]
            key = row.key(offer)
            beside = [each for each in self.records.values() if each.kind == row.name and each.key == key]
            done = reconcile(offer, beside)
            self.records.update({each.id: each for each in (done.record, *done.changed)})

"""From sightings to lessons: whatever a run showed is settled with what all runs show, in the same transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from ireneo.engine.remember import Remembered, settle_offers
from ireneo.lessons.guard import is_guards
from ireneo.lessons.lessons import lesson_offers
from ireneo.lessons.sighting import Sighting
from ireneo.memories.offer import Offer
from ireneo.memories.record import Record
from ireneo.ports.memories import Wanted
from ireneo.ports.transition import Transaction

MOST_NEW = 5
"""Lessons that one run may bring alone: those that would have saved most. What other runs showed as well is always
told, so that it makes no difference in which order runs are learned from."""
TOGETHER = 200
"""Claims that are looked up at one time."""


async def settle_lessons(tx: Transaction, space: str, sightings: Sequence[Sighting], now: datetime) -> list[Remembered]:
    """Make or reinforce the lessons of the claims that a run sighted; `tx` has stored the run already."""
    shown = list(dict.fromkeys(each.cue for each in sightings if not is_guards(each.cue)))
    worded = {each.cue for each in sightings if each.text}
    known: dict[str, Record] = {}
    sighted: dict[str, list[Sighting]] = {}
    for start in range(0, len(shown), TOGETHER):
        cues = shown[start : start + TOGETHER]
        known.update({each.cue: each for each in await tx.memories.list(space, Wanted(cues=tuple(cues)))})
        # Most claims are statistics, of which no lesson is ever made: what other runs show of these is not asked for.
        for each in await tx.runs.sightings(space, [cue for cue in cues if cue in worded or cue in known]):
            sighted.setdefault(each.cue, []).append(each)
    old: list[Offer] = []
    new: list[tuple[float, list[Offer]]] = []
    for cue, seen in sighted.items():
        drawn = lesson_offers(seen, known.get(cue), now)
        if cue in known:
            old += drawn.offers
            if drawn.words:
                await tx.memories.put(space, [replace(known[cue], text=drawn.words)])
        elif len({each.session for each in seen if each.held}) > 1:
            old += drawn.offers
        elif drawn.offers:
            new.append((drawn.worth, list(drawn.offers)))
    new.sort(key=lambda each: (-each[0], each[1][0].cue))
    return await settle_offers(tx, space, [*old, *(offer for _, offers in new[:MOST_NEW] for offer in offers)])

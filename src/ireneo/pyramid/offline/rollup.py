"""Tell a deeper summary from the ones under it: evenly over the time, so that what was rare and weighty survives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ireneo.context.summary import Line, Mention, Section, Summary
from ireneo.pyramid.offline.choose import TELLING, Choosable, choose
from ireneo.pyramid.offline.names import key_words, shortest_forms

MAX_LINES = 60
"""Sentences that a deeper summary keeps."""
MAX_NAMES = 200
"""Names that a deeper summary keeps."""
SLOTS = 12
"""Into so many stretches of time a summary is parted, each of which has its share of the sentences and names."""
CONSIDERED = 1_200
"""So many sentences, at the most, are weighed against one another: the weightiest of each part."""


def tell_deeper(parts: Sequence[Summary]) -> tuple[Section, ...]:
    """Write the sections of a summary over adjacent story summaries: "story" and "artifacts", as those of a leaf."""
    slots = min(len(parts), SLOTS)
    slot_of = [number * slots // len(parts) for number in range(len(parts))]
    by_slot: list[dict[str, float]] = [{} for _ in range(slots)]
    totals: dict[str, float] = {}
    for part, slot in zip(parts, slot_of, strict=True):
        for mention in _names(part):
            by_slot[slot][mention.name] = by_slot[slot].get(mention.name, 0.0) + mention.weight
            totals[mention.name] = totals.get(mention.name, 0.0) + mention.weight
    story = _story(parts, slot_of, slots, totals)
    names = _kept_names(shortest_forms(totals), by_slot)
    out: list[Section] = []
    if story:
        out.append(Section(name="story", lines=story))
    if names:
        last = max(part.last_position for part in parts)
        out.append(Section(name="artifacts", lines=(Line(names=names, position=last),)))
    return tuple(out)


def _names(part: Summary) -> Sequence[Mention]:
    return [mention for line in part.lines("artifacts") for mention in line.names]


def _story(
    parts: Sequence[Summary], slot_of: Sequence[int], slots: int, totals: Mapping[str, float]
) -> tuple[Line, ...]:
    each = max(CONSIDERED // max(len(parts), 1), 6)
    lines: list[Line] = []
    weighed: list[Choosable] = []
    heard: set[str] = set()
    for part, slot in zip(parts, slot_of, strict=True):
        told = part.lines("story")
        weightiest = sorted(range(len(told)), key=lambda place: -told[place].weight)[:each]
        for line in (told[place] for place in sorted(weightiest)):
            if line.text in heard:
                continue
            heard.add(line.text)
            lines.append(line)
            names = {
                word: math.log1p(totals.get(mention.name, mention.weight))
                for mention in line.names
                for word in key_words(mention.name)
            }
            weighed.append(Choosable(worth=TELLING * line.weight, size=len(line.text), names=names, slot=slot))
    kept = [lines[place] for place in choose(weighed, MAX_LINES, slots=slots)]
    return tuple(sorted(kept, key=lambda line: line.position))


def _kept_names(totals: Mapping[str, float], by_slot: Sequence[Mapping[str, float]]) -> tuple[Mention, ...]:
    """Half of them the weightiest of all, the rest in turns the weightiest of each stretch of time."""
    ranked = sorted(totals, key=lambda name: (-totals[name], name))
    kept = dict.fromkeys(ranked[: MAX_NAMES // 2])
    of_slots = [
        iter(sorted((name for name in slot if name in totals), key=lambda name: (-slot[name], name)))
        for slot in by_slot
    ]
    while of_slots and len(kept) < min(MAX_NAMES, len(totals)):
        for slot in list(of_slots):
            name = next((name for name in slot if name not in kept), None)
            if name is None:
                of_slots.remove(slot)
            elif len(kept) < MAX_NAMES:
                kept[name] = None
    return tuple(Mention(name, round(totals[name], 2)) for name in sorted(kept, key=lambda name: (-totals[name], name)))

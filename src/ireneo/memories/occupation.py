"""Work has two slots, employer and job: a statement about one may end the other.

Somebody who is now a teacher at a school has left the hospital where they were a nurse. Somebody who is promoted stays
with the firm, and a nurse at another hospital is still a nurse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ireneo.language.files import any_of, topic
from ireneo.language.spoken import Phrasing
from ireneo.language.words import terms
from ireneo.memories.cues import has_cue
from ireneo.memories.facts import ONE_LIFE
from ireneo.memories.record import MemoryDraft, Record

_SAYS = topic(Phrasing)


def split_occupation(text: str, employer: str, job: str) -> tuple[str, str]:
    """Split work into employer and job: "is an analyst at Philips" gives "works at Philips" and "is an analyst"."""
    before, _, after = text.partition(job)
    left = _SAYS.as_what.sub("", before)
    left = left if left != before else _SAYS.is_what.sub(_SAYS.works[0], before)
    place = rf" {any_of(_SAYS.of_work)} (?:\w+ )?{re.escape(employer)}(?= )"
    return (f"{left}{after}" if left != before else text), re.sub(place, "", f"{before}{job}.")


def ended_other_half(draft: MemoryDraft, held: Sequence[Record], words: str) -> Iterator[Record]:
    """The memories of the other half of somebody's work that `words` end."""
    if draft.attribute not in ONE_LIFE or has_cue("besides", words):
        return
    same = [each for each in held if each.subject == draft.subject]
    if draft.attribute == "employer":
        # The boss belongs to the former employer.
        yield from (each for each in held if each.attribute == "boss" or has_cue("of_boss", each.text))
    others = [each for each in same if each.attribute == ONE_LIFE[draft.attribute]]
    if draft.against:
        yield from (
            others if draft.attribute == "employer" and not draft.value else _stated_together(draft, same, others)
        )
    elif draft.attribute == "job" and not has_cue("promoted", words):
        place = _SAYS.of_work.search(words)
        elsewhere = set(terms(place["place"])) if place else set[str]()
        together = list(_stated_together(draft, same, others))
        for each in others:
            if (
                elsewhere.isdisjoint(terms(each.value))
                if elsewhere
                else (each in together or (draft.value in _SAYS.no_work))
            ):
                yield each


def _has_value(record: Record, draft: MemoryDraft) -> bool:
    """Whether a memory has the value of a draft, or a longer form of it: "Fenwick" and "Fenwick Hall"."""
    one, other = set(terms(record.value)), set(terms(draft.value))
    return one <= other or (draft.against and bool(other) and other <= one)


def _stated_together(draft: MemoryDraft, same: Sequence[Record], others: Sequence[Record]) -> Iterator[Record]:
    """The `others` that were stated together with the memory that the draft ends or replaces."""
    gone = [each for each in same if each.attribute == draft.attribute and _has_value(each, draft) == draft.against]
    messages = {name for each in gone for name in each.sources}
    yield from (each for each in others if messages.intersection(each.sources))

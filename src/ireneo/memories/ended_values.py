"""Find the memories that a statement about a slot ends, in the same slot or others; `endings` compares words.

Work has two slots, employer and job, and a statement about one may end the other: somebody who is now a teacher at a
school has left the hospital where they were a nurse. Somebody who is promoted stays with the firm, and a nurse at
another hospital is still a nurse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ireneo.language.files import any_of, topic
from ireneo.language.spoken import Facts, Phrasing
from ireneo.language.words import sentences, terms
from ireneo.memories.cues import has_cue
from ireneo.memories.facts import ONE_LIFE, cardinality_of
from ireneo.memories.figures import counts_by_noun
from ireneo.memories.record import MemoryDraft, Record, slot
from ireneo.memories.wording import comparable_words, distinctive_words
from ireneo.patterns import lazy_re

_FACTS = topic(Facts)
_SAYS = topic(Phrasing)
_RIGHT = lazy_re(lambda: rf"(?: \w+){{0,2}}[,;:–—-]? {any_of(_FACTS.but_that)}(?P<now>[^.!?,;–—]+)", re.I)
"""What is right, behind what is not."""
DIET = ("allergy", "avoids", "restriction")
"""Attributes for what somebody must not or does not eat; who says that one has ended means the others as well."""


def ended_values(draft: MemoryDraft, held: Sequence[Record]) -> Iterator[Record]:
    """The current memories that a user's statement about a slot ends."""
    words, said = comparable_words(draft.text), set(terms(draft.value))
    if draft.against and draft.attribute:
        yield from _ended_slot_values(draft, held)
    elif draft.attribute == "manner":
        yield from (each for each in held if each.attribute == "manner" and _differ_in_language(each, draft))
    elif opposite := {"like": "dislike", "dislike": "like"}.get(draft.attribute):
        yield from (each for each in held if each.attribute == opposite and said & set(terms(each.value)))
    elif draft.attribute and cardinality_of(draft.attribute) == "set":
        yield from (each for each in held if fills_slot(each, draft) and _has_other_count(each, draft))
    yield from _ended_other_half(draft, held, words)


def _ended_slot_values(draft: MemoryDraft, held: Sequence[Record]) -> list[Record]:
    """The other values of a slot, if the statement says that a value has ended."""
    said, alike = set(terms(draft.value)), DIET if draft.attribute in DIET else (draft.attribute,)
    others = [
        each
        for each in held
        if each.subject == draft.subject
        and each.attribute in alike
        and (each.attribute, each.value) != (draft.attribute, draft.value)
    ]
    return (
        others if cardinality_of(draft.attribute) == "one" else [each for each in others if said & {*terms(each.value)}]
    )


def corrected_values(text: str, known: Sequence[Record]) -> Iterator[tuple[Record, str, str]]:
    """The known values that a sentence of a text calls wrong, each with the right one, and the sentence.

    If the sentence names one of their subjects, the others are not meant.
    """
    for sentence in sentences(text, small_opens=True) if known and _FACTS.not_that.search(text) else ():
        for each in [one for one in known if one.subject in sentence] or known:
            at = sentence.lower().find(each.value.lower())
            if not any(found.end() == at for found in _FACTS.not_that.finditer(sentence)):
                continue
            right = _RIGHT.match(sentence, at + len(each.value))
            value = right["now"].partition(" - ")[0].strip() if right else ""
            named = value[:1].isupper()
            longest = 2 if named else len(each.value.split())
            if distinctive_words(value) and len(value.split()) <= longest and named >= each.value[0].isupper():
                yield each, value, sentence


def fills_slot(record: Record, draft: MemoryDraft) -> bool:
    """Whether a statement fills the slot of a memory."""
    return bool(draft.attribute) and slot(record.subject, record.attribute) == slot(draft.subject, draft.attribute)


def _has_other_count(record: Record, draft: MemoryDraft) -> bool:
    """Whether a memory gives another number for the same things than a later statement."""
    now, before = (counts_by_noun(comparable_words(each.text)) for each in (draft, record))
    if has_cue("besides", comparable_words(draft.text)):
        return False
    return any(now[thing] != before[thing] for thing in now.keys() & before.keys())


def _differ_in_language(record: Record, draft: MemoryDraft) -> bool:
    """Whether two rules for answers ask for different languages."""
    now, before = (
        {found[0].casefold() for found in topic(Facts).tongues.finditer(each.text)} for each in (draft, record)
    )
    return bool(now and before) and not now & before


def split_occupation(text: str, employer: str, job: str) -> tuple[str, str]:
    """Split work into employer and job: "is an analyst at Philips" gives "works at Philips" and "is an analyst"."""
    before, _, after = text.partition(job)
    left = _SAYS.as_what.sub("", before)
    left = left if left != before else _SAYS.is_what.sub(_SAYS.works[0], before)
    place = rf" {any_of(_SAYS.of_work)} (?:\w+ )?{re.escape(employer)}(?= )"
    return (f"{left}{after}" if left != before else text), re.sub(place, "", f"{before}{job}.")


def _ended_other_half(draft: MemoryDraft, held: Sequence[Record], words: str) -> Iterator[Record]:
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

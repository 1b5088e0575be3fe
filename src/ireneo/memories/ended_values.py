"""Find the memories that a statement about a slot ends, in the same slot or others; `endings` compares words.

Each function gets a user's statement and the current memories, and finds those that it ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ireneo.language.files import any_of, topic
from ireneo.language.spoken import Facts
from ireneo.language.words import sentences, terms
from ireneo.memories.cues import has_cue
from ireneo.memories.facts import cardinality_of
from ireneo.memories.figures import counts_by_noun
from ireneo.memories.record import MemoryDraft, Record, slot
from ireneo.memories.wording import comparable_words, distinctive_words
from ireneo.patterns import lazy_re

_FACTS = topic(Facts)
_RIGHT = lazy_re(lambda: rf"(?: \w+){{0,2}}[,;:–—-]? {any_of(_FACTS.but_that)}(?P<now>[^.!?,;–—]+)", re.I)
"""What is right, behind what is not."""
ALLERGIES = ("allergy", "avoids", "restriction")
"""Attributes for what somebody must not or does not eat."""
_ALIKE_SLOTS = (ALLERGIES,)
"""Groups of attributes that end together: somebody who says that one has ended means the others as well."""


def ended_slot_values(draft: MemoryDraft, held: Sequence[Record]) -> list[Record]:
    """The other values of a slot, if the statement says that a value has ended."""
    if not draft.against or not draft.attribute:
        return []
    said = set(terms(draft.value))
    alike = next((group for group in _ALIKE_SLOTS if draft.attribute in group), (draft.attribute,))
    values = [each for each in held if each.subject == draft.subject and each.attribute in alike]
    if cardinality_of(draft.attribute) == "one":
        return [each for each in values if each.value != draft.value]
    return [each for each in values if each.value != draft.value and said & set(terms(each.value))]


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


def changed_preferences(draft: MemoryDraft, held: Sequence[Record]) -> Iterator[Record]:
    """The things that somebody liked and now dislikes, or the other way round; also "I drink coffee black"."""
    opposite = {"like": "dislike", "dislike": "like"}.get(draft.attribute)
    said = set(terms(draft.value))
    for each in held if opposite and said and not draft.against else ():
        own = comparable_words(each.text)
        consumed = opposite == "like" and not each.attribute and has_cue("consumes", own)
        if (each.attribute == opposite and said & set(terms(each.value))) or (consumed and said <= set(terms(own))):
            yield each


def tolerated_again(draft: MemoryDraft, held: Sequence[Record]) -> list[Record]:
    """The allergies to what somebody can eat now according to a statement: those it names, or else the only one."""
    words = comparable_words(draft.text)
    kept = [each for each in held if each.attribute in ALLERGIES] if has_cue("outgrown", words) else []
    named = [each for each in kept if set(terms(each.value)) & set(terms(words))]
    return named or (kept if len(kept) == 1 else [])


def other_language_rules(draft: MemoryDraft, held: Sequence[Record]) -> Iterator[Record]:
    """The rules for answers in a language other than that of a new rule."""
    if draft.attribute == "manner":
        yield from (each for each in held if each.attribute == "manner" and _differ_in_language(each, draft))


def changed_numbers(draft: MemoryDraft, held: Sequence[Record]) -> Iterator[Record]:
    """The memories that give another number for a slot with several values."""
    if draft.attribute and cardinality_of(draft.attribute) == "set" and not draft.against:
        yield from (each for each in held if fills_slot(each, draft) and _has_other_count(each, draft))


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

"""Find the memories that a statement about a slot ends, in the same slot or others; `endings` compares words.

Each function gets a user's statement and the current memories, and finds those that it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ireneo.language.files import topic
from ireneo.language.spoken import Facts
from ireneo.language.words import terms
from ireneo.memories.cues import has_cue
from ireneo.memories.facts import cardinality_of
from ireneo.memories.record import MemoryDraft, Record, slot
from ireneo.memories.rivals import counts_by_noun, has_same_kind, switched_to
from ireneo.memories.wording import comparable_words

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


def changed_preferences(draft: MemoryDraft, held: Sequence[Record]) -> Iterator[Record]:
    """The things that somebody liked and now dislikes, or the other way round; also "I drink coffee black"."""
    opposite = {"like": "dislike", "dislike": "like"}.get(draft.attribute)
    said = set(terms(draft.value))
    for each in held if opposite and said and not draft.against else ():
        own = comparable_words(each.text)
        consumed = opposite == "like" and not each.attribute and has_cue("consumes", own)
        if (each.attribute == opposite and said & set(terms(each.value))) or (consumed and said <= set(terms(own))):
            yield each


def other_language_rules(draft: MemoryDraft, held: Sequence[Record]) -> Iterator[Record]:
    """The rules for answers in a language other than that of a new rule."""
    if draft.attribute == "manner":
        yield from (each for each in held if each.attribute == "manner" and _differ_in_language(each, draft))


def changed_numbers(draft: MemoryDraft, held: Sequence[Record]) -> Iterator[Record]:
    """The memories that give another number for a slot with several values."""
    if draft.attribute and cardinality_of(draft.attribute) == "set" and not draft.against:
        yield from (each for each in held if fills_slot(each, draft) and _has_other_count(each, draft))


def previous_thing(draft: MemoryDraft, held: Sequence[Record]) -> list[Record]:
    """The only memory of a thing of the same kind that somebody used, if they switched to another one."""
    words = comparable_words(draft.text)
    now = None if draft.against or has_cue("besides", words) else switched_to(words)
    used = [each for each in held if has_same_kind(comparable_words(each.text), now)] if now else []
    return used if len(used) == 1 else []


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

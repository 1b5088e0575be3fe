"""Find the memories that a statement about a slot ends, in the same slot or others; `endings` compares words.

Each function gets a user's statement and the current memories, and finds those that it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ireneo.language.files import topic
from ireneo.language.spoken import Facts
from ireneo.language.words import terms
from ireneo.memories.cues import says
from ireneo.memories.facts import holding_of
from ireneo.memories.record import MemoryDraft, Record, slot
from ireneo.memories.rivals import counts_of, has_of_a_kind, switched
from ireneo.memories.wording import heard

ALLERGIES = ("allergy", "avoids", "restriction")
"""Attributes for what somebody must not or does not eat."""
_ALIKE_SLOTS = (ALLERGIES,)
"""Groups of attributes that end together: somebody who says that one has ended means the others as well."""


def of_slot(draft: MemoryDraft, held: Sequence[Record]) -> list[Record]:
    """The other values of a slot, if the statement says that a value has ended."""
    if not draft.against or not draft.attribute:
        return []
    said = set(terms(draft.value))
    alike = next((group for group in _ALIKE_SLOTS if draft.attribute in group), (draft.attribute,))
    values = [each for each in held if each.subject == draft.subject and each.attribute in alike]
    if holding_of(draft.attribute) == "one":
        return [each for each in values if each.value != draft.value]
    return [each for each in values if each.value != draft.value and said & set(terms(each.value))]


def turned(draft: MemoryDraft, held: Sequence[Record]) -> Iterator[Record]:
    """The things that somebody liked and now dislikes, or the other way round; also "I drink coffee black"."""
    opposite = {"like": "dislike", "dislike": "like"}.get(draft.attribute)
    said = set(terms(draft.value))
    for each in held if opposite and said and not draft.against else ():
        own = heard(each.text)
        consumed = opposite == "like" and not each.attribute and says("consumes", own)
        if (each.attribute == opposite and said & set(terms(each.value))) or (consumed and said <= set(terms(own))):
            yield each


def other_tongue(draft: MemoryDraft, held: Sequence[Record]) -> Iterator[Record]:
    """The rules for answers in a language other than that of a new rule."""
    if draft.attribute == "manner":
        yield from (each for each in held if each.attribute == "manner" and _in_another_language(each, draft))


def other_number(draft: MemoryDraft, held: Sequence[Record]) -> Iterator[Record]:
    """The memories that give another number for a slot with several values."""
    if draft.attribute and holding_of(draft.attribute) == "set" and not draft.against:
        yield from (each for each in held if same_slot(each, draft) and _counts_otherwise(each, draft))


def switched_from(draft: MemoryDraft, held: Sequence[Record]) -> list[Record]:
    """The only memory of a thing of the same kind that somebody used, if they switched to another one."""
    words = heard(draft.text)
    now = None if draft.against or says("besides", words) else switched(words)
    used = [each for each in held if has_of_a_kind(heard(each.text), now)] if now else []
    return used if len(used) == 1 else []


def same_slot(record: Record, draft: MemoryDraft) -> bool:
    """Whether a statement fills the slot of a memory."""
    return bool(draft.attribute) and slot(record.subject, record.attribute) == slot(draft.subject, draft.attribute)


def _counts_otherwise(record: Record, draft: MemoryDraft) -> bool:
    """Whether a memory gives another number for the same things than a later statement."""
    now, before = (counts_of(heard(each.text)) for each in (draft, record))
    if says("besides", heard(draft.text)):
        return False
    return any(now[thing] != before[thing] for thing in now.keys() & before.keys())


def _in_another_language(record: Record, draft: MemoryDraft) -> bool:
    """Whether two rules for answers ask for different languages."""
    now, before = (
        {found[0].casefold() for found in topic(Facts).tongues.finditer(each.text)} for each in (draft, record)
    )
    return bool(now and before) and not now & before

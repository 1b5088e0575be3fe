"""Which memories a new word ends by its sense, and not by its slot: "sold the car", "the trip is off"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ireneo.language.files import LANGUAGES, either, from_data, of_language
from ireneo.language.spoken import Facts
from ireneo.language.times import month_numbers, weekday_numbers
from ireneo.language.topics import Words
from ireneo.language.words import terms
from ireneo.memories.record import MemoryDraft, Record, slot
from ireneo.memories.slots import holding_of
from ireneo.patterns import lazy_re

ALONE = 1
"""Of so many memories a word is one that stands nowhere else."""
_LARGE = lazy_re(r"(?<=[\w,] )[A-ZÄÖÜ]\w+")
_FRAME = lazy_re(
    r"(?:said|sagte(?: [^:„“]{1,80})?|asks the assistant|bittet den Assistenten): [“„](?P<words>.{1,2000})[”“]", re.S
)
MOST = 6
"""Memories that one word ends at most, and that may have a word in common for it to tell them apart: what touches more
says something of all of them, and ends none."""


def says_of_change(text: str) -> bool:
    """Whether a text says that something is over, or other than it was."""
    return any(pattern.search(text) for patterns in _cues() for pattern in patterns)


def replaced_by(draft: MemoryDraft, known: Sequence[Record], often: Mapping[str, int]) -> list[Record]:
    """Those of `known` that hold, and that a user's word ends or takes the place of by its sense.

    What its own slot settles is not among them. `often` says how many memories there are with a word.
    """
    held = [each for each in known if each.holds and each.kind in ("semantic", "procedural") and _is_older(each, draft)]
    if draft.against and draft.attribute:
        return _of_slot(draft, held)
    ends, changes = _cues()
    strong = any(pattern.search(draft.text) for pattern in ends)
    changed = any(pattern.search(draft.text) for pattern in changes)
    if not strong and (not changed or not draft.attribute or _only_happened(draft)):
        return []
    said = _telling(draft.text) - set(terms(draft.subject))
    found = []
    for each in held:
        if draft.attribute and slot(each.subject, each.attribute) == slot(draft.subject, draft.attribute):
            continue
        shared = {term for term in said & _telling(each.text) if often.get(term, 0) <= MOST}
        # One word will do where it is a name, or stands nowhere else.
        named = shared & (_names(draft.text) | _names(each.text))
        if not _may_be_meant(each, draft, named=bool(named)):
            continue
        if len(shared) >= 2 or (strong and shared and (named or min(often.get(term, 0) for term in shared) <= ALONE)):
            found.append(each)
    return found if len(found) <= MOST else []


def _only_happened(draft: MemoryDraft) -> bool:
    """Whether it is told what was done, and nothing quoted that may say how things are now."""
    return draft.kind != "semantic" and words_of(draft.text) == draft.text


def _may_be_meant(record: Record, draft: MemoryDraft, *, named: bool) -> bool:
    """Whether a memory is of what a word speaks of: not of somebody else, and no steps that are called something."""
    if record.kind == "procedural":
        return named and not (record.task_type or record.name)
    apart = record.subject and draft.subject and record.subject.casefold() != draft.subject.casefold()
    return not apart or record.subject.casefold() in draft.text.casefold()


def _names(text: str) -> set[str]:
    """The words of a memory that are written large within a sentence."""
    return {term for found in _LARGE.finditer(words_of(text)) for term in terms(found[0])}


def words_of(text: str) -> str:
    """What a memory says itself, without the frame around words that it quotes."""
    found = _FRAME.search(text)
    return found["words"] if found else text


def _telling(text: str) -> set[str]:
    """The words by which a memory is told from others: no times, and none that stand in every other sentence."""
    return {term for term in terms(words_of(text)) if term not in _plain_words() and not term.isdigit()}


@from_data
def _plain_words() -> frozenset[str]:
    stop = frozenset(word for code in LANGUAGES for word in of_language(Words, code).stop)
    generic = [word for code in LANGUAGES for word in of_language(Facts, code).generic]
    times = (*month_numbers(), *weekday_numbers(), *generic)
    return stop | {term for word in (*stop, *times) for term in terms(word)}


def _is_older(record: Record, draft: MemoryDraft) -> bool:
    return record.recorded < draft.recorded and not set(record.sources) & set(draft.messages)


def _of_slot(draft: MemoryDraft, held: Sequence[Record]) -> list[Record]:
    """The values of a slot that is said to have ended without the value being named as it stands there."""
    said = set(terms(draft.value))
    values = [each for each in held if each.subject == draft.subject and each.attribute == draft.attribute]
    if holding_of(draft.attribute) == "one":
        return [each for each in values if each.value != draft.value]
    return [each for each in values if each.value != draft.value and said & set(terms(each.value))]


@from_data
def _cues() -> tuple[tuple[re.Pattern[str], ...], tuple[re.Pattern[str], ...]]:
    """What says that something is over, and what says that something is other than it was."""
    known = [of_language(Facts, code) for code in LANGUAGES if of_language(Facts, code).says]
    return (
        tuple(lazy_re(either(each.ends), re.I) for each in known),
        tuple(lazy_re(either(each.changed), re.I) for each in known),
    )

"""Tell what is only planned from what is so: "I'll be moving to York", "we move on Friday".

A plan ends nothing and fills no slot, since much that is planned comes to nothing. It is quoted with its day, and what
held before goes on until somebody says that it came true. Only another plan takes its place.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache

from ireneo.language.moments import moments
from ireneo.language.words import in_standard, language_of_sentence
from ireneo.memories.cues import clause_words, cues, says
from ireneo.patterns import lazy_re

_BREAKS = lazy_re(lambda: rf"(?P<sign>[,;:.!–—] (?:{clause_words()} )?| {clause_words()} )", re.I)
_WORDS = lazy_re(r"[^\W_]+(?:['’.-][^\W_]+)*")
_SHORT = 4
"""Words up to which a piece between commas belongs to what stands before it: "to York, end of June"."""


_DAY = lazy_re(r"\d{1,2}\.? [A-ZÄÖÜ]")
_UNHEARD = {
    "en": "It is not known whether it came to that.",
    "de": "Ob es dazu kam, ist nicht bekannt.",
}


def is_plan(text: str, at: datetime | None) -> bool:
    """Whether a clause tells of a change to come, said at `at`, or that none comes that was planned."""
    plain = in_standard(text)
    language = language_of_sentence(plain)
    rows = cues(language)
    if rows.will_be.search(plain) or rows.not_planned.search(plain):
        return True
    if at is None or not rows.to_come.search(plain) or rows.happened.search(plain):
        return False
    return planned_for(plain, at) is not None


def planned_for(text: str, at: datetime) -> datetime | None:
    """By when what is planned in a text of `at` should have happened; None if it names no day ahead."""
    found = moments(text, at, language_of_sentence(text), ahead=True)
    days = [each.at + timedelta(days=7) for each in found if each.at > at and _DAY.search(each.written)]
    months = [each.at + timedelta(days=31) for each in found if not _DAY.search(each.written)]
    return max((each for each in (*days, *months) if each > at), default=None)


def unheard_of(text: str) -> str:
    """A quotation of a plan whose day has passed, marked as such."""
    return f"{text} {_UNHEARD['de' if language_of_sentence(text) == 'de' else 'en']}"


def is_unheard_of(text: str) -> bool:
    """Whether a quotation is marked as a plan whose day has passed."""
    return text.endswith(tuple(_UNHEARD.values()))


@lru_cache(512)
def without_plans(text: str, at: datetime) -> str:
    """The clauses of a sentence that tell of more than what is to come; cached, since it is asked for often."""
    if not any(says(cue, text) for cue in ("will_be", "to_come", "not_planned")):
        return text
    clauses: list[str] = []
    start = 0
    for found in _BREAKS.finditer(text):
        piece = text[start : found.start()]
        if len(_WORDS.findall(text[found.end() :].split(",")[0])) > _SHORT and piece.strip():
            clauses.append(text[start : found.end()])
            start = found.end()
    clauses.append(text[start:])
    kept = [each for each in clauses if not is_plan(each, at)]
    return text if len(kept) == len(clauses) else "".join(kept).strip(" ,;:–—")

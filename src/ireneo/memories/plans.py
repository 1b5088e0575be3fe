"""Distinguish plans from facts: "I'll be moving to York", "we move on Friday".

A plan ends nothing and fills no slot, since many plans come to nothing. It is quoted until its day has passed, and the
current facts remain until somebody says that it came true. Only another plan replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache

from ireneo.language.files import CAPITAL
from ireneo.language.moments import moments
from ireneo.language.words import language_of_sentence, standardise
from ireneo.memories.cues import clause_words, cues, has_cue
from ireneo.memories.record import Record
from ireneo.memories.wording import comparable_words, distinctive_words
from ireneo.patterns import lazy_re

_BREAKS = lazy_re(lambda: rf"(?P<sign>[,;:.!–—] (?:{clause_words()} )?| {clause_words()} )", re.I)
_CLAUSES = lazy_re(r"[,;:.!?–—]\s")
_WORDS = lazy_re(r"[^\W_]+(?:['’.-][^\W_]+)*")
OFF = ("calls_off", "not_planned", "stays")
"""Cues of statements that may cancel a plan."""
_SHORT = 4
"""Up to this many words a part between commas belongs to the part before it: "to York, end of June"."""


_DAY = lazy_re(rf"\d{{1,2}}\.? {CAPITAL}")
_NAME = lazy_re(rf"(?<=\w ){CAPITAL}[\w-]+")


def is_plan(text: str, at: datetime | None) -> bool:
    """Whether a clause said at `at` announces a change, or cancels a planned one."""
    plain = standardise(text)
    language = language_of_sentence(plain)
    rows = cues(language)
    if rows.will_be.search(plain) or rows.not_planned.search(plain):
        return True
    if at is None or not rows.to_come.search(plain) or rows.happened.search(plain):
        return False
    return plan_deadline(plain, at) is not None


def plan_deadline(text: str, at: datetime) -> datetime | None:
    """When the plan in a text from `at` should have happened at the latest; None if it names no future day."""
    found = moments(text, at, language_of_sentence(text), ahead=True)
    days = [each.at + timedelta(days=7) for each in found if each.at > at and _DAY.search(each.written)]
    months = [each.at + timedelta(days=31) for each in found if not _DAY.search(each.written)]
    return max((each for each in (*days, *months) if each > at), default=None)


@lru_cache(512)
def without_plans(text: str, at: datetime) -> str:
    """The clauses of a sentence that aren't only about the future; cached, since it is needed often."""
    if not any(has_cue(cue, text) for cue in ("will_be", "to_come", "not_planned")):
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


def is_future(text: str) -> bool:
    """Whether a statement is about the future, such as an appointment."""
    return cues(language_of_sentence(text)).coming.search(text) is not None


def planned_places(held: Sequence[Record]) -> frozenset[str]:
    """The place names in plans to move."""
    plans = [comparable_words(each.text) for each in held if not each.attribute]
    return frozenset(name for text in plans if has_cue("moves", text) for name in _NAME.findall(text))


def cancelled_plans(words: str, held: Sequence[Record]) -> list[Record]:
    """The plans that a statement cancels, or the only plan to move of somebody who stays."""
    if not any(has_cue(cue, words) for cue in OFF):
        return []
    plans = [each for each in held if not each.attribute and is_plan(comparable_words(each.text), each.at)]
    # "Crete is off, Ines broke her leg" cancels nothing about Ines.
    clauses = [each for each in _CLAUSES.split(words) if any(has_cue(cue, each) for cue in OFF)]
    said = distinctive_words(" ".join(clauses or [words]))
    off = has_cue("calls_off", words) or has_cue("not_planned", words)
    moving = [each for each in plans if has_cue("moves", comparable_words(each.text))]
    # Somebody who stays "in Bath" still plans to move there.
    same = [each for each in plans if said & distinctive_words(each.text) and (off or each not in moving)]
    return same or [each for each in moving if len(moving) == 1 and not (off or said & distinctive_words(each.text))]

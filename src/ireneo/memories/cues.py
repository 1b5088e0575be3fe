"""The cues of the section `[facts]` of a language's file: one pattern for each field, and combinations of several."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import lru_cache

from ireneo.language.files import LANGUAGES, Patterns, any_of, cached_data, of_language, topic
from ireneo.language.predicates import Predicate, predicate
from ireneo.language.spoken import Facts, Predication
from ireneo.language.topics import Connectives, Words
from ireneo.language.words import standardise
from ireneo.patterns import lazy_re

_SIGN = r"\s?[;–—:(]\s?|\s-\s"
_DASH = r"\s?[;–—]\s|\s-\s"
_EACH = (*"becomes joins over_what grades clocks lasts_for arrives not_mine".split(),)
"""Fields whose patterns are searched one by one, since they share the names of their groups."""


def and_words() -> str:
    """A pattern for the words between the last two things of a list, in any language."""
    return any_of(topic(Connectives).additions)


def clause_words() -> str:
    """A pattern for the words between two clauses, in any language."""
    known = topic(Connectives)
    return any_of((*known.additions, *known.choices, *known.contrasts))


PIECES = lazy_re(lambda: rf"(?:[,;:.!] (?:{clause_words()} )?| {and_words()} )")
"""The boundary between two clauses or list items."""


class FactCues:
    """The cues of one language; attributes that are not combined here come from its `Facts`."""

    def __init__(self, known: Facts) -> None:
        """Compile each field of `known` when it is first searched."""
        self.known = known
        self.says: tuple[tuple[Predication, re.Pattern[str]], ...] = _compiled_rows(known.says)
        self.each = {name: tuple(lazy_re(row, re.I) for row in getattr(known, name)) for name in _EACH}
        opens = any_of(known.openers)
        clause = rf"(?={opens}|{any_of(known.condition)}|{any_of(known.asks_within)})"
        between = any_of(known.breaks)
        self.leads = lazy_re(rf"{any_of(known.leads)}(?:\s*[,:;.!–—-]+\s*|\s+(?={opens}))|[\s,:;–—-]+", re.I)
        self.breaks = lazy_re(rf"(?:{_SIGN}|,\s|\s(?={between}\s))(?:{between},?\s)?{clause}|{_DASH}", re.I)

    def __getattr__(self, name: str) -> Patterns:
        cue: Patterns = getattr(self.known, name)
        return cue


def _compiled_rows(rows: Iterable[Predication]) -> tuple[tuple[Predication, re.Pattern[str]], ...]:
    return tuple((row, lazy_re(row.pattern, re.I)) for row in rows)


def cues(language: str) -> FactCues:
    """The cues of a language; the English ones if its file has none."""
    return all_cues().get(language) or all_cues()["en"]


@cached_data
def all_cues() -> Mapping[str, FactCues]:
    """The cues of each language that has some."""
    return {code: FactCues(known) for code in LANGUAGES if (known := of_language(Facts, code)).says}


def cue_patterns(cue: str) -> Iterator[re.Pattern[str]]:
    """All patterns of a cue that are searched one by one, in all languages."""
    return (pattern for each in all_cues().values() for pattern in each.each[cue])


@lru_cache(8_192)
def has_cue(cue: str, text: str) -> bool:
    """Whether a text contains a cue of any language; cached, since each new statement is compared with many texts."""
    asked: Patterns = getattr(topic(Facts), cue)
    return asked.search(text) is not None


@cached_data
def relations() -> dict[str, str]:
    """Map each word for somebody's relative, friend or pet to its code."""
    return {
        word.replace("-", " "): code
        for each in all_cues().values()
        for code, words in each.known.relations.items()
        for word in (code, *words)
    }


@cached_data
def not_german() -> frozenset[str]:
    """Words that begin a German sentence but are nobody's name."""
    return of_language(Words, "de").stop | of_language(Facts, "de").no_value


def first_match(patterns: Iterable[str], text: str, *, whole: bool = False) -> re.Match[str] | None:
    """The first match of `patterns` at the beginning of a text, regardless of case; if `whole`, of all of it."""
    tries = (re.compile(pattern, re.I) for pattern in patterns)
    return next((found for each in tries if (found := each.fullmatch(text) if whole else each.match(text))), None)


def tense_fits(row: Predication, said: Predicate) -> bool:
    """Whether a clause has the tense that a row of `says` requires."""
    if said.over:
        return said.tense != "future"
    return said.tense in row.tense.split() if row.tense else said.tense not in ("future", "used")


def clause_tense(clause: str, language: str, names: Set[str] = frozenset()) -> str:
    """The tense of a clause whose subject may be one of `names`; empty if it has no verb that tells."""
    said = predicate(clause, frozenset(names)) if language != "de" else None
    if said is not None:
        return said.tense
    return "past" if cues(language).happened.search(clause) else ""


def mentions_change(text: str) -> bool:
    """Whether a text says that something has ended or changed."""
    text = standardise(text)
    if any(has_cue(cue, text) for cue in ("ends", "changed", "fresh", "back", "put_right")):
        return True
    return any(pattern.search(text) for pattern in cue_patterns("over_what"))

"""The cues of the section `[facts]` of a language's file, compiled: one pattern for each field.

In a cue, ``~stop`` stands for any form of an English verb (stop, stops, stopped, stopping), ``~~stop`` for those alone
that are no nouns as well (stopped, stopping), ``~(stop quit)`` for the forms of several, and ``RELATION`` for any word
for somebody's relatives, friends and pets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from ireneo.language.files import LANGUAGES, either, from_data, of_language, topic
from ireneo.language.spoken import Facts, Predication
from ireneo.language.topics import Connectives, Row, Words
from ireneo.language.words import template, verb_inflections
from ireneo.patterns import lazy_re

_VERBS = lazy_re(r"(~~?)(?:(\w+)|\(([\w\s-]+)\))")
_SIGN = r"\s?[;–—:(]\s?|\s-\s"
_DASH = r"\s?[;–—]\s|\s-\s"
_HEED_CASE = ("relative", "of_others")
_EACH = (
    "becomes",
    "over_what",
    "grades",
    "clocks",
    "renewed",
    "switched",
    "uses",
    "lasts_for",
    "named",
    "so_many",
    "one_more",
    "corrects",
    "not_that",
    "but_that",
    "tells_within",
    "arrives",
)
"""Fields whose patterns are searched one by one, since they share the names of their groups."""
_PREDICATIONS = ("says", "outright")
_AROUND = {
    **dict.fromkeys(
        ("condition", "authority", "asks", "hangs", "rules", "tells_by_asking", "affirms", "denies"), r"\W{{0,9}}+{}"
    ),
    **dict.fromkeys(("either", "limits"), r"\b{}\b"),
    "article": r"{}\s+",
    "dependent": r"\b{}\s+$",
}
"""The pattern around the cues of some fields, wherever they are searched."""


def and_words() -> str:
    """A pattern for the words between the last two things of a list, in any language."""
    return either(topic(Connectives).additions)


def clause_words() -> str:
    """A pattern for the words between two clauses, in any language."""
    known = topic(Connectives)
    return either((*known.additions, *known.choices, *known.contrasts))


class FactCues:
    """The cues of one language, each field of `Facts` as one compiled pattern."""

    def __init__(self, known: Facts) -> None:
        """Compile each field of `known` when it is first searched."""
        words = _longest_first(
            form
            for row in known.relations.values()
            for word in row
            for form in (word.replace("-", " "), word.title(), word)
        )
        self.known = known
        self.says: tuple[tuple[Predication, re.Pattern[str]], ...] = _compiled_rows(known.says)
        self.polar = tuple((lazy_re(each, re.I), template(yes), template(no)) for each, yes, no in known.polar)
        self.outright = _compiled_rows(known.outright)
        self.each = {
            name: tuple(
                lazy_re(with_verbs(row).replace("RELATION", f"(?:{words})"), re.I) for row in getattr(known, name)
            )
            for name in _EACH
        }
        self._patterns: dict[str, re.Pattern[str]] = {
            name: _compiled(name, row, words)
            for name in Facts.__struct_fields__
            if isinstance(row := getattr(known, name), tuple) and name not in (*_EACH, *_PREDICATIONS, "polar")
        }

        opens = either(known.openers)
        clause = rf"(?={opens}|{either(known.condition)}|{either(known.asks_within)})"
        between = either(known.breaks)
        self._patterns["leads"] = lazy_re(
            rf"{either(known.leads)}(?:\s*[,:;.!–—-]+\s*|\s+(?={opens}))|[\s,:;–—-]+", re.I
        )
        self._patterns["breaks"] = lazy_re(
            rf"(?:{_SIGN}|,\s|\s(?={between}\s))(?:{between},?\s)?{clause}|{_DASH}", re.I
        )

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name.startswith("_") or name not in self._patterns:
            raise AttributeError(name)
        return self._patterns[name]


def _compiled_rows(rows: Iterable[Predication]) -> tuple[tuple[Predication, re.Pattern[str]], ...]:
    return tuple((row, lazy_re(row.pattern, re.I)) for row in rows)


def _compiled(name: str, row: Row, relations: str) -> re.Pattern[str]:
    cue = either(each.replace("RELATION", relations) for each in map(with_verbs, row))
    return lazy_re(_AROUND.get(name, "{}").format(cue), 0 if name in _HEED_CASE else re.I)


def with_verbs(cue: str) -> str:
    """Expand each verb that a cue names with ``~`` to its forms."""

    def forms(found: re.Match[str]) -> str:
        kinds = ("base", "s", "past", "ing") if found[1] == "~" else ("past", "ing")
        verbs = (found[2] or found[3]).split()
        return either(form for verb in verbs for form, kind in verb_inflections(verb).items() if kind in kinds)

    return _VERBS.sub(forms, cue)


def _longest_first(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, dict.fromkeys(words)), key=len, reverse=True))


def cues(language: str) -> FactCues:
    """The cues of a language; the English ones if its file has none."""
    return all_cues().get(language) or all_cues()["en"]


@from_data
def all_cues() -> Mapping[str, FactCues]:
    """The cues of each language that has some."""
    return {code: FactCues(known) for code in LANGUAGES if (known := of_language(Facts, code)).says}


def each_of(cue: str) -> Iterator[re.Pattern[str]]:
    """All patterns of a cue that are searched one by one, in all languages."""
    return (pattern for each in all_cues().values() for pattern in each.each[cue])


@lru_cache(8_192)
def says(cue: str, text: str) -> bool:
    """Whether a text contains a cue of any language; cached, since each new statement is compared with many texts."""
    return any(getattr(each, cue).search(text) for each in all_cues().values())


def said_outright(text: str, sentence: str) -> tuple[Predication, re.Match[str]] | None:
    """The match of a whole clause, whatever its subject, or of several clauses: "we moved, it's Lyon now"."""
    for row, pattern in (each for known in all_cues().values() for each in known.outright):
        for said in dict.fromkeys((text, sentence)):
            found = pattern.match(said)
            if found and found["value"] in text:
                return row, found
    return None


@from_data
def relations() -> dict[str, str]:
    """Map each word for somebody's relative, friend or pet to its code."""
    return {
        word.replace("-", " "): code
        for each in all_cues().values()
        for code, words in each.known.relations.items()
        for word in (code, *words)
    }


@from_data
def not_german() -> frozenset[str]:
    """Words that begin a German sentence but are nobody's name."""
    return of_language(Words, "de").stop | of_language(Facts, "de").no_value

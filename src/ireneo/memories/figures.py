"""The figures, days, counts and opposites of a statement, so that two statements can be compared."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from functools import lru_cache
from itertools import product

from ireneo.language.files import LANGUAGES, any_of, cached_data, of_language, topic
from ireneo.language.predicates import verb_forms
from ireneo.language.spoken import Facts, Phrasing
from ireneo.language.times import month_numbers, weekday_numbers
from ireneo.language.topics import Numbers, Words
from ireneo.language.words import terms
from ireneo.memories.cues import cue_patterns
from ireneo.memories.wording import distinctive_words
from ireneo.patterns import lazy_re

APART, SIDE, WEEKDAY = "apart", "side", "weekday"
_PRESSURE = "pressure"
_NO_MEASURE = ("date", "clock", "often")

_FIGURE = lazy_re(
    lambda: (
        r"(?P<clock>\b\d{1,2}(?::[0-5]\d(?!:|\d)|\.[0-5]\d(?=\D|$)| ?[ap]m\b)(?: ?[ap]m\b)?"
        rf"|\b\d{{1,2}} {any_of(topic(Phrasing).clock)}\b)"
        r"|(?P<money>[$€£] ?\d[\d.,]*)"
        r"|(?P<number>(?<![\w.,:])\d[\d.,]*\d|(?<![\w.,:])\d)"
        rf"(?P<nth>{any_of(topic(Phrasing).ordinals)})?\.?(?: (?P<unit>[^\W\d_]+))?"
    ),
    re.I,
)
_NUMBER = lazy_re(r"\d+(?:[.,]\d+)?")
_BEHIND_FIGURES = lazy_re(r"(?<=\d)\D{1,12}$")
_YEAR = lazy_re(r"(?:19|20)\d\d")
_PAIR = lazy_re(r"\b([^\W\d_]{2,10}) ([^\W\d_]+)")
_WORD = lazy_re(r"[^\W_]+(?:['’-][^\W_]+)*")


@lru_cache(512)
def figures_by_quantity(text: str) -> Mapping[str, frozenset[str]]:
    """The figures, days and opposites in a text, by measured quantity.

    Cached, since each statement is compared with the same memories.
    """
    found, text = dict[str, set[str]](), with_digits(text, units_by_term())
    told = [each for term in terms(text) for each in _groups_by_term().get(term, ())]
    told += [each for number in _FIGURE.finditer(text) if (each := _quantity_and_value(number))]
    told += [(_PRESSURE, f"{each[1]} {each[2]}") for each in topic(Phrasing).over.finditer(text)]
    told += [("often", each[0]) for each in topic(Facts).often.finditer(text)]
    told += [("clock", each["clock"]) for pattern in cue_patterns("clocks") for each in pattern.finditer(text)]
    told += [
        (f"{APART} {each['of']}", each["nth"]) for pattern in cue_patterns("grades") for each in pattern.finditer(text)
    ]
    for kind, value in told:
        found.setdefault(kind.casefold(), set()).add(value.casefold())
    return {kind: frozenset(values) for kind, values in found.items()}


def _quantity_and_value(figure: re.Match[str]) -> tuple[str, str] | None:
    """The quantity that a figure measures, and its value; None for a year."""
    if figure["clock"]:
        return "clock", _BEHIND_FIGURES.sub("", figure["clock"]).replace(".", ":").removesuffix(":00")
    if figure["money"]:
        return "money", figure["money"].strip("$€£ .,")
    unit = next(iter(terms(figure["unit"] or "")), "")
    if unit in month_terms():
        return "date", f"{figure['number']} {unit}"
    if figure["nth"]:
        return "date", figure["number"]
    if unit.isdigit() or _YEAR.fullmatch(figure["number"]):
        return None
    return units_by_term().get(unit, ""), figure["number"]


def names_one_weekday(text: str) -> bool:
    """Whether a text names one day of the week."""
    days = [values for kind, values in figures_by_quantity(text).items() if kind.startswith(WEEKDAY)]
    return len(days) == 1 and len(days[0]) == 1


def is_measure(kind: str) -> bool:
    """Whether figures of a kind are measurements, and no times."""
    return bool(kind) and kind not in _NO_MEASURE and " " not in kind


def numbers_in(text: str) -> set[str]:
    """All numbers that are written in digits."""
    return set(_NUMBER.findall(text))


@cached_data
def month_terms() -> frozenset[str]:
    """The terms of the names of months."""
    return frozenset(term for word in month_numbers() for term in terms(word))


@cached_data
def units_by_term() -> dict[str, str]:
    """Units by the terms that name them."""
    names = [(unit, word) for unit, words in topic(Numbers).units.items() for word in (unit, *words)]
    names += [(group.split()[0], word) for group in topic(Facts).measures for word in group.split()]
    return {term: unit for unit, word in names for term in terms(word)}


@cached_data
def _groups_by_term() -> dict[str, tuple[tuple[str, str], ...]]:
    """For each term, its groups of weekdays or opposites, and which member it is."""
    groups = [(SIDE, group.split()) for group in topic(Facts).opposites]
    groups += [(APART, group.split()) for group in topic(Facts).apart]
    kinds: dict[str, tuple[tuple[str, str], ...]] = {}
    for number, (kind, group) in enumerate([*groups, (WEEKDAY, list(weekday_numbers()))]):
        for same in group:
            first, *others = same.split("=")
            for term in {term for word in (first, *others) for term in terms(word)}:
                kinds[term] = (*kinds.get(term, ()), (f"{kind} {number}", first))
    return kinds


@lru_cache(4_096)
def counts_by_noun(text: str) -> Mapping[str, Set[str]]:
    """Map each counted term to the number that a statement gives; cached."""
    words = [each[0] for each in _WORD.finditer(text)]
    found: dict[str, set[str]] = {}
    for at, word in enumerate(words[:-1]):
        number = number_words().get(word.casefold(), word if word.isdigit() and len(word) < 3 else "")
        for noun in words[at + 1 : at + 3] if number else ():
            if _is_counted(noun):
                found.setdefault(next(iter(terms(noun)), noun.casefold()), set()).add(number)
                break
            if noun.casefold() in _common_words():
                break
    return found


def _is_counted(noun: str) -> bool:
    low = noun.casefold()
    if low in month_numbers() or low in _unit_words() or low in _common_words() or not low.isalpha() or len(low) < 4:
        return False
    return (low.endswith("s") and not low.endswith("ss") and verb_forms().get(low, ("", ""))[1] != "s") or (
        noun[0].isupper() and low.endswith(("n", "e", "r"))
    )


_ALIKE = 0.8
"""The least ratio of two measurements one after the other."""
_TIMES = frozenset("day week month year h min s".split())


def with_digits(text: str, units: Mapping[str, str]) -> str:
    """A text with numbers in words before a unit, except of time, written as digits."""
    known = number_words()

    def to_digits(found: re.Match[str]) -> str:
        number = known.get(found[1].casefold(), "")
        unit = next((units[term] for term in terms(found[2]) if term in units), "")
        return f"{number} {found[2]}" if number and unit and unit not in _TIMES else found[0]

    return _PAIR.sub(to_digits, text)


@cached_data
def number_words() -> dict[str, str]:
    """Numbers up to nineteen by their words."""
    found = dict.fromkeys(topic(Numbers).one, "1")
    for code in LANGUAGES:
        known = of_language(Numbers, code)
        found |= {word: str(value) for value, word in enumerate(known.cardinals, 2)}
        found |= {word: str(value) for value, word in enumerate(known.together, 1)}
    return found


@cached_data
def _unit_words() -> frozenset[str]:
    return frozenset(word for unit, words in topic(Numbers).units.items() for word in (unit, *words))


@cached_data
def _common_words() -> frozenset[str]:
    return topic(Words).stop | topic(Facts).generic


def next_value(text: str, attribute: str, before: str) -> str:
    """The next value of a known figure: "79.5 kg today" after "81 kg", or "raised my rate to 85" after "70 an hour"."""
    patterns, kinds = topic(Facts).series.get(attribute, ()), [*filter(is_measure, figures_by_quantity(before))]
    own = re.search(any_of(patterns), text, re.I) if patterns else None
    is_named = topic(Phrasing).mine.search(text) and {*terms(attribute)} <= {*terms(text)}
    is_bare = bool(patterns) and [*filter(is_measure, figures_by_quantity(text))] == kinds and len(kinds) == 1
    is_bare = is_bare and not distinctive_words(text) - units_by_term().keys()
    now = _NUMBER.findall(own[0] if own else text if is_named or is_bare else "")
    last = _NUMBER.findall(before)
    return before.replace(last[0], now[0]) if len(now) == len(last) == 1 and are_alike(now[0], last[0]) else ""


def are_alike(now: str, before: str, least: float = _ALIKE) -> bool:
    """Whether two texts have numbers of similar size (`least` is a ratio), so that one may take the other's place."""
    found = [[float(each.replace(",", ".")) for each in _NUMBER.findall(text)] for text in (now, before)]
    return any(least * max(pair) <= min(pair) for pair in product(*found))

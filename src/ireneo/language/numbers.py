"""Numbers in words (“three hundred and twenty”), and canonical names of units.

“One”, “first” and “second” are left out: they are mostly not meant as numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ireneo.language.files import LANGUAGES, cached_data, of_language, topic
from ireneo.language.topics import Numbers
from ireneo.patterns import lazy_re

_WORD = lazy_re(r"[^\W\d_]+|\S")
_LETTERS = lazy_re(r"[^\W\d_]+")
_MOST_READ = 6
"""How many numbers in words are read as one figure at most."""


def numbers_in_words(text: str) -> list[tuple[str, int]]:
    """Return the numbers in words in `text`, in order: the words, and their value."""
    small, large, inside = _small_numbers(), _multipliers(), _inner_multipliers()
    found: list[tuple[str, int]] = []
    run: list[str] = []
    # The added full stop ends a number at the end of the text.
    for word in [*_WORD.findall(text.casefold()), "."]:
        if word in small or word in large or (run and word in inside and small.get(run[-1], 0) >= 20):
            run.append(word)
        elif not run or word not in ("-", "and"):
            if run:
                found.append((" ".join(run), _number_value(run)))
            run = []
            if word in _compound_numbers():
                found.append((word, _compound_numbers()[word]))
        elif word == "and" and not (run[-1] in large or small.get(run[-1], 20) < 10):
            # "Twenty and thirty" are two numbers; "five and twenty" and "a hundred and five" are one.
            found.append((" ".join(run), _number_value(run)))
            run = []
    return found


def spoken_figures(text: str) -> set[str]:
    """Return the digits that adjacent numbers in words may spell: “two forty-nine” is 249."""
    runs: list[list[int]] = [[]]
    apart = 0
    for word in _LETTERS.findall(text.casefold()):
        parts = _number_values(word)
        apart = 0 if parts else apart + 1
        if apart > 1:
            runs.append([])
        for part in parts:
            last = runs[-1][-1] if runs[-1] else 0
            if part < 10 and 20 <= last < 100 and last % 10 == 0:
                runs[-1][-1] += part
            else:
                runs[-1].append(part)
    return {
        "".join(map(str, run[first:end]))
        for run in runs
        for first in range(len(run))
        for end in range(first + 1, min(first + _MOST_READ, len(run)) + 1)
    }


def _number_values(word: str) -> list[int]:
    """Return the numbers that a word consists of: at most one in English, several in compounding languages."""
    known = _small_numbers() | _inner_multipliers()
    if word in known:
        return [known[word]]
    parts: list[int] = []
    while word not in _compound_endings():
        part = next((each for each in _compounds_longest_first() if word.startswith(each)), None)
        if part is None:
            return []
        parts.append(_compound_numbers().get(part, 1))
        word = word[len(part) :]
        # German “eins”, of which “ein” was matched.
        word = word[1:] if parts[-1] == 1 and word.startswith("s") else word
    return parts


def unit_of(unit: str | None) -> str:
    """Return the canonical name of a unit; empty for None."""
    if unit is None:
        return ""
    return "million" if unit == "M" else _unit_names().get(unit.lower(), unit.lower())


@cached_data
def unit_pattern() -> str:
    """Return a pattern for any unit, the longest first."""
    return "|".join(sorted((re.escape(alias) for alias in _unit_names()), key=len, reverse=True))


def _number_value(words: list[str]) -> int:
    small, large, inside = _small_numbers(), _multipliers(), _inner_multipliers()
    total, group = 0, 0
    for word in words:
        if word in large:
            group = max(group, 1) * large[word]
            if group >= 1_000:
                total, group = total + group, 0
            continue
        value = small.get(word, inside.get(word, 0))
        # "Nineteen forty-one" is a year.
        group = group * 100 + value if 10 <= group < 100 and value >= 10 else group + value
    return total + group


@cached_data
def _unit_names() -> dict[str, str]:
    return {word: unit for unit, words in topic(Numbers).units.items() for word in words}


@cached_data
def _small_numbers() -> dict[str, int]:
    known = topic(Numbers)
    rows = ((known.cardinals, 2, 1), (known.ordinals, 3, 1), (known.tens, 2, 10), (known.tenths, 2, 10))
    out = {word: value * times for words, first, times in rows for value, word in enumerate(words, first)}
    return out | dict.fromkeys(known.dozens, 12)


@cached_data
def _multipliers() -> dict[str, int]:
    return {word: int(figure) for figure, words in topic(Numbers).large.items() for word in words}


@cached_data
def _inner_multipliers() -> dict[str, int]:
    return {word: int(figure) for figure, words in topic(Numbers).inside.items() for word in words}


@cached_data
def _compound_numbers() -> dict[str, int]:
    return {word.casefold(): value for code in LANGUAGES for word, value in _compounds(of_language(Numbers, code))}


@cached_data
def _compounds_longest_first() -> list[str]:
    ones = {word.casefold(): 1 for code in LANGUAGES for word in of_language(Numbers, code).together[:1]}
    return sorted(_compound_numbers() | ones, key=len, reverse=True)


@cached_data
def _compound_endings() -> frozenset[str]:
    return frozenset(["", *topic(Numbers).together_ends])


def _compounds(known: Numbers) -> Iterator[tuple[str, int]]:
    ones = known.together
    yield from ((word, value) for value, word in enumerate(ones, 1) if value > 1)
    for value, ten in enumerate(known.together_tens, 2):
        yield ten, value * 10
        yield from ((f"{one}{known.together_and[0]}{ten}", value * 10 + at) for at, one in enumerate(ones[:9], 1))
    for figure, larges in known.together_large.items():
        for large in larges:
            yield large, int(figure)
            yield from ((f"{one}{large}", value * int(figure)) for value, one in enumerate(ones, 1))

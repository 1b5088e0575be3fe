"""Dates as they are compared: year, month and day, however they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ireneo.patterns import lazy_re

_SHORT = "jan feb mar apr may jun jul aug sep oct nov dec"
_LONG = "january february march april may june july august september october november december"
_GERMAN = "januar februar märz april mai juni juli august september oktober november dezember"
_MONTH_OF = {name: number for names in (_SHORT, _LONG, _GERMAN) for number, name in enumerate(names.split(), 1)}
_MONTH = "|".join(sorted((name.capitalize() for name in _MONTH_OF), key=len, reverse=True))

ISO = r"(?<![\d-])\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?(?![\d-])"
SPOKEN = (
    rf"\b(?:(?:{_MONTH})\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?!\.\d)(?:,? \d{{4}}\b)?"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?(?:{_MONTH})\b\.?(?:,? \d{{4}}\b)?)"
)
CLOCK = r"(?<![\d:.])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?![\d:])"
WEEKDAY = r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b"

_ISO = lazy_re(ISO)
_CLOCK = lazy_re(CLOCK)
_SPOKEN = lazy_re(SPOKEN)
_WORD = lazy_re(r"[^\W\d_]+")

Date = tuple[int, int, int]
"""Year, month and day; the year is 0 where none is said."""


def dates(text: str) -> Iterator[Date]:
    """Every date of `text`, once as it is written and once without its year."""
    for found in _ISO.finditer(text):
        year, month, day = (int(part) for part in found[0][:10].split("-"))
        yield year, month, day
        yield 0, month, day
    for found in _SPOKEN.finditer(text):
        year, month, day = _spoken(found[0])
        yield year, month, day
        yield 0, month, day


def without_dates(text: str) -> str:
    """`text` with only the years of its dates left, so that a date's parts are no evidence for any other number."""
    return _ISO.sub(lambda found: f" {found[0][:4]} ", text)


def is_clock(word: str) -> bool:
    """Whether `word` is nothing but a time of day."""
    return bool(_CLOCK.fullmatch(word.strip("[]().,;\"'")))


def _spoken(text: str) -> Date:
    month = next((_MONTH_OF[word.lower()] for word in _WORD.findall(text) if word.lower() in _MONTH_OF), 0)
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return (numbers[1] if len(numbers) > 1 else 0), month, numbers[0]

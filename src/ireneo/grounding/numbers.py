"""Numbers as they are compared: the figure, and the unit that it stands with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ireneo.grounding.dates import is_clock, without_dates
from ireneo.grounding.normal import joined
from ireneo.patterns import lazy_re

_ALIASES = {
    "s": "s sec secs second seconds sekunde sekunden",
    "ms": "ms msec millisecond milliseconds",
    "us": "us µs μs microsecond microseconds",
    "ns": "ns nanosecond nanoseconds",
    "min": "m min mins minute minutes minuten",
    "h": "h hr hrs hour hours stunde stunden",
    "day": "d day days tag tage tagen",
    "week": "week weeks",
    "month": "month months",
    "year": "year years",
    "%": "% percent pct prozent",
    "b": "b byte bytes",
    "kb": "kb kib kilobyte kilobytes",
    "mb": "mb mib megabyte megabytes",
    "gb": "gb gib gigabyte gigabytes",
    "tb": "tb tib terabyte terabytes",
    "k": "k thousand",
    "million": "million millions",
    "px": "px pixel pixels",
    "euro": "€ eur euro euros",
    "dollar": "$ usd dollar dollars",
}
_UNITS = {alias: unit for unit, aliases in _ALIASES.items() for alias in aliases.split()}
_UNIT = "|".join(sorted((re.escape(alias) for alias in _UNITS), key=len, reverse=True))
_PLAIN = r"(?:\d{1,3}(?:[,_]\d{3}){1,12}(?!\d)(?:\.\d+)?|\d+(?:\.\d+){0,12}(?:[eE][+-]?\d+)?)"
NUMBER = rf"{_PLAIN}(?:[ -]?(?P<unit>(?i:{_UNIT}))(?![A-Za-z0-9_]))?"
"""A figure with its unit, if it has one."""

# What stands before it may be a letter or a word (v1.2, L88, python3.11), but not the middle of a hash.
_IN_WORD = lazy_re(rf"(?<![A-Za-z0-9_.])[A-Za-z]{{0,12}}(?P<figure>{NUMBER})")
_APART = lazy_re(rf"(?<!\d)(?P<figure>{_PLAIN}) (?P<unit>(?i:{_UNIT}))(?![A-Za-z0-9_])")
_FIGURE = lazy_re(_PLAIN)
_DIGIT = lazy_re(r"\d")


_GUTTER = lazy_re(r"^ *(\d+)(?:→|\t)", re.MULTILINE)


def without_gutter(text: str) -> tuple[str, frozenset[str]]:
    """`text` without the line numbers that a tool wrote before its lines, and those numbers.

    They run from one to as many lines as there are, and would be evidence for any number.
    """
    found = [int(match[1]) for match in _GUTTER.finditer(text)]
    beside = {one for one, other in pairwise(found) if other == one + 1}
    beside |= {one + 1 for one in beside}
    if not beside:
        return text, frozenset()
    bare = _GUTTER.sub(lambda match: " " if int(match[1]) in beside else match[0], text)
    return bare, frozenset(str(number) for number in beside)


def units(text: str) -> dict[str, set[str]]:
    """Every figure of `text` with the units that it stands with, the empty one where it stands alone."""
    out: dict[str, set[str]] = {}
    for word in set(text.split()):
        if _DIGIT.search(word):
            for figure, unit in _in_word(word):
                out.setdefault(figure, set()).add(unit)
    for found in _APART.finditer(text):
        out.setdefault(figure_of(found["figure"]), set()).add(unit_of(found["unit"]))
    return out


def _in_word(word: str) -> Iterator[tuple[str, str]]:
    """The figures of a word; of a date or a time only the year, since its parts are evidence for no other number."""
    if is_clock(word):
        return
    for found in _IN_WORD.finditer(without_dates(word)):
        figure = figure_of(found["figure"])
        yield figure, unit_of(found["unit"])
        # Who has version 3.11.4 has 3.11.
        while figure.count(".") > 1:
            figure = figure.rpartition(".")[0]
            yield figure, ""


def read(number: str) -> tuple[str, str] | None:
    """The figure and the unit of a single number, such as ``30 s`` or ``v1.2.3``; None where there is no figure."""
    found = re.search(NUMBER, number)
    return (figure_of(found[0]), unit_of(found["unit"])) if found else None


def figure_of(number: str) -> str:
    """The figure without its unit, its thousands written together."""
    found = _FIGURE.match(number)
    return joined(found[0]) if found else number


def unit_of(unit: str | None) -> str:
    """The name under which a unit is compared; empty for none."""
    if unit is None:
        return ""
    return "million" if unit == "M" else _UNITS.get(unit.lower(), unit.lower())

"""Derived numbers: the counts, sums, rounded numbers and conversions that follow from the numbers of a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import combinations

from ireneo.grounding.claims import figures
from ireneo.patterns import lazy_re

FEW = 12
"""Counts up to this number need no evidence: of steps, findings, reasons. `SourceIndex.denies_count` finds wrong ones.
"""
MAX_COUNT = 5_000
MAX_ADDED = 4
"""The maximum number of numbers on a line that are added up; more would support almost any sum."""
MAX_BESIDE = 8
ROUGH = 0.07
"""Largest relative error of a rounded number."""

_FAMILIES: tuple[dict[str, float], ...] = (
    {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3_600, "day": 86_400, "week": 604_800},
    {"b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
    {"": 1, "k": 1e3, "million": 1e6},
)
_SCALES = {unit: (number, scale) for number, family in enumerate(_FAMILIES) for unit, scale in family.items()}
_KIBI = 1.024
_ITEM = lazy_re(r"[,;|]\s")
_COUNTED = lazy_re(r"(?<![\d,_.])(?P<figure>\d[\d,_]*+(?:\.\d++)?+)[ ]?(?P<label>[A-Za-z]\w*)")


class DerivedNumbers:
    """The numbers that can be derived from those in some texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)

    def follows(self, figure: str, unit: str) -> bool:
        """Whether `figure` with its unit follows from the texts."""
        try:
            asked = float(figure)
        except ValueError:
            return False  # A version can't be derived.
        if figure[0] == "0" and figure.isdigit():
            return False  # Part of a name or a date.
        if unit == "%":
            return any(_is_share(asked, figure, one, whole) for one, whole in self._pairs)
        if unit not in _SCALES:
            return asked in self._counts or self._is_small_count(asked)
        number, scale = _SCALES[unit]
        if any(_is_rounded(asked, figure, each / scale) for each in self._values_by_family[number]):
            return True
        if number == 1 and any(
            _is_rounded(asked, figure, each / _binary_scale(scale)) for each in self._values_by_family[number]
        ):
            return True
        worked_out = (each / scale for each in self._line_sums[number])
        counted = not unit and (asked in self._counts or self._is_small_count(asked))
        return counted or any(_is_rounded(asked, figure, each) for each in worked_out)

    def is_countable(self, number: int) -> bool:
        """Whether this number of lines, items or calls can be counted in the texts."""
        return number in self._counts

    def _is_small_count(self, asked: float) -> bool:
        return asked in range(1, FEW + 1) and asked <= self._filled_lines

    @cached_property
    def _filled_lines(self) -> int:
        """The number of lines with anything on them."""
        return sum(bool(line.strip()) for text in self._texts for line in text.splitlines())

    @cached_property
    def _figures_by_line(self) -> tuple[tuple[tuple[str, str], ...], ...]:
        lines = dict.fromkeys(line for text in self._texts for line in text.splitlines())
        return tuple(found for line in lines if (found := tuple(figures(line))))

    @cached_property
    def _values_by_family(self) -> tuple[frozenset[float], ...]:
        known: tuple[set[float], ...] = tuple(set() for _ in _FAMILIES)
        for line in self._figures_by_line:
            for number, value in _values(line):
                known[number].add(value)
        return tuple(frozenset(each) for each in known)

    @cached_property
    def _pairs(self) -> frozenset[tuple[float, float]]:
        """Pairs of numbers on one line, the smaller first, and each number with the sum of its line."""
        out: set[tuple[float, float]] = set()
        for line in self._figures_by_line:
            if len(line) <= MAX_BESIDE:
                values = [value for _, value in _values(line)]
                out.update((min(pair), max(pair)) for pair in combinations(values, 2))
        for text in self._texts:
            for written in text.splitlines():
                things = [value for _, value in _counted_things(written)]
                out.update((value, sum(things)) for value in things if len(things) <= MAX_ADDED)
        return frozenset(out)

    @cached_property
    def _line_sums(self) -> tuple[frozenset[float], ...]:
        """Sums of the numbers of a line, and of all numbers with the same label in one text or in all."""
        out: tuple[set[float], ...] = tuple(set() for _ in _FAMILIES)
        everywhere: dict[str, list[float]] = {}
        for text in self._texts:
            alike: dict[str, list[float]] = {}
            for line in text.splitlines():
                for label, value in _labelled(line):
                    alike.setdefault(label, []).append(value)
                things = [value for _, value in _counted_things(line)]
                if len(things) <= MAX_ADDED:
                    out[-1].update(_subset_sums(things))
            for label, values in alike.items():
                everywhere.setdefault(label, []).extend(values)
                out[_family(label)].add(round(sum(values), 9))
        for label, values in everywhere.items():
            out[_family(label)].add(round(sum(values), 9))
        return tuple(frozenset(each) for each in out)

    @cached_property
    def _counts(self) -> frozenset[float]:
        """The numbers of lines of each text, of items of each line, and of texts that begin alike (a tool's calls)."""
        counts: set[float] = set()
        begun: Counter[str] = Counter()
        for text in self._texts:
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            # The first or last line of an output is often its header or total.
            counts.update((len(lines), len(lines) - 1))
            counts.update(len(_ITEM.findall(line)) + 1 for line in lines)
            begun.update(line.split(None, 1)[0] for line in lines[:1])
        counts.update(begun.values())
        return frozenset(count for count in counts if 0 < count <= MAX_COUNT)


def _values(line: Iterable[tuple[str, str]]) -> Iterator[tuple[int, float]]:
    """Yield the family and the value, in its smallest unit, of each number of a line."""
    for figure, unit in line:
        if unit in _SCALES and figure.count(".") <= 1:
            number, scale = _SCALES[unit]
            yield number, float(figure) * scale


def _labelled(line: str) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a line with the word after each: ``12 passed``."""
    for found in _COUNTED.finditer(line):
        yield found["label"], float(found["figure"].replace(",", "").replace("_", ""))


def _counted_things(line: str) -> list[tuple[str, float]]:
    """Return the numbers of a line that count things."""
    return [(label, value) for label, value in _labelled(line) if label not in _SCALES and value.is_integer()]


def _subset_sums(values: list[float]) -> Iterator[float]:
    for number in range(2, len(values) + 1):
        yield from (round(sum(some), 9) for some in combinations(values, number))


def _family(label: str) -> int:
    return _SCALES.get(label, (len(_FAMILIES) - 1, 1.0))[0]


def _is_rounded(asked: float, figure: str, exact: float) -> bool:
    """Whether `figure` is `exact`, rounded or truncated to its number of digits."""
    if abs(asked - exact) <= 1e-9 * max(abs(exact), 1):
        return True
    decimals = len(figure.partition(".")[2])
    digits = figure.replace(".", "").strip("0")
    if decimals:
        place = 10.0**-decimals
    else:
        zeros = len(figure) - len(figure.rstrip("0"))
        # An exact integer is only rounded to one with trailing zeros.
        if exact == int(exact) and not zeros:
            return False
        place = 10.0**zeros
    return bool(digits) and abs(asked - exact) < place and abs(asked - exact) <= ROUGH * abs(exact)


def _is_share(asked: float, figure: str, one: float, whole: float) -> bool:
    return whole > 0 and any(
        _is_rounded(asked, figure, share) for share in (100 * one / whole, 100 - 100 * one / whole)
    )


def _binary_scale(scale: float) -> float:
    """Return the scale of a unit of bytes with 1,024 in place of 1,000."""
    steps = round(len(f"{scale:.0f}") / 3 - 1 / 3)
    return float(scale * _KIBI**steps)

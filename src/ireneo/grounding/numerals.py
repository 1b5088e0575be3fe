"""Numbers in words: what “three hundred and twenty” is worth, so that it can be held against a figure or other words.

In English and German. “One” and “first” are mostly no numbers, and “second” is as often a part of a minute.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from ireneo.patterns import lazy_re

_UNITS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
    " nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINAL_UNITS = (
    "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth"
    " seventeenth eighteenth nineteenth"
)
_SMALL = {
    **{word: value for value, word in enumerate(_UNITS.split(), 2)},
    **{word: value for value, word in enumerate(_ORDINAL_UNITS.split(), 3)},
    **{word: value * 10 for value, word in enumerate(_TENS.split(), 2)},
    **{word[:-1] + "ieth": value * 10 for value, word in enumerate(_TENS.split(), 2)},
    "dozen": 12,
    "dozens": 12,
}
_INSIDE = {"one": 1, "first": 1, "second": 2}
"""Numbers only behind a ten: twenty-one."""
_LARGE = {"hundred": 100, "hundredth": 100, "thousand": 1_000, "thousandth": 1_000, "million": 1_000_000}
_LARGE |= {f"{word}s": value for word, value in _LARGE.items() if not word.endswith("th")}
_WORD = lazy_re(r"[^\W\d_]+|\S")


def _german() -> Iterator[tuple[str, int]]:
    units = "ein zwei drei vier fünf sechs sieben acht neun".split()
    small = [*units, *"zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn".split()]
    tens = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
    yield from ((word, value) for value, word in enumerate(small, 1) if value > 1)
    for value, ten in enumerate(tens, 2):
        yield ten, value * 10
        yield from ((f"{unit}und{ten}", value * 10 + one) for one, unit in enumerate(units, 1))
    for value, word in enumerate(small, 1):
        yield f"{word}hundert", value * 100
        yield f"{word}tausend", value * 1_000
    yield from (("hundert", 100), ("tausend", 1_000), ("dutzend", 12))


_WHOLE = MappingProxyType(dict(_german()))


def spelled(text: str) -> list[tuple[str, int]]:
    """The numbers that `text` has in words, in order: the words, and what they are worth."""
    found: list[tuple[str, int]] = []
    run: list[str] = []
    # The last sign ends what is still running.
    for word in [*_WORD.findall(text.casefold()), "."]:
        if word in _SMALL or word in _LARGE or (run and word in _INSIDE and _is_ten(run[-1])):
            run.append(word)
        elif not run or word not in ("-", "and"):
            if run:
                found.append((" ".join(run), _worth(run)))
            run = []
            if word in _WHOLE:
                found.append((word, _WHOLE[word]))
        elif word == "and" and not (run[-1] in _LARGE or _SMALL.get(run[-1], 20) < 10):
            # Twenty and thirty are two numbers; five and twenty, or a hundred and five, are one.
            found.append((" ".join(run), _worth(run)))
            run = []
    return found


def _is_ten(word: str) -> bool:
    return _SMALL.get(word, 0) >= 20


def _worth(words: list[str]) -> int:
    total, group = 0, 0
    for word in words:
        if word in _LARGE:
            group = max(group, 1) * _LARGE[word]
            if group >= 1_000:
                total, group = total + group, 0
            continue
        value = _SMALL.get(word, _INSIDE.get(word, 0))
        # Nineteen forty-one is a year.
        group = group * 100 + value if 10 <= group < 100 and value >= 10 else group + value
    return total + group

"""What a figure means of which it is not said what it measures: "the landlord wrote, it's 1,600 since May".

If a change is told, and a single memory of the same people has a figure of about that size, it is that one: where
several have, nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ireneo.language.files import LANGUAGES, either, from_data, of_language, topic
from ireneo.language.spoken import Facts
from ireneo.language.topics import Numbers
from ireneo.memories.cues import each_of, says
from ireneo.memories.record import Record
from ireneo.memories.rivals import counts_of, number_words
from ireneo.patterns import lazy_re

_NUMBER = lazy_re(
    r"(?<![\w.,:/-])[$€£]?(?P<digits>\d{1,3}(?:[.,]\d{3})+|\d{2,7}(?:[.,]\d{1,2})?)(?P<k>k)?(?![\w:/-])", re.I
)
_THOUSANDS = lazy_re(r"\d{1,3}(?:[.,]\d{3})+")
_YEAR = lazy_re(r"(?:19|20)\d\d")
_BARE = lazy_re(lambda: either(topic(Facts).bare_figure), re.I)
LEAST = 30
"""From here on a figure is no day, hour or count of a few things."""
TIMES = 2.0
"""How many times as large another figure of the same is at the most."""


def of_that_size(words: str, held: Sequence[tuple[Record, str]]) -> Iterator[Record]:
    """The only one of the memories, each with its words, that has a figure of the size of the bare one in `words`."""
    told = [found for found in _NUMBER.finditer(words) if (value := _value(found)) and value >= LEAST]
    if len(told) != 1 or not _BARE.match(words, told[0].end()):
        return
    mine = _value(told[0])
    same = [each for each, text in held if len(theirs := _values(text)) == 1 and _is_near(mine, theirs[0])]
    if len(same) == 1:
        yield same[0]


def of_that_many(words: str, held: Sequence[tuple[Record, str]]) -> Iterator[Record]:
    """The only memory of how many there are, if `words` say how many there are now, or that one more has come."""
    now, more = _number("so_many", words), _number("one_more", words)
    counted = [(each, counts) for each, text in held if (counts := counts_of(text)) and says("counted", text)]
    if (now or more) and len(counted) == 1:
        (record, counts) = counted[0]
        before = {number for numbers in counts.values() for number in numbers}
        if (now and now not in before) or (more and str(int(more) - 1) in before):
            yield record


def _number(cue: str, words: str) -> str:
    """The number in the first hit of a cue, in digits; empty if there is none."""
    said = next((hit["number"].casefold() for row in each_of(cue) if (hit := row.search(words))), "")
    found = number_words().get(said) or _ordinals().get(said, said)
    return found if found.isdigit() else ""


@from_data
def _ordinals() -> dict[str, str]:
    rows = (of_language(Numbers, code).ordinals for code in LANGUAGES)
    return {word: str(at) for row in rows for at, word in enumerate(row, 3)}


def _values(text: str) -> list[float]:
    return [value for found in _NUMBER.finditer(text) if (value := _value(found)) and value >= LEAST]


def _value(found: re.Match[str]) -> float:
    """The value of a number; 0 of a year."""
    digits = found["digits"]
    if _YEAR.fullmatch(digits) and not found["k"]:
        return 0.0
    plain = re.sub(r"[.,]", "", digits) if _THOUSANDS.fullmatch(digits) else digits.replace(",", ".")
    return float(plain) * (1000 if found["k"] else 1)


def _is_near(one: float, other: float) -> bool:
    return one != other and max(one, other) <= TIMES * min(one, other)

"""A memory's own words, and those that distinguish it from others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ireneo.language.files import CAPITAL, any_of, cached_data, topic
from ireneo.language.spoken import Facts, Phrasing
from ireneo.language.times import month_numbers, weekday_numbers
from ireneo.language.topics import Times, Words
from ireneo.language.words import standardise, terms
from ireneo.patterns import lazy_re

COMPOUND = 5
"""The minimum number of letters of a word that is recognised at the end of a compound: Geburtstagsgeschenk."""
_NAMED = lazy_re(rf"(?<=[\w,] ){CAPITAL}[\w-]{{2,}}")
_FRAME = lazy_re(lambda: rf"{any_of(topic(Phrasing).reported)}: [“„](?P<words>.{{1,2000}})[”“]", re.S)
_INSERTED = lazy_re(r"\[(?P<name>[^\]]{1,60})\]")
"""A name in place of a pronoun in a quotation."""


@lru_cache(4_096)
def unquoted_words(text: str) -> str:
    """A memory's own words: only the quotation, if it quotes the user; cached, as is all that is read of them.

    Each statement is compared with the same memories.
    """
    found = _FRAME.search(text)
    return found["words"] if found else text


@lru_cache(4_096)
def comparable_words(text: str) -> str:
    """A memory's own words in the form that rules compare."""
    return standardise(_INSERTED.sub(r"\g<name>", unquoted_words(text)))


@lru_cache(4_096)
def distinctive_words(text: str) -> frozenset[str]:
    """The words that distinguish a memory from others: no times and no common words."""
    return frozenset(
        term for term in terms(comparable_words(text)) if term not in _plain_words() and not term.isdigit()
    )


@lru_cache(4_096)
def names_in(text: str) -> Sequence[str]:
    """The words that a memory writes like names, except at its beginning."""
    return _NAMED.findall(unquoted_words(text))


def ends_of(word: str) -> Iterator[str]:
    """A word, and what may be the last word of a compound."""
    yield word
    yield from (word[at:] for at in range(3, len(word) - COMPOUND + 1))


@cached_data
def _plain_words() -> frozenset[str]:
    stop = topic(Words).stop
    counts = [word for words in topic(Times).counts.values() for word in words]
    times = (*month_numbers(), *weekday_numbers(), *counts, *topic(Facts).generic)
    return stop | {term for word in (*stop, *times) for term in terms(word)}

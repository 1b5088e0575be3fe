"""Which language a text is in, and whether two texts are plainly in different ones: by script and commonest words."""

from __future__ import annotations

from collections import Counter

from ireneo.language.files import LANGUAGES, from_data, of_language, topic
from ireneo.language.topics import Words
from ireneo.language.words import letters
from ireneo.patterns import lazy_re

_QUOTED = lazy_re(r"`[^`]*`|“[^“”]{0,1000}+”|\"[^\"\n]*\"")
ENOUGH_WORDS = 12
"""A shorter text has no language that could be told."""
ENOUGH_COMMON = 4
SCRIPT_SHARE = 0.3
"""With so many letters of another script a text is in another language, whatever names it mentions."""


def other_language(text: str, source: str) -> str | None:
    """Say which language `text` is in where that is plainly not the one of `source`; None where it may be."""
    words, theirs = _words(text), _words(source)
    if len(words) < ENOUGH_WORDS or len(theirs) < ENOUGH_WORDS:
        return None
    if _foreign(words) > SCRIPT_SHARE > 3 * _foreign(theirs):
        return "another script"
    here, there = _language(words), _language(theirs)
    return of_language(Words, here).name[0] if here and there and here != there else None


def language_of(text: str) -> str | None:
    """The code of the language of `text`, such as ``en``; None where its words don't tell."""
    return _language(_words(text))


def language_of_sentence(text: str) -> str:
    """The code of the language that a sentence seems to be in, by its stop words; English where they don't tell."""
    words = letters(text.lower())
    counts = {code: sum(word in stop for word in words) for code, stop in _stop_words().items()}
    best = max(counts, key=lambda code: counts[code])
    return best if counts[best] > max(counts["en"], 1) else "en"


def writes_nouns_large(text: str) -> bool:
    """Whether `text` is in German, where a capital says no more than that a word is a noun."""
    words = letters(text.lower())
    large, small = topic(Words).nouns_large, topic(Words).nouns_small
    found = sum(word in large for word in words)
    return found > 0 and found >= sum(word in small for word in words)


@from_data
def _telling() -> dict[str, frozenset[str]]:
    return {code: of_language(Words, code).telling for code in LANGUAGES}


@from_data
def _stop_words() -> dict[str, frozenset[str]]:
    """Of the languages that have a stop list."""
    return {code: stop for code in LANGUAGES if (stop := of_language(Words, code).stop)}


def _words(text: str) -> list[str]:
    return letters(_QUOTED.sub(" ", text).lower())


def _foreign(words: list[str]) -> float:
    """The share of words that are not in Latin letters."""
    return sum(ord(word[0]) > 0x24F for word in words) / len(words)


def _language(words: list[str]) -> str | None:
    counts = Counter(words)
    hits = sorted(((sum(counts[word] for word in known), code) for code, known in _telling().items()), reverse=True)
    (most, code), (second, _) = hits[0], hits[1]
    return code if most >= ENOUGH_COMMON and most >= 2 * second else None

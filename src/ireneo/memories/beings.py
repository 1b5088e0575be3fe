"""The people and animals that a text is about: what is true of one of them is not true of another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ireneo.language.files import CAPITAL, from_data, topic
from ireneo.language.spoken import Facts
from ireneo.language.topics import Words
from ireneo.language.words import terms
from ireneo.memories.cues import says
from ireneo.patterns import lazy_re

_KIN = ("partner", "sibling", "parent", "relative", "friend", "boss", "colleague", "ex")
"""The codes of relations that distinguish persons."""
_OWNED = lazy_re(rf"\b({CAPITAL}[\w-]+)['’]s (?:[a-z]+ )?([a-z]+)")


@from_data
def persons() -> frozenset[str]:
    """Terms for relatives, friends and colleagues."""
    return _related(_KIN)


@from_data
def roles() -> frozenset[str]:
    """Terms for people by their relation to somebody."""
    return _related(None) - _related(("pet",))


@from_data
def beings() -> frozenset[str]:
    """Terms for people and animals that belong to somebody; what is true of one isn't true of another."""
    return _related((*_KIN, "child", "pet"))


def beings_in(text: str, known: set[str]) -> set[str]:
    """The people and animals in a text, by name or relation; "mum" and "mother" are the same."""
    said, kin = _spoken_of(text)
    return {synonyms().get(term, term) for term in (*kin, *(said & known))}


@lru_cache(4_096)
def _spoken_of(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The terms of a text, without owners, and which of them are relations; cached, as each text is compared often."""
    kin = persons() | beings()
    owners = {owner[1] for owner in _OWNED.finditer(text) if set(terms(owner[2])) & kin}
    said = frozenset(terms(text)) - {term for owner in owners for term in terms(owner)}
    return said, said & kin


def without_speaker(text: str) -> str:
    """Return a text about people; empty if the speaker is among them."""
    return "" if says("joint", text) else text


@from_data
def synonyms() -> dict[str, str]:
    """Map each synonym for a person to the term that is counted instead."""
    groups = [group.split() for group in topic(Facts).called_too]
    return {term: group[0] for group in groups for word in group for term in terms(word)}


def _related(codes: Sequence[str] | None) -> frozenset[str]:
    named = [words for code, words in topic(Facts).relations.items() if codes is None or code in codes]
    stop = topic(Words).stop
    # In "better half" neither word is a person by itself.
    single = [word for words in named for word in words if word.replace("-", " ").isalpha() and "-" not in word]
    return frozenset(term for word in single for term in terms(word) if term not in stop)

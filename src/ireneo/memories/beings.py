"""The people and animals that a text is about: what is true of one of them is not true of another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ireneo.language.files import CAPITAL, cached_data, topic
from ireneo.language.spoken import Facts
from ireneo.language.topics import Words
from ireneo.language.words import terms
from ireneo.memories.cues import has_cue
from ireneo.patterns import lazy_re

_KIN = ("partner", "sibling", "parent", "relative", "friend", "boss", "colleague", "ex")
"""The codes of relations that distinguish persons."""
_OWNED = lazy_re(rf"\b({CAPITAL}[\w-]+)['’]s (?:[a-z]+ )?([a-z]+)")


@cached_data
def person_terms() -> frozenset[str]:
    """Terms for relatives, friends and colleagues."""
    return _relation_terms(_KIN)


@cached_data
def role_terms() -> frozenset[str]:
    """Terms for people by their relation to somebody."""
    return _relation_terms(None) - _relation_terms(("pet",))


@cached_data
def being_terms() -> frozenset[str]:
    """Terms for people and animals that belong to somebody; what is true of one isn't true of another."""
    return _relation_terms((*_KIN, "child", "pet"))


def beings_in(text: str, known: set[str]) -> set[str]:
    """The people and animals in a text, by name or relation; "mum" and "mother" are the same."""
    said, kin = _terms_and_relations(text)
    return {person_synonyms().get(term, term) for term in (*kin, *(said & known))}


@lru_cache(4_096)
def _terms_and_relations(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The terms of a text, without owners, and which of them are relations; cached, as each text is compared often."""
    kin = person_terms() | being_terms()
    owners = {owner[1] for owner in _OWNED.finditer(text) if set(terms(owner[2])) & kin}
    said = frozenset(terms(text)) - {term for owner in owners for term in terms(owner)}
    return said, said & kin


def without_speaker(text: str) -> str:
    """Return a text about people; empty if the speaker is among them."""
    return "" if has_cue("joint", text) else text


@cached_data
def person_synonyms() -> dict[str, str]:
    """Map each synonym for a person to the term that is counted instead."""
    groups = [group.split() for group in topic(Facts).called_too]
    return {term: group[0] for group in groups for word in group for term in terms(word)}


def _relation_terms(codes: Sequence[str] | None) -> frozenset[str]:
    named = [words for code, words in topic(Facts).relations.items() if codes is None or code in codes]
    stop = topic(Words).stop
    # In "better half" neither word is a person by itself.
    single = [word for words in named for word in words if word.replace("-", " ").isalpha() and "-" not in word]
    return frozenset(term for word in single for term in terms(word) if term not in stop)

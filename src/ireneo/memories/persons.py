"""Say who is meant by a pronoun or a relation in what users tell.

"He" and "she" are only resolved if they can mean only one person or animal that was mentioned before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ireneo.language.files import CAPITAL, LANGUAGES, any_of, cached_data, of_language, topic
from ireneo.language.predicates import verb_forms
from ireneo.language.spoken import Facts, Phrasing
from ireneo.language.topics import Connectives, Names, Persons, Words
from ireneo.language.words import terms
from ireneo.memories.cues import has_cue, relations
from ireneo.memories.record import Record
from ireneo.patterns import lazy_re

if TYPE_CHECKING:
    from ireneo.memories.earnest import Statement

_MAYBE = lazy_re(lambda: any_of(of_language(Phrasing, "en").may_be_name))
_ANY_WORD = lazy_re(r"\w+")
_LONGEST_BEFORE = 2_000
"""How many characters of earlier messages are read."""


@cache
def _pronoun_pattern(language: str) -> re.Pattern[str]:
    return re.compile(any_of(of_language(Phrasing, language).pronoun), re.I)


_LARGE_WORD = lazy_re(rf"{CAPITAL}[\w-]+")
_NAMES_LISTED = lazy_re(
    lambda: rf"[:,(–—] {CAPITAL}[\w-]+(?:(?:,|,? {any_of(topic(Connectives).additions)}) {CAPITAL}[\w-]+)+"
)


def names_by_relation(known: Sequence[Record]) -> dict[str, str]:
    """The names of the speaker's sister, boss or dog, by the code of the relation and by the name itself."""
    names: dict[str, str] = {}
    for record in known:
        if record.attribute in relations() and record.value[:1].isupper() and len(record.value.split()) <= 2:
            names[record.attribute] = names[record.value] = record.value
        elif record.attribute in relations() and (row := _NAMES_LISTED.search(record.text)):
            # "Two children: Lotte and Emil".
            names |= {each: each for each in _LARGE_WORD.findall(row[0])}
    return names


class Antecedents:
    """The people mentioned so far in a message, or else in the one before it."""

    def __init__(self, known: Sequence[Record], before: str, text: str = "", *, anyone: bool = False) -> None:
        """Read which words refer to known names; with `anyone` every name may be "he" or "she".

        `text` is the message, whose questions and imagined parts also mention people.
        """
        self._anyone = anyone
        self._sides = {
            each.value: side for each in known if each.attribute in relations() if (side := gender(each.text))
        }
        self._before = before[-_LONGEST_BEFORE:]
        self._text = text
        self._at = 0

    def resolve(self, statement: Statement, names: Mapping[str, str]) -> Statement:
        """Replace the pronoun of a statement by a name; unchanged if that is ambiguous."""
        found = _pronoun_pattern(statement.language).match(statement.text)
        told = (statement.verbatim or statement.sentence, statement.text)
        start = max(self._at, *(self._text.find(each, self._at) for each in told))
        heard, self._at = self._text[:start], start
        if found is None or statement.made_up or names_others_relative(heard):
            return statement
        side = "he" if found["word"].casefold() in topic(Persons).he else "she"
        whom = self._only_candidate(heard, names, side, statement.language) or (
            self._only_candidate(self._before, names, side, statement.language)
            if not _names_stranger(heard, names)
            else None
        )
        if whom is None:
            return statement
        if statement.language == "de":
            return replace(statement, text=f"{whom} {statement.text[found.end() :]}")
        said = f" {_expand_verb(found['short'][1:].casefold(), found['next'].casefold())}" if found["short"] else ""
        return replace(statement, text=f"{whom}{said}{statement.text[found.end() :]}")

    def _only_candidate(self, text: str, names: Mapping[str, str], side: str, language: str) -> str | None:
        """The only person in a text who may be meant."""
        said = dict[str, str]()
        for who, theirs in self._mentions(text, names):
            said[who] = said.get(who) or theirs
        fits = [who for who, theirs in said.items() if theirs in ("", side)]
        if (
            len(fits) != 1
            or not (said[fits[0]] or self._anyone)
            or (language != "de" and _names_stranger(text, names, said))
        ):
            return None
        return fits[0]

    def _mentions(self, text: str, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """The people that a text names or calls somebody's, each with "he" or "she" if known."""
        for found in _relative_pattern().finditer(text):
            name, side = found["name"], gender(found["word"])
            if name in names.values():
                self._sides.setdefault(name, side)
                yield name, side
            elif not name or not name[0].isupper():
                called = names.get(relations()[found["word"].casefold()], "")
                fits = called and self._sides.get(called, side) == side
                yield (called if fits else f"{found['whose']} {found['word']}"), side
        for name in {*names.values()}:
            if re.search(rf"\b{re.escape(name)}\b", text):
                yield name, self._sides.get(name, "")


def _expand_verb(short: str, following: str) -> str:
    """The verb that is contracted before a word: "she's moved", "she's married", "she'll move"."""
    if short == "ll":
        return "will"
    states = following in of_language(Facts, "en").states or following.endswith("ing")
    done = following in of_language(Phrasing, "en").states_behind or verb_forms().get(following, ("", ""))[1] == "past"
    return "has" if done and not states else "is"


def _names_stranger(text: str, names: Mapping[str, str], said: Iterable[str] = ()) -> bool:
    parts = {word for name in (*names.values(), *said) for word in name.split()}
    return any(
        found["name"] not in parts and found["name"].casefold() not in topic(Names).none
        for found in _MAYBE.finditer(text)
    )


def gender(text: str) -> str:
    """Return "he" or "she" by the first word that determines it; empty if none does."""
    for word in _ANY_WORD.findall(text.casefold()):
        if side := _gender_by_word().get(word):
            return side
    return ""


@cached_data
def _gender_by_word() -> dict[str, str]:
    """Map words for people to "he" or "she", except words that may be either in some language ("partner")."""
    known = [of_language(Facts, code) for code in LANGUAGES]
    either_one = {word for each in known for words in each.relations.values() for word in {*words} - each.he - each.she}
    sides = {word: side for each in known for side, words in (("he", each.he), ("she", each.she)) for word in words}
    return {word: side for word, side in sides.items() if word not in either_one}


def names_others_relative(text: str) -> bool:
    """Whether a text names somebody else's relative or pet, to whom "she" or "the dog" may refer afterwards."""
    return _other_relative_pattern().search(text) is not None


def is_about_relative(text: str) -> bool:
    """Whether a text is about a relative other than the partner and not the speaker, so that "the baby" is theirs."""
    hits = list(_relative_pattern().finditer(text))
    if has_cue("joint", _relative_pattern().sub("", text)):
        return False
    return any(relations()[hit["word"].casefold()] in KIN[1:] for hit in hits)


@cached_data
def _other_relative_pattern() -> re.Pattern[str]:
    """A pattern for a relative of somebody else, to whom "she" or "he" may refer afterwards: "her mum came"."""
    words = any_of(sorted(map(re.escape, relations()), key=len, reverse=True))
    known = topic(Persons)
    whose = any_of(sorted({*known.she, *known.he, *known.they}, key=len, reverse=True))
    return lazy_re(rf"\b{whose} (?:[a-zäöü-]+ )?{words}\b", re.I)


@cached_data
def _relative_pattern() -> re.Pattern[str]:
    """A pattern for somebody's relative, with the name after it."""
    words = any_of(sorted(map(re.escape, relations()), key=len, reverse=True))
    return lazy_re(
        rf"\b(?P<whose>(?i:my|our|meine?|unsere?)) (?:[a-zäöü-]+ ){{0,2}}?(?P<word>(?i:{words}))\b"
        rf"(?:,? (?:is called |is |called |named |heißt )?(?P<name>{CAPITAL}[\w-]+))?"
    )


KIN = ("partner", "sibling", "parent", "relative", "friend", "boss", "colleague", "ex")
"""The codes of relations that distinguish persons."""
_OWNED = lazy_re(rf"\b({CAPITAL}[\w-]+)['’]s (?:[a-z]+ )?([a-z]+)")


@cached_data
def person_terms() -> frozenset[str]:
    """Terms for relatives, friends and colleagues."""
    return _relation_terms(KIN)


@cached_data
def role_terms() -> frozenset[str]:
    """Terms for people by their relation to somebody."""
    return _relation_terms(None) - _relation_terms(("pet",))


@cached_data
def being_terms() -> frozenset[str]:
    """Terms for people and animals that belong to somebody; what is true of one isn't true of another."""
    return _relation_terms((*KIN, "child", "pet"))


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

"""Resolve "he" and "she" to the only person or animal mentioned before who may be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from msgspec.structs import replace

from ireneo.language.files import LANGUAGES, either, from_data, of_language, topic
from ireneo.language.predicates import verb_forms
from ireneo.language.spoken import Facts, Phrasing
from ireneo.language.topics import Persons
from ireneo.language.words import terms
from ireneo.memories.cues import no_names, relations
from ireneo.memories.earnest import Statement
from ireneo.memories.facts import attribute_of
from ireneo.memories.record import Record
from ireneo.patterns import lazy_re

_MAYBE = lazy_re(lambda: either(of_language(Phrasing, "en").may_be_name))
_WORD = lazy_re(r"\w+")
_LONGEST_BEFORE = 2_000
"""Characters of what was said before that are looked at."""


@cache
def _pronoun(language: str) -> re.Pattern[str]:
    return re.compile(either(of_language(Phrasing, language).pronoun), re.I)


def names_of(known: Sequence[Record]) -> dict[str, str]:
    """The names of the speaker's sister, boss or dog, by the code of the relation and by the name itself."""
    names: dict[str, str] = {}
    for record in known:
        if record.attribute in relations() and record.value[:1].isupper() and len(record.value.split()) <= 2:
            names[record.attribute] = names[record.value] = record.value
    return names


def is_called(term: str, record: Record) -> bool:
    """Whether a word may stand for the person that a memory names: "girl" for a daughter, but not for a son."""
    word = _relation_terms().get(term, "")
    if not word or relations()[word] != attribute_of(record.attribute):
        return False
    return not {_side(word), _side(record.text)} >= {"he", "she"}


@from_data
def _relation_terms() -> dict[str, str]:
    """By a term, the word for somebody's relative, friend or pet."""
    return {term: word for word in sorted(relations()) if " " not in word for term in terms(word)}


class Antecedents:
    """The people mentioned so far in a message, or else in the one before it."""

    def __init__(self, known: Sequence[Record], before: str, *, anyone: bool = False) -> None:
        """Know by which words those are told who have a name; `anyone` who is named may be "he" or "she"."""
        self._anyone = anyone
        self._sides = {
            each.value: side for each in known if each.attribute in relations() if (side := _side(each.text))
        }
        self._before = before[-_LONGEST_BEFORE:]
        self._heard = ""

    def resolve(self, statement: Statement, names: Mapping[str, str]) -> Statement:
        """The statement with its pronoun replaced by a name; unchanged if that is ambiguous."""
        found = _pronoun(statement.language).match(statement.text)
        self._heard, heard = f"{self._heard} {statement.text}", self._heard
        if found is None or statement.made_up:
            return statement
        side = "he" if found["word"].casefold() in topic(Persons).he else "she"
        whom = self._meant(heard, names, side, statement.language) or (
            self._meant(self._before, names, side, statement.language) if not _may_be_somebody(heard, names) else None
        )
        if whom is None:
            return statement
        if statement.language == "de":
            return replace(statement, text=f"{whom} {statement.text[found.end() :]}")
        said = f" {_verb(found['short'][1:].casefold(), found['next'].casefold())}" if found["short"] else ""
        return replace(statement, text=f"{whom}{said}{statement.text[found.end() :]}")

    def _meant(self, text: str, names: Mapping[str, str], side: str, language: str) -> str | None:
        """The only person in a text who may be meant."""
        said = dict[str, str]()
        for who, theirs in self._mentions(text, names):
            said[who] = said.get(who) or theirs
        fits = [who for who, theirs in said.items() if theirs in ("", side)]
        if (
            len(fits) != 1
            or not (said[fits[0]] or self._anyone)
            or (language != "de" and _may_be_somebody(text, names, said))
        ):
            return None
        return fits[0]

    def _mentions(self, text: str, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """The people that a text names or calls somebody's, each with "he" or "she" if known."""
        for found in _relative().finditer(text):
            name, side = found["name"], _side(found["word"])
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


def _verb(short: str, following: str) -> str:
    """The verb that is contracted before a word: "she's moved", "she's married", "she'll move"."""
    if short == "ll":
        return "will"
    states = following in of_language(Facts, "en").states or following.endswith("ing")
    done = following in of_language(Phrasing, "en").states_behind or verb_forms().get(following, ("", ""))[1] == "past"
    return "has" if done and not states else "is"


def _may_be_somebody(text: str, names: Mapping[str, str], said: Iterable[str] = ()) -> bool:
    """Whether a text may name somebody unknown."""
    parts = {word for name in (*names.values(), *said) for word in name.split()}
    return any(
        found["name"] not in parts and found["name"].casefold() not in no_names() for found in _MAYBE.finditer(text)
    )


def _side(text: str) -> str:
    """Return "he" or "she" by the first word that determines it; empty if none does."""
    for word in _WORD.findall(text.casefold()):
        if side := _side_of().get(word):
            return side
    return ""


@from_data
def _side_of() -> dict[str, str]:
    """Map words for people to "he" or "she"; without words that may be either in a language ("partner")."""
    known = [of_language(Facts, code) for code in LANGUAGES]
    either_one = {word for each in known for words in each.relations.values() for word in {*words} - each.he - each.she}
    sides = {word: side for each in known for side, words in (("he", each.he), ("she", each.she)) for word in words}
    return {word: side for word, side in sides.items() if word not in either_one}


@from_data
def _relative() -> re.Pattern[str]:
    """A pattern for somebody's relative, with the name after it."""
    words = either(sorted(map(re.escape, relations()), key=len, reverse=True))
    return lazy_re(
        rf"\b(?P<whose>(?i:my|our|meine?|unsere?)) (?:[a-zäöü-]+ ){{0,2}}?(?P<word>(?i:{words}))\b"
        rf"(?:,? (?:is called |is |called |named |heißt )?(?P<name>[A-ZÄÖÜ][\w-]+))?"
    )

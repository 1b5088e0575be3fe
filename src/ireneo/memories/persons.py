"""Resolve references to people: by name, other names, relations and pronouns.

A reference without a name is never certain. So sentences found in this way are only shown to whoever asks for
everything about a person. "He" and "she" are only resolved if they can mean only one person or animal that was
mentioned before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import CAPITAL, LANGUAGES, any_of, cached_data, of_language, topic
from ireneo.language.predicates import verb_forms
from ireneo.language.spoken import Facts, Phrasing
from ireneo.language.topics import Connectives, Names, Persons, Questions, Words
from ireneo.language.words import sentences, terms
from ireneo.memories.cues import PIECES, has_cue, relations
from ireneo.memories.record import Record
from ireneo.memories.wording import distinctive_words, ends_of
from ireneo.patterns import lazy_re

if TYPE_CHECKING:
    from ireneo.memories.earnest import Statement

CHAIN = 12
"""For how many texts a pronoun may refer to somebody after they were mentioned, unless somebody else was since."""
AHEAD = 2
"""How many texts before the first name a pronoun may already mean that person."""
ALIKE = 3
"""How many first letters a name and its short form share."""
HALF = 5
"""Up to how many words a sentence is a half one, about something said before: "sorry, not Hull, Hove"."""
RARE = 4
"""In how many texts what is said of somebody may occur, to refer to them."""
SHARED_START = 0.7
"""Which share of the shorter of two forms both begin with."""
LONGER = 4
"""By how many letters the forms of a name may differ in length."""
_WORD = lazy_re(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LARGE = rf"({CAPITAL}[\w'’-]{{1,40}})"
_DEFINED = lazy_re(lambda: rf"(?<!\w)(?i:{any_of((*topic(Persons).definite, *topic(Persons).owned))}) ((?:\w+ )?\w+)")
_NAME_BEHIND = lazy_re(lambda: rf",? (?:{any_of(topic(Persons).called)} )*({CAPITAL}[\w’'-]{{2,}})")
_CALLED_SO = lazy_re(lambda: rf"\b(?i:{any_of(topic(Persons).named)}){_LARGE}")


class PossibleMention(Struct, frozen=True, kw_only=True):
    """A sentence that may be about somebody, and why."""

    sentence: str
    why: str


class NamedText(Struct, frozen=True, kw_only=True):
    """A text to be searched, with the caller's name for it."""

    id: str
    text: str


class Person:
    """A person, with everything that texts say about their names."""

    def __init__(self, name: str, texts: Iterable[str], others: Iterable[str] = ()) -> None:
        """Look for `name`; `texts` are read for their other names, and their relations to others.

        `others` are the names of other people.
        """
        self.name = " ".join(name.split())
        words = self.name.split()
        self._name_terms = frozenset(terms(self.name))
        self._folded = {word.casefold() for word in words}
        self._said = _name_pattern(self.name)
        self.others: dict[str, str] = {}
        """Other names, each with the reason for it."""
        self.roles: dict[str, str] = {}
        """Their relations to the speaker or to others, each with the words that state it."""
        self._owners: set[str] = set()
        """To whom; empty for the speaker."""
        if len(words) > 1:
            self.others.update((word.casefold(), f"{word} is part of the name") for word in words if len(word) > 2)
        held = list(texts)
        # "My sister" is a relation by itself.
        self._add_role(words[-1].casefold() if len(words) > 1 else "", self.name, _owner(self.name))
        for text in held:
            if self._said.search(text):
                self._learn_names(text)
        for text in held:
            self._learn_forms(text)
        self._of_others = (
            {word.casefold() for each in others for word in each.split()} - self._folded - self.others.keys()
        )
        self._often = Counter(word for text in held for word in distinctive_words(text))
        self._words: set[str] = set()
        """What is said of them and of hardly anything else."""
        self._pronouns = self._pronouns_of_roles()
        self._by_role = _role_pattern(self.roles)
        self._others = _possessive_pattern(self._roles_of_others())
        self._by_other_role = _possessive_pattern(topic(Persons).roles - self.roles.keys())
        for each in (one for text in held if self.named_in(text) for one in sentences(text, small_opens=True)):
            if self.named_in(each):
                self._learn_words(each)

    def _pronouns_of_roles(self) -> frozenset[str]:
        """The pronouns that may refer to them: by their relation, or all, since those beside a name may be others'."""
        known = topic(Persons)
        female, male = (not known.female.isdisjoint(self.roles), not known.male.isdisjoint(self.roles))
        if female == male:
            return known.she | known.he | known.they
        return known.she if female else known.he

    def _roles_of_others(self) -> frozenset[str]:
        """The relations of other people with the same pronouns."""
        known = topic(Persons)
        excluded = known.male if known.he.isdisjoint(self._pronouns) else known.female
        if self._pronouns >= known.she | known.he:
            excluded = frozenset()
        return known.roles - excluded - self.roles.keys()

    def named_in(self, text: str) -> bool:
        """Whether the name occurs in a text."""
        return self._said.search(text) is not None

    def mentions(self, texts: Sequence[NamedText]) -> Iterator[tuple[str, PossibleMention]]:
        """The sentences of consecutive texts that may be about them without naming them, by text."""
        open_for = 0
        recent: list[frozenset[str]] = []
        """The words of sentences about them, by text."""
        for at, each in enumerate(texts):
            recent = [*recent[-AHEAD:], frozenset()]
            named = self.named_in(each.text)
            ahead = any(self.named_in(one.text) for one in texts[at + 1 : at + 1 + AHEAD])
            of_other = False
            """Whether pronouns refer to another person, with whose name a sentence of this text began."""
            for sentence in sentences(each.text, small_opens=True):
                of_other = (of_other or self._begins_with_name(sentence)) and not self.named_in(sentence)
                why = self.mention_reason(sentence, follows=open_for > 0 and not of_other, ahead=ahead)
                if not why and (shared := distinctive_words(sentence) & frozenset().union(*recent)):
                    why = f"“{min(shared)}” was said of {self.name} shortly before"
                if why or self.named_in(sentence):
                    recent[-1] |= self._learn_words(sentence)
                if named or why.startswith("“"):
                    open_for = CHAIN + 1
                elif self._others.search(sentence):
                    open_for = 0
                if why and not self.named_in(sentence):
                    yield each.id, PossibleMention(sentence=sentence, why=why)
                    open_for = max(open_for, CHAIN)
            open_for -= 1

    def _is_about_other(self, clause: str) -> bool:
        """Whether a clause begins with another name, or names another relation."""
        return self._begins_with_name(clause) or self._by_other_role.search(clause) is not None

    def _begins_with_name(self, clause: str) -> bool:
        first = _WORD.search(clause)
        return first is not None and first[0].casefold() in self._of_others

    def mention_reason(self, sentence: str, *, follows: bool = False, ahead: bool = False) -> str:
        """Why a sentence may be about them; empty if nothing indicates it."""
        words = [word.casefold() for word in _WORD.findall(sentence)]
        for word in words:
            bare = re.sub(r"['’]s?$", "", word)
            if bare in self.others:
                return f"“{bare}”: {self.others[bare]}"
        for found in self._by_role.finditer(sentence) if self._by_role is not None else ():
            if not self._is_of_other(found, sentence):
                role = next(each for each in found.groups() if each).casefold()
                return f"“{found[0].strip()}”: {self.roles[role]}"
        pointing = [found[1] for found in _DEFINED.finditer(sentence)] if len(words) > HALF else [sentence]
        for said in pointing:
            if shared := self._words.intersection(terms(said)):
                return f"“{min(shared)}” was said of {self.name}"
        pronoun = next((word for word in words if word in self._pronouns), "")
        if pronoun and follows:
            return f"{pronoun} may be {self.name}, of whom was spoken before"
        if pronoun and ahead:
            return f"{pronoun} may be {self.name}, who is named soon after"
        return ""

    def _learn_words(self, sentence: str) -> frozenset[str]:
        """Add the rare words of a sentence about them, and return its words."""
        calling = frozenset(terms(" ".join((*topic(Persons).called, *self._of_others))))
        # "Callum is a carpenter, and my mum teaches": each clause is about somebody else.
        clauses = [each for each in PIECES.split(sentence) if self.named_in(each) or not self._is_about_other(each)]
        words = distinctive_words(". ".join(clauses)) - role_terms() - self._name_terms - calling
        self._words.update(word for word in words if self._often[word] <= RARE)
        return words

    def _is_of_other(self, found: re.Match[str], sentence: str) -> bool:
        """Whether a relation is that of somebody else, or has another name behind it: "my sister Ruth"."""
        whose = _owner(found[0])
        behind = _NAME_BEHIND.match(sentence, found.end())
        name = behind[1].casefold() if behind else ""
        is_named = name and name not in topic(Names).none and name not in self._folded and name not in self.others
        return bool(is_named or (whose is not None and self._owners and whose not in self._owners))

    def _learn_names(self, text: str) -> None:
        """Read a text with their name for their other names."""
        known = topic(Persons)
        name, called = re.escape(self.name), any_of(known.called)
        role = r"(?P<role>[^\W\d_][\w-]{1,30})"
        for sentence in sentences(text, small_opens=True):
            if not self._said.search(sentence):
                continue
            for pattern in (
                rf"\b(?P<whose>{any_of(known.owned)}) (?:\w+ ){{0,2}}?{role}(?:['’]s)?(?: ?{called}){{0,3}} ?{name}\b",
                rf"\b{name}(?: ?{called}){{1,2}} ?(?:\w+ )?(?P<whose>{any_of(known.owned)}) (?:\w+ ){{0,2}}?{role}\b",
            ):
                for found in re.finditer(pattern, sentence, re.I):
                    self._add_role(found["role"].casefold(), sentence, _owner(found["whose"]))
            so = any_of(known.known_as)
            alias = rf"\b{name}\W+(?:\w+ )?{so} {_LARGE}|{_LARGE}\W+(?:is )?{so} {name}\b"
            for found in re.finditer(alias, sentence):
                self.others.setdefault((found[1] or found[2]).casefold(), f"so it says: {sentence}")
            for clause in filter(self._said.search, PIECES.split(sentence)):
                # "Gaz is what you call Gareth."
                said = [word for word in _WORD.findall(clause) if word.casefold() not in topic(Words).stop]
                calls = known.calling.intersection(word.casefold() for word in said)
                for word in said if calls else ():
                    if word[0].isupper() and word.casefold() not in {*topic(Names).none, *calls, *self._folded}:
                        self.others.setdefault(word.casefold(), f"so it says: {sentence}")
            for found in re.finditer(rf"\b{name} {_LARGE}", sentence):
                self.others.setdefault(found[1].casefold(), f"{self.name} {found[1]} is named in: {sentence}")
        for found in _CALLED_SO.finditer(text):
            self.others.setdefault(found[1].casefold(), f"so it says: {found[0]}")

    def _add_role(self, role: str, sentence: str, owner: str | None) -> None:
        # A compound says more about the same relation: Bürokollege.
        last = next((each for each in ends_of(role) if each in topic(Persons).roles), "")
        if not last:
            return
        if owner is not None:
            self._owners.add(owner)
        same = (word for words in topic(Persons).same.values() if {role, last} & {*words} for word in words)
        for other in (role, last, *same):
            self.roles.setdefault(other, f"so it says: {sentence}")

    def _learn_forms(self, text: str) -> None:
        """Add capitalised words that begin like the name as forms of it."""
        for word in _WORD.findall(text):
            folded = re.sub(r"['’]s?$", "", word).casefold()
            if folded in self._folded or folded in self.others or not word[0].isupper():
                continue
            if any(is_form(folded, name) for name in self._folded):
                self.others[folded] = f"it is written like {self.name}"


def _owner(words: str) -> str | None:
    """Whose relation somebody is, by the words before it: empty for the speaker's, None if that is not said."""
    first = words.split()[0].casefold()
    if first in topic(Questions).asker or "user" in words.casefold():
        return ""
    return found[0] if (found := re.match(r"[^\W\d_]+(?=['’]s)", first)) else None


def is_form(word: str, name: str) -> bool:
    """Whether a word may be a form of a name: another ending, or one different letter."""
    if len(name) < ALIKE or len(word) < ALIKE or abs(len(word) - len(name)) > LONGER:
        return False
    if word.startswith(name) or (len(name) > ALIKE and name.startswith(word)) or (len(word) > ALIKE and word in name):
        return True
    if sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, name, strict=False))) >= max(
        ALIKE, SHARED_START * min(len(word), len(name))
    ):
        return True
    return (
        len(name) > ALIKE + 1 and len(word) == len(name) and sum(a != b for a, b in zip(word, name, strict=True)) == 1
    )


def _name_pattern(name: str) -> re.Pattern[str]:
    pieces = r"\s+".join(map(re.escape, name.split()))
    return re.compile(rf"(?<!\w){pieces}(?!\w)", re.I)


def _role_pattern(roles: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern for one of `roles` of a known person: with a possessive, or capitalised like a name."""
    listed = sorted(roles, key=len, reverse=True)
    if not listed:
        return None
    large = any_of(re.escape(role.capitalize()) for role in listed)
    return re.compile(rf"{_possessive_pattern(listed).pattern}|\b({large})\b")


def _possessive_pattern(roles: Iterable[str]) -> re.Pattern[str]:
    owned = any_of(each for each in topic(Persons).owned if each not in ("a", "an"))
    listed = any_of(map(re.escape, roles)).replace("(?:", "(", 1)
    return re.compile(rf"(?i:\b{owned} (?:\w+ ){{0,2}}?{listed}\b)")


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
            each.value: side for each in known if each.attribute in relations() if (side := _gender(each.text))
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
            name, side = found["name"], _gender(found["word"])
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


def _gender(text: str) -> str:
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

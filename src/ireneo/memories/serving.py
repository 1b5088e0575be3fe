"""Find the memories that serve a goal: each is judged on its own, and never against the best one found.

A goal and a memory rarely share a word: “a dinner for four” says nothing about nuts. So words are connected by areas of
life, which are language data: what goals in an area ask for, and what is worth knowing there. An embedder, if there is
one, holds back texts that are no closer to the goal than unrelated sentences.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from ireneo.language.files import CAPITAL, any_of, cached_data, of_language, topic
from ireneo.language.times import month_numbers, weekday_numbers
from ireneo.language.topics import Persons, Questions, Rulings, Serving, Words
from ireneo.language.words import common_words, language_of_sentence, sentences, terms, writes_nouns_large
from ireneo.memories.cues import clause_words, relations
from ireneo.memories.earnest import is_joke, statements
from ireneo.memories.mentions import opens_with_name, same_roles
from ireneo.memories.senses import names_another, senses_asked
from ireneo.memories.wording import ends_of
from ireneo.memories.worth import is_worth_keeping
from ireneo.patterns import lazy_re

_SAYS = topic(Serving)

LONGEST_GOAL = 600
"""How many characters of a goal are read; later text is pasted."""
SERVES = 0.65
"""The minimum score with which something serves a goal."""
SHARED, AREA = 1.0, 0.7
"""The weight of a shared word, and of one that states something in an area."""
COMMONLY = 0.35
"""The weight of a shared word that many texts contain, or that only names an area."""
MORE = 0.15
"""The weight of each further word."""
COMMON = {"memories": 0.2, "messages": 0.05}
"""A word in more than this share of the searched texts says little: two of them are needed."""
FEW = 5
"""Up to this many texts may always contain it."""
APART = 0.3
"""The deduction for being no nearer to the goal than unrelated sentences are."""
FAR = 3.0
"""Up to how many deviations above unrelated sentences a text is that far."""
UNRELATED = (
    "The committee will publish its report in spring.",
    "Copper conducts electricity better than iron.",
    "The old bridge was painted green.",
    "Most of the islands have no name.",
    "The museum closes one hour before sunset.",
    "He opened the window and looked at the rain.",
    "Prices rose by three percent over the decade.",
    "The second chapter is about the moons of Jupiter.",
    "A queue had formed in front of the counter.",
    "The orchestra tuned its instruments.",
)
"""Sentences that hardly any goal is about: their distance to it shows what an embedder calls far."""

_WORD = lazy_re(r"(?<!\w)[^\W\d_][^\W_]*(?:[-_][^\W_]+)*")
_NAME = lazy_re(rf"(?<=[^.!?:\s]\s){CAPITAL}[a-zß-ɏ]+")
"""A word that is written like a name and does not begin a sentence."""
_QUOTED = lazy_re(r"\"[^\"]{1,600}\"|[“„«][^“”»]{1,600}[”“»]")
"""A quotation is somebody else's text, such as one to be translated or sent."""
_REQUEST = lazy_re(lambda: rf"(?:{any_of(_SAYS.requests)})\b(?!.*\b{any_of(_SAYS.persons)}\b)", re.I)
_CLAUSES = lazy_re(lambda: rf"[,;:.!?] (?:{clause_words()} )?| {clause_words()} ")
_OWN = lazy_re(lambda: rf"(?=\b({any_of(topic(Questions).asker)}(?:\W+\w+){{1,4}}))", re.I)
"""The user and the next words: my address and phone number."""
FOOD = "food"
LONGEST_SHORT = 3
"""The letters of the short name of a day or month: sun."""


@cached_data
def _third_persons() -> frozenset[str]:
    known = topic(Persons)
    return known.she | known.he | known.they


class Relevance(Struct, frozen=True, kw_only=True):
    """How well something serves a goal, and why."""

    score: float
    why: str
    limits: bool = False
    """Whether it says what somebody must avoid."""


@cached_data
def _areas_by_question_word() -> dict[str, frozenset[str]]:
    return _areas_by_word(_SAYS.asks)


@cached_data
def _areas_by_english_question_word() -> dict[str, frozenset[str]]:
    return _areas_by_word(of_language(Serving, "en").asks)


@cached_data
def _areas_by_answer_word() -> dict[str, frozenset[str]]:
    return _areas_by_word(_SAYS.tells)


@cached_data
def _areas_by_occasion() -> dict[str, frozenset[str]]:
    return _areas_by_word(_SAYS.occasions)


def _areas_by_word(areas: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for area, words in areas.items():
        for word in words:
            found.setdefault(word, set()).add(area)
    return {word: frozenset(each) for word, each in found.items()}


def _areas_of_word(word: str, known: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return next((known[each] for each in ends_of(word) if each in known), frozenset())


def _is_limit(word: str) -> bool:
    return not _SAYS.limits.isdisjoint(ends_of(word))


def _words_by_term(text: str) -> dict[str, str]:
    """Map the terms of a text to its words, without stop words."""
    found: dict[str, str] = {}
    for word in _WORD.findall(_QUOTED.sub(" ", text).casefold()):
        pieces = word.replace("_", "-").split("-")
        if len(pieces) > 1:
            found.setdefault(word, word)
        for piece in pieces:
            if stems := terms(piece):
                found.setdefault(stems[0], piece)
    return found


def is_standing_rule(text: str) -> bool:
    """Whether a text is a rule for how the assistant should answer, whatever is asked."""
    return _SAYS.standing.search(text) is not None


def matters_for(rule: str, goal: str) -> bool:
    """Whether a rule for answers matters for a goal: some are for texts to be sent, explanations, or one area."""
    kinds = {"text": _SAYS.of_texts, "answer": _SAYS.of_answers, "explanation": _SAYS.of_explanations}
    about = {kind for kind, pattern in kinds.items() if pattern.search(rule)}
    about |= {area for word in _WORD.findall(rule.casefold()) for area in _areas_of_word(word, _areas_by_occasion())}
    now = {kind for kind in ("text", "explanation") if kinds[kind].search(goal)} | Purpose(goal).areas
    now |= {"text"} if _SAYS.writes.search(goal) else set()
    return not goal.strip() or not about or not about.isdisjoint(now if "text" in now else {*now, "answer"})


def _is_anothers(word: str, text: str) -> bool:
    """Whether a relation in a text is somebody else's: "his sister"."""
    said = [each.casefold() for each in _WORD.findall(text)]
    return word in topic(Persons).roles and any(
        whose in _third_persons() and each.startswith(word) for whose, each in pairwise(said)
    )


def goes_on_about(text: str) -> bool:
    """Whether a text begins with a pronoun for somebody."""
    return not _third_persons().isdisjoint(map(str.casefold, _WORD.findall(text)[:1]))


def informative_sentences(text: str) -> list[str]:
    """The sentences of a message that state something: no questions, requests or imagined events."""
    return [
        each
        for each in sentences(text, small_opens=True)
        if not (each.endswith("?") or _REQUEST.match(each) or _SAYS.unreal.search(each) or is_joke(each))
    ]


def earnest_sentences(text: str) -> list[str]:
    """The sentences of a message that its author states in earnest, and that are worth keeping."""
    said = [each for each in statements(text) if not each.asks and is_worth_keeping(each.text)]
    return list(dict.fromkeys(each.sentence for each in said))


@cached_data
def routine_words() -> frozenset[str]:
    """The terms of words that all work in a project uses."""
    return frozenset(terms(" ".join(_SAYS.routine)))


@cached_data
def _plain_words() -> frozenset[str]:
    """Words that say nothing about a subject, and days; a short name of one may be another word."""
    return _SAYS.plain | {word for word in (*month_numbers(), *weekday_numbers()) if len(word) > LONGEST_SHORT}


def _up_to_person(phrase: str) -> str:
    """The words up to the first one for a person, to whom what follows belongs: "my daughter for her birthday"."""
    words = phrase.split()
    at = next((place for place, each in enumerate(words) if each.casefold() in topic(Persons).roles), len(words))
    return " ".join(words[: at + 1])


class Purpose:
    """The subject of a goal."""

    def __init__(self, goal: str) -> None:
        """Parse a goal; an empty one is about nothing."""
        self.text = goal.strip()[:LONGEST_GOAL]
        read = _words_by_term(self.text)
        language = language_of_sentence(self.text)
        plain = _plain_words() | of_language(Words, language).stop
        self.words = {stem: word for stem, word in read.items() if not {word, word.removesuffix("s")} & plain}
        large = writes_nouns_large(self.text)
        # A word of one language may have another meaning in the next: a "Roman" is not a novel in English.
        english = language == "en" and not large and not common_words().isdisjoint(_WORD.findall(self.text.casefold()))
        asks = _areas_by_english_question_word() if english else _areas_by_question_word()
        self.areas = frozenset(area for word in read.values() for area in _areas_of_word(word, asks))
        self.people = frozenset[str]()
        """The names of people whom it calls by a relation."""
        self.names = frozenset[str]() if large else frozenset(word.casefold() for word in _NAME.findall(self.text))
        self.slots = self._slots_asked()
        """The attributes of the user that it asks for."""

    def meet(self, names: Collection[str], user: Collection[str]) -> None:
        """Take the names of people who are meant by a relation: "my sister" is Kerensa; and those of the user."""
        own = {stem: word for name in user for stem, word in _words_by_term(name).items()}
        self.names -= {*own.values()}
        self.words = {stem: word for stem, word in self.words.items() if stem not in own}
        known = topic(Persons).roles
        # "Mama" is called "meine Mutter" as well.
        roles = {other for word in self.words.values() if word in known for other in same_roles(word) & known}
        for name in (*names, *roles):
            self.words |= {stem: word for stem, word in _words_by_term(name).items() if stem not in self.words}
        self.people |= {word for name in names for word in _words_by_term(name).values()}

    def _slots_asked(self) -> frozenset[str]:
        """The attributes of the user that a question asks for, or that a goal names as the user's or from its areas."""
        senses = senses_asked(self.text)
        words = {word.casefold() for word in _WORD.findall(self.text)}
        asker = (topic(Questions).asker | topic(Persons).speakers) - topic(Questions).answerer
        if senses and _SAYS.asked.match(self.text) and not asker.isdisjoint(words) and not names_another(self.text):
            return senses
        own = frozenset(each for found in _OWN.finditer(self.text) for each in senses_asked(_up_to_person(found[1])))
        always = {code for area in self.areas for code in _SAYS.fills.get(area, ())}
        return own | always | (senses & {code for area in self.areas for code in _SAYS.slots.get(area, ())})

    def search_terms(self) -> tuple[tuple[str, float], ...]:
        """The terms to search for, with their weights: the goal's own, and those of its areas."""
        told = [word for area in sorted(self.areas) for word in _SAYS.tells.get(area, ())]
        beside = {stem: 0.3 for word in told for stem in terms(word)}
        return tuple({**beside, **dict.fromkeys(self.words, 1.0)}.items())

    def relevance(
        self, text: str, *, common: Collection[str] = (), of_others: bool = False, far: bool = False, before: str = ""
    ) -> Relevance | None:
        """How well a text serves the goal; None if it doesn't.

        `common` are terms of many texts; `of_others` says that it is about people whom the goal doesn't name;
        `far` says that an embedder finds it far from the goal; `before` is what was said before it.
        """
        read = _words_by_term(text)
        if not read:
            return None
        score = 0.0
        why: list[str] = []
        if goes_on_about(text) and (said := next(filter(self.is_about, list(sentences(before))[::-1]), "")):
            # "Tobias is forty. He's a luthier."
            read |= {stem: word for stem, word in _words_by_term(said).items() if stem in self.words}
            text = f"{said} {text}"
        shared = {
            word: stem in common for stem, word in self.words.items() if stem in read and not _is_anothers(word, text)
        }
        if shared:
            # A common word, or the name of an area, is a weaker sign, unless the goal has no other word.
            weak = {word for word, is_common in shared.items() if is_common or self._names_area(word)}
            score += sum(COMMONLY if word in weak and len(shared) < len(self.words) else SHARED for word in shared)
            why.append(f"it speaks of {', '.join(list(shared)[:4])}")
        told = self._areas_of(read, _areas_by_answer_word())
        if told.get(FOOD) and not _SAYS.not_eaten.isdisjoint(read.values()):
            # An allergy to wasps is nothing for a dinner.
            told = {area: words for area, words in told.items() if area != FOOD}
        diet = {area for word in read.values() for area in _areas_of_word(word, _areas_by_answer_word())} == {FOOD}
        if self.areas and diet and not told and all(map(self._is_person, shared)):
            # What somebody can't eat says nothing of a present for them.
            return None
        if not shared:
            told = self._certain(told, text, read)
        others = (of_others or self._tells_of_others(text, before)) and not any(map(self._is_person, shared))
        if told and not (others and (self._names_people() or (self.areas & _SAYS.shared).isdisjoint(told))):
            score += AREA + MORE * min(sum(told.values()) - 1, 2)
            why.append(f"it matters for {', '.join(sorted(told))}")
        # What somebody must not eat matters for a dinner, however far it is from its words.
        limits = bool(told) and any(map(_is_limit, read.values()))
        score -= APART if far and not limits else 0.0
        return Relevance(score=score, why="; ".join(why), limits=limits) if score >= SERVES else None

    def _is_person(self, word: str) -> bool:
        return word in topic(Persons).roles or word in relations() or word in self.people or word in self.names

    def _names_people(self) -> bool:
        """Whether it is about somebody whom it names or calls by a relation."""
        return any(map(self._is_person, self.words.values()))

    def _tells_of_others(self, text: str, before: str) -> bool:
        """Whether all that a text says in the goal's areas is about others than its author."""
        known, other, told = topic(Persons), False, list[bool]()
        # A pronoun may be that of somebody whom the goal names.
        pronouns = frozenset[str]() if self.is_about(f"{before} {text}") else known.she | known.he
        for part in (before, text):
            told = []
            for clause in _CLAUSES.split(part):
                words = {word.casefold() for word in _WORD.findall(clause)}
                if not words.isdisjoint(topic(Questions).oneself):
                    other = False
                elif opens_with_name(clause) or not words.isdisjoint(
                    (pronouns | known.roles) - set(self.words.values())
                ):
                    other = True
                if self._areas_of(_words_by_term(clause), _areas_by_answer_word()):
                    told.append(other)
        return bool(told) and all(told)

    def is_about(self, text: str) -> bool:
        """Whether a text is about somebody whom the goal names."""
        words = (word for stem, word in _words_by_term(text).items() if stem in self.words)
        return any(self._is_named(word, text) for word in words)

    def _is_named(self, word: str, text: str) -> bool:
        return self._is_person(word) or re.search(rf"[a-z,] {re.escape(word.capitalize())}\b", text) is not None

    def _names_area(self, word: str) -> bool:
        return bool(_areas_of_word(word, _areas_by_question_word())) and word not in topic(Persons).roles

    def _certain(self, told: Mapping[str, int], text: str, read: Mapping[str, str]) -> dict[str, int]:
        """Those of the areas to which a text belongs for sure, though it shares no word with the goal."""
        limited = any(map(_is_limit, read.values())) or topic(Rulings).negates.search(text)
        return {
            area: words
            for area, words in told.items()
            if words > 1 or area in _SAYS.alone or (limited and area in _SAYS.limited)
        }

    def _areas_of(self, read: Mapping[str, str], known: Mapping[str, frozenset[str]]) -> dict[str, int]:
        """The goal's areas that words of a text belong to, as far as `known`, each with the number of its words."""
        told: dict[str, int] = {}
        for word in read.values():
            areas = _areas_of_word(word, known) & self.areas
            if not areas and relations().get(word) in self.slots:
                areas = frozenset(area for area in self.areas if relations()[word] in _SAYS.slots.get(area, ""))
            for area in areas:
                told[area] = told.get(area, 0) + 1
        return told

"""Senses of questions: the thing that a question asks for, by its words, and the words of an answer.

"What do you do for a living" and "I run a school's kitchen" share no word, but one asks for a job and the other states
one. The words are data, in `senses` of a language's file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ireneo.language.files import CAPITAL, LANGUAGES, any_of, cached_data, of_language, topic
from ireneo.language.topics import Persons, Questions, Senses
from ireneo.language.words import language_of_sentence, other_forms, similar_words, terms, writes_nouns_large
from ireneo.memories.facts import attribute_of
from ireneo.patterns import lazy_re

_QUESTIONS = topic(Questions)


Beside: TypeAlias = Mapping[str, Sequence[tuple[str, float]]]
"""For each term, the words that may stand in for it, each with its relative weight."""

TOLD = 0.8
"""The relative weight of a word that answers what a term asks for; never more for being rarer."""
ALIKE = 8
"""How many words of similar meaning count for a term, of those that occur in the space."""
ALIKE_TRIED = 16
"""How many nearest words are tried."""
ALIKE_WEIGHT = 0.5
"""The weight of such a word, multiplied by its cosine."""

INFLECTED = 0.7
"""The weight of another form of a word."""

_WORDS = lazy_re(r"[^\W\d_]+")
_NAME = lazy_re(rf"(?<=[^.!?:\s]\s){CAPITAL}[^\W\d_]+")
_ROLE = lazy_re(lambda: rf"\b{any_of(re.escape(each) for each in topic(Persons).roles)}\b", re.I)


def asked_attributes(text: str, asked: dict[str, float], frame: float) -> tuple[frozenset[str], Beside]:
    """The attributes that a question asks for, and the words that count in place of its terms.

    `asked` has its terms with their weights; those with at most `frame` ask for nothing by themselves. A sense that
    only common words ask for gets its own term there.
    """
    told: dict[str, dict[str, float]] = {}
    senses = set[str]()
    for language, code, said in _asked_senses(text):
        senses.add(attribute_of(code))
        term = next((each for each in reversed(said) if each in asked), code)
        asked[term] = 1.0
        told.setdefault(term, {}).update(dict.fromkeys(_answer_terms()[language][code], TOLD))
    beside = {}
    language = language_of_sentence(text)
    for term, weight in asked.items():
        # If the words of answers are known, words similar to another sense of the term are noise.
        near = told.get(term) or _similar_terms(term, language)
        if weight > frame:
            beside[term] = [(word, share) for word, share in near.items() if word not in asked]
    return frozenset(senses), beside


def _similar_terms(term: str, language: str) -> dict[str, float]:
    """Words similar in meaning, of which there is an English table; for another language the other forms of a word."""
    if language == "en":
        return {word: ALIKE_WEIGHT * cosine for word, cosine in similar_words(term, ALIKE_TRIED)}
    return dict.fromkeys(other_forms(term, language), INFLECTED)


def _asked_senses(text: str) -> list[tuple[str, str, list[str]]]:
    """The things that a question asks for, by language and code, with the terms that ask for them.

    It is read in its own language, and in others only if it asks for nothing in that: "warm" in a German question about
    rent has another meaning in English.
    """
    own = language_of_sentence(text)
    for language, asks in sorted(_question_patterns().items(), key=lambda each: each[0] != own):
        found = ((code, pattern.search(text)) for code, pattern in asks.items())
        if senses := [(language, code, terms(each[0])) for code, each in found if each is not None]:
            return senses
    return []


def senses_asked(text: str) -> frozenset[str]:
    """The attributes that a text names or asks for."""
    return frozenset(attribute_of(code) for _, code, _ in _asked_senses(text))


def is_about_other_subject(text: str) -> bool:
    """Whether a text speaks of somebody else, and not of its author."""
    words = {word.casefold() for word in _WORDS.findall(text)}
    known = topic(Persons)
    return words.isdisjoint(_QUESTIONS.oneself) and not words.isdisjoint(known.she | known.he | known.roles)


def names_another(text: str) -> bool:
    """Whether a question names somebody else, by name or by relation to the asker."""
    return bool(_ROLE.search(text) or (not writes_nouns_large(text) and _NAME.search(text)))


@cached_data
def _question_patterns() -> dict[str, dict[str, re.Pattern[str]]]:
    """By language and sense, the pattern of questions for it."""
    return {
        language: {code: lazy_re(rf"\b{any_of(rows)}(?!\w)", re.I) for code, rows in known.asks.items()}
        for language in LANGUAGES
        if (known := of_language(Senses, language)).asks
    }


@cached_data
def _answer_terms() -> dict[str, dict[str, list[str]]]:
    """By language and sense, the terms of answers to it."""
    return {
        language: {
            code: list(dict.fromkeys(term for word in (code.replace("_", " "), *words) for term in terms(word)))
            for code, words in of_language(Senses, language).tells.items()
        }
        for language in _question_patterns()
    }

"""The second look: the candidates are read, and what only their text, author and time can tell is counted in.

A score is a sum of named parts, kept with it. What the words count for comes first; each favour adds a share of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ireneo.memories.recall.candidates import SHADE, SIDE_FAVOUR, Candidate, length_factors, weights
from ireneo.memories.recall.documents import ASSISTANT, USER, length_class, place_of, role_of
from ireneo.memories.recall.found import Passage, Postings, Shelf
from ireneo.memories.recall.question import Question
from ireneo.memories.recall.words import terms
from ireneo.patterns import lazy_re

SPEAKER_FAVOUR = 0.4
"""How much more a message counts whose author is the one speaker that the question names."""
TIME_WORD_FAVOUR = 0.25
"""How much more, where it is asked when, one counts that has a word of time."""
FIGURE_FAVOUR = 0.1
"""How much more, where it is asked how many, one counts that has a number."""
WINDOW_FAVOUR = 0.25
"""How much more one counts that was said in the time that the question names."""
PHRASE_FAVOUR = 0.25
"""How much more one counts that has a quoted phrase of the question word for word."""

_TIME_WORD = lazy_re(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|days?|recently|just|since|until"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|morning|evening|(?:19|20)\d\d)\b",
    re.I,
)
_FIGURE = lazy_re(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|once|twice|dozen|couple|half)\b", re.I)
_READ = 1_500
"""Letters of a text that are looked through for words of time and figures; in a longer one they are bound to occur."""


class Ranked(Struct, frozen=True, kw_only=True):
    """A document in its order, with what put it there."""

    number: int
    score: float
    parts: tuple[tuple[str, float], ...]
    """Each part of the score by its name; together they are the score."""


def rank(
    question: Question,
    found: Sequence[Candidate],
    passages: Sequence[Passage],
    postings: Sequence[Postings],
    shelf: Shelf,
    *,
    reach: int = len(SHADE) - 1,
) -> tuple[Ranked, ...]:
    """The passages of the candidates, best first; of equal ones the earlier, which brings a matter up.

    `passages` may miss some places (none is there, or it was erased): they are left out. `postings` are those that the
    candidates were found with.
    """
    by_place = {place_of(each.number): each for each in passages}
    unread = {each.term for each in postings if each.numbers is None and each.count}
    worth = {term: value for term, value in weights(question, postings, shelf).items() if term in unread}
    common = _common_words(by_place, worth, length_factors(shelf), reach) if worth else {}
    ranked = [
        _scored(question, each, by_place[each.place], common.get(each.place, 0.0))
        for each in found
        if each.place in by_place
    ]
    return tuple(sorted(ranked, key=lambda each: (-each.score, each.number)))


def _scored(question: Question, found: Candidate, passage: Passage, common: float) -> Ranked:
    base = found.score + common
    own = min(found.own, found.score)
    parts = [("words", own), ("words nearby", found.score - own), ("common words", common)]
    parts += [(name, base * share) for name, share in _favours(question, passage)]
    kept = tuple((name, value) for name, value in parts if value)
    return Ranked(number=passage.number, score=sum(value for _, value in kept), parts=kept)


def _favours(question: Question, passage: Passage) -> Iterator[tuple[str, float]]:
    """What else speaks for a passage, as shares of what its words count."""
    if len(question.who) == 1 and passage.author == question.who[0]:
        yield "speaker", SPEAKER_FAVOUR
    if question.side and passage.author is None and role_of(passage.number) == _SIDES[question.side]:
        yield "side", SIDE_FAVOUR
    if question.window and passage.at and question.window.holds(passage.at):
        yield "time", WINDOW_FAVOUR
    if len(passage.text) <= _READ:
        if question.asks_when and _TIME_WORD.search(passage.text):
            yield "words of time", TIME_WORD_FAVOUR
        if question.asks_how_many and _FIGURE.search(passage.text):
            yield "figures", FIGURE_FAVOUR
    if question.phrases and any(_stands_in(phrase, terms(passage.text)) for phrase in question.phrases):
        yield "phrase", PHRASE_FAVOUR


_SIDES = {"user": USER, "assistant": ASSISTANT}


def _stands_in(phrase: Sequence[str], read: Sequence[str]) -> bool:
    size = len(phrase)
    return any(tuple(read[at : at + size]) == tuple(phrase) for at in range(len(read) - size + 1))


def _common_words(
    by_place: dict[int, Passage], worth: dict[str, float], factors: Sequence[float], reach: int
) -> dict[int, float]:
    """What the terms too common for the first look count, as far as the passages that were read show them."""
    score: dict[int, float] = dict.fromkeys(by_place, 0.0)
    held = {place: _held(passage.text) for place, passage in by_place.items()}
    for term, value in worth.items():
        here = {place: value * factors[length_class(size)] for place, (have, size) in held.items() if term in have}
        for place in by_place:
            score[place] += max(SHADE[abs(step)] * here.get(place + step, 0.0) for step in range(-reach, reach + 1))
    return score


def _held(text: str) -> tuple[frozenset[str], int]:
    read = terms(text)
    return frozenset(read), len(read)

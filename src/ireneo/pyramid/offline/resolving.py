"""Which open threads a sentence of a story resolves."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from ireneo.context.thread import Thread
from ireneo.patterns import lazy_re
from ireneo.pyramid.offline.cues import words_of
from ireneo.pyramid.offline.resolving_words import ANSWERS, BY_WORD, ENDS, FATE, HINTS, PLACE, End
from ireneo.pyramid.offline.same_words import about, names
from ireneo.pyramid.offline.speech import Sentence
from ireneo.pyramid.offline.table_talk import DENIES, EMPTY, NOT_SO

ENOUGH = 0.5
"""Of what a thread speaks of, so much must be spoken of again where its end comes."""

CLOSE = 30
"""What becomes of somebody is said within so many characters after the name."""
ALONE = 1_500
"""Within so many messages, an end is taken to be of the only thread of its kind that its speaker has."""
TOGETHER = 5_000
"""Within so many, to be of the only one that its speaker and hearer have with each other."""

_WHY = lazy_re(r"^\W*(?:\w+[, ]+)?why\b", re.IGNORECASE)
_REASON = lazy_re(r"\b(?:because|so that|in order to|wanted|hoped|feared)\b", re.IGNORECASE)
_MAY_BE = lazy_re(r"\b(?:if|will|shall|would|may|might|should|could|perhaps|maybe)\b", re.IGNORECASE)
_FATES = lazy_re(r"\b(?:happened to|became of|become of)\b", re.IGNORECASE)
_PLACES = lazy_re(r"\bwhere\b", re.IGNORECASE)


class Known(Struct, frozen=True, kw_only=True):
    """An open thread, with what it speaks of."""

    thread: Thread
    about: frozenset[str]
    names: frozenset[str]
    words: frozenset[str]
    """Its words that say something, as they stand there."""
    people: frozenset[str]
    """Whose it is, in small letters."""


def known(thread: Thread) -> Known:
    """An open thread, read once for all the sentences that may end it."""
    people = frozenset((thread.who.casefold(), thread.whom.casefold())) - {""}
    return Known(
        thread=thread,
        about=about(thread.text),
        names=names(thread.text),
        words=words_of(thread.text) - EMPTY,
        people=people,
    )


def may_end(words: frozenset[str], threads: Sequence[Known]) -> bool:
    """Whether a text of these words may end one of `threads`, at a glance."""
    return bool(threads) and (
        not words.isdisjoint(HINTS)
        or any(each.thread.kind == "question" and not words.isdisjoint(each.names or each.words) for each in threads)
    )


def ended(sentence: Sentence, threads: Sequence[Known]) -> list[Known]:
    """Those of `threads` that a sentence resolves; none is resolved in the message that opened it."""
    text = sentence.text
    if "?" in text or not (earlier := [each for each in threads if each.thread.source != sentence.voiced.source]):
        return []
    out = [each for each in earlier if each.thread.kind == "question" and answers(text, each)]
    words = words_of(text)
    numbers = {number for word in words & HINTS for number in BY_WORD[word]}
    for end in (ENDS[number] for number in sorted(numbers)):
        theirs = [each for each in earlier if each.thread.kind in end.kinds]
        if not theirs or any(words.isdisjoint(each) for each in end.words):
            continue
        found = end.pattern.search(text)
        if found is not None and not DENIES.search(text[: found.start()]) and not NOT_SO.search(text, 0, found.end()):
            out += _which(end, sentence, theirs)
    return out


def answers(text: str, question: Known) -> bool:
    """Whether a sentence says who, where, why or what, of whom or what the question names."""
    said = words_of(text)
    if "?" in text or not question.names <= said:
        return False
    if _FATES.search(question.thread.text):
        return _said_of(FATE, text, question)
    if _PLACES.search(question.thread.text):
        return _said_of(PLACE, text, question)
    if _WHY.search(question.thread.text) and not _REASON.search(text):
        return False
    shared = question.about & about(text)
    return len(shared) >= 2 and 3 * len(shared) >= 2 * len(question.about) and bool(ANSWERS.search(text))


def _said_of(words: re.Pattern[str], text: str, question: Known) -> bool:
    """Whether such words stand close behind a name of the question."""
    if _MAY_BE.search(text):
        return False
    low = text.lower()
    ends = [place + len(name) for name in question.names if (place := low.find(name)) >= 0]
    return any(words.search(text, end, end + CLOSE) for end in ends)


def _which(end: End, sentence: Sentence, threads: Sequence[Known]) -> list[Known]:
    """Of the threads that an end may be of, the one that it is of; none where that isn't plain."""
    said = about(sentence.text)
    voiced = sentence.voiced
    people = {voiced.speaker.casefold(), voiced.hearer.casefold(), *names(sentence.text)} - {""}
    best: tuple[int, Known] | None = None
    ours: list[Known] = []
    for each in threads:
        both = each.about & said
        # Those who are named in it are in half of a story: something else must be said again, too.
        shared = len(both) if both - each.names - each.people else 0
        theirs = bool(each.people & people)
        if each.people and people and not theirs:
            continue
        # Where nobody knows who speaks, only the same name or a good many of the same words tell.
        enough = 2 if theirs or (each.names & names(sentence.text)) or end.by_people else 4
        if shared >= enough and shared >= ENOUGH * len(each.about) and (best is None or shared > best[0]):
            best = (shared, each)
        age = voiced.position - each.thread.position
        both_here = len(each.people) == 2 and each.people <= people and age <= TOGETHER
        own = voiced.speaker.casefold() in each.people and age <= ALONE and names(sentence.text) <= each.people
        if both_here or own:
            ours.append(each)
    if best is not None:
        return [best[1]]
    return ours if end.by_people and len(ours) == 1 else []

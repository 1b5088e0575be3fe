"""Find, without a model, which threads a stretch of a story opens and which it resolves.

Better none than a wrong one: a thread that nobody meant is carried for long, and one that was missed still stands in
its leaf.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ireneo.context.thread import Thread, ThreadId, Threads
from ireneo.log.message import Message
from ireneo.patterns import lazy_re
from ireneo.pyramid.offline.cues import words_of
from ireneo.pyramid.offline.opening import may_open, opening, thread
from ireneo.pyramid.offline.promise_words import CONSENT, DEMAND
from ireneo.pyramid.offline.resolving import Known, answers, ended, known, may_end
from ireneo.pyramid.offline.speech import Sentence, Voices, sentences
from ireneo.pyramid.offline.table_talk import SHOW, TABLE

SOON = 3
"""A question that is answered within so many lines, and a promise that isn't given within them, opens nothing."""
TABLE_NEAR = 4
"""Among so many lines before and after, talk about the game or the show makes a line part of it."""
AGAIN = 0.7
"""Threads of one kind and one person that share so much of what they speak of are one, taken up again."""

_REPLY = lazy_re(
    r"^\W*(?:he|she|they|it|his|her|their|in|at|by|to|because|from|yes|no|the|i|we|that|this|nothing|nobody|dead"
    r"|gone)\b",
    re.IGNORECASE,
)


def find_threads(messages: Sequence[Message], before: Sequence[Thread]) -> Threads:
    """What `messages` open and leave open, and which of the threads that were open `before` they resolve."""
    heard = Voices(messages)
    tale = _Tale(before)
    for place, text in enumerate(heard.texts):
        words = words_of(text)
        opens, ends = may_open(words), may_end(words, tale.open)
        if not (opens or ends):
            continue
        for sentence in sentences(heard.voiced(place)):
            if ends:
                tale.end(ended(sentence, tale.open))
            found = (opening(sentence) or _asked_for(sentence, heard, place)) if opens else None
            if found is not None and not _passing(found, sentence, heard, place):
                tale.begin(found)
    return tale.threads


class _Tale:
    """The threads that are open, as a stretch is read from its beginning to its end."""

    def __init__(self, before: Sequence[Thread]) -> None:
        self._open = {thread.id: known(thread) for thread in before}
        self._before = frozenset(self._open)
        self._closed: dict[ThreadId, None] = {}
        self._said = {_plain(thread.text) for thread in before}
        self.open = list(self._open.values())

    @property
    def threads(self) -> Threads:
        opened = tuple(each.thread for name, each in self._open.items() if name not in self._before)
        return Threads(opened=opened, closed=tuple(self._closed))

    def begin(self, thread: Thread) -> None:
        """Open a thread; one that is only said in other words gives way to it, and one in the same words stays."""
        if _plain(thread.text) in self._said:
            return
        new = known(thread)
        self.end([each for each in self.open if _again(each, new)])
        self._said.add(_plain(thread.text))
        self._open[thread.id] = new
        self.open.append(new)

    def end(self, resolved: Sequence[Known]) -> None:
        """Resolve threads."""
        for each in resolved:
            name = each.thread.id
            if self._open.pop(name, None) is not None and name in self._before:
                self._closed[name] = None
        if resolved:
            self.open = list(self._open.values())


def _again(old: Known, new: Known) -> bool:
    """Whether a thread takes up an older one."""
    same = old.thread.kind == new.thread.kind and old.thread.who == new.thread.who
    shared = len(old.about & new.about)
    return same and shared >= 3 and shared >= AGAIN * max(len(old.about), len(new.about))


def _asked_for(sentence: Sentence, heard: Voices, place: int) -> Thread | None:
    """The promise that a sentence asks for, where it is given soon after."""
    found = DEMAND.search(sentence.text)
    voiced = sentence.voiced
    if (
        found is None
        or (voiced.authored and TABLE.search(sentence.text))
        or not voiced.quoted(sentence.start + found.start())
    ):
        return None
    for after in range(place + 1, min(place + 1 + SOON, len(heard.texts))):
        if not CONSENT.match(heard.texts[after]):
            continue
        speaker = heard.voiced(after).speaker
        if speaker != voiced.speaker or not voiced.authored:
            return thread("promise", sentence.text, voiced, speaker, voiced.speaker, 1.5)
    return None


def _passing(found: Thread, sentence: Sentence, heard: Voices, place: int) -> bool:
    """Whether a thread passes at once: it is a part of the talk about the game, or a question with its answer."""
    voiced = sentence.voiced
    around = heard.texts[max(0, place - TABLE_NEAR) : place + TABLE_NEAR + 1]
    if voiced.authored and any(SHOW.search(text) for text in around):
        return True
    if found.kind != "question":
        return False
    asked = known(found)
    after = heard.texts[place + 1 : place + 1 + SOON]
    rest = voiced.text[sentence.end :]
    if any(answers(text, asked) for each in (rest, *after) for text in each.split(". ")):
        return True
    return any(_REPLY.match(text) and len(text.split()) > 2 and "?" not in text for text in after[:1])


def _plain(text: str) -> str:
    return " ".join(text.lower().split())

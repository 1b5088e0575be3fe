"""The passages that a model's story rests on, and which of them a sentence shares most with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from ireneo.log.message import MessageId
from ireneo.patterns import lazy_re


class StoryPassage(Struct, frozen=True, kw_only=True):
    """A piece of what a summary is written from, and where it stands."""

    text: str
    position: int
    sources: tuple[MessageId, ...]


MOST_RESTS = 3
NEAR = 0.6
"""A passage that shares this much of what the best one shares is rested on as well."""
MOST_SOURCES = 6
_WORD = lazy_re(r"[^\W_]+")
_DENSE = lazy_re(r"[\u3040-\u30ff\u3400-\u9fff]")
_STEM = 6


def content_words(text: str) -> frozenset[str]:
    """The words of `text` that say something, cut to their stems; of scripts without spaces each pair of signs."""
    out: set[str] = set()
    for word in _WORD.findall(text):
        if _DENSE.search(word):
            out.update(word[place : place + 2] for place in range(len(word) - 1))
        elif len(word) > 3 or word[0].isupper() or word[0].isdigit():
            out.add(word.casefold()[:_STEM])
    return frozenset(out)


class Finder:
    """The passages of a stretch, ready to be looked into."""

    def __init__(self, passages: Sequence[StoryPassage]) -> None:
        """Read the passages, which stand in the order of the story."""
        self.passages = passages
        self._words = [content_words(passage.text) for passage in passages]
        self._spread = Counter(word for words in self._words for word in words)

    def rests(self, text: str, place: float = 1.0) -> list[StoryPassage]:
        """The passages that `text` rests on, the best first; where it shares nothing, the one at its `place` (0 to 1).

        Of passages that share as much, the one near that place is the better.
        """
        if not self.passages:
            return []
        scores = self._scores(content_words(text))
        last = max(len(scores) - 1, 1)
        order = sorted(range(len(scores)), key=lambda number: (-scores[number], abs(number / last - place)))
        best = scores[order[0]]
        if not best:
            return [self.passages[round(place * (len(self.passages) - 1))]]
        return [self.passages[number] for number in order[:MOST_RESTS] if scores[number] >= NEAR * best]

    def shared(self, text: str) -> float:
        """Of the words of `text` the share that the one passage has that has most of them."""
        wanted = content_words(text)
        return max((len(wanted & words) / len(wanted) for words in self._words), default=0.0) if wanted else 1.0

    def _scores(self, wanted: frozenset[str]) -> list[float]:
        worth = {word: math.log(1 + len(self._words) / self._spread[word]) for word in wanted if word in self._spread}
        return [sum(worth[word] for word in words & worth.keys()) for words in self._words]


def place_of(rests: Sequence[StoryPassage]) -> tuple[int, tuple[MessageId, ...]]:
    """The position of the last of these passages, and the messages that they rest on, in order."""
    ordered = sorted(rests, key=lambda passage: passage.position)
    sources = dict.fromkeys(source for passage in ordered for source in passage.sources)
    return max((passage.position for passage in rests), default=0), tuple(sources)[-MOST_SOURCES:]

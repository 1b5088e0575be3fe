"""How much the sentences of a story matter later: debts, secrets, wounds, deaths, and what else lasts.

Whoever reads a leaf's sentences is a model that runs on this machine (`ireneo.ports.models.SalienceRater`). Nothing may
wait for it where a leaf is written: what is known of its sentences is looked up, and what is lacking is noted, for the
engine to ask and to write the leaf again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MOST_KNOWN = 65_536
"""Most ratings that are kept, some megabytes; when there are more, the older half goes."""


class KnownRatings:
    """Ratings by sentence, kept for all sessions of a memory; it holds none of the sentences."""

    def __init__(self) -> None:
        self._ratings: dict[int, float] = {}

    def find(self, sentence: str) -> float | None:
        """The rating of a sentence, 0 to 1; None: it was not rated yet."""
        return self._ratings.get(hash(sentence))

    def put(self, ratings: Mapping[str, float]) -> None:
        """Keep these ratings."""
        if len(self._ratings) + len(ratings) > MOST_KNOWN:
            self._ratings = dict(list(self._ratings.items())[-MOST_KNOWN // 2 :])
        self._ratings.update((hash(sentence), rating) for sentence, rating in ratings.items())


class Ratings:
    """The ratings for one reading of a story, and which of them were lacking."""

    def __init__(self, known: KnownRatings) -> None:
        self._known = known
        self.lacking: dict[str, None] = {}
        """The sentences whose ratings were asked for in vain."""

    def of(self, sentences: Sequence[str]) -> Sequence[float] | None:
        """The rating of each sentence; None where one is lacking, so that a leaf is rated as a whole or not at all."""
        found = [rating for each in sentences if (rating := self._known.find(each)) is not None]
        if len(found) == len(sentences):
            return found
        self.lacking.update((each, None) for each in sentences if self._known.find(each) is None)
        return None

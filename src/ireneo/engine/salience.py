"""How much sentences of a story matter later, asked of a rater outside any transaction before leaves are written."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ireneo.errors import EmbedderError, MissingExtra
from ireneo.ports.models import SalienceRater
from ireneo.summaries.salience import KnownRatings, Ratings

Found = TypeVar("Found")

_LOG = logging.getLogger("ireneo")


class CachedRater:
    """A rater, and what it said, kept for all sessions of a memory."""

    def __init__(self, rater: SalienceRater) -> None:
        """Ask nothing yet."""
        self._rater = rater
        self._known = KnownRatings()
        self._failed = False

    async def with_ratings(self, read: Callable[[Ratings | None], Awaitable[Found]]) -> Found:
        """Return what `read` finds, once the ratings that it lacked are known; where the rater fails, without any.

        Most of the time nothing is lacking, as only new leaves need ratings, and `read` runs once.
        """
        if self._failed:
            return await read(None)
        ratings = Ratings(self._known)
        found = await read(ratings)
        if not ratings.lacking:
            return found
        sentences = list(ratings.lacking)
        try:
            rated = await self._rater.rate(sentences)
        except (EmbedderError, MissingExtra) as error:
            _LOG.warning("%s What a story tells is chosen by rules alone.", error)
            self._failed = True
            return await read(None)
        self._known.put(dict(zip(sentences, rated, strict=True)))
        return await read(Ratings(self._known))

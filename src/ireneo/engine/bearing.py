"""What sentences of a story bear, asked of the judge outside any transaction before leaves are written."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ireneo.errors import EmbedderError, MissingExtra
from ireneo.ports.models import BearingJudge
from ireneo.summaries.bearing import Bearings, KnownBearings

Found = TypeVar("Found")

_LOG = logging.getLogger("ireneo")


class Judging:
    """A judge, and what it said."""

    def __init__(self, judge: BearingJudge) -> None:
        """Ask nothing yet."""
        self._judge = judge
        self._known = KnownBearings()
        self._failed = False

    async def settled(self, read: Callable[[Bearings | None], Awaitable[Found]]) -> Found:
        """Return what `read` finds, once the ratings that it lacked are known; where the judge fails, without any.

        Most of the time nothing is lacking, as only new leaves need ratings, and `read` runs once.
        """
        if self._failed:
            return await read(None)
        bearings = Bearings(self._known)
        found = await read(bearings)
        if not bearings.lacking:
            return found
        sentences = list(bearings.lacking)
        try:
            ratings = await self._judge.rate(sentences)
        except (EmbedderError, MissingExtra) as error:
            _LOG.warning("%s What a story tells is chosen by rules alone.", error)
            self._failed = True
            return await read(None)
        self._known.put(dict(zip(sentences, ratings, strict=True)))
        return await read(Bearings(self._known))

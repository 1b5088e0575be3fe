"""A story in a list of messages, read as one in a store is."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import TypeVar

from ireneo.context.summary import Summary, SummaryId
from ireneo.log.message import Message

T = TypeVar("T")


class ListedReading:
    """Reads a path that is at hand as a whole, over which there are no summaries yet."""

    def __init__(self, messages: Sequence[Message]) -> None:
        """Stand on the last of `messages`, which begin with the first of the path."""
        self.last = len(messages) - 1
        self._messages = messages

    async def path(self, first: int, last: int) -> Sequence[Message]:
        """The messages of positions `first` to `last`."""
        return self._messages[max(first, 0) : last + 1]

    async def frontier(self) -> Sequence[Summary]:
        """None: nothing was stored."""
        return ()

    async def get(self, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """None: nothing was stored."""
        return ()


def at_once(work: Coroutine[object, object, T]) -> T:
    """Run to its end what never waits, as no reading from a list does; with or without an event loop around it."""
    try:
        work.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    work.close()
    raise RuntimeError("a reading from a list waited for something")

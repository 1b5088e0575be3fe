"""What is read of one path, wherever it lies: its messages, and the summaries that are known along it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, Protocol, TypeVar

from ireneo.log.message import Message
from ireneo.log.tree import Head, head_of
from ireneo.summaries.summary import Summary, SummaryId

T = TypeVar("T")


class PathReader(Protocol):
    """Reads the path to `head`. A store's does so within one transaction, so that all answers fit together."""

    head: Head

    def path(self, first: int, last: int) -> Sequence[Message]:
        """The messages of positions `first` to `last`, both included; none where `last` is before `first`."""

    def frontier(self, last: int) -> Sequence[Summary]:
        """The widest stored summaries along the path up to position `last`, in order."""

    def get(self, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """Those of these summaries that are stored."""

    def texts(self, summaries: Sequence[Summary], known: Sequence[str] | None = None) -> Sequence[Summary]:
        """For each of `summaries` the best text of its stretch: itself, or one that a model wrote.

        Of those that a model wrote only those among `known`, where that is given: a context that was shown before is
        to be the same again.
        """


class ListReader:
    """Reads a path that is at hand as a whole, over which nothing is stored."""

    def __init__(self, messages: Sequence[Message]) -> None:
        """Stand on the last of `messages`, which begin with the first of the path; there is at least one."""
        self.head = head_of(messages[-1])
        self._messages = messages

    def path(self, first: int, last: int) -> Sequence[Message]:
        """The messages of positions `first` to `last`."""
        return self._messages[max(first, 0) : last + 1]

    def frontier(self, last: int) -> Sequence[Summary]:
        """None: nothing is stored."""
        return ()

    def get(self, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """None: nothing is stored."""
        return ()

    def texts(self, summaries: Sequence[Summary], known: Sequence[str] | None = None) -> Sequence[Summary]:
        """The summaries themselves."""
        return summaries


class RecentValues(Generic[T]):
    """The values that were needed last, by what they follow from."""

    def __init__(self, most: int) -> None:
        """Keep `most` of them."""
        self._most = most
        self._values: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, name: Hashable, make: Callable[[], T]) -> T:
        """The value of that name; it is made where it is not at hand."""
        if name in self._values:
            self._values.move_to_end(name)
            return self._values[name]
        value = make()
        self.put(name, value)
        return value

    def put(self, name: Hashable, value: T) -> None:
        """Keep a value."""
        self._values[name] = value
        while len(self._values) > self._most:
            self._values.popitem(last=False)

    def find(self, name: Hashable) -> T | None:
        """The value of that name, if it is at hand."""
        if name in self._values:
            self._values.move_to_end(name)
        return self._values.get(name)

    def clear(self) -> None:
        """Let go of all of them."""
        self._values.clear()

"""What was read of a session's stories, and never changes: an id names a message with all before it, or a record."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from ireneo.context.summary import Summary

T = TypeVar("T")
RECORDS = 128
"""Summaries: those that stand over a million messages, and those under them that a wide context shows."""
PLACES = 512


class Kept(Generic[T]):
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


class Recalled:
    """What is at hand of one session."""

    def __init__(self) -> None:
        """Start empty."""
        self.records: Kept[Summary] = Kept(RECORDS)
        """Summaries, by their ids."""
        self.sound: Kept[bool] = Kept(PLACES)
        """Whether a summary ends where the message that follows it lets it end, by the ids of both."""

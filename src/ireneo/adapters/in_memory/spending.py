"""What was spent on models, in memory."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from ireneo.adapters.in_memory.shelf import Shelf
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Spent


class MemorySpending:
    """`ireneo.ports.store.SpendingPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def add(self, key: SessionKey, day: date, spent: Spent) -> None:
        """Add to what a session spent on a day."""
        self._shelf.spend(key, day, spent)

    def of_session(self, key: SessionKey) -> Spent:
        """What a session spent."""
        return _total(spent for (each, _), spent in self._shelf.spent().items() if each == key)

    def of_day(self, space: str, day: date) -> Spent:
        """What a space spent on a day."""
        return _total(spent for (key, on), spent in self._shelf.spent().items() if (key.space, on) == (space, day))


def _total(spent: Iterable[Spent]) -> Spent:
    calls = tokens = 0
    for each in spent:
        calls += each.calls
        tokens += each.tokens
    return Spent(calls=calls, tokens=tokens)

"""What is read of a story's path and of the summaries over it, from one snapshot of a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ireneo.context.policy import Policy
from ireneo.context.summary import Summary, SummaryId
from ireneo.log.branch import Head, SessionKey
from ireneo.log.message import Message
from ireneo.ports.transition import Transaction


class Reading(Protocol):
    """What is read of a path and of the summaries over it."""

    last: int
    """The position of the path's last message."""

    async def path(self, first: int, last: int) -> Sequence[Message]:
        """The messages of positions `first` to `last`; none where it is before `first`."""

    async def frontier(self) -> Sequence[Summary]:
        """The widest summaries along the path, in order."""

    async def get(self, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """Summaries by id."""


class StoredReading:
    """Reads the path to a head from one snapshot of a store."""

    def __init__(self, tx: Transaction, key: SessionKey, head: Head, policy: Policy) -> None:
        """Stand on `head`."""
        self.last = head.position
        self._tx = tx
        self._key = key
        self._head = head
        self._family = policy.family

    async def path(self, first: int, last: int) -> Sequence[Message]:
        """The messages of positions `first` to `last`."""
        return await self._tx.log.path(self._key, self._head.id, first, last) if first <= last else ()

    async def frontier(self) -> Sequence[Summary]:
        """The widest summaries along the path."""
        return await self._tx.summaries.frontier(self._key, self._head.id, self._family)

    async def get(self, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """Summaries by id."""
        return await self._tx.summaries.get(self._key, ids)

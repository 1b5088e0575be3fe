"""What the engine needs of a store to look after it: what is wrong, what nobody needs any more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from ireneo.log.tree import Head, SessionKey
from ireneo.summaries.summary import SummaryId


class Pruned(Struct, frozen=True, kw_only=True):
    """What was taken out of a session, since no branch leads to it."""

    messages: int = 0
    tokens: int = 0
    summaries: int = 0


TOGETHER = 20_000
"""Messages that are looked at in one transaction."""


class Altered(Struct, frozen=True, kw_only=True):
    """What was found of values that are not what was stored, and how far it was looked."""

    faults: tuple[str, ...] = ()
    looked: int = 0
    """How many messages were looked at."""
    after: int | None = None
    """From where to go on; None: it is done."""


class UpkeepPort(Protocol):
    """The upkeep of a store."""

    def faults(self) -> Sequence[str]:
        """What is wrong with the store itself, a sentence each: damage, rows that point to what is not there.

        It looks at every space, since damage keeps to none. Of one kind of fault it names so many, and then says that
        there are more.
        """

    def altered(self, after: int = 0, limit: int = TOGETHER) -> Altered:
        """What in the store is not what was stored, a sentence each: `limit` messages after the place `after`.

        With the last of them all that is no message. Over every space, as `faults`; whatever stands there is told and
        never raised.
        """

    def mend(self) -> None:
        """Put right what `faults` and `altered` told of and what follows from the log: counters, indexes, vectors.

        What can't be made again from the rest stays as it is.
        """

    def summaries(self, key: SessionKey) -> Sequence[SummaryId]:
        """The id of every summary of a session, on whatever path, by its first and then its last position."""

    def discard(self, key: SessionKey, ids: Sequence[SummaryId]) -> int:
        """Take out summaries by id; the log has all that they were made from. Returns how many were there."""

    def ends(self, key: SessionKey) -> Sequence[Head]:
        """Where the tree ends on no branch: the last message of each path that was abandoned, by position, then id."""

    def drop(self, key: SessionKey, branch: str) -> bool:
        """Forget the name of a branch; its messages stay until `prune`. False where there is no such branch."""

    def prune(self, key: SessionKey) -> Pruned:
        """Take out every message that no branch leads to, with all that hangs on it: payloads, summaries, marks, notes.

        So does the run that was learned from the session, where its head goes.

        What is taken out is always whole subtrees, so what stays still has its whole path. Raises SessionNotFound,
        and BadInput where the session has messages and no branch, since nothing would be left.
        """

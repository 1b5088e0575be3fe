"""A session's tree as limbs: of each path the part that no path before it has."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ireneo.log.branch import Head, SessionKey
from ireneo.log.message import Message, MessageId
from ireneo.ports.transition import Transaction


class Limb(Struct, frozen=True, kw_only=True):
    """One path's own part of the tree: the positions `first` to that of its head."""

    name: str
    """The branch whose path it is; empty: a path that was abandoned."""
    head: Head
    first: int
    """Its first position; one behind the head where all of the path is another's."""
    parent: int | None
    """The place in the list of the limb that it leaves; None where it begins at a first message."""
    leaves_at: MessageId | None
    """The last message that it shares with that limb."""
    tokens: int
    """What its own messages cost."""

    @property
    def messages(self) -> int:
        """How many messages are its own."""
        return self.head.position - self.first + 1


async def limbs(tx: Transaction, key: SessionKey, heads: Sequence[tuple[str, Head]]) -> list[Limb]:
    """One limb for each of the named heads, in their order: together they have every message once.

    Where a path leaves another is found by halving, so that few messages are read, however long the paths are.
    """
    grower = _Grower(tx, key)
    for name, head in heads:
        await grower.add(name, head)
    return grower.limbs


class _Grower:
    def __init__(self, tx: Transaction, key: SessionKey) -> None:
        self._tx = tx
        self._key = key
        self.limbs: list[Limb] = []
        self._leaving: dict[tuple[int | None, int], list[int]] = {}
        """The limbs that leave another one, by its place and by the last position that they share."""

    async def add(self, name: str, head: Head) -> None:
        parent: int | None = None
        at = -1
        while (found := await self._next(parent, at, head)) is not None:
            parent, at = found, await self._shared(self.limbs[found].head, head, at + 1)
        fork = await self._at(head, at) if at >= 0 else None
        limb = Limb(
            name=name,
            head=head,
            first=at + 1,
            parent=parent,
            leaves_at=fork.id if fork else None,
            tokens=head.total_tokens - (fork.total_tokens if fork else 0),
        )
        if limb.messages:
            self._leaving.setdefault((parent, at), []).append(len(self.limbs))
        self.limbs.append(limb)

    async def _next(self, parent: int | None, at: int, head: Head) -> int | None:
        """Of the limbs that leave `parent` after position `at`, the one that the path to `head` goes on along."""
        rivals = self._leaving.get((parent, at), [])
        if not rivals or at == head.position:
            return None
        mine = await self._at(head, at + 1)
        for rival in rivals:
            if (await self._at(self.limbs[rival].head, at + 1)).id == mine.id:
                return rival
        return None

    async def _shared(self, one: Head, other: Head, low: int) -> int:
        """The last position that two paths share, which share `low`."""
        high = min(one.position, other.position)
        # Most often one path is the beginning of the other.
        probe = high
        while low < high:
            if (await self._at(one, probe)).id == (await self._at(other, probe)).id:
                low = probe
            else:
                high = probe - 1
            probe = (low + high + 1) // 2
        return low

    async def _at(self, head: Head, position: int) -> Message:
        (message,) = await self._tx.log.path(self._key, head.id, position, position)
        return message

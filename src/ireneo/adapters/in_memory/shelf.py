"""What one transaction sees of the memory: a snapshot, and its own copies of what it changes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from msgspec import Struct

from ireneo.adapters.in_memory.kept import Kept
from ireneo.adapters.in_memory.tree import Tree
from ireneo.errors import SessionNotFound, StoreError
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Spent

SpendingKey = tuple[SessionKey, date]

_OVER = "The transaction is over; open another with store.read() or store.write()."
_READS = "This transaction only reads; write inside store.write()."


class Held(Struct, frozen=True, kw_only=True):
    """All that a store holds, as a transaction leaves it; nobody changes it any more."""

    trees: Mapping[SessionKey, Tree] = {}
    spent: Mapping[SpendingKey, Spent] = {}
    kept: Mapping[str, Kept] = {}
    """What each space has learned."""


class Shelf:
    """The sessions, what was learned, and what was spent, as a transaction sees them."""

    def __init__(self, held: Held, *, writes: bool) -> None:
        """Look at what is held; `writes` says whether this transaction makes something else of it."""
        self._trees = dict(held.trees)
        self._spent = dict(held.spent)
        self._kept = dict(held.kept)
        self._own: set[SessionKey] = set()
        self._own_kept: set[str] = set()
        self.writes = writes
        self._open = True

    def see(self, key: SessionKey) -> Tree:
        """A session to read; one that was never made reads as an empty one."""
        self._check()
        return self._trees.get(key) or Tree(key, None, 0)

    def need(self, key: SessionKey) -> Tree:
        """A session to read. Raises SessionNotFound."""
        self._check()
        if key not in self._trees:
            raise SessionNotFound(f"There is no session {key.session!r} in this space.")
        return self._trees[key]

    def change(self, key: SessionKey) -> Tree:
        """A session to write to: a copy, from the first time on. Raises SessionNotFound."""
        tree = self.need(key)
        self._check(writes=True)
        if key not in self._own:
            tree = self._trees[key] = tree.copy()
            self._own.add(key)
        return tree

    def add(self, key: SessionKey, source: str | None) -> bool:
        """Make a session unless it is there; says whether it was made. One without a source takes the first one."""
        self._check(writes=True)
        if key in self._trees:
            if source is not None and self._trees[key].source is None:
                self.change(key).source = source
            return False
        number = max((tree.number for tree in self.space(key.space)), default=0) + 1
        self._trees[key] = Tree(key, source, self.next_append(key.space), number)
        self._own.add(key)
        return True

    def next_append(self, space: str) -> int:
        """The number that puts a session before all others of its space."""
        return max((tree.appended for tree in self.space(space)), default=0) + 1

    def space(self, space: str) -> list[Tree]:
        """The sessions of a space."""
        self._check()
        return [tree for key, tree in self._trees.items() if key.space == space]

    def everything(self) -> list[Tree]:
        """The sessions of all spaces."""
        self._check()
        return list(self._trees.values())

    def spent(self) -> Mapping[SpendingKey, Spent]:
        """What each session spent on each day."""
        self._check()
        return self._spent

    def spend(self, key: SessionKey, day: date, spent: Spent) -> None:
        """Add to what a session spent on a day; it needn't be there."""
        self._check(writes=True)
        before = self._spent.get((key, day), Spent())
        self._spent[key, day] = Spent(calls=before.calls + spent.calls, tokens=before.tokens + spent.tokens)

    def unname(self, key: SessionKey) -> None:
        """Let what a session spent count on for its space, on account of none."""
        self._check(writes=True)
        for each, day in [place for place in self._spent if place[0] == key and key.session]:
            self.spend(SessionKey(key.space, ""), day, self._spent.pop((each, day)))

    def drop(self, key: SessionKey) -> bool:
        """Take a session out; says whether it was there."""
        self._check(writes=True)
        self._own.discard(key)
        return self._trees.pop(key, None) is not None

    def drop_space(self, space: str) -> int:
        """Take out every session of a space, what it learned and what it spent; says how many sessions there were."""
        self._check(writes=True)
        keys = [tree.key for tree in self.space(space)]
        for key in keys:
            self.drop(key)
        self._spent = {place: spent for place, spent in self._spent.items() if place[0].space != space}
        kept = self.change_kept(space)
        for name in list(kept.memories):
            kept.remove(name)
        for learned in (kept.pads, kept.runs, kept.sightings, kept.ledger):
            learned.clear()
        return len(keys)

    def check_writes(self) -> None:
        """Raise StoreError unless this transaction is open and writes."""
        self._check(writes=True)

    def kept(self, space: str) -> Kept:
        """What a space has learned, to read."""
        self._check()
        return self._kept.get(space) or Kept()

    def change_kept(self, space: str) -> Kept:
        """What a space has learned, to write to: a copy, from the first time on."""
        self._check(writes=True)
        if space not in self._own_kept:
            self._kept[space] = self.kept(space).copy()
            self._own_kept.add(space)
        return self._kept[space]

    def spaces(self) -> list[str]:
        """The spaces in which something was learned, or has a vector."""
        self._check()
        return list(self._kept)

    def shut(self) -> Held:
        """End the transaction; gives what the store holds as it leaves it."""
        self._open = False
        return Held(trees=self._trees, spent=self._spent, kept=self._kept)

    def _check(self, *, writes: bool = False) -> None:
        if not self._open:
            raise StoreError(_OVER)
        if writes and not self.writes:
            raise StoreError(_READS)

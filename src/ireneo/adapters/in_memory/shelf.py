"""What one transaction sees of the memory: a snapshot, and its own copies of what it changes."""

from __future__ import annotations

from collections.abc import Mapping

from ireneo.adapters.in_memory.tree import Tree
from ireneo.errors import SessionNotFound, StoreError
from ireneo.log.branch import SessionKey

_OVER = "The transaction is over; open another with store.read() or store.write()."
_READS = "This transaction only reads; write inside store.write()."


class Shelf:
    """The sessions as a transaction sees them."""

    def __init__(self, trees: Mapping[SessionKey, Tree], *, writes: bool) -> None:
        """Look at `trees`, which nobody changes any more; `writes` says whether this transaction makes others."""
        self._trees = dict(trees)
        self._own: set[SessionKey] = set()
        self._writes = writes
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
        """Make a session unless it is there; says whether it was made."""
        self._check(writes=True)
        if key in self._trees:
            return False
        self._trees[key] = Tree(key, source, self.next_append(key.space))
        self._own.add(key)
        return True

    def next_append(self, space: str) -> int:
        """The number that puts a session before all others of its space."""
        return max((tree.appended for tree in self.space(space)), default=0) + 1

    def space(self, space: str) -> list[Tree]:
        """The sessions of a space."""
        self._check()
        return [tree for key, tree in self._trees.items() if key.space == space]

    def shut(self) -> Mapping[SessionKey, Tree]:
        """End the transaction; gives the sessions as it leaves them."""
        self._open = False
        return self._trees

    def _check(self, *, writes: bool = False) -> None:
        if not self._open:
            raise StoreError(_OVER)
        if writes and not self._writes:
            raise StoreError(_READS)

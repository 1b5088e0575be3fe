"""The upkeep of sessions in memory: what is wrong with them, and what nobody needs any more."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.adapters.chain import between, check_branches
from ireneo.adapters.in_memory.faults import find_faults
from ireneo.adapters.in_memory.runs import take_out_run
from ireneo.adapters.in_memory.shelf import Shelf
from ireneo.adapters.in_memory.tree import Tree
from ireneo.log.message import MessageId
from ireneo.log.tree import Head, SessionKey, head_of
from ireneo.ports.upkeep import TOGETHER, Altered, Pruned
from ireneo.summaries.summary import SummaryId


class MemoryUpkeep:
    """`ireneo.ports.upkeep.UpkeepPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def faults(self) -> Sequence[str]:
        """What is wrong with the sessions."""
        return [fault for tree in self._shelf.everything() for fault in find_faults(tree)]

    def altered(self, after: int = 0, limit: int = TOGETHER) -> Altered:
        """Nothing: what is held as it was given changes by nobody's doing."""
        return Altered(looked=sum(len(tree.messages) for tree in self._shelf.everything()))

    def mend(self) -> None:
        """Nothing follows from anything here that isn't reckoned each time."""

    def summaries(self, key: SessionKey) -> Sequence[SummaryId]:
        """The id of every summary of a session."""
        found = list(self._shelf.see(key).summaries.values())
        found.sort(key=lambda each: (each.first_position, each.last_position, each.id))
        return [each.id for each in found]

    def discard(self, key: SessionKey, ids: Sequence[SummaryId]) -> int:
        """Take out summaries by id."""
        tree = self._shelf.change(key)
        return sum(tree.summaries.pop(name, None) is not None for name in ids)

    def ends(self, key: SessionKey) -> Sequence[Head]:
        """Where the tree ends on no branch."""
        tree = self._shelf.see(key)
        inner = {message.parent for message in tree.messages.values()} | set(tree.branches.values())
        found = [head_of(message) for message in tree.messages.values() if message.id not in inner]
        return sorted(found, key=lambda head: (head.position, head.id))

    def drop(self, key: SessionKey, branch: str) -> bool:
        """Forget the name of a branch."""
        tree = self._shelf.change(key)
        there = branch in tree.branches
        tree.branches.pop(branch, None)
        return there

    def prune(self, key: SessionKey) -> Pruned:
        """Take out every message that no branch leads to."""
        tree = self._shelf.change(key)
        check_branches(key, is_empty=not tree.messages, has_branch=bool(tree.branches))
        kept = _kept(tree)
        gone = [message for message in tree.messages.values() if message.id not in kept]
        if not gone:
            return Pruned()
        before = len(tree.summaries)
        _take_out(tree, kept)
        run = self._shelf.kept(key.space).runs.get(key.session)
        if run is not None and run.head not in kept:
            take_out_run(self._shelf.change_kept(key.space), key.session)
        return Pruned(
            messages=len(gone),
            tokens=sum(message.tokens for message in gone),
            summaries=before - len(tree.summaries),
        )


def _kept(tree: Tree) -> set[MessageId]:
    """The messages on the path of some branch."""
    kept: set[MessageId] = set()
    for head in tree.branches.values():
        if head is None:
            continue
        for message in tree.walk(head):
            if message.id in kept:
                break
            kept.add(message.id)
    return kept


def _take_out(tree: Tree, kept: set[MessageId]) -> None:
    """Leave of a tree only the messages that are `kept`, and what hangs on them."""
    tree.messages = {name: message for name, message in tree.messages.items() if name in kept}
    tree.payloads = {name: packed for name, packed in tree.payloads.items() if name in kept}
    tree.documents = {name: each for name, each in tree.documents.items() if name in kept}
    tree.numbers = {each.number: name for name, each in tree.documents.items()}
    # Where the last message stays, all that a summary covers does.
    tree.summaries = {name: each for name, each in tree.summaries.items() if each.last in kept}
    tree.rebuilds = {name: each for name, each in tree.rebuilds.items() if each.at in kept}
    tree.annotations = {name: each for name, each in tree.annotations.items() if not each.at or each.at in kept}
    tree.span = between([message.draft.at for message in tree.messages.values() if message.draft.at is not None])

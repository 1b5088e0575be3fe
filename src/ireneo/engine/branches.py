"""The tree of a session: what an id names in it, where its branches stand, and what none of them leads to."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from ireneo.errors import BadInput, MessageNotFound
from ireneo.log.message import SHORT, Message, MessageId
from ireneo.log.tree import ROOT, Head, SessionKey, head_of
from ireneo.memories.record import MemoryId, Record
from ireneo.ports.store import Pruned, Transaction

MIN_ID_LENGTH = 4
"""Characters of an id that are needed, its letter and the underscore among them: with fewer, chance says what is met.
"""
MAX_IDS_LISTED = 4
"""So many of those that a name might mean are listed."""


def only_match(name: str, found: Collection[str], what: str, least: int = MIN_ID_LENGTH) -> str:
    """The only id of `found` that is `name` or begins so.

    Raises BadInput, which lists some of them, where there are several or where so few characters are no name.
    """
    if name in found:
        return name
    ids = sorted(set(found))
    if len(name) < least:
        raise BadInput(
            f"{name!r} is too short for the id of one {what}: {shortest_ids(ids)}; give {least} characters of it."
        )
    if len(ids) > 1:
        raise BadInput(f"Several of them begin with {name!r}, and it takes one {what}: {shortest_ids(ids)}.")
    return ids[0]


def messages_named(name: str, found: Sequence[Message]) -> list[Message]:
    """Those of the messages that a look for `name` found which it names: by its id one, or all of one entry of a log.

    Raises BadInput where it is the beginning of several ids.
    """
    begun = {message.id for message in found if message.id.startswith(name)}
    if not begun:
        return list(found)
    id = MessageId(only_match(name, begun, "message"))
    return [message for message in found if message.id == id]


def memory_named(tx: Transaction, space: str, name: str) -> Record | None:
    """The memory of that id, or the only one whose id begins so. Raises BadInput as `the_one` does."""
    found = {record.id: record for record in tx.memories.get(space, [name])} if name else {}
    return found[MemoryId(only_match(name, found, "memory"))] if found else None


def shortest_ids(ids: Sequence[str]) -> str:
    """Some of the ids, as short as they can be told apart."""
    length = SHORT
    while len({id[:length] for id in ids}) < len(set(ids)):
        length += 1
    more = ", …" if len(ids) > MAX_IDS_LISTED else ""
    return f"{', '.join(id[:length] for id in ids[:MAX_IDS_LISTED])}{more}"


def rewind(tx: Transaction, key: SessionKey, branch: str, to: str) -> Head | None:
    """Move `branch` back to the message `to` (or before the first: ``root``); what came after it stays in the log."""
    if to == ROOT:
        tx.log.move(key, branch, None)
        return None
    message = find_on_path(tx, key, branch, to)
    tx.log.move(key, branch, message.id)
    return head_of(message)


def fork(tx: Transaction, key: SessionKey, branch: str, name: str, at: str | None) -> Head | None:
    """Make the branch `name`, which stands at the message `at` of `branch` (its head, where none is given)."""
    if name in tx.sessions.branches(key):
        raise BadInput(f"Session {key.session} has a branch {name!r} already; choose another name.")
    head = tx.log.head(key, branch) if at is None else head_of(find_on_path(tx, key, branch, at))
    tx.log.move(key, name, head.id if head else None)
    return head


def passes(tx: Transaction, key: SessionKey, head: Head | None, place: Head) -> bool:
    """Whether the path to `head` goes through `place`."""
    if head is None or place.position > head.position:
        return False
    at = tx.log.path(key, head.id, place.position, place.position)
    return bool(at) and at[0].id == place.id


def find_on_path(tx: Transaction, key: SessionKey, branch: str, name: str) -> Message:
    """The message that `name` names (an id, its beginning, or the id that its log gave it), on the branch's path.

    A log may give several messages one id: then the one on the branch's path is meant, the last of them. Raises
    MessageNotFound, and BadInput where it is the beginning of several ids.
    """
    found = messages_named(name, tx.log.find(key, [name])) if name else []
    if not found:
        raise MessageNotFound(f"There is no message {name} in session {key.session}.")
    head = tx.log.head(key, branch)
    for message in reversed(found):
        if passes(tx, key, head, head_of(message)):
            return message
    return found[-1]


class TreePath(Struct, frozen=True, kw_only=True):
    """One path's own part of the tree: the positions `first` to that of its head."""

    name: str
    """The branch whose path it is; empty: a path that was abandoned."""
    head: Head
    first: int
    """Its first position; one behind the head where all of the path is another's."""
    parent: int | None
    """The place in the list of the path that it leaves; None where it begins at a first message."""
    leaves_at: MessageId | None
    """The last message that it shares with that path."""
    tokens: int
    """What its own messages cost."""

    @property
    def messages(self) -> int:
        """How many messages are its own."""
        return self.head.position - self.first + 1


def tree_paths(tx: Transaction, key: SessionKey, heads: Sequence[tuple[str, Head]]) -> list[TreePath]:
    """One path for each of the named heads, in their order: together they have every message once.

    Where a path leaves another is found by halving, so that few messages are read, however long the paths are; of
    many that leave one path, the longest is best added first.
    """
    splitter = _PathSplitter(tx, key)
    for name, head in heads:
        splitter.add(name, head)
    return splitter.paths


class _PathSplitter:
    def __init__(self, tx: Transaction, key: SessionKey) -> None:
        self._tx = tx
        self._key = key
        self.paths: list[TreePath] = []
        self._leaving: dict[tuple[int | None, int], list[int]] = {}
        """The paths that leave another one, by its place and by the last position that they share."""

    def add(self, name: str, head: Head) -> None:
        parent: int | None = None
        at = -1
        while (found := self._next(parent, at, head)) is not None:
            parent, at = found, last_shared(self._tx, self._key, self.paths[found].head, head, at + 1)
        fork = self._at(head, at) if at >= 0 else None
        path = TreePath(
            name=name,
            head=head,
            first=at + 1,
            parent=parent,
            leaves_at=fork.id if fork else None,
            tokens=head.total_tokens - (fork.total_tokens if fork else 0),
        )
        if path.messages:
            self._leaving.setdefault((parent, at), []).append(len(self.paths))
        self.paths.append(path)

    def _next(self, parent: int | None, at: int, head: Head) -> int | None:
        """Of the paths that leave `parent` after position `at`, the one that the path to `head` goes on along."""
        rivals = self._leaving.get((parent, at), [])
        if not rivals or at == head.position:
            return None
        mine = self._at(head, at + 1)
        for rival in rivals:
            if self._at(self.paths[rival].head, at + 1).id == mine.id:
                return rival
        return None

    def _at(self, head: Head, position: int) -> Message:
        return _at(self._tx, self._key, head, position)


def last_shared(tx: Transaction, key: SessionKey, one: Head, other: Head, low: int = -1) -> int:
    """The last position that two paths share, which share `low`; -1 where they share none."""
    high = min(one.position, other.position)
    tries = 0
    while low < high:
        # Most often one path is the beginning of the other, or leaves it just before its end.
        probe = max(high - (1 << tries) // 4, (low + high + 1) // 2)
        if _at(tx, key, one, probe).id == _at(tx, key, other, probe).id:
            low = probe
        else:
            high = probe - 1
        tries += 1
    return low


def _at(tx: Transaction, key: SessionKey, head: Head, position: int) -> Message:
    (message,) = tx.log.path(key, head.id, position, position)
    return message


def prunable(tx: Transaction, key: SessionKey, without: str = "") -> Pruned:
    """What no branch leads to, or would lead to if the branch `without` were forgotten. Raises as `drop` does."""
    kept = dict(tx.sessions.branches(key))
    ends = [("", end) for end in reversed(tx.upkeep.abandoned_heads(key))]
    if without:
        _check_drop(tx, key, without)
        if head := kept.pop(without):
            ends.append(("", head))
    named = [(name, head) for name, head in kept.items() if head is not None]
    found = tree_paths(tx, key, [*named, *ends])[len(named) :]
    return Pruned(messages=sum(path.messages for path in found), tokens=sum(path.tokens for path in found))


def drop_branch(tx: Transaction, key: SessionKey, branch: str) -> None:
    """Forget the name of a branch.

    Raises BadInput where there is no such branch, or none that leads to a message would be left.
    """
    _check_drop(tx, key, branch)
    tx.upkeep.drop_branch(key, branch)


def _check_drop(tx: Transaction, key: SessionKey, branch: str) -> None:
    there = tx.sessions.branches(key)
    if branch not in there:
        names = ", ".join(there) or "none"
        raise BadInput(f"Session {key.session} has no branch {branch!r}; it has: {names}.")
    others = [head for name, head in there.items() if name != branch]
    if not others:
        raise BadInput(
            f"{branch!r} is the only branch of session {key.session}, and nothing would lead to its messages; "
            "make another one first, and drop it then."
        )
    if there[branch] is not None and not any(others):
        raise BadInput(
            f"{branch!r} is the only branch of session {key.session} that leads to a message; "
            "move another one to what is to be kept first."
        )

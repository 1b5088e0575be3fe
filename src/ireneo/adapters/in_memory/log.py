"""The messages of a session's tree, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from ireneo.adapters.chain import check_chain, check_place, widen
from ireneo.adapters.in_memory.shelf import Shelf
from ireneo.adapters.in_memory.tree import Tree
from ireneo.adapters.payload import pack, unpack
from ireneo.log.message import Draft, Message, MessageId, voices_in
from ireneo.log.tree import Head, SessionKey

FOUND_AT_MOST = 100


class MemoryLog:
    """`ireneo.ports.store.LogPort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def head(self, key: SessionKey, branch: str = "main") -> Head | None:
        """Where a branch stands."""
        return self._shelf.see(key).head(branch)

    def insert(self, key: SessionKey, messages: Sequence[Message]) -> int:
        """Store a chain of messages; those that are there already are left as they are."""
        tree = self._shelf.change(key)
        check_chain(messages)
        new = [message for message in messages if message.id not in tree.messages]
        if not new:
            return 0
        parent = new[0].parent
        check_place(new[0], None if parent is None else tree.need(parent).position)
        # Whatever may raise comes before the first change: a caller may catch it and go on.
        packed = [pack(message.draft) for message in new]
        for message, payload in zip(new, packed, strict=True):
            tree.messages[message.id] = replace(message, draft=replace(message.draft, native=None, record=None))
            if payload is not None:
                tree.payloads[message.id] = payload
            tree.index(message)
        tree.span = widen(tree.span, new)
        tree.appended = self._shelf.next_append(key.space)
        return len(new)

    def move(self, key: SessionKey, branch: str, to: MessageId | None) -> None:
        """Make a branch point elsewhere."""
        tree = self._shelf.change(key)
        tree.branches[branch] = None if to is None else tree.need(to).id

    def path(self, key: SessionKey, to: MessageId, first: int, last: int) -> Sequence[Message]:
        """Read a run of positions of a path."""
        out: list[Message] = []
        for message in self._shelf.see(key).walk(to):
            if message.position < first:
                break
            if message.position <= last:
                out.append(message)
        return out[::-1]

    def find(self, key: SessionKey, ids: Sequence[str]) -> Sequence[Message]:
        """Read messages by the beginning of their id, or by their source id."""
        tree = self._shelf.see(key)
        found: dict[MessageId, Message] = {}
        for name in ids:
            for message in _matches(tree, name):
                found.setdefault(message.id, message)
        return list(found.values())[:FOUND_AT_MOST]

    def lie(
        self, space: str, named: Sequence[tuple[str, Sequence[MessageId]]], branch: str | None = None
    ) -> Sequence[bool]:
        """Whether messages lie on branches."""
        trees = {tree.key.session: tree for tree in self._shelf.space(space)}
        there = {name: trees[name].on_branches(branch) for name in dict(named) if name in trees}
        return [session not in there or there[session].issuperset(names) for session, names in named]

    def voices(self, space: str, session: str | None = None, name: str | None = None) -> frozenset[str]:
        """Who speaks, or is said to be there."""
        found = {
            voice
            for tree in self._shelf.space(space)
            if session is None or tree.key.session == session
            for message in tree.messages.values()
            for voice in voices_in(message.parts)
        }
        return frozenset(found if name is None else found & {name})

    def natives(self, key: SessionKey, ids: Sequence[MessageId]) -> Mapping[MessageId, Draft]:
        """Read whole drafts."""
        tree = self._shelf.see(key)
        out: dict[MessageId, Draft] = {}
        for name in ids:
            if name in tree.messages:
                native, record = unpack(tree.payloads.get(name))
                out[name] = replace(tree.messages[name].draft, native=native, record=record)
        return out


def _matches(tree: Tree, name: str) -> Iterator[Message]:
    messages = tree.messages.values()
    yield from sorted((m for m in messages if m.id.startswith(name)), key=lambda m: m.id)
    yield from sorted((m for m in messages if m.draft.source_id == name), key=lambda m: (m.position, m.id))

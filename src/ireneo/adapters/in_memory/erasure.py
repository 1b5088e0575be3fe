"""Take content out of the memory for good: what nobody holds any more is gone."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.adapters.chain import check_erased
from ireneo.adapters.in_memory.runs import take_out_run
from ireneo.adapters.in_memory.shelf import Shelf
from ireneo.log.message import Message
from ireneo.log.tree import AnnotationId, SessionKey
from ireneo.ports.store import Rebuild


class MemoryErasure:
    """`ireneo.ports.erasure.ErasurePort` over one open transaction."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def begin(self) -> None:
        """Say that this transaction erases; of memory nothing is left that would have to be overwritten."""
        self._shelf.check_writes()

    def count(self, key: SessionKey) -> int:
        """How many messages of a session were erased."""
        return sum(message.erased for message in self._shelf.see(key).messages.values())

    def messages(self, key: SessionKey, messages: Sequence[Message]) -> int:
        """Put what is left of erased messages in their place."""
        tree = self._shelf.change(key)
        check_erased(messages)
        for message in messages:
            tree.need(message.id)
        for message in messages:
            stored = tree.messages[message.id]
            draft = replace(stored.draft, parts=message.parts, source_id=None)
            tree.messages[message.id] = replace(stored, draft=draft, erased=True)
            tree.payloads.pop(message.id, None)
            tree.unindex(message.id)
        return len(messages)

    def notes(self, key: SessionKey, annotations: Sequence[AnnotationId], marks: Sequence[Rebuild]) -> int:
        """Take out annotations and the marks of rebuilds."""
        tree = self._shelf.change(key)
        places = [(mark.family, mark.budget_tokens, mark.at) for mark in marks]
        gone = sum(tree.annotations.pop(name, None) is not None for name in annotations)
        return gone + sum(tree.rebuilds.pop(place, None) is not None for place in places)

    def session(self, key: SessionKey) -> bool:
        """Take a session out with all that hangs on it."""
        self._shelf.unname(key)
        take_out_run(self._shelf.change_kept(key.space), key.session)
        return self._shelf.drop(key)

    def space(self, space: str) -> int:
        """Take out all that is kept of a space."""
        return self._shelf.drop_space(space)

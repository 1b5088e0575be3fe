"""What the engine needs of a store to erase: to take content out of it for good, and out of every byte that it keeps.

What is taken out through other ports in the same transaction (summaries, leases, memories, scratchpads) counts as
erased too, once `begin` was called in it. The bytes are gone when `Store.scrub` has said so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from ireneo.log.message import Message
from ireneo.log.tree import AnnotationId, SessionKey

if TYPE_CHECKING:
    from ireneo.ports.store import Rebuild


class Scrubbed(Struct, frozen=True, kw_only=True):
    """What a scrub came to."""

    complete: bool
    """Nothing that was erased stands in any byte of the store any more."""
    note: str = ""
    """Where it is not: why, and what finishes it."""


class ErasurePort(Protocol):
    """Taking content out for good."""

    def begin(self) -> None:
        """Say that this transaction erases, before it takes anything out: the store is to be scrubbed after it."""

    def count(self, key: SessionKey) -> int:
        """How many messages of a session were erased and left their place: it only grows.

        Whoever writes down what was made of messages asks again: where it has grown since they were read, an erasure
        came between.
        """

    def messages(self, key: SessionKey, messages: Sequence[Message]) -> int:
        """Put what is left of erased messages (`ireneo.log.redaction`) in their place; returns how many there were.

        Their payloads, records and source ids go, and so does what made them searchable. Positions, turns, tokens and
        times stay as they are stored. Raises MessageNotFound, and BadInput for one that is not marked as erased.
        """

    def notes(self, key: SessionKey, annotations: Sequence[AnnotationId], marks: Sequence[Rebuild]) -> int:
        """Take out annotations and the marks of rebuilds; returns how many there were of both."""

    def session(self, key: SessionKey) -> bool:
        """Take a session out with all that hangs on it, its run included. False where it was not made.

        What it spent counts on for its space, and no longer names it.
        """

    def space(self, space: str) -> int:
        """Take out all that is kept of a space, its spending included; returns how many sessions it had."""

"""What recall gives: messages as they were said, and memories, each with what put it there."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from msgspec import Struct

from ireneo.log.message import MessageId
from ireneo.memories.record import Kind, Record, State


class Recalled(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message or a memory that answers a question."""

    id: str
    kind: Kind | Literal["message"]
    text: str
    """A message's own words, whole; what a memory says."""
    score: float
    """How well it answers, against the others of the same answer; of no meaning across answers."""
    at: datetime | None = None
    """When it was said, when what it tells of happened, since when it is so; None where that is not known."""
    session: str = ""
    """Where it was said; of a memory the session of its first evidence."""
    sources: tuple[MessageId, ...] = ()
    """The messages that it rests on; a message rests on itself."""
    role: str = ""
    """Of a message: who speaks."""
    author: str | None = None
    """Of a message: by which name, where it has one."""
    source_id: str | None = None
    """Of a message: the id that the log it came from gave it."""
    state: State = "active"
    """Of a memory: ``disputed`` where a more trusted word stands against it."""
    stale: str = ""
    """Of a memory: why it must be reconsidered."""
    against: tuple[str, ...] = ()
    """Of a memory: what was said against it, by whom and when, in sentences."""
    parts: tuple[tuple[str, float], ...] = ()
    """What the score is made of, where that was asked for."""
    record: Record | None = None
    """The memory itself; None for a message."""


class Recollection(tuple[Recalled, ...]):
    """What was recalled, best first; `note` says what could not be done for it."""

    note: str

    def __new__(cls, found: Iterable[Recalled] = (), note: str = "") -> Recollection:
        """Hold `found` in its order."""
        made = super().__new__(cls, found)
        made.note = note
        return made

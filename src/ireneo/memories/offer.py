"""What is offered to memory, before it is settled what becomes of it."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from ireneo.log.message import MessageId
from ireneo.memories.record import Kind, MemoryId, Source


class Offer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something to remember: checked, typed by kind, and not yet compared with what is known."""

    text: str
    kind: Kind
    at: datetime
    """When it happened, or since when it is so; `recorded` where nobody says."""
    timed: bool = False
    """Whether somebody said when."""
    recorded: datetime
    until: datetime | None = None
    origin: Source = "user"
    trust: float = 1.0
    salience: float = 0.5
    confidence: float = 0.8
    subject: str = ""
    attribute: str = ""
    value: str = ""
    task_type: str = ""
    name: str = ""
    signature: str = ""
    cue: str = ""
    """Of a lesson: the name of its claim."""
    conditions: dict[str, str] = {}
    against: bool = False
    """It speaks against what it is about: the approach worked after all."""
    why: str = ""
    """What is wrong with what it speaks against, in the words of whoever says so."""
    adds: bool = False
    """It stands beside the other values of its slot, and takes the place of none."""
    session: str = ""
    project: str = ""
    """The project that it belongs to; empty: that of its session."""
    messages: tuple[MessageId, ...] = ()
    summaries: tuple[str, ...] = ()
    memories: tuple[MemoryId, ...] = ()
    pinned: bool = False

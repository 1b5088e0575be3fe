"""The scratchpad: the working state of the task at hand, rewritten whole, capped, and gone with the task."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

PAD_TOKENS = 300
"""What a scratchpad may cost."""


class Item(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step of a plan."""

    text: str
    done: bool = False


class Pad(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is understood of a task right now."""

    task: str
    """Which task; one scratchpad for each."""
    goal: str = ""
    plan: tuple[Item, ...] = ()
    facts: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    """What is open."""
    written: datetime

"""A thread of a story: what was promised, owed, hidden, suffered or asked, and has not come to its end yet."""

from __future__ import annotations

from typing import Literal, NewType

from msgspec import Struct

from ireneo.log.ids import digest
from ireneo.log.message import MessageId

ThreadId = NewType("ThreadId", str)
"""``t_`` and 26 characters, from the thread's words and the message that they stand in."""

ThreadKind = Literal["promise", "debt", "secret", "wound", "question"]


class Thread(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A thread as it was opened. While it is open it is a pin: carried word for word, at every depth."""

    id: ThreadId
    kind: ThreadKind
    text: str
    """In the words of the story, or those of whoever wrote the summary."""
    who: str = ""
    """Who promised, owes, hides, was hurt or asks."""
    whom: str = ""
    """To whom, from whom, by whom."""
    weight: float = 1.0
    """How much it matters that it is kept, against other threads."""
    position: int = 0
    """The place on the path of the message that opened it."""
    source: MessageId | None = None
    """That message."""


class Threads(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of threads within one stretch of a story."""

    opened: tuple[Thread, ...] = ()
    """Those that were opened within it and are still open at its end, in order."""
    closed: tuple[ThreadId, ...] = ()
    """Those that were opened before it and were resolved within it."""
    forgotten: int = 0
    """How many that were opened within it gave way to weightier ones, since only so many can be carried."""


def thread_id(kind: ThreadKind, text: str, source: MessageId | None) -> ThreadId:
    """Name a thread by its content: found twice, it is one."""
    return ThreadId(digest("t", kind.encode(), text.encode(), (source or "").encode()))

"""What a log format is, and the sessions that are read from one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from msgspec import Struct

from ireneo.log.message import Draft


class Fault(Struct, frozen=True, kw_only=True):
    """A place in a log that could not be read as it stands; what could be saved of it was."""

    line: int
    """From 1."""
    message: str
    """One sentence: what is wrong there, and what was done about it."""


class Node(Struct, frozen=True, kw_only=True):
    """A draft in the tree of a logged session; `parent` is the index of another node, before it in the list."""

    draft: Draft
    parent: int | None


class LoggedSession(Struct, frozen=True, kw_only=True):
    """One session of a log, as a tree whose head is where the log left off."""

    id: str
    nodes: tuple[Node, ...]
    head: int
    """The index of the node where the session stood when the log ended."""
    faults: tuple[Fault, ...] = ()

    @property
    def path(self) -> list[Draft]:
        """The drafts from the session's first to its head; other branches of its tree are left aside."""
        out = []
        place: int | None = self.head
        while place is not None:
            node = self.nodes[place]
            out.append(node.draft)
            place = node.parent
        return out[::-1]


class LogFormat(Protocol):
    """One agent's log format."""

    name: str
    chat: str
    """The chat format in which the model of such a log speaks, so that a context goes back to it."""

    def recognises(self, sample: bytes) -> bool:
        """Whether a file that begins with `sample` (64 KiB at the most) is of this format."""

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession]:
        """Read the sessions of a file, one at a time; `name` names those that have no id of their own.

        A line that can't be read becomes a Fault of its session, and the rest is kept.
        """


@runtime_checkable
class StraightFormat(Protocol):
    """A log format whose files each hold one session without branches, which is stored while it is read."""

    def drafts(self, lines: Iterable[bytes]) -> Iterator[Draft | Fault]:
        """Read the messages of a file one at a time, in order, with what can't be read among them."""

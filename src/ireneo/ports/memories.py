"""What the engine needs of a store to keep memories and scratchpads.

A record is stored whole under its id; what it can be found by stands beside it. Storing one also makes its text
searchable, and removing it takes it out of the search again, in the same transaction. Vectors go with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from ireneo.memories.record import Kind, MemoryId, Record, State
from ireneo.memories.scratchpad import Pad


class Wanted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which memories are meant: those of which all that is given here is true."""

    kind: Kind | None = None
    states: tuple[State, ...] = ()
    """In one of these; empty: in any."""
    subject: str | None = None
    """Compared without regard to case and to blanks around it."""
    task_type: str | None = None
    """Compared as the subject is."""
    cues: tuple[str, ...] = ()
    """Only lessons that make one of these claims; empty: whatever they claim."""
    lessons: bool = False
    """Only lessons."""
    archived: bool | None = None
    unreflected: bool = False
    """Only those from which no conclusion was drawn yet."""
    stale: bool = False
    """Only those that must be reconsidered."""


def folded(name: str) -> str:
    """A subject or a task type as it is compared: without regard to case and to blanks around it."""
    return name.strip().casefold()


class MemoriesPort(Protocol):
    """The memories of a space."""

    def put(self, space: str, records: Sequence[Record]) -> int:
        """Store records; one whose id is taken is replaced. Returns how many were new."""

    def get(self, space: str, ids: Sequence[str]) -> Sequence[Record]:
        """Read the memories whose ids begin with one of `ids`, in the order asked, each once, at most 10 for each."""

    def of_key(self, space: str, kind: Kind, key: str) -> Sequence[Record]:
        """Every memory of a kind under one key, in whatever state, by `recorded`, then id."""

    def list(self, space: str, wanted: Wanted, limit: int | None = None) -> Sequence[Record]:
        """The memories that are meant, the newest `at` first, then by id; at most `limit`."""

    def citing(self, space: str, sources: Sequence[str]) -> Sequence[Record]:
        """Every memory whose evidence names one of `sources` (the ids of messages, of summaries or of memories).

        They come by `recorded`, then id.
        """

    def remove(self, space: str, ids: Sequence[MemoryId]) -> int:
        """Take memories out for good, with what made them searchable. Returns how many there were."""


class PadsPort(Protocol):
    """The scratchpads of a space, one for each task."""

    def read(self, space: str, task: str) -> Pad | None:
        """The scratchpad of a task; None where there is none."""

    def write(self, space: str, pad: Pad) -> None:
        """Store a scratchpad in the place of the one that its task had."""

    def remove(self, space: str, task: str) -> bool:
        """Take it out; False where there was none."""

    def list(self, space: str) -> Sequence[Pad]:
        """Every scratchpad, the one that was written last standing first, those of one time by task."""

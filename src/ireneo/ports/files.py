"""Port for log files: where the lines of one come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import BinaryIO, Protocol, TypeAlias


class LogSource(Protocol):
    """A log file that is open, whatever it is packed in."""

    label: str
    """What it is called where something is wrong with it."""
    stem: str
    """What its sessions are called that have no id of their own."""
    damage: str | None
    """Why its lines ended before the file did."""

    @property
    def left_out(self) -> Sequence[int]:
        """The numbers of the lines that are too long to be read."""

    @property
    def size(self) -> int:
        """How long it is, in bytes as it lies there."""

    @property
    def bytes_read(self) -> int:
        """How far it was read, in bytes as it lies there."""

    def sample(self) -> bytes:
        """Its beginning; the reading starts there all the same. Raises BadInput."""

    def digest(self) -> str:
        """What tells it by its content; empty where it can't be read twice."""

    def raw(self) -> bytes:
        """All of its bytes as it lies there."""

    def lines(self) -> Iterator[bytes]:
        """Its lines, one at a time."""

    def close(self) -> None:
        """Let go of it."""


LogPlace: TypeAlias = str | PathLike[str] | BinaryIO
"""Where a log is: a file, a folder of events, or an open file that can be wound back."""

OpensLog: TypeAlias = Callable[[LogPlace], LogSource]
"""Opens one. Raises BadInput where it can't be read."""

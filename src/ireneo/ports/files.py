"""The ports for log files and for the workers that analyse them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from os import PathLike
from typing import BinaryIO, Protocol, TypeAlias


class LogSource(Protocol):
    """An open log file, however it is compressed."""

    label: str
    """Its name in messages about it."""
    stem: str
    """The name of sessions in it that have no id of their own."""
    damage: str | None
    """Why its lines ended before the file did."""

    @property
    def left_out(self) -> Sequence[int]:
        """The numbers of the lines that are too long to be read."""

    @property
    def size(self) -> int:
        """Its size in bytes on disk."""

    @property
    def bytes_read(self) -> int:
        """How many bytes of it on disk were read so far."""

    def sample(self) -> bytes:
        """Its beginning; `lines` still starts there. Raises BadInput."""

    def digest(self) -> str:
        """A digest of its content; empty if it can't be read twice."""

    def raw(self) -> bytes:
        """All of its bytes, as they are on disk."""

    def lines(self) -> Iterator[bytes]:
        """Iterate over its lines."""

    def close(self) -> None:
        """Close it."""


LogPlace: TypeAlias = str | PathLike[str] | BinaryIO
"""Where a log is: a file, a folder of events, or an open seekable file."""

OpensLog: TypeAlias = Callable[[LogPlace], LogSource]
"""Opens a log. Raises BadInput if it can't be read."""


class Workers(Protocol):
    """Running worker processes, here or elsewhere; they share nothing, not even a disk, and may die at any time."""

    @property
    def width(self) -> int:
        """How many tasks to submit at a time."""

    async def run(self, task: bytes) -> bytes | None:
        """Run a task and return its answer, retrying on another worker if one dies; None if all that tried it died.

        Raises BadInput if no worker can be reached (any more).
        """


OpensWorkers: TypeAlias = Callable[[str], AbstractAsyncContextManager[Workers]]
"""Opens the workers at an address. Raises BadInput for an invalid address, MissingExtra."""

"""Port for workers: processes on this machine or on others that analyse logs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias


class Workers(Protocol):
    """Workers that are there. They share nothing, not even a disk, and any of them may die at any time."""

    @property
    def width(self) -> int:
        """How many tasks are worth giving at a time."""

    async def run(self, task: bytes) -> bytes | None:
        """The answer to a task, from another worker where one died of it; None where each that had it did.

        Raises BadInput where no worker can be asked (any more).
        """


OpensWorkers: TypeAlias = Callable[[str], AbstractAsyncContextManager[Workers]]
"""Opens those at an address. Raises BadInput for one that can't be used, MissingExtra."""

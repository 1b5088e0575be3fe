"""Refuse a transaction inside another one of the same store: the two would wait for each other."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from ireneo.errors import StoreError

NESTED = (
    "This task has a transaction of the store open already; leave its block before you open another: as many such "
    "tasks as there are connections would wait for each other for ever."
)


class Nesting:
    """Knows which tasks have a transaction open.

    A task that holds one connection and waits for another is no fault that shows at once: it takes as many of them as
    there are connections. So it is refused always, and not only when it would hang.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._tasks: set[asyncio.Task[object] | None] = set()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Have a transaction open for the length of the block. Raises StoreError where the task has one already."""
        task = asyncio.current_task()
        if task in self._tasks:
            raise StoreError(NESTED)
        self._tasks.add(task)
        try:
            yield
        finally:
            # The task that entered, which need not be the one that leaves: a generator may be closed by another.
            self._tasks.discard(task)

"""One SQLite connection, and the thread that alone works on it, so that no event loop waits for a disk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import apsw

from ireneo.adapters.sqlite.busy import Patience
from ireneo.adapters.sqlite.queries import SQL
from ireneo.adapters.sqlite.translate import UNPARSABLE, UNPARSED, translate
from ireneo.errors import BadInput, StoreError

T = TypeVar("T")

LONGEST = 200
"""Characters of what a parser says."""

Work = Callable[[apsw.Connection], T]
"""What is done on a connection, in its thread."""


class Connection:
    """A connection that is opened by the first work that it is given, and works in the order in which it is asked."""

    def __init__(self, path: Path, busy_seconds: float, prepare: Callable[[apsw.Connection, Patience], None]) -> None:
        """Keep a connection to `path` ready; `prepare` is run on it right after it was opened."""
        self._path = path
        self._prepare = prepare
        self._patience = Patience(busy_seconds)
        self._database: apsw.Connection | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ireneo-sqlite")

    async def run(self, work: Work[T]) -> T:
        """Do `work` in the connection's thread. Raises StoreError for whatever the driver raises.

        A task that is cancelled meanwhile leaves at once; work that was begun goes on to its end.
        """
        return await asyncio.wrap_future(self._submit(work))

    async def begin(self, start: Work[None]) -> None:
        """Start a transaction; a task that is cancelled while it waits for the file's lock lets go of the wait."""
        try:
            await self.run(start)
        except asyncio.CancelledError:
            self._patience.give_up()
            raise

    def settle(self) -> None:
        """Roll back what is still open, before anything that is asked from now on; waits for nothing.

        The order of the thread's work is what makes this safe: no cancellation can come between a transaction that
        was broken off and its end, since nobody has to be there for it.
        """
        self._thread.submit(self._roll_back)

    async def finish(self) -> None:
        """End a transaction that read; raises StoreError where what was read can't be relied on."""

    async def close(self) -> None:
        """Close the connection once all that it was asked for is done, and end its thread."""
        try:
            await asyncio.wrap_future(self._thread.submit(self._close))
        finally:
            self._thread.shutdown(wait=False)

    def close_soon(self) -> None:
        """Close the connection, and wait for nothing."""
        self._thread.submit(self._close)
        self._thread.shutdown(wait=False)

    def _submit(self, work: Work[T]) -> Future[T]:
        return self._thread.submit(self._do, work)

    def _do(self, work: Work[T]) -> T:
        try:
            return work(self._opened())
        except apsw.Error as fault:
            raise translate(fault, self._path) from fault
        except UnicodeEncodeError as fault:
            raise BadInput("A name or a text has half a surrogate pair in it; give valid Unicode.") from fault
        except UNPARSABLE as fault:
            raise StoreError(f"{self._path} {UNPARSED} ({' '.join(str(fault).split())[:LONGEST]}).") from fault

    def _opened(self) -> apsw.Connection:
        if self._database is None:
            database = self._open()
            try:
                database.set_busy_handler(self._patience)
                self._prepare(database, self._patience)
            except BaseException:
                database.close(True)
                raise
            self._database = database
        return self._database

    def _open(self) -> apsw.Connection:
        if self._path != Path(":memory:"):
            # A new file is for its owner's eyes alone. What keeps it from being made, SQLite says as it opens it.
            with suppress(OSError):
                os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        return apsw.Connection(str(self._path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)

    def _roll_back(self) -> None:
        self._patience.renew()
        if self._database is None or not self._database.in_transaction:
            return
        try:
            self._database.execute(SQL["roll_back"])
        except apsw.Error:
            # A connection that can't even roll back is given up; closing it does, and the next work opens another.
            self._close()

    def _close(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close(True)

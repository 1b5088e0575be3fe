"""One SQLite connection, opened when it is first needed; one thread at a time works on it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import apsw

from ireneo.adapters.pool import Job
from ireneo.adapters.sqlite.busy import Patience
from ireneo.adapters.sqlite.queries import SQL
from ireneo.adapters.sqlite.translate import UNPARSABLE, UNPARSED, translate
from ireneo.errors import BadInput, StoreError

T = TypeVar("T")

LONGEST = 200
"""Characters of what a parser says."""

Work = Callable[[apsw.Connection], T]
"""What is done on a connection."""


class Connection:
    """A connection that is opened by the first work that it is given."""

    def __init__(self, path: Path, busy_seconds: float, prepare: Callable[[apsw.Connection, Patience], None]) -> None:
        """Keep a connection to `path` ready; `prepare` is run on it right after it was opened."""
        self._path = path
        self._prepare = prepare
        self._patience = Patience(busy_seconds)
        self._database: apsw.Connection | None = None

    def run(self, work: Work[T]) -> T:
        """Do `work`. Raises StoreError for whatever the driver raises."""
        try:
            return work(self._opened())
        except apsw.Error as fault:
            raise translate(fault, self._path) from fault
        except UnicodeEncodeError as fault:
            raise BadInput("A name or a text has half a surrogate pair in it; give valid Unicode.") from fault
        except UNPARSABLE as fault:
            raise StoreError(f"{self._path} {UNPARSED} ({' '.join(str(fault).split())[:LONGEST]}).") from fault

    def serve(self, job: Job) -> None:
        """Let go of the wait for a locked file as soon as nobody waits for `job`."""
        self._patience.given_up = job.cancelled

    def finish(self) -> None:
        """End a transaction that read; raises StoreError where what was read can't be relied on."""

    def settle(self) -> None:
        """Roll back what is still open."""
        if self._database is None or not self._database.in_transaction:
            return
        try:
            self._database.execute(SQL["roll_back"])
        except apsw.Error:
            # A connection that can't even roll back is given up; closing it does, and the next work opens another.
            self.close()

    def close(self) -> None:
        """Close the connection; the next work opens it again."""
        database, self._database = self._database, None
        if database is not None:
            database.close(True)

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

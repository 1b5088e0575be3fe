"""The store in memory: SQLite without a file, for tests and data that need not outlive the process."""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path

import apsw

from ireneo.adapters.sql.database import Cancellation
from ireneo.adapters.sqlite.opening import bring_up_to_date
from ireneo.adapters.sqlite.store import READERS, Connection, SqliteStore
from ireneo.ports.store import Scrubbed

NOWHERE = Path(":memory:")
LOOK_SECONDS = 0.01
"""How often a waiting writer checks whether it was cancelled."""


@cache
def _empty_image() -> bytes:
    """The image of an empty database."""
    database = apsw.Connection(str(NOWHERE))
    bring_up_to_date(database, NOWHERE)
    return database.serialize("main")


class DatabaseCopies:
    """Copies of one database, one for each open transaction; `newest` is the image of the newest commit."""

    def __init__(self) -> None:
        """Start with an empty database."""
        self.newest = _empty_image()
        self._idle: list[tuple[apsw.Connection, bytes]] = []
        self._lock = threading.Lock()
        self.writing = threading.Lock()
        """Held by the transaction that writes, among all stores over these copies."""

    def take(self) -> tuple[apsw.Connection, bytes]:
        """Lend a copy of the newest commit, and its image; preferably one that needs no update."""
        with self._lock:
            newest = self.newest
            copy, image = self._idle.pop() if self._idle else (apsw.Connection(str(NOWHERE)), b"")
        if image is not newest:
            copy.deserialize("main", newest)
        return copy, newest

    def give(self, copy: apsw.Connection, image: bytes) -> None:
        """Take a copy back; those of the newest commit are lent first."""
        with self._lock:
            self._idle.insert(len(self._idle) if image is self.newest else 0, (copy, image))


class MemoryConnection(Connection):
    """A connection to one of the copies for the length of a transaction."""

    def __init__(self, copies: DatabaseCopies, *, writes: bool) -> None:
        """Prepare a connection that may write or not."""
        super().__init__(NOWHERE, 0.0, lambda database, busy: None)
        self._copies = copies
        self._writes = writes
        self._image = b""
        self._changes = 0

    def watch(self, cancellation: Cancellation) -> None:
        """Take a copy; a writer first waits for other writers."""
        while self._writes and not self._copies.writing.acquire(timeout=LOOK_SECONDS):
            cancellation.check()
        self._database, self._image = self._copies.take()
        self._changes = self._database.total_changes()

    def commit(self) -> None:
        """Commit, and publish the image."""
        super().commit()
        if self.database.total_changes() != self._changes:
            self._image = self._copies.newest = self.database.serialize("main")

    def roll_back(self) -> None:
        """Roll back unless committed, and give the copy back."""
        super().roll_back()
        if self._database is not None:
            self._copies.give(self._database, self._image)
            self._database = None
            if self._writes:
                self._copies.writing.release()


class InMemoryStore(SqliteStore):
    """`ireneo.ports.store.Store` in memory: the same queries and transactions as SQLite, gone when it is dropped.

    In memory SQLite has no WAL, which would give readers a snapshot while another transaction writes. So each
    transaction has a copy of its own, and each commit costs a copy of everything: use it for up to 10,000 messages.
    """

    def __init__(self, beside: InMemoryStore | None = None) -> None:
        """Create an empty store, or one that shares the data of `beside`, which may be closed already."""
        self._copies: DatabaseCopies = beside._copies if beside else DatabaseCopies()
        readers = [MemoryConnection(self._copies, writes=False) for _ in range(READERS)]
        super().__init__(NOWHERE, MemoryConnection(self._copies, writes=True), readers)

    async def scrub(self, *, look: bool = False) -> Scrubbed:
        """Do nothing: no data is on a disk."""
        return Scrubbed(complete=True)

"""The store in memory: SQLite without a file, for tests and for what need not last."""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path

import apsw

from ireneo.adapters.pool import Cancellation
from ireneo.adapters.sqlite.connection import Connection
from ireneo.adapters.sqlite.migrate import bring_up_to_date
from ireneo.adapters.sqlite.store import READERS, SqliteStore
from ireneo.ports.store import Scrubbed

NOWHERE = Path(":memory:")
LOOK_SECONDS = 0.01
"""So often a writer who waits for another one looks whether anybody still waits for it."""


@cache
def _empty() -> bytes:
    """The image of an empty database."""
    database = apsw.Connection(str(NOWHERE))
    bring_up_to_date(database, NOWHERE)
    return database.serialize("main")


class Copies:
    """Copies of one database, of which each transaction takes one; its image is that of the newest commit."""

    def __init__(self) -> None:
        """Begin with nothing stored."""
        self.newest = _empty()
        self._idle: list[tuple[apsw.Connection, bytes]] = []
        self._lock = threading.Lock()
        self.writing = threading.Lock()
        """Held by the one that writes, among those of all stores over these copies."""

    def take(self) -> tuple[apsw.Connection, bytes]:
        """A copy that holds what was committed, and its image; one that does so already, where there is one."""
        with self._lock:
            newest = self.newest
            copy, image = self._idle.pop() if self._idle else (apsw.Connection(str(NOWHERE)), b"")
        if image is not newest:
            copy.deserialize("main", newest)
        return copy, newest

    def give(self, copy: apsw.Connection, image: bytes) -> None:
        """Take a copy back; those that hold what was committed last are lent first."""
        with self._lock:
            self._idle.insert(len(self._idle) if image is self.newest else 0, (copy, image))


class MemoryConnection(Connection):
    """A connection to one of the copies, for as long as it is lent."""

    def __init__(self, copies: Copies, *, writes: bool) -> None:
        """Keep a connection ready, which may write or not."""
        super().__init__(NOWHERE, 0.0, lambda database, busy: None)
        self._copies = copies
        self._writes = writes
        self._image = b""
        self._changes = 0

    def heed(self, cancellation: Cancellation) -> None:
        """Take a copy; who writes waits for whoever else does."""
        while self._writes and not self._copies.writing.acquire(timeout=LOOK_SECONDS):
            cancellation.check()
        self._database, self._image = self._copies.take()
        self._changes = self._database.total_changes()

    def commit(self) -> None:
        """End a transaction that wrote, and leave its image for the others."""
        super().commit()
        if self.database.total_changes() != self._changes:
            self._image = self._copies.newest = self.database.serialize("main")

    def roll_back(self) -> None:
        """Roll back what is still open, and give the copy back."""
        super().roll_back()
        if self._database is not None:
            self._copies.give(self._database, self._image)
            self._database = None
            if self._writes:
                self._copies.writing.release()


class InMemoryStore(SqliteStore):
    """`ireneo.ports.store.Store` in memory: the same words and the same transactions, and gone when it is let go.

    In memory SQLite has no WAL, by which a reader sees what stood while another writes. So each transaction has a copy
    of the store to itself, and a commit leaves an image for the others: it costs a copy of all that is stored. Use it
    up to some 10,000 messages.
    """

    def __init__(self, beside: InMemoryStore | None = None) -> None:
        """Make an empty store, or another one over what one of this process holds, which may be closed by now."""
        self._copies: Copies = beside._copies if beside else Copies()
        readers = [MemoryConnection(self._copies, writes=False) for _ in range(READERS)]
        super().__init__(NOWHERE, MemoryConnection(self._copies, writes=True), readers)

    async def scrub(self, *, look: bool = False) -> Scrubbed:
        """Nothing is left to overwrite: no byte of it lies on a disk."""
        return Scrubbed(complete=True)

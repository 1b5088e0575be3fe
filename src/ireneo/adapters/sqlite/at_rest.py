"""Read a file that can't be written to, or whose folder can't: nothing is made beside it, and nothing old is shown.

Whoever reads a file in WAL mode writes as well: into the ``-shm`` beside it, where readers and writers find each other.
Where that is there, SQLite reads by it even if it may not write to it. Where it is not, nobody is at the file, and two
cases are left:

- There is no WAL, or an empty one: all that was written is in the file, which is read as one that never changes.
- There is a WAL with something in it, which a process left behind that was killed: it is read along, in this
  connection's own memory and without locks.

Neither would notice a writer who comes meanwhile. So the file is opened anew for each transaction, and looked at again
when that ends: what was read from a file that changed meanwhile is not given out.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

import apsw

from ireneo.adapters.sqlite.busy import Patience
from ireneo.adapters.sqlite.connection import Connection
from ireneo.errors import StoreError, Unreachable

CHANGED = "was written to while it was read; ask again."
WITHOUT_LOCKS = ("unix-none", "win32-none")
"""What SQLite calls the ways to a file that take no locks: where no lock file can be made, there are none to take."""

_Stamp: TypeAlias = tuple[tuple[int, int, int] | None, ...]


class RestingConnection(Connection):
    """A connection to a file that can't be written to: opened for each transaction, and closed behind it."""

    def __init__(self, path: Path, busy_seconds: float, prepare: Callable[[apsw.Connection, Patience], None]) -> None:
        """Keep a connection to `path` ready."""
        super().__init__(path, busy_seconds, prepare)
        self._stamp: _Stamp | None = None
        """How the file was when it was opened; None where SQLite itself sees to it that a snapshot stands still."""

    def finish(self) -> None:
        """Raise StoreError where the file was changed since the transaction began."""
        if self._stamp is not None and _stamp(self._path) != self._stamp:
            raise StoreError(f"{self._path} {CHANGED}")

    def _open(self) -> apsw.Connection:
        self._stamp = None
        if _beside(self._path, "-shm").exists():
            return apsw.Connection(str(self._path), apsw.SQLITE_OPEN_READONLY)
        self._stamp = _stamp(self._path)
        if not _size(_beside(self._path, "-wal")):
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            return apsw.Connection(f"file:{quote(str(self._path))}?immutable=1", flags)
        vfs = next((name for name in WITHOUT_LOCKS if name in apsw.vfs_names()), None)
        if vfs is None:
            raise Unreachable(f"{self._path} has a WAL beside it, which can't be read along here; copy both elsewhere.")
        database = apsw.Connection(str(self._path), apsw.SQLITE_OPEN_READONLY, vfs=vfs)
        # In this mode alone SQLite keeps the index of a WAL in its own memory.
        database.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        # Else it would try to bring the WAL into the file when it is closed.
        database.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        return database

    def settle(self) -> None:
        """Roll back what is still open, and close the file."""
        super().settle()
        self.close()


def is_writable(path: Path) -> bool:
    """Whether a file that is there and holds something may be written to, as far as its permissions tell."""
    return not _size(path) or os.access(path, os.W_OK)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _stamp(path: Path) -> _Stamp:
    """What changes of a file and its WAL when somebody writes to them."""
    return tuple(_times(each) for each in (path, _beside(path, "-wal")))


def _times(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns)

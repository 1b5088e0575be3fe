"""A connection to a SQLite file: queries by name, the wait for others, and what the driver's errors mean."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import ParamSpec, TypeAlias, TypeVar
from urllib.parse import quote

import apsw

from ireneo.adapters.pool import Cancellation
from ireneo.adapters.sql.database import (
    UNPARSABLE,
    ErrorMeaning,
    NamedQueries,
    SqlTransaction,
    Value,
    in_sqlite,
    load_queries,
)
from ireneo.errors import BadInput, NotADatabase, ReadOnlyStore, StoreBusy, StoreError, Unreachable

SQL = load_queries(Path(__file__).with_name("queries"), in_sqlite)

SHORTEST_SECONDS = 0.001
LONGEST_SECONDS = 0.025
GROWTH = 1.5
STEPS = 20
"""After so many tries a pause has long reached its ceiling; further powers would only overflow."""


class BusyHandler:
    """A busy handler for one connection: SQLite calls it with the number of tries, and waits on while it says True.

    SQLite's own wait is the same for everyone, so that writers who came at once meet again at each try, and the one
    that waited longest asks most rarely. Here a pause is random, and its ceiling is low enough that a waiter of long
    standing asks nearly as often as a newcomer.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = 0.0
        self.given_up = threading.Event()
        """Set, by another thread, once nobody wants what it waits for any more: the wait ends at once."""

    def __call__(self, tries: int) -> bool:
        """Pause, and say whether to try again; False once the limit is over or the wait was given up."""
        if tries == 0:
            self._began = time.monotonic()
        left = self._began + self._seconds - time.monotonic()
        if left <= 0:
            return False
        ceiling = min(LONGEST_SECONDS, SHORTEST_SECONDS * GROWTH ** min(tries, STEPS))
        pause = random.uniform(ceiling / 4, ceiling)
        return not self.given_up.wait(min(pause, left))


BUSY = ErrorMeaning(
    StoreBusy, "was kept locked for too long by another process; try again, or look for one that hangs."
)
FOREIGN = ErrorMeaning(NotADatabase, "is not an Ireneo database; name another file, or a new one.")
DAMAGED = ErrorMeaning(StoreError, "is damaged; restore it from a copy.")
UNOPENED = ErrorMeaning(Unreachable, "can't be opened; check that its folder exists and that you may write to it.")
READ_ONLY = ErrorMeaning(ReadOnlyStore, "may not be written to; check its permissions and those of its folder.")
UNREADABLE = ErrorMeaning(StoreError, "can't be read or written; the disk or its file system reports a fault.")
FULL = ErrorMeaning(StoreError, "can't grow; the disk is full.")
UNPARSED = "holds something that can't be read; see `ireneo doctor`"
"""A value that is not what was written: the file is damaged, and SQLite doesn't know."""
TOO_BIG = ErrorMeaning(StoreError, "can't hold a single value this large; split it, or keep it in a file of its own.")
NO_MEMORY = ErrorMeaning(StoreError, "can't be worked on; there is no memory left.")
CLOSED = ErrorMeaning(StoreError, "was closed while it was in use; open the store again.")
FORKED = ErrorMeaning(StoreError, "was opened before this process was forked; open the store after the fork.")
OUR_FAULT = ErrorMeaning(
    StoreError, "was asked for something that it can't do; this is a fault in Ireneo, please report it."
)

MEANINGS: Mapping[type[apsw.Error], ErrorMeaning] = {
    error: meaning
    for meaning, errors in (
        (BUSY, (apsw.BusyError, apsw.LockedError, apsw.ProtocolError)),
        (FOREIGN, (apsw.NotADBError, apsw.FormatError)),
        (DAMAGED, (apsw.CorruptError,)),
        (UNOPENED, (apsw.CantOpenError,)),
        (READ_ONLY, (apsw.PermissionsError, apsw.ReadOnlyError, apsw.AuthError)),
        (UNREADABLE, (apsw.IOError, apsw.NoLFSError)),
        (FULL, (apsw.FullError,)),
        (TOO_BIG, (apsw.TooBigError,)),
        (NO_MEMORY, (apsw.NoMemError,)),
        (CLOSED, (apsw.ConnectionClosedError, apsw.ConnectionNotClosedError)),
        (CLOSED, (apsw.CursorClosedError, apsw.VFSFileClosedError)),
        (FORKED, (apsw.ForkingViolationError,)),
        (OUR_FAULT, (apsw.AbortError, apsw.BindingsError, apsw.ConstraintError, apsw.EmptyError)),
        (OUR_FAULT, (apsw.ExecTraceAbort, apsw.ExecutionCompleteError, apsw.ExtensionLoadingError)),
        (OUR_FAULT, (apsw.IncompleteExecutionError, apsw.InternalError, apsw.InterruptError)),
        (OUR_FAULT, (apsw.InvalidContextError, apsw.MismatchError, apsw.MisuseError, apsw.NoFTS5Error)),
        (OUR_FAULT, (apsw.NotFoundError, apsw.RangeError, apsw.SQLError, apsw.SchemaChangeError)),
        (OUR_FAULT, (apsw.ThreadingViolationError, apsw.VFSNotImplementedError)),
    )
    for error in errors
}
"""Every class that apsw has: a test fails when it grows one that is missing here."""


def translate(fault: apsw.Error, path: Path) -> StoreError:
    """Say in our words what the driver says of the file at `path`; raise the result ``from fault``."""
    # A class that a later apsw brings is no reason to let it through.
    meaning = MEANINGS.get(type(fault), OUR_FAULT)
    detail = f" ({fault})" if meaning in (OUR_FAULT, DAMAGED, UNREADABLE) else ""
    return meaning.error(f"{path} {meaning.sentence}{detail}")


P = ParamSpec("P")
T = TypeVar("T")

LONGEST = 200
"""Characters of what a parser says."""


class SqliteDatabase(NamedQueries):
    """`ireneo.adapters.sql.database.Database` over a connection of the driver."""

    def __init__(self, connection: apsw.Connection) -> None:
        """Work on a connection."""
        self.connection = connection

    def scan(self, query: str, /, **bindings: Value) -> apsw.Cursor:
        """All that a query gives, row by row. Raises BindingsError where it is none of ours, or lacks a value."""
        try:
            return self.connection.execute(SQL[query], bindings)
        except (KeyError, TypeError) as fault:
            raise apsw.BindingsError(f"query {query}: {fault}") from fault

    def change(self, query: str, /, **bindings: Value) -> int:
        """Run what writes; says how many rows it added, replaced or took out."""
        self.scan(query, **bindings)
        return self.connection.changes()

    def send(self, query: str, /, **bindings: Value) -> None:
        """Run what writes."""
        self.change(query, **bindings)

    def send_all(self, query: str, rows: Iterable[Mapping[str, Value]], /) -> None:
        """Run it for each of `rows`."""
        try:
            self.connection.executemany(SQL[query], rows)
        except (KeyError, TypeError) as fault:
            raise apsw.BindingsError(f"query {query}: {fault}") from fault

    def savepoint(self) -> apsw.Connection:
        """A block that leaves nothing where it raises: a transaction, and inside of one a savepoint."""
        return self.connection

    def of(self, space: str) -> SqliteDatabase:
        """The same: a session's number is one of the whole file."""
        return self

    def scopes(self) -> Sequence[SqliteDatabase]:
        """All of it at once."""
        return (self,)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction that writes from its beginning, for as long as the block lasts."""
        self.change("begin_write")
        try:
            yield
            self.change("commit")
        finally:
            if self.connection.in_transaction:
                self.change("roll_back")


class Connection:
    """A connection that is opened by the first work that it is given."""

    def __init__(
        self, path: Path, busy_seconds: float, prepare: Callable[[apsw.Connection, BusyHandler], None]
    ) -> None:
        """Keep a connection to `path` ready; `prepare` is run on it right after it was opened."""
        self._path = path
        self._prepare = prepare
        self._busy_seconds = busy_seconds
        self._busy = BusyHandler(busy_seconds)
        self._database: apsw.Connection | None = None

    @property
    def database(self) -> apsw.Connection:
        """The driver's connection, opened and prepared."""
        if self._database is None:
            database = self._open()
            try:
                database.set_busy_handler(self._busy)
                self._prepare(database, self._busy)
            except BaseException:
                database.close(True)
                raise
            self._database = database
        return self._database

    def execute(self, query: str) -> None:
        """Run a query that takes nothing, whatever it gives. Raises as `run` does."""
        self.run(lambda: SqliteDatabase(self.database).rows(query))

    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do `work` on the connection. Raises StoreError for whatever the driver raises."""
        try:
            return work(*args, **kwargs)
        except apsw.Error as fault:
            raise translate(fault, self._path) from fault
        except UnicodeEncodeError as fault:
            raise BadInput("A name or a text has half a surrogate pair in it; give valid Unicode.") from fault
        except UNPARSABLE as fault:
            raise StoreError(f"{self._path} {UNPARSED} ({' '.join(str(fault).split())[:LONGEST]}).") from fault

    def waiting_at_most(self, seconds: float) -> Connection:
        """Another one like it, which waits no longer than that for others."""
        return Connection(self._path, min(seconds, self._busy_seconds), self._prepare)

    def heed(self, cancellation: Cancellation) -> None:
        """Let go of the wait for a locked file as soon as a cancellation is requested."""
        self._busy.given_up = cancellation.requested

    def commit(self) -> None:
        """End a transaction that wrote. Raises as `run` does."""
        self.execute("commit")

    def finish(self) -> None:
        """End a transaction that read; raises StoreError where what was read can't be relied on."""

    def roll_back(self) -> None:
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

    def _open(self) -> apsw.Connection:
        if self._path != Path(":memory:"):
            # A new file is for its owner's eyes alone. What keeps it from being made, SQLite says as it opens it.
            with suppress(OSError):
                os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        return apsw.Connection(str(self._path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)


CHANGED = "was written to while it was read; ask again."
WITHOUT_LOCKS = ("unix-none", "win32-none")
"""What SQLite calls the ways to a file that take no locks: where no lock file can be made, there are none to take."""

_Stamp: TypeAlias = tuple[tuple[int, int, int] | None, ...]


class ReadOnlyConnection(Connection):
    """A connection to a file that can't be written to, or whose folder can't: nothing is made beside it.

    Whoever reads a file in WAL mode writes as well: into the ``-shm`` beside it, where readers and writers find each
    other. Where that is there, SQLite reads by it even if it may not write to it. Where it is not, nobody is at the
    file, and two cases are left:

    - There is no WAL, or an empty one: all that was written is in the file, which is read as one that never changes.
    - There is a WAL with something in it, which a process left behind that was killed: it is read along, in this
      connection's own memory and without locks.

    Neither would notice a writer who comes meanwhile. So the file is opened anew for each transaction, closed behind
    it, and looked at again when that ends: what was read from a file that changed meanwhile is not given out.
    """

    def __init__(
        self, path: Path, busy_seconds: float, prepare: Callable[[apsw.Connection, BusyHandler], None]
    ) -> None:
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

    def roll_back(self) -> None:
        """Roll back what is still open, and close the file."""
        super().roll_back()
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


class SqliteTransaction(SqlTransaction):
    """All ports over a transaction that is open on a connection."""

    ports = MappingProxyType({**SqlTransaction.ports, "upkeep": ("ireneo.adapters.sqlite.upkeep", "SqliteUpkeep")})

    def __init__(self, connection: Connection, *, writes: bool) -> None:
        """Stand on the transaction that was begun on `connection`."""
        super().__init__(SqliteDatabase(connection.database), writes=writes)
        self.connection = connection

    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do `work`. Raises StoreError for whatever the driver raises."""
        return self.connection.run(work, *args, **kwargs)

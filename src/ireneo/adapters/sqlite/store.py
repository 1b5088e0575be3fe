"""The store in one SQLite file, for any number of processes of one machine: connections, transactions, scrubbing."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Concatenate, ParamSpec, TypeAlias, TypeVar
from urllib.parse import quote

import apsw

from ireneo.adapters.sql.database import (
    BUSY,
    TOO_BIG,
    UNPARSABLE,
    Cancellation,
    Database,
    ErrorMeaning,
    PooledStore,
    SqlTransaction,
    Value,
    in_sqlite,
    load_queries,
    pause_seconds,
    unreadable,
)
from ireneo.errors import NotADatabase, ReadOnlyStore, StoreError, Unreachable
from ireneo.ports.store import Scrubbed, Transaction

SQL = load_queries(Path(__file__).with_name("queries"), in_sqlite)


class BusyHandler:
    """A busy handler for one connection: SQLite calls it with the number of tries, and retries if it returns True.

    SQLite's own handler pauses equally long for everyone, so that simultaneous writers collide at each try, and the one
    waiting longest tries least often. Here a pause is random, and its ceiling so low that an old waiter tries nearly as
    often as a new one.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = 0.0
        self.given_up = threading.Event()
        """Set by another thread when the transaction was cancelled; the wait then ends at once."""

    def __call__(self, tries: int) -> bool:
        """Pause, and return whether to try again; False after the time limit or a cancellation."""
        if tries == 0:
            self._began = time.monotonic()
        left = self._began + self._seconds - time.monotonic()
        if left <= 0:
            return False
        return not self.given_up.wait(min(pause_seconds(tries), left))


FOREIGN = ErrorMeaning(NotADatabase, "is not an Ireneo database; name another file, or a new one.")
DAMAGED = ErrorMeaning(StoreError, "is damaged; restore it from a copy.")
UNOPENED = ErrorMeaning(Unreachable, "can't be opened; check that its folder exists and that you may write to it.")
READ_ONLY = ErrorMeaning(ReadOnlyStore, "may not be written to; check its permissions and those of its folder.")
UNREADABLE = ErrorMeaning(StoreError, "can't be read or written; the disk or its file system reports a fault.")
FULL = ErrorMeaning(StoreError, "can't grow; the disk is full.")
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
"""All error classes of apsw; a test fails when a new one is missing here."""


def translate(fault: apsw.Error, path: Path) -> StoreError:
    """Translate an error of the driver for the file at `path`; raise the result ``from fault``."""
    # A later apsw may have classes that are not in the table.
    meaning = MEANINGS.get(type(fault), OUR_FAULT)
    detail = f" ({fault})" if meaning in (OUR_FAULT, DAMAGED, UNREADABLE) else ""
    return meaning.error(f"{path} {meaning.sentence}{detail}")


P = ParamSpec("P")
T = TypeVar("T")


class SqliteDatabase(Database):
    """`ireneo.adapters.sql.database.Database` over a connection of the driver."""

    def __init__(self, connection: apsw.Connection) -> None:
        """Use a connection."""
        self.connection = connection

    def scan(self, query: str, /, **bindings: Value) -> apsw.Cursor:
        """Iterate over the rows of a query. Raises BindingsError for an unknown query or a missing value."""
        try:
            return self.connection.execute(SQL[query], bindings)
        except (KeyError, TypeError) as fault:
            raise apsw.BindingsError(f"query {query}: {fault}") from fault

    def change(self, query: str, /, **bindings: Value) -> int:
        """Run a statement that writes; return how many rows it changed."""
        self.scan(query, **bindings)
        return self.connection.changes()

    def send(self, query: str, /, **bindings: Value) -> None:
        """Run a statement that writes."""
        self.change(query, **bindings)

    def send_all(self, query: str, rows: Iterable[Mapping[str, Value]], /) -> None:
        """Run a statement for each of `rows`."""
        try:
            self.connection.executemany(SQL[query], rows)
        except (KeyError, TypeError) as fault:
            raise apsw.BindingsError(f"query {query}: {fault}") from fault

    def savepoint(self) -> apsw.Connection:
        """A block that is rolled back if it raises: a savepoint, or a transaction if none is open."""
        return self.connection

    def of(self, space: str) -> SqliteDatabase:
        """Return this database, since keys are unique in the whole file."""
        return self

    def scopes(self) -> Sequence[SqliteDatabase]:
        """Return this database alone: upkeep checks the whole file at once."""
        return (self,)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A block in a write transaction."""
        self.change("begin_write")
        try:
            yield
            self.change("commit")
        finally:
            if self.connection.in_transaction:
                self.change("roll_back")


class Connection:
    """A connection that is opened when it is first used."""

    def __init__(
        self, path: Path, busy_seconds: float, prepare: Callable[[apsw.Connection, BusyHandler], None]
    ) -> None:
        """Prepare a connection to `path`; `prepare` is called when it has been opened."""
        self._path = path
        self._prepare = prepare
        self._busy_seconds = busy_seconds
        self._busy = BusyHandler(busy_seconds)
        self._database: apsw.Connection | None = None

    @property
    def database(self) -> apsw.Connection:
        """The driver's connection, opened if necessary."""
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
        """Run a query without parameters and ignore its rows. Raises as `run` does."""
        self.run(lambda: SqliteDatabase(self.database).rows(query))

    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `work`, and raise StoreError for any error of the driver."""
        try:
            return work(*args, **kwargs)
        except apsw.Error as fault:
            raise translate(fault, self._path) from fault
        except UNPARSABLE as fault:
            raise unreadable(fault, self._path) from fault

    def waiting_at_most(self, seconds: float) -> Connection:
        """Another connection to the same file, which waits at most `seconds` for locks."""
        return Connection(self._path, min(seconds, self._busy_seconds), self._prepare)

    def watch(self, cancellation: Cancellation) -> None:
        """Stop waiting for locks when `cancellation` is requested."""
        self._busy.given_up = cancellation.requested

    def commit(self) -> None:
        """Commit. Raises as `run` does."""
        self.execute("commit")

    def finish(self) -> None:
        """End a read; raise StoreError if the data that was read may be inconsistent."""

    def roll_back(self) -> None:
        """Roll back any open transaction."""
        if self._database is None or not self._database.in_transaction:
            return
        try:
            self._database.execute(SQL["roll_back"])
        except apsw.Error:
            # Closing rolls back as well, and the next use opens the connection again.
            self.close()

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        database, self._database = self._database, None
        if database is not None:
            database.close(True)

    def _open(self) -> apsw.Connection:
        if self._path != Path(":memory:"):
            # A new file is accessible to its owner only. If this fails, SQLite reports why when it opens the file.
            with suppress(OSError):
                os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        return apsw.Connection(str(self._path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)


CHANGED = "was written to while it was read; ask again."
WITHOUT_LOCKS = ("unix-none", "win32-none")
"""SQLite's VFSs that take no locks, for where lock files can't be created."""

_Stamp: TypeAlias = tuple[tuple[int, int, int] | None, ...]


class ReadOnlyConnection(Connection):
    """A connection to a file that is read-only, or in a read-only folder: no file is created next to it.

    Reading a database in WAL mode also writes, to the ``-shm`` file through which readers and writers coordinate. If
    that exists, SQLite can use it even without write access. Otherwise no process has the file open:

    - Without a WAL, or with an empty one, everything is in the file, which is read as immutable.
    - With a WAL that a killed process left behind, the WAL is read into this connection's memory, without locks.

    Neither notices a writer. So the file is opened for each transaction, closed after it, and checked for changes at
    the end: what was read from a file that changed meanwhile is not returned.
    """

    def __init__(
        self, path: Path, busy_seconds: float, prepare: Callable[[apsw.Connection, BusyHandler], None]
    ) -> None:
        """Prepare a connection to `path`."""
        super().__init__(path, busy_seconds, prepare)
        self._stamp: _Stamp | None = None
        """The state of the file when it was opened; None if SQLite itself guarantees a consistent snapshot."""

    def finish(self) -> None:
        """Raise StoreError if the file was changed since the transaction began."""
        if self._stamp is not None and _file_stamp(self._path) != self._stamp:
            raise StoreError(f"{self._path} {CHANGED}")

    def _open(self) -> apsw.Connection:
        self._stamp = None
        if _sibling_path(self._path, "-shm").exists():
            return apsw.Connection(str(self._path), apsw.SQLITE_OPEN_READONLY)
        self._stamp = _file_stamp(self._path)
        if not _size(_sibling_path(self._path, "-wal")):
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            return apsw.Connection(f"file:{quote(str(self._path))}?immutable=1", flags)
        vfs = next((name for name in WITHOUT_LOCKS if name in apsw.vfs_names()), None)
        if vfs is None:
            raise Unreachable(f"{self._path} has a WAL next to it that can't be read here; copy both elsewhere.")
        database = apsw.Connection(str(self._path), apsw.SQLITE_OPEN_READONLY, vfs=vfs)
        # Only in this mode does SQLite keep the index of a WAL in its own memory.
        database.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        # Otherwise closing would try to checkpoint the WAL.
        database.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        return database

    def roll_back(self) -> None:
        """Roll back any open transaction, and close the file."""
        super().roll_back()
        self.close()


def is_writable(path: Path) -> bool:
    """Whether a file is empty, missing or writable, judging by its permissions."""
    return not _size(path) or os.access(path, os.W_OK)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _sibling_path(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _file_stamp(path: Path) -> _Stamp:
    """The properties of a file and its WAL that change when either is written to."""
    return tuple(_file_times(each) for each in (path, _sibling_path(path, "-wal")))


def _file_times(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns)


class SqliteTransaction(SqlTransaction):
    """All ports over a transaction that is open on a connection."""

    ports = MappingProxyType({**SqlTransaction.ports, "upkeep": ("ireneo.adapters.sqlite.upkeep", "SqliteUpkeep")})

    def __init__(self, connection: Connection, *, writes: bool) -> None:
        """Use the transaction that was begun on `connection`."""
        super().__init__(SqliteDatabase(connection.database), writes=writes)
        self.connection = connection

    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `work`, and raise StoreError for any error of the driver."""
        return self.connection.run(work, *args, **kwargs)


READERS = 4
"""How many connections read; each is opened when the others are in use."""


class SqliteStore(PooledStore[Connection]):
    """`ireneo.ports.store.Store` over one SQLite file; created by `open_sqlite`.

    One connection writes, a few read, each in a thread. Writers of this process wait in order, and only the first of
    them competes with other processes for the file.
    """

    def __init__(self, path: Path, writer: Connection, readers: Sequence[Connection]) -> None:
        """Use these connections, none of which is opened yet."""
        super().__init__(writer, readers, Connection.close, "ireneo-sqlite")
        self._path = path
        self._writer = writer
        self._read_only = isinstance(readers[0], ReadOnlyConnection)

    async def _connect(self) -> None:
        touch = partial(_outside_transaction, lambda database: database.rows("take_snapshot"))
        await (self._readers if self._read_only else self._writers).run(touch)

    async def write(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call `function` in a transaction, alone among all writers, and commit durably.

        Raises StoreBusy if another process locks the file for longer than `busy_seconds`, and ReadOnlyStore.
        """
        self._check_writable()
        return await super().write(function, *args, **kwargs)

    async def scrub(self, *, look: bool = False) -> Scrubbed:
        """Rewrite the file and empty its WAL, if something was erased since the last scrub.

        This needs twice the file's size on disk, and blocks other writers. It uses its own connection, which waits for
        a shorter time.
        """
        if look:
            return await self._readers.run(partial(_outside_transaction, _scrub_status))
        self._check_writable()
        return await self._writers.run(lambda _, cancellation: self._scrub(cancellation))

    def _scrub(self, cancellation: Cancellation) -> Scrubbed:
        connection = self._writer.waiting_at_most(WAIT_SECONDS)
        try:
            return _outside_transaction(_scrub_file, connection, cancellation)
        finally:
            connection.close()

    def _check_writable(self) -> None:
        if self._read_only:
            raise READ_ONLY.error(f"{self._path} {READ_ONLY.sentence}")

    @contextmanager
    def _transaction(
        self, connection: Connection, cancellation: Cancellation, *, writes: bool
    ) -> Iterator[SqliteTransaction]:
        connection.watch(cancellation)
        try:
            for query in ("begin_write",) if writes else ("begin_read", "take_snapshot"):
                connection.execute(query)
            transaction = SqliteTransaction(connection, writes=writes)
            try:
                yield transaction
            finally:
                transaction.is_over = True
            if writes:
                cancellation.begin_commit()
                connection.commit()
            else:
                connection.finish()
        finally:
            connection.roll_back()


def _outside_transaction(work: Callable[[SqliteDatabase], T], connection: Connection, cancellation: Cancellation) -> T:
    """Call `work` outside of any transaction."""
    connection.watch(cancellation)
    try:
        return connection.run(lambda: work(SqliteDatabase(connection.database)))
    finally:
        connection.roll_back()


# The scrub: it overwrites the bytes that an erasure leaves behind in the file and its WAL.

WAIT_SECONDS = 5.0
"""How long a scrub waits for other processes."""

TRY_AGAIN = "forget again, or run `ireneo doctor --repair`, when they are done"
SCRUB_DUE = "An erasure may have left its bytes in the file or its WAL; forget again, or run `ireneo doctor --repair`."
SCRUB_BLOCKED_BY_READER = (
    f"Another reader still holds an old state of the file, so that its WAL can't be emptied yet; {TRY_AGAIN}."
)
SCRUB_BLOCKED = f"Another process is at the file, so that it can't be written anew; {TRY_AGAIN}."
SCRUB_NO_ROOM = (
    "There is no room to write the file anew, which takes twice its size; free some, and forget again or run "
    "`ireneo doctor --repair`."
)


def _scrub_status(database: Database) -> Scrubbed:
    """Report whether a scrub is due."""
    waiting = database.rows("list_scrubs")
    return Scrubbed(complete=not waiting, note=SCRUB_DUE if waiting else "")


def _scrub_file(database: Database) -> Scrubbed:
    """Rewrite the file and empty its WAL, unless nothing was erased since the last scrub.

    Overwriting what is deleted (`secure_delete`) is not enough: when SQLite moves rows between pages it leaves old
    copies behind, which a later deletion doesn't reach. So the file is rewritten (VACUUM), and then the WAL is
    checkpointed and truncated.
    """
    marks = database.column("list_scrubs")
    if not marks:
        return Scrubbed(complete=True)
    try:
        for query in ("settle_message_words", "settle_memory_words", "vacuum"):
            database.change(query)
        if database.number("empty_wal"):
            return Scrubbed(complete=False, note=SCRUB_BLOCKED_BY_READER)
        # Only the marks seen above: erasures that came since need another scrub.
        with database.savepoint():
            database.send_all("delete_scrub", ({"mark": mark} for mark in marks))
    except (apsw.BusyError, apsw.LockedError):
        return Scrubbed(complete=False, note=SCRUB_BLOCKED)
    except apsw.FullError:
        return Scrubbed(complete=False, note=SCRUB_NO_ROOM)
    return Scrubbed(complete=True)

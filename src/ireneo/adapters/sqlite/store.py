"""The store in one SQLite file, for one machine and any number of its processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Concatenate, Generic, ParamSpec, Self, TypeVar, overload

import apsw

from ireneo.adapters.pool import Cancellation, Pool, ReentryGuard, check_plain, check_result
from ireneo.adapters.sqlite.connection import (
    READ_ONLY,
    SQL,
    Connection,
    OpenTransaction,
    ReadOnlyConnection,
    is_writable,
)
from ireneo.adapters.sqlite.erasure import WAIT_SECONDS, look_at_scrubs, scrub_file
from ireneo.adapters.sqlite.migrate import Durability, check_place, prepare_read_only, prepare_reader, prepare_writer
from ireneo.errors import BadInput, ReadOnlyStore, Unreachable
from ireneo.ports.memories import LedgerPort, MemoriesPort, PadsPort, RunsPort, SearchPort, VectorsPort, WordsPort
from ireneo.ports.store import (
    AnnotationsPort,
    ErasurePort,
    LeasesPort,
    LogPort,
    RebuildsPort,
    Scrubbed,
    SessionsPort,
    SpendingPort,
    SummariesPort,
    Transaction,
    UpkeepPort,
)

P = ParamSpec("P")
T = TypeVar("T")

READERS = 4
"""Connections that read, each opened when the others are taken; what is more waits its turn."""


class Lazy(Generic[T]):
    """A port of a transaction, whose module is loaded when it is first asked for."""

    def __init__(self, module: str, name: str) -> None:
        self._module = f"{__package__}.{module}"
        self._name = name

    def __set_name__(self, owner: type[SqliteTransaction], name: str) -> None:
        self._attribute = name

    @overload
    def __get__(self, instance: None, owner: type[SqliteTransaction]) -> Self: ...
    @overload
    def __get__(self, instance: SqliteTransaction, owner: type[SqliteTransaction]) -> T: ...
    def __get__(self, instance: SqliteTransaction | None, owner: type[SqliteTransaction]) -> Self | T:
        """The port of `instance`, which keeps it."""
        if instance is None:
            return self
        port: T = getattr(import_module(self._module), self._name)(instance.transaction)
        vars(instance)[self._attribute] = port
        return port


class SqliteTransaction:
    """All ports over one open transaction."""

    def __init__(self, transaction: OpenTransaction) -> None:
        """Stand on an open transaction."""
        self.transaction = transaction

    log: Lazy[LogPort] = Lazy("log", "SqliteLog")
    sessions: Lazy[SessionsPort] = Lazy("log", "SqliteSessions")
    summaries: Lazy[SummariesPort] = Lazy("summaries", "SqliteSummaries")
    rebuilds: Lazy[RebuildsPort] = Lazy("summaries", "SqliteRebuilds")
    annotations: Lazy[AnnotationsPort] = Lazy("summaries", "SqliteAnnotations")
    spending: Lazy[SpendingPort] = Lazy("leases", "SqliteSpending")
    leases: Lazy[LeasesPort] = Lazy("leases", "SqliteLeases")
    vectors: Lazy[VectorsPort] = Lazy("vectors", "SqliteVectors")
    memories: Lazy[MemoriesPort] = Lazy("memories", "SqliteMemories")
    pads: Lazy[PadsPort] = Lazy("memories", "SqlitePads")
    runs: Lazy[RunsPort] = Lazy("memories", "SqliteRuns")
    ledger: Lazy[LedgerPort] = Lazy("memories", "SqliteLedger")
    search: Lazy[SearchPort] = Lazy("search", "SqliteSearch")
    words: Lazy[WordsPort] = Lazy("search", "SqliteWords")
    upkeep: Lazy[UpkeepPort] = Lazy("upkeep", "SqliteUpkeep")
    erasure: Lazy[ErasurePort] = Lazy("erasure", "SqliteErasure")


class SqliteStore:
    """`ireneo.ports.store.Store` over one SQLite file; made by `open_sqlite`.

    One connection writes, a few read; each transaction has one to itself, in a thread. Those of one process wait for
    the writer in the order in which they came, and only the first of them competes with other processes for the file.
    """

    def __init__(
        self, path: Path, *, durability: Durability, busy_seconds: float, readers: int, read_only: bool = False
    ) -> None:
        """Name the file and how to work on it; nothing is opened yet. `read_only`: it can't be written to."""
        self._guard = ReentryGuard()
        self._path = path
        self._read_only = read_only
        prepare = partial(prepare_writer, path=path, durability=durability)
        self._writers = self._pool([Connection(path, busy_seconds, prepare)])
        kind = ReadOnlyConnection if read_only else Connection
        ready = partial(prepare_read_only, path=path) if read_only else prepare_reader
        self._readers = self._pool([kind(path, busy_seconds, ready) for _ in range(readers)])
        self._to_scrub = partial(Connection, path, min(busy_seconds, WAIT_SECONDS), prepare)

    async def open(self) -> None:
        """Open the file now, and not with the first write, so that what is wrong with it shows."""
        await (self._readers if self._read_only else self._writers).run(partial(_alone, _touch))

    async def read(self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """A snapshot: all that is read inside belongs together."""
        check_plain(function)
        return await self._readers.run(partial(_read_through, lambda tx: function(tx, *args, **kwargs)))

    async def write(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """One transaction, alone among writers; durable once it has returned.

        Raises StoreBusy when another process holds the file for longer than `busy_seconds`, and ReadOnlyStore where
        nothing can be written.
        """
        check_plain(function)
        self._check_writable()
        return await self._writers.run(partial(_write_through, lambda tx: function(tx, *args, **kwargs)))

    async def scrub(self, *, look: bool = False) -> Scrubbed:
        """Write the file anew and empty its WAL, where something was erased since that was done last.

        It takes room for twice the file and the time to copy it; other writers wait meanwhile. The connection is one
        of its own, since it waits for others less long.
        """
        if look:
            return await self._readers.run(partial(_alone, look_at_scrubs))
        self._check_writable()
        return await self._writers.run(lambda _, cancellation: self._scrub(cancellation))

    async def close(self) -> None:
        """Let go of the file: idle connections now, one that a transaction is on as soon as that is over."""
        for connection in (*self._readers.close(), *self._writers.close()):
            await asyncio.to_thread(connection.close)

    def _scrub(self, cancellation: Cancellation) -> Scrubbed:
        connection = self._to_scrub()
        try:
            return _alone(scrub_file, connection, cancellation)
        finally:
            connection.close()

    def _pool(self, connections: Sequence[Connection]) -> Pool[Connection]:
        return Pool(connections, Connection.close, self._guard, "ireneo-sqlite")

    def _check_writable(self) -> None:
        if self._read_only:
            raise READ_ONLY.error(f"{self._path} {READ_ONLY.sentence}")


def _read_through(work: Callable[[SqliteTransaction], T], connection: Connection, cancellation: Cancellation) -> T:
    """Call `work` with a snapshot."""
    connection.heed(cancellation)
    try:
        connection.execute("begin_read")
        connection.execute("take_snapshot")
        result = _called(work, connection, cancellation, writes=False)
        connection.finish()
        return result
    finally:
        connection.roll_back()


def _write_through(work: Callable[[SqliteTransaction], T], connection: Connection, cancellation: Cancellation) -> T:
    """Call `work` with a transaction, and commit it."""
    connection.heed(cancellation)
    try:
        connection.execute("begin_write")
        result = _called(work, connection, cancellation, writes=True)
        cancellation.begin_commit()
        connection.execute("commit")
        return result
    finally:
        connection.roll_back()


def _called(
    work: Callable[[SqliteTransaction], T], connection: Connection, cancellation: Cancellation, *, writes: bool
) -> T:
    cancellation.check()
    transaction = OpenTransaction(connection, writes=writes)
    try:
        result = work(SqliteTransaction(transaction))
    finally:
        transaction.is_over = True
    check_result(result)
    return result


def _alone(work: Callable[[apsw.Connection], T], connection: Connection, cancellation: Cancellation) -> T:
    """Do work outside of any transaction."""
    connection.heed(cancellation)
    try:
        return connection.run(lambda: work(connection.database))
    finally:
        connection.roll_back()


def _touch(database: apsw.Connection) -> None:
    database.execute(SQL["take_snapshot"]).fetchall()


async def open_sqlite(
    path: str | PathLike[str], *, durability: Durability = "full", busy_seconds: float = 30.0, readers: int = READERS
) -> SqliteStore:
    """Open the store in the file at `path`, made when it is not there; close it with `close()`.

    One that may not be written to, or whose folder may not, is opened all the same, to be read: writing to it raises
    ReadOnlyStore.

    With `durability="full"` what was acknowledged survives a power cut. With "normal" it survives the end of the
    process, kill -9 included, but a power cut or a crash of the operating system may take the last moments back
    (never half of a transaction, and the file stays sound); it is several times faster on a disk.

    `busy_seconds` is how long a transaction waits for other processes; `readers` is how many may read at a time, each
    on a connection of its own. Raises NotADatabase, NewerDatabase, StoreBusy, Unreachable, or
    StoreError where the file can't be opened.
    """
    if str(path) in ("", ":memory:"):
        raise BadInput("A SQLite store needs a file; for one in memory, take ireneo.adapters.in_memory.")
    place = Path(path).absolute()
    check_place(place)
    opened = partial(_opened, place, durability=durability, busy_seconds=busy_seconds, readers=readers)
    if not is_writable(place):
        return await opened(read_only=True)
    try:
        return await opened()
    except (ReadOnlyStore, Unreachable):
        # It may be written to, and nothing may be made beside it. A new file can't be read either.
        if not place.exists():
            raise
        return await opened(read_only=True)


async def _opened(
    place: Path, *, durability: Durability, busy_seconds: float, readers: int, read_only: bool = False
) -> SqliteStore:
    store = SqliteStore(place, durability=durability, busy_seconds=busy_seconds, readers=readers, read_only=read_only)
    try:
        await store.open()
    except BaseException:
        await store.close()
        raise
    return store

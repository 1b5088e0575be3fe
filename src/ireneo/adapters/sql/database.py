"""A database as the ports see it: transactions in threads, named queries inside them, and values as they are in rows.

Nothing here depends on a driver. An adapter provides a `Database` over its driver's connection, a `SqlTransaction` that
translates the driver's errors, and the queries that it needs in its own dialect. A transaction is a function that is
called in a thread with a connection of its own (`PooledStore`), so that neither the disk nor what the function computes
ever blocks an event loop. Several event loops, each in a thread, may share a store.
"""

from __future__ import annotations

import asyncio
import random
import re
import struct
import threading
import zlib
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar, copy_context
from datetime import UTC, datetime, timedelta
from functools import wraps
from importlib import import_module
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from ireneo.errors import BadInput, StoreBusy, StoreError
from ireneo.patterns import lazy_re
from ireneo.ports.store import HearsOfWork, Transaction

Value: TypeAlias = str | bytes | int | float | None
"""A value bound to a query's parameter."""
Bindings: TypeAlias = dict[str, Value]
"""The values of a query's parameters, by name."""
Row: TypeAlias = tuple[Any, ...]

END = 2**63 - 1
"""An upper bound of positions, for a range without an end."""

C = TypeVar("C")
P = ParamSpec("P")
T = TypeVar("T")
Q = TypeVar("Q", bound="Port")


class Database(ABC):
    """A connection to a database. Each call names a query and gives a value for each of its parameters."""

    @abstractmethod
    def scan(self, query: str, /, **bindings: Value) -> Iterator[Row]:
        """Iterate over the rows of a query."""

    def rows(self, query: str, /, **bindings: Value) -> list[Row]:
        """All rows of a query."""
        return list(self.scan(query, **bindings))

    def row(self, query: str, /, **bindings: Value) -> Row | None:
        """The first row of a query, if any."""
        return next(self.scan(query, **bindings), None)

    def each(self, query: str, rows: Iterable[Mapping[str, Value]], /) -> list[list[Row]]:
        """Run a query for each of `rows`, in order; on a server in one round trip."""
        return [self.rows(query, **row) for row in rows]

    def column(self, query: str, /, **bindings: Value) -> list[Any]:
        """The first column of all rows of a query."""
        return [row[0] for row in self.scan(query, **bindings)]

    def number(self, query: str, /, **bindings: Value) -> int:
        """The first column of a query's only row."""
        ((number, *_),) = self.scan(query, **bindings)
        return int(number)

    @abstractmethod
    def change(self, query: str, /, **bindings: Value) -> int:
        """Run a statement that writes; return how many rows it inserted, replaced or deleted."""

    @abstractmethod
    def send(self, query: str, /, **bindings: Value) -> None:
        """Run a statement that writes. On a server it is not waited for, so an error may be raised later."""

    @abstractmethod
    def send_all(self, query: str, rows: Iterable[Mapping[str, Value]], /) -> None:
        """Send a statement for each of `rows`."""

    @abstractmethod
    def savepoint(self) -> AbstractContextManager[object]:
        """A block that is rolled back if it raises."""

    @abstractmethod
    def of(self, space: str) -> Database:
        """Return the database for queries in one space. PostgreSQL locks the space and adds it to each query."""

    @abstractmethod
    def scopes(self) -> Sequence[Database]:
        """The scopes that upkeep checks in turn: the whole database, or one for each space."""


class SqlTransaction(ABC):
    """All ports over one open transaction; the module of a port is imported when the port is first used."""

    ports: Mapping[str, tuple[str, str]] = MappingProxyType(
        {
            "log": ("ireneo.adapters.sql.log", "SqlLog"),
            "sessions": ("ireneo.adapters.sql.log", "SqlSessions"),
            "summaries": ("ireneo.adapters.sql.summaries", "SqlSummaries"),
            "rebuilds": ("ireneo.adapters.sql.summaries", "SqlRebuilds"),
            "annotations": ("ireneo.adapters.sql.summaries", "SqlAnnotations"),
            "read_marks": ("ireneo.adapters.sql.summaries", "SqlReadMarks"),
            "pads": ("ireneo.adapters.sql.summaries", "SqlPads"),
            "spending": ("ireneo.adapters.sql.summaries", "SqlSpending"),
            "leases": ("ireneo.adapters.sql.summaries", "SqlLeases"),
            "vectors": ("ireneo.adapters.sql.search", "SqlVectors"),
            "memories": ("ireneo.adapters.sql.memories", "SqlMemories"),
            "runs": ("ireneo.adapters.sql.memories", "SqlRuns"),
            "ledger": ("ireneo.adapters.sql.memories", "SqlLedger"),
            "traps": ("ireneo.adapters.sql.memories", "SqlTraps"),
            "search": ("ireneo.adapters.sql.search", "SqlSearch"),
            "words": ("ireneo.adapters.sql.search", "SqlWords"),
            "upkeep": ("ireneo.adapters.sql.upkeep", "SqlUpkeep"),
            "erasure": ("ireneo.adapters.sql.upkeep", "SqlErasure"),
        }
    )
    """The module and class of each port; an adapter that implements one itself replaces the entry."""

    def __init__(self, database: Database, *, writes: bool) -> None:
        """Use the transaction that was begun on `database`; `writes` says whether it may write."""
        self.database = database
        self.writes = writes
        self.is_over = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (its name says which port it is)
        """Create the port called `name`."""
        if name not in self.ports:
            raise AttributeError(name)
        module, of = self.ports[name]
        port = getattr(import_module(module), of)(self)
        setattr(self, name, port)
        return port

    def check(self, *, writes: bool = False) -> None:
        """Raise StoreError if the transaction is over or, for a call that `writes`, if it is read-only."""
        if self.is_over:
            raise StoreError("The transaction is over; open another with store.read() or store.write().")
        if writes and not self.writes:
            raise StoreError("This transaction only reads; write inside store.write().")

    @abstractmethod
    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `work`, and raise StoreError for any error of the driver."""


class ErrorMeaning(Struct, frozen=True):
    """The meaning of a driver's error for the caller."""

    error: type[StoreError]
    sentence: str
    """Follows the name of the file or the address."""
    told: bool = False
    """Whether the server's own message is appended."""


BUSY = ErrorMeaning(
    StoreBusy, "was kept locked for too long by another process; try again, or look for one that hangs."
)
TOO_BIG = ErrorMeaning(StoreError, "can't hold a single value this large; split it, or keep it in a file of its own.")
MOST_QUOTED = 200
"""How many characters of a parser's or a server's message are quoted."""


def quoted(fault: Exception) -> str:
    """The message of an error in one line, cut if it is long."""
    return " ".join(str(fault).split())[:MOST_QUOTED]


def unreadable(fault: Exception, place: object) -> BadInput | StoreError:
    """The error for a value that could not be encoded, or for a stored one that could not be parsed (`UNPARSABLE`)."""
    if isinstance(fault, UnicodeEncodeError):
        return BadInput("A name or a text has half a surrogate pair in it; give valid Unicode.")
    # A fault of ours in what reads the value looks the same.
    told = f"{type(fault).__name__}: {quoted(fault)}"
    blame = "`doctor` lists what; if it finds nothing, this is a fault in Ireneo, please report it"
    return StoreError(f"{place} holds something that can't be read: {blame} ({told}).")


SHORTEST_SECONDS = 0.001
LONGEST_SECONDS = 0.025
"""The shortest and the longest pause before a lock is tried again."""
GROWTH = 1.5
STEPS = 20
"""After this many tries a pause has reached its ceiling; higher powers would only overflow."""


def pause_seconds(tries: int, longest: float = LONGEST_SECONDS) -> float:
    """A random pause before the next try, longer each time."""
    ceiling = min(longest, SHORTEST_SECONDS * GROWTH ** min(tries, STEPS))
    return random.uniform(ceiling / 4, ceiling)


class Migration(Struct, frozen=True, kw_only=True):
    """One step of the schema, applied once, in one transaction with its record."""

    number: int
    name: str
    sql: str
    step: Callable[[Any], None] | None = None
    """The part of the migration that SQL alone can't do; called after it."""


def read_migrations(folder: Path) -> tuple[Migration, ...]:
    """Read an adapter's migrations, ordered by number."""
    found = []
    for file in folder.iterdir():
        number, _, name = file.name.removesuffix(".sql").partition("_")
        found.append(Migration(number=int(number), name=name, sql=file.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda migration: migration.number))


class Port:
    """A port over an open transaction; each of its methods is decorated with `reads` or `writes`."""

    def __init__(self, transaction: SqlTransaction) -> None:
        """Use an open transaction."""
        self.transaction = transaction
        self._database = transaction.database

    def _db(self, space: str) -> Database:
        return self._database.of(space)


def reads(method: Callable[Concatenate[Q, P], T]) -> Callable[Concatenate[Q, P], T]:
    """Decorate a method of a port that reads: it raises StoreError after the transaction, and for driver errors."""

    @wraps(method)
    def within(self: Q, /, *args: P.args, **kwargs: P.kwargs) -> T:
        self.transaction.check()
        return self.transaction.run(method, self, *args, **kwargs)

    return within


def writes(method: Callable[Concatenate[Q, P], T]) -> Callable[Concatenate[Q, P], T]:
    """Decorate a method of a port that writes: if it raises it has changed nothing, so a caller may catch the error.

    It raises StoreError in a read-only transaction, after the transaction's end, and for errors of the driver.
    """

    @wraps(method)
    def within(self: Q, /, *args: P.args, **kwargs: P.kwargs) -> T:
        self.transaction.check(writes=True)
        return self.transaction.run(_whole, method, self, *args, **kwargs)

    return within


def _whole(method: Callable[Concatenate[Q, P], T], port: Q, /, *args: P.args, **kwargs: P.kwargs) -> T:
    with port._database.savepoint():
        result = method(port, *args, **kwargs)
    return result  # noqa: RET504 (mypy can't know that the block swallows nothing)


_DIALECT = lazy_re(r"\{(?:(sqlite): )?([^{}]*)\}")
_BYTES_OF = lazy_re(r"\bbytes_of\((\w+)\)")
_LISTED = lazy_re(r"\bSELECT listed\((:\w+)\)")


def in_postgres(text: str) -> str:
    """Render shared SQL for PostgreSQL: ``{...}`` is kept, ``{sqlite: ...}`` is dropped."""
    return _DIALECT.sub(lambda found: "" if found[1] else found[2], text)


def in_sqlite(text: str) -> str:
    """Render shared SQL for SQLite: ``{sqlite: ...}`` is kept, ``{...}`` is dropped.

    What is dropped is mostly the space in a key, since a session's key is unique in the whole file. The two functions
    that the schema of PostgreSQL defines are expanded.
    """
    rendered = _DIALECT.sub(lambda found: found[2] if found[1] else "", text)
    return _LISTED.sub(r"SELECT value FROM json_each(\1)", _BYTES_OF.sub(r"CAST(\1 AS BLOB)", rendered))


_NAME = lazy_re(r"^-- name: (\w+)\n", re.MULTILINE)
_LIKE = lazy_re(r"-- like: (?P<query>\w+),(?: from (?P<table>[^,\n]+),)? where (?P<condition>.+)")
_OF_SPACE = "WHERE space = :space"
_FROM = lazy_re(r"\bFROM \w+")


def parse_queries(text: str) -> dict[str, str]:
    """Split the text of a .sql file into its queries by name; text before the first name is a comment.

    A query may be defined as an earlier one with an additional condition, ``-- like: list_lessons, where stale = 1``,
    and another first table, ``-- like: list_lessons, from lessons INDEXED BY lessons_by_time, where stale = 1``.
    """
    _, *pieces = _NAME.split(text)
    queries: dict[str, str] = {}
    for name, body in zip(pieces[0::2], pieces[1::2], strict=True):
        if name in queries:
            raise ValueError(f"two queries are named {name}")
        like = _LIKE.search(body)
        if like is None:
            queries[name] = body.strip()
            continue
        query = queries[like["query"]].replace(_OF_SPACE, f"{_OF_SPACE} AND {like['condition']}", 1)
        queries[name] = _FROM.sub(f"FROM {like['table'].strip()}", query, count=1) if like["table"] else query
    return queries


def load_queries(folder: Path, render: Callable[[str], str]) -> Mapping[str, str]:
    """Load the shared queries in an adapter's dialect, and those in `folder` that are its own; names are unique."""
    found: dict[str, str] = {}
    for file in (*Path(__file__).with_name("queries").iterdir(), *folder.iterdir()):
        queries = parse_queries(render(file.read_text(encoding="utf-8")))
        if twice := found.keys() & queries.keys():
            raise ValueError(f"two queries are named {', '.join(sorted(twice))}")
        found |= queries
    return MappingProxyType(found)


UNPARSABLE = (ValueError, TypeError, LookupError, OverflowError, msgspec.MsgspecError, struct.error, zlib.error)
"""Whatever parsing a damaged value can raise: JSON, a time, packed bytes, a number."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    """Convert a time with a zone to microseconds since 1970 in UTC."""
    return (at - _EPOCH) // _MICROSECOND


def time_of(microseconds: int) -> datetime:
    """Convert microseconds since 1970 to a time in UTC."""
    return _EPOCH + microseconds * _MICROSECOND


def utc(at: datetime) -> datetime:
    """Convert a time to UTC; one without a zone is taken as UTC."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def write_time(at: datetime | None) -> str | None:
    """Format a time, with its zone if it has one."""
    return None if at is None else at.isoformat()


def read_time(text: str | None) -> datetime | None:
    """Parse what `write_time` returned."""
    return None if text is None else datetime.fromisoformat(text)


def time_range(times: Iterable[datetime | None]) -> tuple[datetime | None, datetime | None]:
    """The earliest and the latest time; one without a zone is taken as UTC."""
    known = [at for at in times if at is not None]
    return min(known, key=_with_zone, default=None), max(known, key=_with_zone, default=None)


def _with_zone(at: datetime) -> datetime:
    # Not converted to UTC, which overflows at both ends of the calendar.
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def write_json(value: object) -> str:
    """Encode a record, or a list that is bound to a query."""
    return msgspec.json.encode(value).decode()


COVERED: Mapping[str, tuple[str, ...]] = {
    "messages": (
        *("key", "segment", "position", "id", "parent", "role", "origin", "turn", "tokens", "thinking_tokens"),
        *("total_tokens", "at", "source_id", "joined", "parts", "erased"),
    ),
    "branches": ("key", "branch", "segment", "position"),
    "summaries": ("key", "id", "family", "segment", "first_position", "last_position", "depth", "record"),
    "annotations": ("key", "id", "segment", "at_position", "record"),
    "memories": (
        *("space", "id", "kind", "key", "state", "archived", "subject", "task_type", "at", "recorded"),
        *("unreflected", "stale", "cue", "record"),
    ),
    "pads": ("space", "task", "written", "record"),
    "runs": ("space", "session", "head", "ended", "record"),
    "sightings": ("space", "session", "cue", "at", "category", "project", "held", "broke", "tokens", "record"),
}
"""The parameters that the checksum of a row covers, in the order of the columns of the queries ``rows_of_...``. That of
a vector covers its set, its document and the vector."""

_BETWEEN = "\x1f"
_NOTHING = str(None).encode()
_VALUES = {table: itemgetter(*names) for table, names in COVERED.items()}
_WRITTEN = {table: _BETWEEN.join(["%s"] * len(names)) for table, names in COVERED.items()}


def checksum(values: Sequence[bytes | None]) -> int:
    """The CRC-32 of a row's columns as bytes, numbers in decimal, as a database casts them.

    A database checks that a page can be read, but not that it holds what was written. So each row with content carries
    a checksum, which detects any change of a single byte.
    """
    return zlib.crc32(_BETWEEN.encode().join([_NOTHING if value is None else value for value in values]))


def with_checksum(table: str, row: Mapping[str, Value]) -> Bindings:
    """Add its checksum to a row without bytes and booleans."""
    # The same as `checksum`, formatted in one step, since this runs for every message.
    return {**row, "checksum": zlib.crc32((_WRITTEN[table] % _VALUES[table](row)).encode())}


# Transactions run in threads: each connection runs one at a time, and waiting ones are served in order.

NESTED = (
    "A transaction of the store is open here already; return from its function before you open another: as many such "
    "as there are connections would wait for each other for ever."
)
CLOSED = "The memory is closed; open it again."
LAZY = (
    "A transaction's function returns what it read, and not {0}, which would run when the transaction is over; give a "
    "plain function, and await outside of it."
)


class Cancellation:
    """Whether a transaction should be rolled back because the task that waited for it was cancelled."""

    def __init__(self) -> None:
        """Start without a request."""
        self.requested = threading.Event()
        """Set when the transaction should stop waiting for locks and roll back."""
        self._commits = False
        self._guard = threading.Lock()

    def request(self) -> None:
        """Cancel the transaction unless its commit has begun."""
        with self._guard:
            if not self._commits:
                self.requested.set()

    def check(self) -> None:
        """Raise CancelledError if the transaction was cancelled."""
        if self.requested.is_set():
            raise CancelledError

    def begin_commit(self) -> None:
        """Raise CancelledError if the transaction was cancelled; otherwise it can't be from now on."""
        with self._guard:
            self.check()
            self._commits = True


_INSIDE: ContextVar[tuple[Cancellation, ...]] = ContextVar("ireneo transactions", default=())
"""The transactions that this code was called in, or was started from."""


class ReentryGuard:
    """Refuses a transaction of a store inside another one.

    Holding one connection while waiting for another only deadlocks once as many transactions do so as there are
    connections. So it is always refused. Context variables tell what runs inside a transaction: they are passed on
    to the threads and event loops that a function starts.
    """

    def __init__(self) -> None:
        """Start with no open transaction."""
        self._open: set[Cancellation] = set()

    def check(self) -> None:
        """Raise StoreError inside a transaction of this store."""
        if not self._open.isdisjoint(_INSIDE.get()):
            raise StoreError(NESTED)

    @contextmanager
    def inside(self, transaction: Cancellation) -> Iterator[None]:
        """Mark `transaction` as open in this context for the duration of the block."""
        self._open.add(transaction)
        _INSIDE.set((*_INSIDE.get(), transaction))
        try:
            yield
        finally:
            self._open.discard(transaction)


class Pool(Generic[C]):
    """A few connections, and as many threads that use them."""

    def __init__(self, connections: Sequence[C], retire: Callable[[C], None], guard: ReentryGuard, name: str) -> None:
        """Use `connections`; `retire` closes one that is returned after the pool was closed."""
        self._idle = list(connections)
        self._retire = retire
        self._guard = guard
        self._threads = ThreadPoolExecutor(max_workers=len(self._idle), thread_name_prefix=name)
        self._closed = False
        self._lock = threading.Lock()

    async def run(self, work: Callable[[C, Cancellation], T]) -> T:
        """Call `work` in a thread as soon as a connection is free, and return its result.

        A cancelled task returns at once: work that has not started never does, and running work is notified through its
        `Cancellation` and keeps the connection until it ends. Raises StoreError if the pool is closed, and inside other
        work for the same store.
        """
        self._guard.check()
        cancellation = Cancellation()
        with self._lock:
            if self._closed:
                raise StoreError(CLOSED)
            future = self._threads.submit(copy_context().run, self._work, work, cancellation)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            cancellation.request()
            raise

    def close(self) -> Sequence[C]:
        """Accept no more work, and return the connections that are not in use."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        self._threads.shutdown(wait=False)
        return idle

    def _work(self, work: Callable[[C, Cancellation], T], cancellation: Cancellation) -> T:
        with self._lock:
            if self._closed:
                raise StoreError("The memory was closed during the call; open it again.")
            # The most recently used one, so that connections beyond the need are never opened.
            connection = self._idle.pop()
        try:
            with self._guard.inside(cancellation):
                return work(connection, cancellation)
        finally:
            self._give_back(connection)

    def _give_back(self, connection: C) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        self._retire(connection)


class PooledStore(ABC, Generic[C]):
    """A store that runs each transaction in a thread on a connection of its own: one connection writes, a few read."""

    def __init__(self, writer: C, readers: Sequence[C], retire: Callable[[C], None], name: str) -> None:
        """Use these connections, which `retire` closes; `name` is the prefix of the threads' names."""
        guard = ReentryGuard()
        self._retire = retire
        self._writers = Pool([writer], retire, guard, name)
        self._readers = Pool(readers, retire, guard, name)

    async def read(self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `function` with a consistent snapshot."""
        return await self._readers.run(self._transaction_job(function, args, kwargs, writes=False))

    async def write(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call `function` in a transaction, alone among the writers of this process, and commit durably."""
        return await self._writers.run(self._transaction_job(function, args, kwargs, writes=True))

    @asynccontextmanager
    async def hearing(self, space: str) -> AsyncIterator[HearsOfWork]:
        """Yield a function that sleeps for its first argument, in seconds: no other process can notify this one."""

        async def wait(seconds: float, told_seconds: float) -> None:
            await asyncio.sleep(seconds)

        yield wait

    async def opened(self) -> Self:
        """Connect now rather than with the first transaction, so that errors are raised here; return the store."""
        try:
            await self._connect()
        except BaseException:
            await self.close()
            raise
        return self

    async def close(self) -> None:
        """Close idle connections now, and those in use when their transaction ends."""
        for connection in (*self._readers.close(), *self._writers.close()):
            await asyncio.to_thread(self._retire, connection)

    @abstractmethod
    async def _connect(self) -> None:
        """Open a connection. Raises the database's error if that fails."""

    @abstractmethod
    def _transaction(
        self, connection: C, cancellation: Cancellation, *, writes: bool
    ) -> AbstractContextManager[Transaction]:
        """Begin a transaction, which is committed at the end of the block, or rolled back if that raises."""

    def _transaction_job(
        self, function: Callable[..., T], args: tuple[object, ...], kwargs: dict[str, object], *, writes: bool
    ) -> Callable[[C, Cancellation], T]:
        for is_lazy, what in (
            (iscoroutinefunction, "a coroutine"),
            (isasyncgenfunction, "a generator"),
            (isgeneratorfunction, "a generator"),
        ):
            if is_lazy(function):
                raise StoreError(LAZY.format(what))

        def work(connection: C, cancellation: Cancellation) -> T:
            with self._transaction(connection, cancellation, writes=writes) as transaction:
                cancellation.check()
                result = function(transaction, *args, **kwargs)
                if isinstance(result, Generator | AsyncGenerator):
                    raise StoreError(LAZY.format("a generator"))
                if isinstance(result, Awaitable):
                    if asyncio.iscoroutine(result):
                        # Otherwise Python would warn later that it was never awaited.
                        result.close()
                    raise StoreError(LAZY.format("a coroutine"))
            return result

        return work

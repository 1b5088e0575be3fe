"""A connection to a PostgreSQL server: named queries in few round trips, locks of spaces, errors, reconnecting."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import ParamSpec, TypeAlias, TypeVar
from urllib.parse import urlsplit, urlunsplit

import psycopg
from msgspec import Struct
from psycopg import errors
from psycopg.abc import Buffer
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper, TextLoader

from ireneo.adapters.sql.database import (
    BUSY,
    LONGEST_SECONDS,
    TOO_BIG,
    UNPARSABLE,
    Cancellation,
    Database,
    ErrorMeaning,
    Row,
    SqlTransaction,
    Value,
    in_postgres,
    load_queries,
    pause_seconds,
    quoted,
    unreadable,
)
from ireneo.errors import ReadOnlyStore, StoreError, Unreachable
from ireneo.patterns import lazy_re

# The queries of a transaction in few round trips: writes are queued until an answer is needed, or sent by COPY.

LEAST_COPIED = 50
"""From this many rows on COPY is used; fewer are inserted, which can be queued."""

_INSERT = lazy_re(r"INSERT INTO ([a-z_]++) \(([a-z_,\s]++)\)\s++VALUES \(((?:[^;()]++|\([^;()]*+\))++)\);\Z")
_COMMENT = lazy_re(r"(?m)^--.*+\n")
_VALUE = lazy_re(r"(string_to_array\()?:([a-z_]++)(?(1), ' '\))(?:,\s++|\s*+\Z)")


class CopyStatement(Struct, frozen=True):
    """An INSERT statement converted to COPY."""

    statement: bytes
    names: Sequence[tuple[str, bool]]
    """The parameter of each column, and whether its text has to be split into a list."""

    def rows(self, bound: Iterable[Mapping[str, Value]]) -> Iterator[list[Value | list[str]]]:
        """The values to copy for each row."""
        for row in bound:
            yield [str(row[name]).split(" ") if is_list else row[name] for name, is_list in self.names]


def as_copy(query: str) -> CopyStatement | None:
    """Convert a query to COPY; None if it is not a plain INSERT of its parameters."""
    found = _INSERT.match(_COMMENT.sub("", query))
    if found is None:
        return None
    table, columns, values = (each.strip() for each in found.groups())
    names = [(match[2], match[1] is not None) for match in _VALUE.finditer(values)]
    if "".join(match[0] for match in _VALUE.finditer(values)) != values or len(names) != columns.count(",") + 1:
        return None
    return CopyStatement(f"COPY {table} ({columns}) FROM STDIN".encode(), names)


Bound: TypeAlias = Mapping[str, Value]
"""The values of a query's parameters."""
MOST_WAITING = 100
"""The most rows that are queued."""
FEW = 20
"""More rows of one query than this are sent by `executemany`: less work for each row, and one more round trip."""


class QueryPipeline:
    """The queries of one transaction, in order, in fewer round trips than queries.

    An error of a queued statement is raised with the next answer, at the latest with the commit; the server skips all
    statements after it.
    """

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        """Use a connection."""
        self.connection = connection
        self._waiting: list[tuple[str, Sequence[Bound]]] = []
        self._is_lost = False
        """Whether a queued statement could not be sent, so that the transaction must not be committed."""
        self._savepoints = 0
        self._may_copy: bool | None = None

    def send(self, query: str, rows: Sequence[Bound] = ({},)) -> None:
        """Queue a statement for each of `rows`. Raises UnicodeEncodeError for a text that can't be encoded."""
        for bound in rows:
            for value in bound.values():
                if isinstance(value, str) and not value.isascii():
                    # Raise here, and not at the next query.
                    value.encode()
        self._waiting.append((query, rows))
        if sum(len(each) for _, each in self._waiting) > MOST_WAITING:
            self._exchange("", ())

    def execute(self, query: str, bound: Bound) -> psycopg.Cursor[Row]:
        """Run a query after all queued statements."""
        if not self._waiting and not self._is_lost:
            return self.connection.execute(query, bound)
        return self._exchange(query, [bound])[0]

    def each(self, query: str, rows: Sequence[Bound]) -> list[psycopg.Cursor[Row]]:
        """Run a query for each of `rows`, after all queued statements."""
        if len(rows) < 2:
            return [self.execute(query, bound) for bound in rows]
        return self._exchange(query, rows)

    def _exchange(self, query: str, rows: Sequence[Bound]) -> list[psycopg.Cursor[Row]]:
        if self._is_lost:
            raise psycopg.errors.InFailedSqlTransaction("something before it failed")
        waiting, self._waiting = self._waiting, []
        pipeline = self.connection.pipeline()
        pipeline.__enter__()
        try:
            for each, asked in waiting:
                if len(asked) > FEW:
                    with self.connection.cursor() as cursor:
                        cursor.executemany(each, asked)
                    continue
                for bound in asked:
                    self.connection.execute(each, bound)
            answers = [self.connection.execute(query, bound) for bound in rows]
        except BaseException:
            # The results of the others are irrelevant, and some may not have been sent.
            self._is_lost = True
            with suppress(psycopg.Error):
                pipeline.__exit__(None, None, None)
            raise
        pipeline.__exit__(None, None, None)
        return answers

    def may_copy(self) -> bool:
        """Whether this role may use COPY, which is not allowed where row security applies."""
        if self._may_copy is None:
            row = self.execute("SELECT row_security_active('messages')", {}).fetchone()
            self._may_copy = row is not None and not row[0]
        return self._may_copy

    def copy(self, statement: bytes, rows: Iterable[Sequence[object]]) -> None:
        """Copy rows into a table, after all queued statements."""
        self._exchange("", ())
        with self.connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """A block that is rolled back if it raises. Without a statement inside it costs nothing."""
        # Unique names: if this savepoint was not created because of an earlier error, the server must not go back to
        # another one of the same name.
        self._savepoints += 1
        name = f"before_{self._savepoints}"
        begin: tuple[str, Sequence[Bound]] = (f"SAVEPOINT {name}", ({},))
        self._waiting.append(begin)
        try:
            yield
        except BaseException as fault:
            if begin in self._waiting:
                del self._waiting[self._waiting.index(begin) :]
            elif not self.connection.closed:
                # Whatever is queued, or could not be sent, is part of what is rolled back.
                self._is_lost = False
                self._waiting = [(f"ROLLBACK TO {name}", ({},)), (f"RELEASE {name}", ({},))]
                try:
                    self._exchange("", ())
                except psycopg.errors.InvalidSavepointSpecification:
                    self._is_lost = True
                    raise fault from None
            raise
        if self._waiting and self._waiting[-1] == begin:
            self._waiting.pop()
        else:
            self._waiting.append((f"RELEASE {name}", ({},)))


# The connection.

_BINDING = lazy_re(r"(?<![:\w]):([a-z_]+)")


def to_driver(query: str) -> str:
    """Convert the parameters of a query to the driver's syntax: ``:space`` becomes ``%(space)s``."""
    return _BINDING.sub(r"%(\1)s", query.replace("%", "%%"))


QUERIES: Mapping[str, str] = load_queries(Path(__file__).with_name("queries"), in_postgres)
SQL: Mapping[str, str] = MappingProxyType({name: to_driver(query) for name, query in QUERIES.items()})
COPIED: Mapping[str, CopyStatement | None] = MappingProxyType({name: as_copy(query) for name, query in QUERIES.items()})

TIMEOUTS: Mapping[str, int] = MappingProxyType(
    {"connect_timeout": 10, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
)
"""Defaults for how long a server may take to answer a connection, and how soon a silent one is considered gone."""
LONGEST_AWAY_SECONDS = 1.0
"""The longest pause before an unreachable server is tried again."""
MAKES_WORK = frozenset({"insert_message", "move_branch", "add_memory", "replace_memory"})
"""The queries after which workers are notified."""


def pause_before_retry(tries: int, longest: float, left: float) -> None:
    """Pause before the next try, longer each time, up to `longest` and at most `left` seconds."""
    time.sleep(max(0.0, min(pause_seconds(tries, longest), left)))


LOST = ErrorMeaning(
    Unreachable,
    "can't be reached; check that the server runs, that address and user are right, and that the database was made",
    told=True,
)
READ_ONLY = ErrorMeaning(ReadOnlyStore, "may not be written to by this user; ask whoever runs the server.")
FULL = ErrorMeaning(StoreError, "can't grow; the server has no room left", told=True)
DAMAGED = ErrorMeaning(StoreError, "is damaged; restore it from a copy", told=True)
OUR_FAULT = ErrorMeaning(
    StoreError, "was asked for something that it can't do; this is a fault in Ireneo, please report it", told=True
)
IN_DOUBT = "was lost while it stored something, and can't say whether it did; look before you store it again."
UNDONE = "has undone what was to be stored, since something in it failed before."
GONE = (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow)
"""Errors after which the server closes the connection, or instead of accepting one."""

MEANINGS: Sequence[tuple[type[psycopg.Error], ErrorMeaning]] = (
    (errors.DeadlockDetected, BUSY),
    (errors.LockNotAvailable, BUSY),
    (errors.SerializationFailure, BUSY),
    (errors.InsufficientPrivilege, READ_ONLY),
    (errors.ReadOnlySqlTransaction, READ_ONLY),
    (errors.DiskFull, FULL),
    (errors.DataCorrupted, DAMAGED),
    (errors.IndexCorrupted, DAMAGED),
    (errors.ProgramLimitExceeded, TOO_BIG),
    (psycopg.OperationalError, LOST),
    (psycopg.InterfaceError, LOST),
)
"""Any other error is a fault in Ireneo."""


def address(url: str) -> str:
    """The address of a database without its password, for messages."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")
    user = host[0].partition(":")[0]
    return urlunsplit((parts.scheme, f"{user}@{host[2]}" if user else host[2], parts.path, "", ""))


def with_timeouts(url: str) -> str:
    """Add the default timeouts to an address, unless it sets them itself."""
    said = conninfo_to_dict(url)
    return make_conninfo(url, **{name: value for name, value in TIMEOUTS.items() if name not in said})


def translate(fault: psycopg.Error, place: str) -> StoreError:
    """Translate an error of the driver for the database at `place`; raise the result ``from fault``."""
    meaning = next((meaning for error, meaning in MEANINGS if isinstance(fault, error)), OUR_FAULT)
    detail = f" ({quoted(fault)})." if meaning.told else ""
    return meaning.error(f"{place} {meaning.sentence}{detail}")


P = ParamSpec("P")
T = TypeVar("T")


NUL = "\x00"
SIGN = "\ue000"
"""An escape character, since PostgreSQL stores no NUL: followed by 0 it is a NUL, followed by 1 itself."""


class TextDumper(StrDumper):
    """Escapes NULs in a text."""

    def dump(self, obj: str) -> Buffer | None:
        """Escape and encode a text."""
        if NUL in obj or SIGN in obj:
            obj = obj.replace(SIGN, f"{SIGN}1").replace(NUL, f"{SIGN}0")
        return super().dump(obj)


class TextReader(TextLoader):
    """Unescapes what `TextDumper` wrote."""

    def load(self, data: Buffer) -> str | bytes:
        """Decode and unescape a text."""
        text = super().load(data)
        if isinstance(text, str) and SIGN in text:
            text = text.replace(f"{SIGN}0", NUL).replace(f"{SIGN}1", SIGN)
        return text


class SpaceLocks:
    """The spaces that a transaction uses: one that writes locks each of them when it first uses it.

    A store promises that writers run one after the other. Here that holds within a space; others run concurrently.
    """

    def __init__(self, pipe: QueryPipeline, seconds: float, cancellation: Cancellation | None) -> None:
        """Start with none; `seconds` is how long to wait for each lock."""
        self._pipe = pipe
        self._seconds = seconds
        self._cancellation = cancellation
        self._held: set[str] = set()
        self._named: str | None = None
        self.writes = False
        """Whether the transaction writes."""
        self.name: str | None = None
        """The server's timeline and id of the transaction, once it holds a lock."""
        self.busy: set[str] = set()
        """The spaces whose workers have to be notified."""

    def enter(self, space: str, *, alone: bool = True) -> None:
        """Use a space from now on, locking it if the transaction writes. Raises StoreBusy, CancelledError.

        Without `alone` it is not locked: for single statements that are safe next to other writers.
        """
        if alone and self.writes and space not in self._held:
            self._lock(space)
            self._held.add(space)
        if space != self._named:
            self._pipe.send(SQL["name_space"], [{"space": space}])
            self._named = space

    def mark(self) -> tuple[frozenset[str], str | None]:
        """The current state, for `restore`."""
        return frozenset(self._held), self._named

    def restore(self, mark: tuple[frozenset[str], str | None]) -> None:
        """Restore a state: going back to a savepoint releases the locks taken since."""
        held, self._named = mark
        self._held = set(held)

    def _lock(self, space: str) -> None:
        until = time.monotonic() + self._seconds
        tries = 0
        while not self._is_taken(space):
            left = until - time.monotonic()
            if left <= 0:
                raise errors.LockNotAvailable(f"space {space!r}")
            if self._cancellation is not None:
                self._cancellation.check()
            pause_before_retry(tries, LONGEST_SECONDS, left)
            tries += 1

    def _is_taken(self, space: str) -> bool:
        row = self._pipe.execute(SQL["lock_space"], {"space": space}).fetchone()
        self.name = row[0] if row else None
        return self.name is not None


class PostgresDatabase(Database):
    """`ireneo.adapters.sql.database.Database` over a connection of the driver."""

    def __init__(self, pipe: QueryPipeline, locks: SpaceLocks, space: str | None = None) -> None:
        """Use a connection; `space` is bound to each query."""
        self.locks = locks
        self.pipe = pipe
        self._space = space
        self._of: dict[str, PostgresDatabase] = {}

    def of(self, space: str, *, alone: bool = True) -> PostgresDatabase:
        """The database for one space, which is locked first (see `SpaceLocks.enter`)."""
        self.locks.enter(space, alone=alone)
        if space == self._space:
            return self
        if space not in self._of:
            self._of[space] = PostgresDatabase(self.pipe, self.locks, space)
        return self._of[space]

    def scopes(self) -> Sequence[PostgresDatabase]:
        """Space by space."""
        return [self.of(space) for space in self.column("list_all_spaces")]

    def scan(self, query: str, /, **bindings: Value) -> psycopg.Cursor[Row]:
        """Iterate over the rows of a query. Raises ProgrammingError for an unknown query or a missing value."""
        try:
            return self.pipe.execute(SQL[query], self._bound(bindings))
        except (KeyError, TypeError) as fault:
            raise psycopg.ProgrammingError(f"query {query}: {fault}") from fault

    def send(self, query: str, /, **bindings: Value) -> None:
        """Queue a statement until the next answer is needed; any error is raised then."""
        self._note(query)
        self.pipe.send(SQL[query], [self._bound(bindings)])

    def change(self, query: str, /, **bindings: Value) -> int:
        """Run a statement that writes; return how many rows it changed."""
        self._note(query)
        return self.scan(query, **bindings).rowcount

    def send_all(self, query: str, rows: Iterable[Mapping[str, Value]], /) -> None:
        """Queue a statement for each of `rows`, or copy them if they are many."""
        self._note(query)
        bound = [self._bound(row) for row in rows]
        copied = COPIED[query] if len(bound) >= LEAST_COPIED else None
        if copied is not None and self.pipe.may_copy():
            self.pipe.copy(copied.statement, copied.rows(bound))
        elif bound:
            self.pipe.send(SQL[query], bound)

    def each(self, query: str, rows: Iterable[Mapping[str, Value]], /) -> list[list[Row]]:
        """Run a query for each of `rows` in one round trip."""
        asked = [self._bound(row) for row in rows]
        return [cursor.fetchall() for cursor in self.pipe.each(SQL[query], asked)]

    def _note(self, query: str) -> None:
        if self._space is not None and query in MAKES_WORK:
            self.locks.busy.add(self._space)

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """A block that is rolled back if it raises."""
        mark = self.locks.mark()
        try:
            with self.pipe.savepoint():
                yield
        except BaseException:
            self.locks.restore(mark)
            raise

    def _bound(self, bindings: Mapping[str, Value]) -> Mapping[str, Value]:
        return bindings if self._space is None else {"space": self._space, **bindings}


class ServerConnection:
    """A connection that is opened when it is first used, and again after it was lost."""

    def __init__(self, url: str, busy_seconds: float, prepare: Callable[[psycopg.Connection[Row]], None]) -> None:
        """Prepare a connection to `url`; `prepare` is called when it has been opened."""
        self.place = address(url)
        self._url = url
        self._busy_seconds = busy_seconds
        self._prepare = prepare
        self._driver: psycopg.Connection[Row] | None = None
        self._cancellation: Cancellation | None = None
        self._in_doubt = False
        """Whether a commit was sent and its outcome is unknown."""

    @property
    def driver(self) -> psycopg.Connection[Row]:
        """The driver's connection, opened if necessary."""
        if self._driver is not None and self._driver.closed:
            self._driver = None
        if self._driver is None:
            driver = psycopg.connect(with_timeouts(self._url), autocommit=True, application_name="ireneo")
            # All integers get the same type, whatever their size, so that a query is prepared once.
            driver.adapters.register_dumper(int, Int8Dumper)
            driver.adapters.register_dumper(str, TextDumper)
            driver.adapters.register_loader("text", TextReader)
            try:
                driver.execute(SQL["heed_silence"])
                self._prepare(driver)
            except BaseException:
                driver.close()
                raise
            self._driver = driver
        return self._driver

    def begin(self, query: str) -> PostgresDatabase:
        """Begin a transaction, reconnecting if necessary. Raises as `run` does."""
        self._in_doubt = False
        self.run(lambda: self.driver.execute(SQL[query]))
        pipe = QueryPipeline(self.driver)
        return PostgresDatabase(pipe, SpaceLocks(pipe, self._busy_seconds, self._cancellation))

    def commit(self, database: PostgresDatabase) -> None:
        """Commit, and notify workers. Raises as `run` does.

        If the connection is lost during the commit, the server is asked for the outcome; raises Unreachable if it was
        not committed, or if the server can't tell.
        """
        locks = database.locks
        self._in_doubt = locks.writes and locks.name is not None
        try:
            done = self.run(self._commit, database)
        except Unreachable:
            if not self._in_doubt or not self._was_committed(str(locks.name)):
                self._in_doubt = False
                self.close()
                raise
            done = "COMMIT"
        self._in_doubt = False
        if done != "COMMIT":
            raise StoreError(f"{self.place} {UNDONE}")
        # After the commit: NOTIFY inside a transaction serialises all commits of the server.
        try:
            for space in locks.busy:
                self.driver.execute(SQL["tell_of_work"], {"space": space})
        except psycopg.Error:
            # The commit is done, and workers also poll.
            self.close()

    def _commit(self, database: PostgresDatabase) -> str | None:
        # On a new connection there would be nothing to commit, and no error either.
        if database.pipe.connection.closed:
            raise psycopg.OperationalError("the connection is lost")
        return database.pipe.execute(SQL["commit"], {}).statusmessage

    def _was_committed(self, name: str) -> bool:
        """Whether a transaction was committed. Raises Unreachable if the server can't tell."""
        timeline, _, transaction = name.partition(" ")
        until = time.monotonic() + self._busy_seconds
        bound = {"timeline": timeline, "name": transaction}
        tries = 0
        while (left := until - time.monotonic()) > 0:
            with suppress(StoreError):
                rows = self.run(lambda: self.driver.execute(SQL["find_outcome"], bound).fetchall())
                if rows[0][0] != "in progress":
                    if rows[0][0] is None:
                        break
                    return bool(rows[0][0] == "committed")
                # Otherwise a server that hasn't noticed the loss would keep the transaction and its locks for hours.
                self.run(lambda: self.driver.execute(SQL["end_transaction"], bound))
            pause_before_retry(tries, LONGEST_AWAY_SECONDS, left)
            tries += 1
        raise Unreachable(f"{self.place} {IN_DOUBT}")

    @property
    def is_lost(self) -> bool:
        """Whether there is no open connection."""
        return self._driver is None or self._driver.closed

    def retried(self, work: Callable[[], T], cancellation: Cancellation) -> T:
        """Run a whole transaction, and again from the start if the connection was lost before it was committed.

        An unreachable server is retried for as long as a lock would be. Raises what `work` raises.
        """
        until: float | None = None
        tries = 0
        while True:
            try:
                return work()
            except Unreachable:
                now = time.monotonic()
                until = now + self._busy_seconds if until is None else until
                if self._in_doubt or not self.is_lost or (tries and now >= until):
                    raise
            cancellation.check()
            pause_before_retry(tries, LONGEST_AWAY_SECONDS, until - now)
            tries += 1

    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `work`, and raise StoreError for any error of the driver."""
        try:
            return work(*args, **kwargs)
        except psycopg.Error as fault:
            if isinstance(fault, GONE):
                self.close()
            elif self._driver is not None and self._driver.closed:
                # Whatever error it is, the cause is the lost connection.
                fault = psycopg.OperationalError(str(fault))
            raise translate(fault, self.place) from fault
        except UNPARSABLE as fault:
            raise unreadable(fault, self.place) from fault

    def watch(self, cancellation: Cancellation) -> None:
        """Stop waiting for locks when `cancellation` is requested."""
        self._cancellation = cancellation

    def roll_back(self) -> None:
        """Roll back any open transaction."""
        driver = self._driver
        if driver is None or driver.closed or driver.info.transaction_status == TransactionStatus.IDLE:
            return
        try:
            driver.execute(SQL["roll_back"])
        except psycopg.Error:
            # The server rolls back when the connection ends.
            self.close()

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        driver, self._driver = self._driver, None
        if driver is not None:
            driver.close()


class PostgresTransaction(SqlTransaction):
    """All ports over a transaction that is open on a connection."""

    ports = MappingProxyType(
        {
            **SqlTransaction.ports,
            "leases": ("ireneo.adapters.postgres.store", "PostgresLeases"),
            "vectors": ("ireneo.adapters.postgres.store", "PostgresVectors"),
            "upkeep": ("ireneo.adapters.postgres.store", "PostgresUpkeep"),
        }
    )

    def __init__(self, connection: ServerConnection, database: PostgresDatabase, *, writes: bool) -> None:
        """Use the transaction that was begun on `connection`."""
        super().__init__(database, writes=writes)
        database.locks.writes = writes
        self.connection = connection

    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `work`, and raise StoreError for any error of the driver."""
        return self.connection.run(work, *args, **kwargs)

"""A connection to a PostgreSQL server: queries by name, the locks of spaces, what errors mean, what outlasts them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import ParamSpec, TypeVar
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import errors
from psycopg.abc import Buffer
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper, TextLoader

from ireneo.adapters.pool import Cancellation
from ireneo.adapters.postgres.bulk import LEAST_COPIED, Copied, as_copy
from ireneo.adapters.postgres.pipe import Pipe
from ireneo.adapters.sql.database import (
    UNPARSABLE,
    ErrorMeaning,
    NamedQueries,
    Row,
    SqlTransaction,
    Value,
    in_postgres,
    load_queries,
)
from ireneo.errors import BadInput, ReadOnlyStore, StoreBusy, StoreError, Unreachable
from ireneo.patterns import lazy_re

_BINDING = lazy_re(r"(?<![:\w]):([a-z_]+)")


def to_driver(query: str) -> str:
    """A query with its names as the driver writes them: ``:space`` becomes ``%(space)s``."""
    return _BINDING.sub(r"%(\1)s", query.replace("%", "%%"))


QUERIES: Mapping[str, str] = load_queries(Path(__file__).with_name("queries"), in_postgres)
SQL: Mapping[str, str] = MappingProxyType({name: to_driver(query) for name, query in QUERIES.items()})
COPIED: Mapping[str, Copied | None] = MappingProxyType({name: as_copy(query) for name, query in QUERIES.items()})

HEED: Mapping[str, int] = MappingProxyType(
    {"connect_timeout": 10, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
)
"""So long, in seconds, a server may take to answer at all, and so soon one that is silent is taken for gone, unless the
address says otherwise."""
SHORTEST_SECONDS = 0.001
LONGEST_SECONDS = 0.025
LONGEST_AWAY_SECONDS = 1.0
"""The longest pause before a server that is away is tried again."""
GROWTH = 1.5
STEPS = 20
"""After so many tries a pause has long reached its ceiling."""
MAKES_WORK = frozenset({"insert_message", "move_branch", "add_memory", "replace_memory"})
"""The queries after which there may be something to do for whoever works behind conversations."""


def pause(tries: int, longest: float, left: float) -> None:
    """Wait before the next try, longer each time and at most so many seconds."""
    ceiling = min(longest, SHORTEST_SECONDS * GROWTH ** min(tries, STEPS))
    time.sleep(max(0.0, min(random.uniform(ceiling / 4, ceiling), left)))


BUSY = ErrorMeaning(
    StoreBusy, "was kept locked for too long by another process; try again, or look for one that hangs."
)
LOST = ErrorMeaning(
    Unreachable,
    "can't be reached; check that the server runs, that address and user are right, and that the database was made",
    told=True,
)
READ_ONLY = ErrorMeaning(ReadOnlyStore, "may not be written to by this user; ask whoever runs the server.")
FULL = ErrorMeaning(StoreError, "can't grow; the server has no room left", told=True)
DAMAGED = ErrorMeaning(StoreError, "is damaged; restore it from a copy", told=True)
TOO_BIG = ErrorMeaning(StoreError, "can't hold a single value this large; split it, or keep it in a file of its own.")
OUR_FAULT = ErrorMeaning(
    StoreError, "was asked for something that it can't do; this is a fault in Ireneo, please report it", told=True
)
IN_DOUBT = "was lost while it stored something, and can't say whether it did; look before you store it again."
UNDONE = "has undone what was to be stored, since something in it failed before."
GONE = (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow)
"""What a server says before it hangs up, or instead of answering."""
UNPARSED = "holds something that can't be read; see `ireneo doctor`"
"""A value that is not what was written."""
LONGEST = 200
"""Characters of what a parser or a server says."""

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
"""What is not among them is a fault of ours."""


def address(url: str) -> str:
    """The address of a database as it may be shown: without a password."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")
    user = host[0].partition(":")[0]
    return urlunsplit((parts.scheme, f"{user}@{host[2]}" if user else host[2], parts.path, "", ""))


def heedful(url: str) -> str:
    """An address with what it doesn't say of how long a silent server is waited for."""
    said = conninfo_to_dict(url)
    return make_conninfo(url, **{name: value for name, value in HEED.items() if name not in said})


def translate(fault: psycopg.Error, place: str) -> StoreError:
    """Say in our words what the driver says of the database at `place`; raise the result ``from fault``."""
    meaning = next((meaning for error, meaning in MEANINGS if isinstance(fault, error)), OUR_FAULT)
    detail = f" ({' '.join(str(fault).split())[:LONGEST]})." if meaning.told else ""
    return meaning.error(f"{place} {meaning.sentence}{detail}")


P = ParamSpec("P")
T = TypeVar("T")


NUL = "\x00"
SIGN = "\ue000"
"""What stands for a NUL, with a 0 behind it, since no text of the database holds one; with a 1, for itself."""


class TextDumper(StrDumper):
    """Writes a text as the database holds it."""

    def dump(self, obj: str) -> Buffer | None:
        """The text, with what stands for a NUL."""
        if NUL in obj or SIGN in obj:
            obj = obj.replace(SIGN, f"{SIGN}1").replace(NUL, f"{SIGN}0")
        return super().dump(obj)


class TextReader(TextLoader):
    """Reads what `TextDumper` wrote."""

    def load(self, data: Buffer) -> str | bytes:
        """The text that was handed in."""
        text = super().load(data)
        if isinstance(text, str) and SIGN in text:
            text = text.replace(f"{SIGN}0", NUL).replace(f"{SIGN}1", SIGN)
        return text


class SpaceLocks:
    """The spaces that a transaction works in: one that writes has each of them to itself from the first look on.

    A store promises that writers come one after the other. Here those of one space do: whoever wants it next waits,
    and those of other spaces go on beside them.
    """

    def __init__(self, pipe: Pipe, seconds: float, cancellation: Cancellation | None) -> None:
        """Begin with none; `seconds` is how long each is waited for."""
        self._pipe = pipe
        self._seconds = seconds
        self._cancellation = cancellation
        self._held: set[str] = set()
        self._named: str | None = None
        self.writes = False
        """Whether the transaction is one that writes."""
        self.name: str | None = None
        """What the server calls the transaction, once it may have written."""
        self.busy: set[str] = set()
        """The spaces in which it has made work."""

    def enter(self, space: str, *, alone: bool = True) -> None:
        """Work in a space from now on. Raises StoreBusy, and CancelledError where nobody wants it any more.

        Who isn't `alone` in it writes beside others: only what a single statement does, and guards by itself.
        """
        if alone and self.writes and space not in self._held:
            self._lock(space)
            self._held.add(space)
        if space != self._named:
            self._pipe.send(SQL["name_space"], [{"space": space}])
            self._named = space

    def mark(self) -> tuple[frozenset[str], str | None]:
        """What is held now, for `back_to`."""
        return frozenset(self._held), self._named

    def back_to(self, mark: tuple[frozenset[str], str | None]) -> None:
        """Know of nothing that was taken since: the server lets go of it where it goes back to a savepoint."""
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
            pause(tries, LONGEST_SECONDS, left)
            tries += 1

    def _is_taken(self, space: str) -> bool:
        row = self._pipe.execute(SQL["lock_space"], {"space": space}).fetchone()
        self.name = row[0] if row else None
        return self.name is not None


class PostgresDatabase(NamedQueries):
    """`ireneo.adapters.sql.database.Database` over a connection of the driver."""

    def __init__(self, pipe: Pipe, locks: SpaceLocks, space: str | None = None) -> None:
        """Work on a connection; with a `space`, each query has it bound."""
        self.locks = locks
        self.pipe = pipe
        self._space = space
        self._of: dict[str, PostgresDatabase] = {}

    def of(self, space: str, *, alone: bool = True) -> PostgresDatabase:
        """The same with `space` bound to each query, which this transaction then has to itself if it writes.

        Who isn't `alone` in it waits for nobody (`SpaceLocks.enter`).
        """
        self.locks.enter(space, alone=alone)
        if space == self._space:
            return self
        if space not in self._of:
            self._of[space] = PostgresDatabase(self.pipe, self.locks, space)
        return self._of[space]

    def scopes(self) -> Sequence[PostgresDatabase]:
        """Space by space."""
        return [self.of(space) for (space,) in self.rows("list_all_spaces")]

    def scan(self, query: str, /, **bindings: Value) -> psycopg.Cursor[Row]:
        """All that a query gives, row by row. Raises ProgrammingError where it is none of ours, or lacks a value."""
        try:
            return self.pipe.execute(SQL[query], self._bound(bindings))
        except (KeyError, TypeError) as fault:
            raise psycopg.ProgrammingError(f"query {query}: {fault}") from fault

    def send(self, query: str, /, **bindings: Value) -> None:
        """Have what writes wait for the next answer that is needed; by then it shows what is wrong with it."""
        self._note(query)
        self.pipe.send(SQL[query], [self._bound(bindings)])

    def change(self, query: str, /, **bindings: Value) -> int:
        """Run what writes; says how many rows it added, replaced or took out."""
        self._note(query)
        return self.scan(query, **bindings).rowcount

    def send_all(self, query: str, rows: Iterable[Mapping[str, Value]], /) -> None:
        """Send it for each of `rows`."""
        self._note(query)
        bound = [self._bound(row) for row in rows]
        copied = COPIED[query] if len(bound) >= LEAST_COPIED else None
        if copied is not None and self.pipe.may_copy():
            self.pipe.copy(copied.statement, copied.rows(bound))
        elif bound:
            self.pipe.send(SQL[query], bound)

    def each(self, query: str, rows: Iterable[Mapping[str, Value]], /) -> list[list[Row]]:
        """What it gives for each of `rows`: all of them are asked before the first answer is waited for."""
        asked = [self._bound(row) for row in rows]
        return [cursor.fetchall() for cursor in self.pipe.each(SQL[query], asked)]

    def _note(self, query: str) -> None:
        if self._space is not None and query in MAKES_WORK:
            self.locks.busy.add(self._space)

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """A block that leaves nothing where it raises."""
        mark = self.locks.mark()
        try:
            with self.pipe.savepoint():
                yield
        except BaseException:
            self.locks.back_to(mark)
            raise

    def _bound(self, bindings: Mapping[str, Value]) -> Mapping[str, Value]:
        return bindings if self._space is None else {"space": self._space, **bindings}


class ServerConnection:
    """A connection that is opened by the first work that it is given, and anew where it was lost."""

    def __init__(self, url: str, busy_seconds: float, prepare: Callable[[psycopg.Connection[Row]], None]) -> None:
        """Keep a connection to `url` ready; `prepare` is run on it right after it was opened."""
        self.place = address(url)
        self._url = url
        self._busy_seconds = busy_seconds
        self._prepare = prepare
        self._driver: psycopg.Connection[Row] | None = None
        self._cancellation: Cancellation | None = None
        self._in_doubt = False
        """Whether a commit was sent, and nobody knows what became of it."""

    @property
    def driver(self) -> psycopg.Connection[Row]:
        """The driver's connection, opened and prepared."""
        if self._driver is not None and self._driver.closed:
            self._driver = None
        if self._driver is None:
            driver = psycopg.connect(heedful(self._url), autocommit=True, application_name="ireneo")
            # Typed by their kind and not by their size, so that a query is prepared once.
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
        """Begin a transaction, on a new connection where the one that there was is lost. Raises as `run` does."""
        self._in_doubt = False
        self.run(lambda: self.driver.execute(SQL[query]))
        pipe = Pipe(self.driver)
        return PostgresDatabase(pipe, SpaceLocks(pipe, self._busy_seconds, self._cancellation))

    def commit(self, database: PostgresDatabase) -> None:
        """End a transaction, and tell whoever listens that there is work. Raises as `run` does.

        Where the connection is lost meanwhile the server is asked what became of it: it is done, or was never begun.
        Raises Unreachable where the server can't say so.
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
        self._tell(locks.busy)

    def _commit(self, database: PostgresDatabase) -> str | None:
        # Not on a new connection, where one was lost before: there nothing would be committed, and nobody say so.
        if database.pipe.connection.closed:
            raise psycopg.OperationalError("the connection is lost")
        return database.pipe.execute(SQL["commit"], {}).statusmessage

    def _tell(self, spaces: Iterable[str]) -> None:
        """Wake whoever works in `spaces`. Not with the commit: who tells has a lock that all commits would wait for."""
        try:
            for space in spaces:
                self.driver.execute(SQL["tell_of_work"], {"space": space})
        except psycopg.Error:
            # What was to be done is done; who isn't woken looks every so often.
            self.close()

    def _was_committed(self, name: str) -> bool:
        """What became of a transaction that was being committed. Raises Unreachable where nobody knows."""
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
                # A server that hasn't heard of it would keep the transaction open, and its locks, for hours.
                self.run(lambda: self.driver.execute(SQL["end_transaction"], bound))
            pause(tries, LONGEST_AWAY_SECONDS, left)
            tries += 1
        raise Unreachable(f"{self.place} {IN_DOUBT}")

    @property
    def is_lost(self) -> bool:
        """Whether there is no connection."""
        return self._driver is None or self._driver.closed

    def outlast(self, work: Callable[[], T], cancellation: Cancellation) -> T:
        """Do a whole transaction, again from its beginning where the connection was lost before it was stored.

        A server that is away is tried for as long as others in a space are waited for. Raises what `work` does.
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
            pause(tries, LONGEST_AWAY_SECONDS, until - now)
            tries += 1

    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do `work` on the connection. Raises StoreError for whatever the driver raises."""
        try:
            return work(*args, **kwargs)
        except psycopg.Error as fault:
            if isinstance(fault, GONE):
                self.close()
            elif self._driver is not None and self._driver.closed:
                # Whatever the driver calls it: what follows a loss is none of its own.
                fault = psycopg.OperationalError(str(fault))
            raise translate(fault, self.place) from fault
        except UnicodeEncodeError as fault:
            raise BadInput("A name or a text has half a surrogate pair in it; give valid Unicode.") from fault
        except UNPARSABLE as fault:
            raise StoreError(f"{self.place} {UNPARSED} ({' '.join(str(fault).split())[:LONGEST]}).") from fault

    def heed(self, cancellation: Cancellation) -> None:
        """Let go of the wait for a locked space as soon as a cancellation is requested."""
        self._cancellation = cancellation

    def roll_back(self) -> None:
        """Roll back what is still open."""
        driver = self._driver
        if driver is None or driver.closed or driver.info.transaction_status == TransactionStatus.IDLE:
            return
        try:
            driver.execute(SQL["roll_back"])
        except psycopg.Error:
            # A connection that can't even roll back is given up; the server has rolled back what was lost with it.
            self.close()

    def close(self) -> None:
        """Close the connection; the next work opens it again."""
        driver, self._driver = self._driver, None
        if driver is not None:
            driver.close()


class PostgresTransaction(SqlTransaction):
    """All ports over a transaction that is open on a connection."""

    ports = MappingProxyType(
        {
            **SqlTransaction.ports,
            "leases": ("ireneo.adapters.postgres.work", "PostgresLeases"),
            "vectors": ("ireneo.adapters.postgres.vectors", "PostgresVectors"),
            "upkeep": ("ireneo.adapters.postgres.vectors", "PostgresUpkeep"),
        }
    )

    def __init__(self, connection: ServerConnection, database: PostgresDatabase, *, writes: bool) -> None:
        """Stand on the transaction that was begun on `connection`."""
        super().__init__(database, writes=writes)
        database.locks.writes = writes
        self.connection = connection

    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do `work`. Raises StoreError for whatever the driver raises."""
        return self.connection.run(work, *args, **kwargs)

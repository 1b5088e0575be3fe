"""The store in a PostgreSQL database, for processes on many machines, and the ports that it implements itself."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from functools import cache
from math import sqrt
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeVar, cast

import psycopg

from ireneo.adapters.postgres.connection import (
    SQL,
    PostgresDatabase,
    PostgresTransaction,
    ServerConnection,
    address,
    with_timeouts,
)
from ireneo.adapters.sql.database import (
    Cancellation,
    Migration,
    PooledStore,
    Row,
    microseconds,
    read_migrations,
    reads,
    time_of,
    utc,
    write_json,
    writes,
)
from ireneo.adapters.sql.search import SqlVectors
from ireneo.adapters.sql.summaries import FAR, FAR_LEASE, SqlLeases, check_holder
from ireneo.adapters.sql.upkeep import SqlUpkeep
from ireneo.errors import NewerDatabase, NotADatabase, StoreError
from ireneo.log.tree import SessionKey
from ireneo.memories.index import Vector
from ireneo.ports.memories import IndexName
from ireneo.ports.store import HearsOfWork, Lease, Migrated, Scrubbed

LOCK = 1232236144
"""The advisory lock for migrations."""
MIGRATIONS, ADDITIONS = "ireneo_migrations", "ireneo_additions"
"""The tables that record applied migrations. An earlier release keeps working with a database that has unknown
additions, and refuses one with an unknown migration in the first table."""
BREAKS = "-- breaks earlier releases"
"""The first line of a migration that changes existing tables; all others only add to the schema."""
TURN_SECONDS = 1
LONGEST_SECONDS = 60.0
"""How long a migration waits for a table lock at a time, and in total."""
OLDEST = 150000
"""The oldest supported server version."""


@cache
def load_migrations() -> tuple[Migration, ...]:
    """The migrations that ship with the package, ordered by number."""
    return read_migrations(Path(__file__).with_name("migrations"))


def migrate(driver: psycopg.Connection[Row], place: str) -> tuple[str, ...]:
    """Apply missing migrations, and return their names; several processes may do so at once.

    Raises NewerDatabase for a database that a later version made incompatible, NotADatabase for one with tables of
    another program, and StoreError for a server that is too old.
    """
    if driver.info.server_version < OLDEST:
        raise StoreError(
            f"{place} is a PostgreSQL server of version {driver.info.server_version // 10_000}; it takes 15."
        )
    if not missing_migrations(driver, place):
        return ()
    driver.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
    try:
        # Another process may have applied some meanwhile.
        due = missing_migrations(driver, place)
        for migration in due:
            _apply(driver, migration)
        return tuple(migration.name for migration in due)
    finally:
        driver.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


def missing_migrations(driver: psycopg.Connection[Row], place: str) -> tuple[Migration, ...]:
    """The migrations to apply, in order. Raises as `migrate` does."""
    applied = read_applied(driver, place)
    return tuple(migration for migration in load_migrations() if migration.number not in applied)


def _apply(driver: psycopg.Connection[Row], migration: Migration) -> None:
    """Apply a migration in a transaction with its record.

    Waiting for an exclusive table lock blocks everyone who comes later, so it is waited for in short turns.
    """
    record = MIGRATIONS if migration.number == 1 or migration.sql.startswith(BREAKS) else ADDITIONS
    until = time.monotonic() + LONGEST_SECONDS
    while True:
        try:
            with driver.transaction():
                driver.execute(f"SET LOCAL lock_timeout = '{TURN_SECONDS}s'".encode())
                driver.execute(
                    f"CREATE TABLE IF NOT EXISTS {record} (number bigint PRIMARY KEY, name text NOT NULL, "
                    f"applied_at timestamptz NOT NULL DEFAULT now()); GRANT SELECT ON {record} TO PUBLIC".encode()
                )
                driver.execute(migration.sql.encode())
                driver.execute(
                    f"INSERT INTO {record} (number, name) VALUES (%s, %s)".encode(), (migration.number, migration.name)
                )
            return
        except psycopg.errors.LockNotAvailable:
            if time.monotonic() > until:
                raise
        time.sleep(TURN_SECONDS)


def read_applied(driver: psycopg.Connection[Row], place: str) -> frozenset[int]:
    """The numbers of the migrations applied to a database, which may include additions of a later version."""
    row = driver.execute(
        "SELECT to_regclass(%s) IS NOT NULL, to_regclass(%s) IS NOT NULL, count(*) FROM pg_class "
        "WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace",
        (MIGRATIONS, ADDITIONS),
    ).fetchone()
    ours, added_to, tables = row or (False, False, 0)
    if not ours:
        if tables:
            raise NotADatabase(f"{place} holds the tables of another program; name another database, or a new one.")
        return frozenset()
    applied = frozenset(number for (number,) in driver.execute(f"SELECT number FROM {MIGRATIONS}".encode()))
    if applied - {migration.number for migration in load_migrations()}:
        raise NewerDatabase(f"{place} was written by a newer Ireneo; upgrade with `pip install -U ireneo`.")
    if not added_to:
        return applied
    return applied | {number for (number,) in driver.execute(f"SELECT number FROM {ADDITIONS}".encode())}


SPREAD_SECONDS = 0.05
"""Notified workers pause for a random time up to this: related commits arrive, and not all start at once."""


class WorkNotifications:
    """Listens for commits in a space, on its own connection."""

    def __init__(self, url: str, space: str) -> None:
        """Prepare to listen; nothing is opened yet."""
        self._url = url
        self._space = space
        self._driver: psycopg.AsyncConnection[tuple[object, ...]] | None = None

    async def wait(self, seconds: float, told_seconds: float) -> None:
        """Wait for a notification for at most `told_seconds`; if listening is impossible, for `seconds`."""
        try:
            if self._driver is None:
                # Earlier commits are not notified, so the caller should look at once.
                await self._open()
                return
            async for _ in self._driver.notifies(timeout=told_seconds, stop_after=1):
                await asyncio.sleep(random.uniform(0, SPREAD_SECONDS))
            async for _ in self._driver.notifies(timeout=0):
                pass
        except (psycopg.Error, OSError):
            # The server is unreachable, or a connection pooler doesn't support LISTEN.
            await self.close()
            await asyncio.sleep(seconds)

    async def _open(self) -> None:
        self._driver = await psycopg.AsyncConnection.connect(
            with_timeouts(self._url), autocommit=True, application_name="ireneo work"
        )
        cursor = await self._driver.execute(SQL["channel_of_work"], {"space": self._space})
        row = await cursor.fetchone()
        await self._driver.execute(f"LISTEN {row[0] if row else ''}".encode())

    async def close(self) -> None:
        """Stop listening."""
        driver, self._driver = self._driver, None
        if driver is not None:
            await driver.close()


T = TypeVar("T")

READERS = 4
"""How many connections read; each is opened when the others are in use."""
KEPT_ELSEWHERE = (
    "The server's write-ahead log, its replicas and its backups keep what they have until the server lets go of them."
)
NOT_OURS = (
    "This role doesn't own the tables, so that their dead rows stay; run `ireneo doctor --repair` as their owner."
)
LEFT = "An erasure may have left dead rows in the tables; forget again, or run `ireneo doctor --repair`."


class PostgresStore(PooledStore[ServerConnection]):
    """`ireneo.ports.store.Store` over a PostgreSQL database; created by `open_postgres`.

    In each process one connection writes and a few read, each in a thread. Writers of one space wait for each other on
    all machines; those of different spaces don't. A transaction whose connection is lost before it was committed is run
    again, so its function may be called twice.
    """

    def __init__(self, url: str, writer: ServerConnection, readers: Sequence[ServerConnection]) -> None:
        """Use these connections, none of which is opened yet."""
        self._url = url
        super().__init__(writer, readers, ServerConnection.close, "ireneo-postgres")

    async def _connect(self) -> None:
        await self._writers.run(lambda connection, _: connection.run(lambda: connection.driver))

    @asynccontextmanager
    async def hearing(self, space: str) -> AsyncIterator[HearsOfWork]:
        """Give a function that waits for notifications from other processes."""
        notifications = WorkNotifications(self._url, space)
        try:
            yield notifications.wait
        finally:
            await notifications.close()

    async def scrub(self, *, look: bool = False) -> Scrubbed:
        """Vacuum the tables, if something was erased since the last scrub."""
        if look:
            return await self._readers.run(_scrub_status)
        return await self._writers.run(_scrub)

    def _transaction_job(
        self, function: Callable[..., T], args: tuple[object, ...], kwargs: dict[str, object], *, writes: bool
    ) -> Callable[[ServerConnection, Cancellation], T]:
        once = super()._transaction_job(function, args, kwargs, writes=writes)
        return lambda connection, cancellation: connection.retried(lambda: once(connection, cancellation), cancellation)

    @contextmanager
    def _transaction(
        self, connection: ServerConnection, cancellation: Cancellation, *, writes: bool
    ) -> Iterator[PostgresTransaction]:
        connection.watch(cancellation)
        try:
            database = connection.begin("begin_write" if writes else "begin_read")
            transaction = PostgresTransaction(connection, database, writes=writes)
            try:
                yield transaction
            finally:
                transaction.is_over = True
            if writes:
                cancellation.begin_commit()
            connection.commit(database)
        finally:
            connection.roll_back()


def _scrub_status(connection: ServerConnection, _: Cancellation) -> Scrubbed:
    waiting = connection.run(lambda: connection.driver.execute(SQL["list_scrubs"]).fetchall())
    return Scrubbed(complete=not waiting, note=LEFT if waiting else "")


def _scrub(connection: ServerConnection, _: Cancellation) -> Scrubbed:
    return connection.run(_vacuum, connection)


def _vacuum(connection: ServerConnection) -> Scrubbed:
    """Vacuum all tables, unless nothing was erased since the last scrub."""
    marks = connection.driver.execute(SQL["list_scrubs"]).fetchall()
    if not marks:
        return Scrubbed(complete=True)
    skipped: list[str | None] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        # The notice can only be read inside the handler.
        skipped.append(notice.severity_nonlocalized)

    connection.driver.add_notice_handler(hear)
    try:
        connection.driver.execute(SQL["vacuum"])
    finally:
        connection.driver.remove_notice_handler(hear)
    # The server skips tables of other owners with a warning.
    if "WARNING" in skipped:
        return Scrubbed(complete=False, note=NOT_OURS)
    for (mark,) in marks:
        connection.driver.execute(SQL["delete_scrub"], {"mark": mark})
    return Scrubbed(complete=True, note=KEPT_ELSEWHERE)


async def open_postgres(
    url: str, *, durability: Literal["full", "normal"] = "full", busy_seconds: float = 30.0, readers: int = READERS
) -> PostgresStore:
    """Open the store in the database at `url` (``postgresql://user@host:port/database``); close it with `close()`.

    The database has to exist; its tables are created or migrated. With `durability="normal"` a commit doesn't wait for
    the disk; with "full" it follows the server's settings. `busy_seconds` is how long a transaction waits for others in
    the same space; `readers` is how many may read at a time.
    Raises NotADatabase, NewerDatabase, StoreBusy, Unreachable, or StoreError.
    """
    place = address(url)

    def bring_up_to_date(driver: psycopg.Connection[Row]) -> None:
        migrate(driver, place)
        if durability == "normal":
            driver.execute("SET synchronous_commit = off")

    writer = ServerConnection(url, busy_seconds, bring_up_to_date)
    # Reading needs no preparation beyond what the writer has done.
    to_read = [ServerConnection(url, busy_seconds, lambda driver: None) for _ in range(readers)]
    return await PostgresStore(url, writer, to_read).opened()


def migrate_postgres(url: str, *, dry_run: bool) -> Migrated:
    """Migrate the database at `url`, or only report what would be done. Raises as `open_postgres` does."""
    place, found = address(url), Migrated(before=0, after=0)

    def look_and_migrate(driver: psycopg.Connection[Row]) -> None:
        nonlocal found
        due, held = missing_migrations(driver, place), read_applied(driver, place)
        applied = tuple(each.name for each in due) if dry_run else migrate(driver, place)
        last = load_migrations()[-1].number
        found = Migrated(before=max(held, default=0), after=max(last, *held, 0), applied=applied)

    connection = ServerConnection(url, 0.0, look_and_migrate)
    try:
        connection.run(lambda: connection.driver)
    finally:
        connection.close()
    return found


# The ports that PostgreSQL implements in its own way: leases, vectors, upkeep.


class PostgresLeases(SqlLeases):
    """The leases in a PostgreSQL database; looking for a free one waits for no lock."""

    @writes
    def take_first(
        self, space: str, sessions: Sequence[str], work: str, holder: str, now: datetime, until: datetime
    ) -> Lease | None:
        """See `ireneo.ports.store.LeasesPort`."""
        check_holder(holder)
        # A single statement that skips locked sessions, so the space need not be locked.
        database = cast("PostgresDatabase", self._database).of(space, alone=False)
        at, end = microseconds(utc(now)), microseconds(utc(until))
        row = database.row(
            "take_first_lease",
            sessions=write_json(sessions),
            work=work,
            holder=holder,
            now=at,
            tomorrow=microseconds(utc(now) + FAR),
            until=end,
            far=max(2 * end - at, microseconds(utc(until) + FAR_LEASE)),
        )
        if row is None:
            return None
        session, token, failures, error = row
        return Lease(
            key=SessionKey(space, session),
            work=work,
            holder=holder,
            token=token,
            until=time_of(end),
            failures=failures,
            error=error,
        )


INDEXED_FROM = 20_000
"""The size from which a set uses the index; comparing fewer vectors takes some 2 ms, and is exact."""
SPARE = 2
"""How many times more candidates than needed to take from the index, which compares rounded values."""
LEAST_TAKEN = 100
LOOKED_FURTHER = 4
"""How many times more vectors the index may scan than needed if the set were spread evenly."""
LEAST_LOOKED_AT = 20_000

MISSING = "The {2} of space {0!r} have {3:,} vectors of {1}, and no index for them: each process reads them all. {why}"
WHY: Mapping[str, str] = MappingProxyType(
    {
        "": "Run `ireneo doctor --repair` as the owner of the tables.",
        "absent": "Install pgvector 0.8 or newer on the server, and run `ireneo doctor --repair` as their owner.",
        "old": "Bring pgvector to 0.8 or newer, and run `ireneo doctor --repair` as the owner of the tables.",
    }
)


def is_index_faster(kept: int, beside: int, wanted: int) -> bool:
    """Whether the index finds `wanted` of a set of `kept` vectors faster than comparing them all.

    The index is shared with other spaces: it scans `beside` vectors, only some of which are in the set.
    """
    return kept >= max(INDEXED_FROM, sqrt(wanted * beside))


class PostgresVectors(SqlVectors):
    """`ireneo.ports.memories.VectorsPort` with pgvector's index for large sets."""

    @reads
    def likely(self, space: str, index: IndexName, embedder: str, query: Vector, k: int) -> Mapping[int, Vector] | None:
        """Candidates from the index; None if all vectors should be compared, or the index returns too few."""
        database, found = self._db(space), self._find(space, index, embedder)
        wanted = max(SPARE * k, LEAST_TAKEN)
        if found is None or found.kept < INDEXED_FROM or found.dimensions != len(query):
            return None
        beside = max(found.kept, database.number("vectors_beside", key=found.key))
        if not is_index_faster(found.kept, beside, wanted):
            return None
        looked_at = max(LEAST_LOOKED_AT, LOOKED_FURTHER * wanted * beside // found.kept)
        rows = database.rows("likely_vectors", key=found.key, query=query, wanted=wanted, looked_at=looked_at)
        return dict(rows) if len(rows) >= min(wanted, found.kept) else None


class PostgresUpkeep(SqlUpkeep):
    """`ireneo.ports.store.UpkeepPort` that also checks for missing vector indexes."""

    def faults(self) -> Sequence[str]:
        """All faults, and the large sets of vectors without an index."""
        return [*super().faults(), *self._unindexed()]

    @reads
    def _unindexed(self) -> list[str]:
        found = [row for each in self._database.scopes() for row in each.rows("large_vector_sets", least=INDEXED_FROM)]
        if not found:
            return []
        ((hindrance,),) = self._database.rows("what_hinders_vectors")
        return [
            MISSING.format(space, embedder, shelf, kept, why=WHY[hindrance]) for space, shelf, embedder, kept in found
        ]

    def _repair_indexes(self) -> None:
        self._database.rows("index_vectors")

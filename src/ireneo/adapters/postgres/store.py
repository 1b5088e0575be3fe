"""The store in a PostgreSQL database, for many machines and any number of their processes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Literal, TypeVar

import psycopg

from ireneo.adapters.pool import Cancellation, PooledStore
from ireneo.adapters.postgres.connection import SQL, PostgresTransaction, ServerConnection, address
from ireneo.adapters.postgres.migrate import load_migrations, migrate, missing, read_applied
from ireneo.adapters.postgres.work import WorkBell
from ireneo.adapters.sql.database import Row
from ireneo.ports.store import HearsOfWork, Migrated, Scrubbed

T = TypeVar("T")

READERS = 4
"""Connections that read, each opened when the others are taken; what is more waits its turn."""
KEPT_ELSEWHERE = (
    "The server's write-ahead log, its replicas and its backups keep what they have until the server lets go of them."
)
NOT_OURS = (
    "This role doesn't own the tables, so that their dead rows stay; run `ireneo doctor --repair` as their owner."
)
LEFT = "An erasure may have left dead rows in the tables; forget again, or run `ireneo doctor --repair`."


class PostgresStore(PooledStore[ServerConnection]):
    """`ireneo.ports.store.Store` over a PostgreSQL database; made by `open_postgres`.

    One connection of this process writes, a few read; each transaction has one to itself, in a thread. Writers of one
    space wait for each other, whatever machine they are on; those of different spaces don't. A transaction whose
    connection is lost is done again from its beginning, unless it is stored: so its function may be called twice.
    """

    def __init__(self, url: str, writer: ServerConnection, readers: Sequence[ServerConnection]) -> None:
        """Name the database, and the connections to it; none is opened yet."""
        self._url = url
        super().__init__(writer, readers, ServerConnection.close, "ireneo-postgres")

    async def open(self) -> None:
        """Open the database now, and not with the first write, so that what is wrong with it shows."""
        await self._writers.run(_touch)

    @asynccontextmanager
    async def hearing(self, space: str) -> AsyncIterator[HearsOfWork]:
        """Told by whoever commits, where the server lets it listen."""
        bell = WorkBell(self._url, space)
        try:
            yield bell.wait
        finally:
            await bell.close()

    async def scrub(self, *, look: bool = False) -> Scrubbed:
        """Clean dead rows out of the tables, where something was erased since that was done last."""
        if look:
            return await self._readers.run(_look_at_scrubs)
        return await self._writers.run(_scrub)

    def _transacting(
        self, function: Callable[..., T], args: tuple[object, ...], kwargs: dict[str, object], *, writes: bool
    ) -> Callable[[ServerConnection, Cancellation], T]:
        once = super()._transacting(function, args, kwargs, writes=writes)
        return lambda connection, cancellation: connection.outlast(lambda: once(connection, cancellation), cancellation)

    @contextmanager
    def _transaction(
        self, connection: ServerConnection, cancellation: Cancellation, *, writes: bool
    ) -> Iterator[PostgresTransaction]:
        connection.heed(cancellation)
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


def _touch(connection: ServerConnection, _: Cancellation) -> None:
    connection.run(lambda: connection.driver)


def _look_at_scrubs(connection: ServerConnection, _: Cancellation) -> Scrubbed:
    waiting = connection.run(lambda: connection.driver.execute(SQL["list_scrubs"]).fetchall())
    return Scrubbed(complete=not waiting, note=LEFT if waiting else "")


def _scrub(connection: ServerConnection, _: Cancellation) -> Scrubbed:
    return connection.run(_clean, connection)


def _clean(connection: ServerConnection) -> Scrubbed:
    """Clean all tables, unless nothing was erased since that was done last."""
    marks = connection.driver.execute(SQL["list_scrubs"]).fetchall()
    if not marks:
        return Scrubbed(complete=True)
    skipped: list[str | None] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        # It can be read only now.
        skipped.append(notice.severity_nonlocalized)

    connection.driver.add_notice_handler(hear)
    try:
        connection.driver.execute(SQL["vacuum"])
    finally:
        connection.driver.remove_notice_handler(hear)
    # The server warns of each table that is another's, and leaves it as it is.
    if "WARNING" in skipped:
        return Scrubbed(complete=False, note=NOT_OURS)
    for (mark,) in marks:
        connection.driver.execute(SQL["delete_scrub"], {"mark": mark})
    return Scrubbed(complete=True, note=KEPT_ELSEWHERE)


async def open_postgres(
    url: str, *, durability: Literal["full", "normal"] = "full", busy_seconds: float = 30.0, readers: int = READERS
) -> PostgresStore:
    """Open the store in the database at `url` (``postgresql://user@host:port/database``); close it with `close()`.

    The database has to be there; its tables are made, or brought up to date. With `durability="normal"` a commit
    doesn't wait for the disk; with "full" it waits for what the server is set to. `busy_seconds` is how long a
    transaction waits for others in the same space; `readers` is how many may read at a time, each on a connection of
    its own.
    Raises NotADatabase, NewerDatabase, StoreBusy, Unreachable, or StoreError.
    """
    place = address(url)

    def bring_up_to_date(driver: psycopg.Connection[Row]) -> None:
        migrate(driver, place)
        if durability == "normal":
            driver.execute("SET synchronous_commit = off")

    writer = ServerConnection(url, busy_seconds, bring_up_to_date)
    store = PostgresStore(url, writer, [ServerConnection(url, busy_seconds, _ready) for _ in range(readers)])
    try:
        await store.open()
    except BaseException:
        await store.close()
        raise
    return store


def _ready(driver: psycopg.Connection[Row]) -> None:
    """A connection that reads needs nothing beyond what the one that writes has done."""


def migrate_postgres(url: str, *, dry_run: bool) -> Migrated:
    """Bring the database at `url` up to date and do no more; `dry_run` only says what would be done.

    Raises as `open_postgres` does.
    """
    place, found = address(url), Migrated(before=0, after=0)

    def look_and_migrate(driver: psycopg.Connection[Row]) -> None:
        nonlocal found
        due, held = missing(driver, place), read_applied(driver, place)
        applied = tuple(each.name for each in due) if dry_run else migrate(driver, place)
        last = load_migrations()[-1].number
        found = Migrated(before=max(held, default=0), after=max(last, *held, 0), applied=applied)

    connection = ServerConnection(url, 0.0, look_and_migrate)
    try:
        connection.run(lambda: connection.driver)
    finally:
        connection.close()
    return found

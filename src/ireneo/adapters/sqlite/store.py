"""The store in one SQLite file, for one machine and any number of its processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import apsw

from ireneo.adapters.pool import Cancellation, PooledStore
from ireneo.adapters.sql.database import Database
from ireneo.adapters.sqlite.connection import (
    READ_ONLY,
    Connection,
    ReadOnlyConnection,
    SqliteDatabase,
    SqliteTransaction,
    is_writable,
)
from ireneo.adapters.sqlite.migrate import (
    Durability,
    check_place,
    load_migrations,
    prepare_read_only,
    prepare_reader,
    prepare_writer,
    read_applied,
)
from ireneo.errors import BadInput, ReadOnlyStore, Unreachable
from ireneo.ports.store import Migrated, Scrubbed, Transaction

P = ParamSpec("P")
T = TypeVar("T")

READERS = 4
"""Connections that read, each opened when the others are taken; what is more waits its turn."""


class SqliteStore(PooledStore[Connection]):
    """`ireneo.ports.store.Store` over one SQLite file; made by `open_sqlite`.

    One connection writes, a few read; each transaction has one to itself, in a thread. Those of one process wait for
    the writer in the order in which they came, and only the first of them competes with other processes for the file.
    """

    def __init__(self, path: Path, writer: Connection, readers: Sequence[Connection]) -> None:
        """Name the file, and the connections to it; none is opened yet."""
        super().__init__(writer, readers, Connection.close, "ireneo-sqlite")
        self._path = path
        self._writer = writer
        self._read_only = isinstance(readers[0], ReadOnlyConnection)

    async def open(self) -> None:
        """Open the file now, and not with the first write, so that what is wrong with it shows."""
        touch = partial(_alone, lambda database: database.rows("take_snapshot"))
        await (self._readers if self._read_only else self._writers).run(touch)

    async def write(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """One transaction, alone among writers; durable once it has returned.

        Raises StoreBusy when another process holds the file for longer than `busy_seconds`, and ReadOnlyStore where
        nothing can be written.
        """
        self._check_writable()
        return await super().write(function, *args, **kwargs)

    async def scrub(self, *, look: bool = False) -> Scrubbed:
        """Write the file anew and empty its WAL, where something was erased since that was done last.

        It takes room for twice the file and the time to copy it; other writers wait meanwhile. The connection is one
        of its own, since it waits for others less long.
        """
        if look:
            return await self._readers.run(partial(_alone, _look_at_scrubs))
        self._check_writable()
        return await self._writers.run(lambda _, cancellation: self._scrub(cancellation))

    def _scrub(self, cancellation: Cancellation) -> Scrubbed:
        connection = self._writer.waiting_at_most(WAIT_SECONDS)
        try:
            return _alone(_scrub_file, connection, cancellation)
        finally:
            connection.close()

    def _check_writable(self) -> None:
        if self._read_only:
            raise READ_ONLY.error(f"{self._path} {READ_ONLY.sentence}")

    @contextmanager
    def _transaction(
        self, connection: Connection, cancellation: Cancellation, *, writes: bool
    ) -> Iterator[SqliteTransaction]:
        connection.heed(cancellation)
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


def _alone(work: Callable[[SqliteDatabase], T], connection: Connection, cancellation: Cancellation) -> T:
    """Do work outside of any transaction."""
    connection.heed(cancellation)
    try:
        return connection.run(lambda: work(SqliteDatabase(connection.database)))
    finally:
        connection.roll_back()


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
    writer = Connection(place, busy_seconds, partial(prepare_writer, path=place, durability=durability))
    if is_writable(place):
        to_read = [Connection(place, busy_seconds, prepare_reader) for _ in range(readers)]
        try:
            return await _opened(SqliteStore(place, writer, to_read))
        except (ReadOnlyStore, Unreachable):
            # It may be written to, and nothing may be made beside it. A new file can't be read either.
            if not place.exists():
                raise
    look = partial(prepare_read_only, path=place)
    to_look = [ReadOnlyConnection(place, busy_seconds, look) for _ in range(readers)]
    return await _opened(SqliteStore(place, writer, to_look))


async def migrate_sqlite(path: str | PathLike[str], *, dry_run: bool) -> Migrated:
    """Bring the file at `path` up to date and do no more; `dry_run` only says what would be done.

    Raises as `open_sqlite` does.
    """
    place = Path(path).absolute()
    check_place(place)
    looking = ReadOnlyConnection(place, 0.0, lambda connection, busy: None)
    try:
        held = looking.run(lambda: read_applied(looking.database, place)) if place.exists() else set()
    finally:
        looking.close()
    due = [each for each in load_migrations() if each.number not in held]
    if due and not dry_run:
        await (await open_sqlite(place)).close()
    applied = tuple(each.name for each in due)
    return Migrated(before=max(held, default=0), after=load_migrations()[-1].number, applied=applied)


async def _opened(store: SqliteStore) -> SqliteStore:
    try:
        await store.open()
    except BaseException:
        await store.close()
        raise
    return store


# What overwrites the bytes that an erasure leaves behind in the file and its WAL.

WAIT_SECONDS = 5.0
"""So long at most it waits for others who read or write."""

AGAIN = "forget again, or run `ireneo doctor --repair`, when they are done"
LEFT = "An erasure may have left its bytes in the file or its WAL; forget again, or run `ireneo doctor --repair`."
READ = f"Another reader still holds an old state of the file, so that its WAL can't be emptied yet; {AGAIN}."
BUSY = f"Another process is at the file, so that it can't be written anew; {AGAIN}."
FULL = (
    "There is no room to write the file anew, which takes twice its size; free some, and forget again or run "
    "`ireneo doctor --repair`."
)


def _look_at_scrubs(database: Database) -> Scrubbed:
    """Whether an erasure waits for a scrub."""
    waiting = database.rows("list_scrubs")
    return Scrubbed(complete=not waiting, note=LEFT if waiting else "")


def _scrub_file(database: Database) -> Scrubbed:
    """Write the file anew and empty its WAL, unless nothing was erased since that was done last.

    Overwriting what is deleted (`secure_delete`) is not enough: when SQLite moves rows from page to page, it leaves
    their old copies where they were, and nobody knows of them any more when the row itself is deleted. So the file is
    written anew from what is there (VACUUM), and then the WAL is brought into it and emptied.
    """
    marks = database.rows("list_scrubs")
    if not marks:
        return Scrubbed(complete=True)
    try:
        for query in ("settle_message_words", "settle_memory_words", "vacuum"):
            database.change(query)
        if database.number("empty_wal"):
            return Scrubbed(complete=False, note=READ)
        # The marks of the erasures that this has reached; those that came since stay.
        with database.savepoint():
            database.send_all("delete_scrub", ({"mark": mark} for (mark,) in marks))
    except (apsw.BusyError, apsw.LockedError):
        return Scrubbed(complete=False, note=BUSY)
    except apsw.FullError:
        return Scrubbed(complete=False, note=FULL)
    return Scrubbed(complete=True)

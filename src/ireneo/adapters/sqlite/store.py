"""The store in one SQLite file, for one machine and any number of its processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import apsw

from ireneo.adapters.pool import Cancellation, Pool, check_plain, check_result
from ireneo.adapters.sqlite.connection import READ_ONLY, Channel, Connection, RestingConnection, is_writable
from ireneo.adapters.sqlite.erasure import WAIT_SECONDS, look_at_scrubs, scrub_file
from ireneo.adapters.sqlite.migrate import (
    Durability,
    check_place,
    prepare_reader,
    prepare_resting,
    prepare_writer,
)
from ireneo.adapters.sqlite.rows import SQL
from ireneo.adapters.transition import TransitionalStore
from ireneo.errors import BadInput, ReadOnlyStore, Unreachable
from ireneo.ports.store import Scrubbed, Transaction

if TYPE_CHECKING:
    from ireneo.adapters.sqlite.erasure import SqliteErasure
    from ireneo.adapters.sqlite.leases import SqliteLeases, SqliteSpending
    from ireneo.adapters.sqlite.log import SqliteLog, SqliteSessions
    from ireneo.adapters.sqlite.memories import SqliteLedger, SqliteMemories, SqlitePads, SqliteRuns
    from ireneo.adapters.sqlite.search import SqliteSearch, SqliteWords
    from ireneo.adapters.sqlite.summaries import SqliteAnnotations, SqliteRebuilds, SqliteSummaries
    from ireneo.adapters.sqlite.upkeep import SqliteUpkeep
    from ireneo.adapters.sqlite.vectors import SqliteVectors

P = ParamSpec("P")
T = TypeVar("T")

READERS = 4
"""Connections that read, each opened when the others are taken; what is more waits its turn."""


class SqliteTransaction:
    """All ports over one open transaction; the module of each is loaded when it is first asked for."""

    def __init__(self, channel: Channel) -> None:
        """Stand on an open transaction."""
        self._channel = channel

    @cached_property
    def log(self) -> SqliteLog:
        """The messages."""
        from ireneo.adapters.sqlite.log import SqliteLog

        return SqliteLog(self._channel)

    @cached_property
    def sessions(self) -> SqliteSessions:
        """The sessions."""
        from ireneo.adapters.sqlite.log import SqliteSessions

        return SqliteSessions(self._channel)

    @cached_property
    def summaries(self) -> SqliteSummaries:
        """The summaries."""
        from ireneo.adapters.sqlite.summaries import SqliteSummaries

        return SqliteSummaries(self._channel)

    @cached_property
    def rebuilds(self) -> SqliteRebuilds:
        """The marks of rebuilds."""
        from ireneo.adapters.sqlite.summaries import SqliteRebuilds

        return SqliteRebuilds(self._channel)

    @cached_property
    def annotations(self) -> SqliteAnnotations:
        """The pins, releases and disputes."""
        from ireneo.adapters.sqlite.summaries import SqliteAnnotations

        return SqliteAnnotations(self._channel)

    @cached_property
    def spending(self) -> SqliteSpending:
        """What was spent on models."""
        from ireneo.adapters.sqlite.leases import SqliteSpending

        return SqliteSpending(self._channel)

    @cached_property
    def leases(self) -> SqliteLeases:
        """Who is at which work."""
        from ireneo.adapters.sqlite.leases import SqliteLeases

        return SqliteLeases(self._channel)

    @cached_property
    def vectors(self) -> SqliteVectors:
        """The vectors of what is searched."""
        from ireneo.adapters.sqlite.vectors import SqliteVectors

        return SqliteVectors(self._channel)

    @cached_property
    def memories(self) -> SqliteMemories:
        """What was learned."""
        from ireneo.adapters.sqlite.memories import SqliteMemories

        return SqliteMemories(self._channel)

    @cached_property
    def pads(self) -> SqlitePads:
        """The scratchpads."""
        from ireneo.adapters.sqlite.memories import SqlitePads

        return SqlitePads(self._channel)

    @cached_property
    def runs(self) -> SqliteRuns:
        """The runs that were learned from."""
        from ireneo.adapters.sqlite.memories import SqliteRuns

        return SqliteRuns(self._channel)

    @cached_property
    def ledger(self) -> SqliteLedger:
        """The files that were."""
        from ireneo.adapters.sqlite.memories import SqliteLedger

        return SqliteLedger(self._channel)

    @cached_property
    def search(self) -> SqliteSearch:
        """What finds messages and memories by their words."""
        from ireneo.adapters.sqlite.search import SqliteSearch

        return SqliteSearch(self._channel)

    @cached_property
    def words(self) -> SqliteWords:
        """The index of those words."""
        from ireneo.adapters.sqlite.search import SqliteWords

        return SqliteWords(self._channel)

    @cached_property
    def upkeep(self) -> SqliteUpkeep:
        """What keeps the store sound."""
        from ireneo.adapters.sqlite.upkeep import SqliteUpkeep

        return SqliteUpkeep(self._channel)

    @cached_property
    def erasure(self) -> SqliteErasure:
        """What takes content out for good."""
        from ireneo.adapters.sqlite.erasure import SqliteErasure

        return SqliteErasure(self._channel)


class SqliteStore(TransitionalStore):
    """`ireneo.ports.store.Store` over one SQLite file; made by `open_sqlite`.

    One connection writes, a few read; each transaction has one to itself, in a thread. Those of one process wait for
    the writer in the order in which they came, and only the first of them competes with other processes for the file.
    """

    def __init__(
        self, path: Path, *, durability: Durability, busy_seconds: float, readers: int, read_only: bool = False
    ) -> None:
        """Name the file and how to work on it; nothing is opened yet. `read_only`: it can't be written to."""
        super().__init__()
        self._path = path
        self._read_only = read_only
        prepare = partial(prepare_writer, path=path, durability=durability)
        self._writers = self._pool([Connection(path, busy_seconds, prepare)])
        kind = RestingConnection if read_only else Connection
        ready = partial(prepare_resting, path=path) if read_only else prepare_reader
        self._readers = self._pool([kind(path, busy_seconds, ready) for _ in range(readers)])
        self._to_scrub = partial(Connection, path, min(busy_seconds, WAIT_SECONDS), prepare)

    async def open(self) -> None:
        """Open the file now, and not with the first write, so that what is wrong with it shows."""
        await (self._readers if self._read_only else self._writers).run(partial(_alone, _touch))

    async def _read(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        check_plain(function)
        return await self._readers.run(partial(_read_through, lambda tx: function(tx, *args, **kwargs)))

    async def _write(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
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
        return await self._writers.run(lambda _, job: _scrub(self._to_scrub(), job))

    async def close(self) -> None:
        """Let go of the file: idle connections now, one that a transaction is on as soon as that is over."""
        for connection in (*self._readers.close(), *self._writers.close()):
            await asyncio.to_thread(connection.close)

    def _pool(self, connections: Sequence[Connection]) -> Pool[Connection]:
        return Pool(connections, Connection.close, self._nesting, "ireneo-sqlite")

    def _check_writable(self) -> None:
        if self._read_only:
            raise READ_ONLY.error(f"{self._path} {READ_ONLY.sentence}")


def _alone(work: Callable[[apsw.Connection], T], connection: Connection, job: Cancellation) -> T:
    """Do work outside of any transaction."""
    connection.serve(job)
    try:
        return connection.run(work)
    finally:
        connection.settle()


def _read_through(work: Callable[[SqliteTransaction], T], connection: Connection, job: Cancellation) -> T:
    """Call `work` with a snapshot."""
    connection.serve(job)
    try:
        connection.run(_begin_read)
        result = _called(work, connection, job, writes=False)
        connection.finish()
        return result
    finally:
        connection.settle()


def _write_through(work: Callable[[SqliteTransaction], T], connection: Connection, job: Cancellation) -> T:
    """Call `work` with a transaction, and commit it."""
    connection.serve(job)
    try:
        connection.run(_begin_write)
        result = _called(work, connection, job, writes=True)
        job.begin_commit()
        connection.run(_commit)
        return result
    finally:
        connection.settle()


def _called(work: Callable[[SqliteTransaction], T], connection: Connection, job: Cancellation, *, writes: bool) -> T:
    job.check()
    channel = Channel(connection, writes=writes)
    try:
        result = work(SqliteTransaction(channel))
    finally:
        channel.shut()
    check_result(result)
    return result


def _scrub(connection: Connection, job: Cancellation) -> Scrubbed:
    connection.serve(job)
    try:
        return connection.run(scrub_file)
    finally:
        connection.close()


def _touch(database: apsw.Connection) -> None:
    database.execute(SQL["take_snapshot"]).fetchall()


def _begin_read(database: apsw.Connection) -> None:
    database.execute(SQL["begin_read"])
    database.execute(SQL["take_snapshot"]).fetchall()


def _begin_write(database: apsw.Connection) -> None:
    database.execute(SQL["begin_write"])


def _commit(database: apsw.Connection) -> None:
    database.execute(SQL["commit"])


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

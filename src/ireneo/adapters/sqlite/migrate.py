"""Open a file: know it for ours, switch it to WAL, and bring its schema and its indexes of words up to date."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import apsw
from msgspec.structs import replace

from ireneo.adapters.sql.database import Migration, read_migrations
from ireneo.adapters.sql.search import forget_words, index_session, reindex_memories
from ireneo.adapters.sqlite.claim_codes import rename_claims
from ireneo.adapters.sqlite.connection import BusyHandler, SqliteDatabase
from ireneo.errors import BadInput, NewerDatabase, NotADatabase, ReadOnlyStore, StoreError, Unreachable
from ireneo.language.words import FORMAT

APPLICATION_ID = int.from_bytes(b"Irno", "big")

HEADER_BYTES = 100

EARLIER = (
    "was written by an earlier Ireneo and may not be written to, so that it can't be brought up to date; copy it to "
    "where you may write, and open the copy."
)

Durability = Literal["full", "normal"]
"""What an acknowledged write has survived: "full", a power cut; "normal", the end of the process only."""


STEPS: Mapping[int, Callable[[SqliteDatabase], None]] = {10: rename_claims}
"""What a migration does beside its SQL, by its number."""


@cache
def load_migrations() -> tuple[Migration, ...]:
    """The migrations that ship with the package, in their order."""
    found = read_migrations(Path(__file__).with_name("migrations"))
    return tuple(replace(each, step=STEPS.get(each.number)) for each in found)


def check_place(path: Path) -> None:
    """Say early what is wrong with a path. Raises BadInput, NotADatabase for what can't be one, or Unreachable."""
    try:
        if path.is_dir():
            raise NotADatabase(f"{path} is a folder; name a file in it.")
        if not path.parent.is_dir():
            raise BadInput(f"There is no folder {path.parent}; make it first, or name a file elsewhere.")
        size = path.stat().st_size if path.exists() else 0
    except OSError as fault:
        raise Unreachable(f"{path} can't be reached: {fault.strerror}.") from fault
    if 0 < size < HEADER_BYTES:
        # SQLite takes a file that is too short for its header for an empty one, and would write over it.
        raise NotADatabase(f"{path} is not an Ireneo database; name another file, or a new one.")


def prepare_writer(connection: apsw.Connection, busy: BusyHandler, path: Path, durability: Durability) -> None:
    """Make a connection fit for writing, and its file if it is new or of an earlier version.

    Several processes may do this to one file at once. Raises NotADatabase or NewerDatabase, with the file as it was.
    """
    # Before anything is written: a foreign database isn't even switched to WAL.
    read_applied(connection, path)
    _switch_to_wal(connection, busy, path)
    connection.execute("PRAGMA synchronous = FULL" if durability == "full" else "PRAGMA synchronous = NORMAL")
    if durability == "full":
        # On macOS alone does this change anything: there, a plain fsync doesn't reach the disk.
        connection.execute("PRAGMA fullfsync = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    bring_up_to_date(connection, path)


def bring_up_to_date(connection: apsw.Connection, path: Path) -> None:
    """Apply the migrations that the file does not hold yet, and index what is in no index."""
    applied = read_applied(connection, path)
    for migration in load_migrations():
        if migration.number not in applied:
            apply_migration(connection, migration, path)
    while not is_current(SqliteDatabase(connection)):
        reindex(SqliteDatabase(connection), BATCH)


def prepare_reader(connection: apsw.Connection, busy: BusyHandler) -> None:
    """Make a connection fit for reading, of a file that a writer has prepared."""
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")


def prepare_read_only(connection: apsw.Connection, busy: BusyHandler, path: Path) -> None:
    """Make a connection fit for reading, of a file that can't be written to. Raises as `prepare_writer` does.

    One of an earlier version can't be brought up to date there.
    """
    prepare_reader(connection, busy)
    applied = read_applied(connection, path)
    missing = any(migration.number not in applied for migration in load_migrations())
    if missing or not is_current(SqliteDatabase(connection)):
        raise ReadOnlyStore(f"{path} {EARLIER}")


def apply_migration(connection: apsw.Connection, migration: Migration, path: Path) -> None:
    """Apply a migration and record it, unless another process did while this one waited for the lock."""
    database = SqliteDatabase(connection)
    with database.writing():
        if migration.number not in read_applied(connection, path):
            connection.execute(migration.sql)
            if migration.step is not None:
                migration.step(database)
            database.change("record_migration", number=migration.number, name=migration.name)


def read_applied(connection: apsw.Connection, path: Path) -> set[int]:
    """The numbers of the migrations that the file holds; none for a new file."""
    database = SqliteDatabase(connection)
    ((application, things),) = database.rows("recognise")
    if application == 0 and things == 0:
        return set()
    if application != APPLICATION_ID:
        raise NotADatabase(f"{path} is a database of another program; name another file, or a new one.")
    applied = {number for (number,) in database.rows("find_migrations")}
    if applied - {migration.number for migration in load_migrations()}:
        raise NewerDatabase(f"{path} was written by a newer Ireneo; upgrade with `pip install -U ireneo`.")
    return applied


def _switch_to_wal(connection: apsw.Connection, busy: BusyHandler, path: Path) -> None:
    """Switch the file to WAL, where it stays.

    SQLite reads the file first and then wants to write to it; when another one writes just then it doesn't call the
    busy handler, since two that wait with a lock in hand would wait for each other. Hence the loop.
    """
    tries = 0
    while True:
        try:
            ((mode,),) = connection.execute("PRAGMA journal_mode = WAL")
        except apsw.BusyError:
            if not busy(tries):
                raise
            tries += 1
        else:
            if mode != "wal":
                raise StoreError(f"{path} lies on a file system without shared memory; move it to a local disk.")
            return


BATCH = 20_000
"""Messages that are indexed in one transaction: a few seconds, in which nobody else writes."""


def is_current(database: SqliteDatabase) -> bool:
    """Whether all of a file's words are indexed, by the rules of this version."""
    return database.number("read_format") == FORMAT


def reindex(database: SqliteDatabase, limit: int) -> int:
    """Index up to `limit` messages that are not indexed yet, or are by other rules, in one transaction.

    Returns how many were; once there are none left, `is_current`. Several processes may do this at once, and one that
    ends in the middle is gone on from where it stopped. By which rules a file is indexed stands in its header, as
    SQLite's `user_version`, and is 0 for as long as messages may be there that no index knows of.
    """
    with database.writing():
        return 0 if is_current(database) else _step(database, limit)


def _step(database: SqliteDatabase, limit: int) -> int:
    sessions = database.rows("list_all_sessions")
    if database.number("read_format") != 0:
        for (space,) in database.rows("list_all_spaces"):
            reindex_memories(database, space)
        for key, _ in sessions:
            forget_words(database, key)
        _write_format(database, 0)
    indexed = 0
    for key, space in sessions:
        indexed += index_session(database, key, space, limit - indexed)
        if indexed >= limit:
            return indexed
    _write_format(database, FORMAT)
    return indexed


def _write_format(database: SqliteDatabase, number: int) -> None:
    # A pragma takes no bindings.
    database.connection.execute(f"PRAGMA user_version = {number:d}")

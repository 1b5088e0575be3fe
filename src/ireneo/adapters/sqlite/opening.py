"""Opens a SQLite file: creates it, migrates it, and converts or indexes again what an earlier version wrote."""

from __future__ import annotations

import re
from functools import cache, partial
from os import PathLike
from pathlib import Path
from typing import Literal

import apsw
import msgspec
from msgspec.structs import replace

from ireneo.adapters.sql.database import Bindings, Database, Migration, read_migrations, with_checksum, write_json
from ireneo.adapters.sql.search import forget_words, index_session, reindex_memories
from ireneo.adapters.sqlite.store import (
    READERS,
    BusyHandler,
    Connection,
    ReadOnlyConnection,
    SqliteDatabase,
    SqliteStore,
    is_writable,
)
from ireneo.errors import BadInput, NewerDatabase, NotADatabase, ReadOnlyStore, StoreError, Unreachable
from ireneo.language.words import FORMAT
from ireneo.ports.store import Migrated

APPLICATION_ID = int.from_bytes(b"Irno", "big")

HEADER_BYTES = 100

EARLIER = (
    "was written by an earlier Ireneo and may not be written to, so that it can't be brought up to date; copy it to "
    "where you may write, and open the copy."
)

Durability = Literal["full", "normal"]
"""The durability of commits: with "full" they survive a power failure, with "normal" only the end of the process."""


@cache
def load_migrations() -> tuple[Migration, ...]:
    """The migrations that ship with the package, ordered by number."""
    found = read_migrations(Path(__file__).with_name("migrations"))
    # Claims of old databases are renamed in code.
    return tuple(replace(each, step=rename_claims) if each.number == 10 else each for each in found)


@cache
def load_schema() -> str:
    """The schema that all migrations add up to."""
    return Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")


def check_place(path: Path) -> None:
    """Check a path before opening it. Raises BadInput, NotADatabase or Unreachable."""
    try:
        if path.is_dir():
            raise NotADatabase(f"{path} is a folder; name a file in it.")
        if not path.parent.is_dir():
            raise BadInput(f"There is no folder {path.parent}; make it first, or name a file elsewhere.")
        size = path.stat().st_size if path.exists() else 0
    except OSError as fault:
        raise Unreachable(f"{path} can't be reached: {fault.strerror}.") from fault
    if 0 < size < HEADER_BYTES:
        # SQLite treats a file that is shorter than its header as empty, and would overwrite it.
        raise NotADatabase(f"{path} is not an Ireneo database; name another file, or a new one.")


def prepare_writer(connection: apsw.Connection, busy: BusyHandler, path: Path, durability: Durability) -> None:
    """Prepare a connection for writing, and create or migrate its file.

    Several processes may do this at once. Raises NotADatabase or NewerDatabase, and then leaves the file unchanged.
    """
    # First of all, so that a foreign database isn't even switched to WAL.
    read_applied(connection, path)
    _switch_to_wal(connection, busy, path)
    connection.execute("PRAGMA synchronous = FULL" if durability == "full" else "PRAGMA synchronous = NORMAL")
    if durability == "full":
        # Only matters on macOS, where fsync alone doesn't reach the disk.
        connection.execute("PRAGMA fullfsync = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    bring_up_to_date(connection, path)


def bring_up_to_date(connection: apsw.Connection, path: Path) -> None:
    """Create the tables of a new file, or apply missing migrations, and index messages that are not indexed."""
    applied = read_applied(connection, path) or create_schema(connection, path)
    for migration in load_migrations():
        if migration.number not in applied:
            apply_migration(connection, migration, path)
    while not is_current(SqliteDatabase(connection)):
        reindex(SqliteDatabase(connection), BATCH)


def prepare_reader(connection: apsw.Connection, busy: BusyHandler) -> None:
    """Prepare a connection for reading a file that a writer has prepared."""
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")


def prepare_read_only(connection: apsw.Connection, busy: BusyHandler, path: Path) -> None:
    """Prepare a connection for reading a read-only file. Raises as `prepare_writer` does.

    Raises ReadOnlyStore for a file of an earlier version, which can't be migrated.
    """
    prepare_reader(connection, busy)
    applied = read_applied(connection, path)
    missing = any(migration.number not in applied for migration in load_migrations())
    if missing or not is_current(SqliteDatabase(connection)):
        raise ReadOnlyStore(f"{path} {EARLIER}")


def create_schema(connection: apsw.Connection, path: Path) -> set[int]:
    """Create all tables in a new file, unless another process has done so meanwhile; return the applied migrations.

    One transaction instead of one for each migration: a disk is waited for once.
    """
    database = SqliteDatabase(connection)
    with database.writing():
        if not read_applied(connection, path):
            connection.execute(load_schema())
            for migration in load_migrations():
                database.change("record_migration", number=migration.number, name=migration.name)
            _write_format(database, FORMAT)
        return read_applied(connection, path)


def apply_migration(connection: apsw.Connection, migration: Migration, path: Path) -> None:
    """Apply a migration and record it, unless another process has done so meanwhile."""
    database = SqliteDatabase(connection)
    with database.writing():
        if migration.number not in read_applied(connection, path):
            connection.execute(migration.sql)
            if migration.step is not None:
                migration.step(database)
            database.change("record_migration", number=migration.number, name=migration.name)


def read_applied(connection: apsw.Connection, path: Path) -> set[int]:
    """The numbers of the migrations that were applied to the file; none for a new one."""
    database = SqliteDatabase(connection)
    ((application, things),) = database.rows("recognise")
    if application == 0 and things == 0:
        return set()
    if application != APPLICATION_ID:
        raise NotADatabase(f"{path} is a database of another program; name another file, or a new one.")
    applied = set(database.column("find_migrations"))
    if applied - {migration.number for migration in load_migrations()}:
        raise NewerDatabase(f"{path} was written by a newer Ireneo; upgrade with `pip install -U ireneo`.")
    return applied


def _switch_to_wal(connection: apsw.Connection, busy: BusyHandler, path: Path) -> None:
    """Switch the file to WAL permanently.

    SQLite upgrades from a read to a write lock for this. If another process is writing, it doesn't call the busy
    handler, since two processes could then wait for each other. Hence the loop.
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
"""How many messages are indexed in one transaction, which blocks other writers for a few seconds."""


def is_current(database: SqliteDatabase) -> bool:
    """Whether everything in the file is indexed, by the rules of this version."""
    return database.number("read_format") == FORMAT


def reindex(database: SqliteDatabase, limit: int) -> int:
    """Index up to `limit` messages that are not indexed yet, or by other rules, in one transaction; return how many.

    Several processes may do this at once, and an interrupted one is continued by the next. SQLite's `user_version`
    holds the version of the rules that the file is indexed by, and 0 while some messages may not be indexed.
    """
    with database.writing():
        return 0 if is_current(database) else _index_step(database, limit)


def _index_step(database: SqliteDatabase, limit: int) -> int:
    sessions = database.rows("list_all_sessions")
    if database.number("read_format") != 0:
        for space in database.column("list_all_spaces"):
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
    # A pragma takes no parameters.
    database.connection.execute(f"PRAGMA user_version = {number:d}")


async def open_sqlite(
    path: str | PathLike[str], *, durability: Durability = "full", busy_seconds: float = 30.0, readers: int = READERS
) -> SqliteStore:
    """Open the store in the file at `path`, creating it if necessary; close it with `close()`.

    A read-only file, or one in a read-only folder, can be opened and read; writing raises ReadOnlyStore.

    With `durability="full"` a commit survives a power failure. With "normal" it survives the end of the process, kill
    -9 included, but a power failure or a crash of the operating system may undo the last commits (whole transactions
    only; the file stays intact). It is several times faster on a disk.

    `busy_seconds` is how long a transaction waits for other processes; `readers` is how many may read at a time. Raises
    NotADatabase, NewerDatabase, StoreBusy, Unreachable, or StoreError if the file can't be opened.
    """
    if str(path) in ("", ":memory:"):
        raise BadInput("A SQLite store needs a file; `ireneo.open(':memory:')` has one in memory.")
    place = Path(path).absolute()
    check_place(place)
    writer = Connection(place, busy_seconds, partial(prepare_writer, path=place, durability=durability))
    if is_writable(place):
        to_read = [Connection(place, busy_seconds, prepare_reader) for _ in range(readers)]
        try:
            return await SqliteStore(place, writer, to_read).opened()
        except (ReadOnlyStore, Unreachable):
            # The file is writable but its folder is not. A new file can't be read either.
            if not place.exists():
                raise
    look = partial(prepare_read_only, path=place)
    to_look = [ReadOnlyConnection(place, busy_seconds, look) for _ in range(readers)]
    return await SqliteStore(place, writer, to_look).opened()


async def migrate_sqlite(path: str | PathLike[str], *, dry_run: bool) -> Migrated:
    """Migrate the file at `path`, or only report what would be done (`dry_run`). Raises as `open_sqlite` does."""
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


# The names that claims had before they had codes, for databases of that time. The tables must stay as they were then.

_OF_KIND = {"semantic": "factual", "procedural": "procedural", "failure": "failure"}
_RECORD = msgspec.json.Decoder(dict[str, msgspec.Raw])
_OBSERVATION = (
    *("space", "cue", "at", "session", "category", "project", "held", "broke", "tokens", "record", "checksum"),
)
_LESSON = (
    *("space", "id", "kind", "key", "state", "archived", "subject", "task_type", "at", "recorded"),
    *("unreflected", "stale", "cue", "record", "checksum"),
)
"""The columns that are read, in their order."""
_FAULTS = {
    "any error": "<any>",
    "found nothing": "<nothing>",
    "timed out": "<timeout>",
    "tests failed": "<tests>",
    "no error named": "<silent>",
}
_REMEDIES = {"more lines": "more-lines", "less of it": "less", "more files": "more-files"}
_COMMANDS = {
    "the formatter": "formatter",
    "the linter": "linter",
    "the generator": "generator",
    "the integration tests": "integration",
    "the tests": "tests",
    "the checks": "checks",
    "the build": "build",
}


def rename_claims(database: Database) -> None:
    """Replace the name of every stored claim by its code, in the observations of runs and in the lessons."""
    for values in database.rows("observations_to_rename"):
        row = dict(zip(_OBSERVATION, values, strict=True))
        _rename(database, "sightings", "rename_observation", row, str(row["category"]))
    for values in database.rows("lessons_to_rename"):
        row = dict(zip(_LESSON, values, strict=True))
        _rename(database, "memories", "rename_lesson", row, _OF_KIND.get(str(row["kind"]), ""))


def _rename(database: Database, table: str, query: str, row: Bindings, category: str) -> None:
    was = str(row["cue"])
    code = claim_code(was, category)
    if code == was:
        return
    kept = row.pop("checksum")
    sound = kept is not None and kept == with_checksum(table, row)["checksum"]
    record = _RECORD.decode(str(row["record"]))
    record["cue"] = msgspec.Raw(msgspec.json.encode(code))
    new = with_checksum(table, {**row, "cue": code, "record": write_json(record)})
    # A row that didn't match its checksum before must not match it now.
    database.change(query, **{**new, "checksum": new["checksum"] if sound else kept, "was": was})


def claim_code(cue: str, category: str) -> str:
    """Return the code for a claim's old name; a name that no rule made is returned unchanged."""
    if cue.startswith("told: "):
        return f"model: {cue.removeprefix('told: ')}"
    if " ⇒ " in cue:
        action, _, rest = cue.partition(" ⇒ ")
        fault, over, remedy = rest.partition(" → ")
        if action.endswith(" unread"):
            action = f"{action.removesuffix(' unread')} <unread>"
        return f"{action} ⇒ {_FAULTS.get(fault, fault)}{over}{_remedy(remedy)}"
    if category == "procedural" and " after " in cue:
        return cue.replace(" after ", " <after> ", 1)
    return _fact(cue) if category == "factual" else cue


def _remedy(label: str) -> str:
    for word in ("first", "alone"):
        if label.endswith(f" {word}"):
            return f"{word}:{label.removesuffix(f' {word}')}"
    for word in ("with", "without", "no"):
        if label.startswith(f"{word} "):
            return f"{word}:{label.removeprefix(f'{word} ')}"
    if swapped := re.fullmatch(r"(-\S+) for (-\S+)", label):
        return f"swap:{swapped[2]}:{swapped[1]}"
    return _REMEDIES.get(label, label)


def _fact(cue: str) -> str:
    if found := re.fullmatch(r"(.*): command of (the [a-z ]+): (.*)", cue, re.S):
        code = _COMMANDS.get(found[2])
        return f"{found[1]} <command:{code}> {found[3]}" if code else cue
    if found := re.fullmatch(r"(.*): place of (.*?): (.*)", cue, re.S):
        return f"{found[1]} <place> {found[2]}: {found[3]}"
    return cue

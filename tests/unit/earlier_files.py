"""Files as earlier versions wrote them: by their migrations alone, with what this version writes into their columns."""

from __future__ import annotations

from pathlib import Path

import apsw

from ireneo.adapters.sqlite.migrate import apply_migration, load_migrations

LOG = ("sessions", "segments", "messages", "payloads", "branches", "summaries")


def newest() -> apsw.Connection:
    """An empty database of this version, to be filled."""
    database = apsw.Connection(":memory:")
    for migration in load_migrations():
        database.execute(migration.sql)
    return database


def written_by(migrations: int, path: Path, filled: apsw.Connection) -> apsw.Connection:
    """A file at `path` of so many migrations, which holds the log of `filled`."""
    database = apsw.Connection(str(path))
    database.execute("PRAGMA journal_mode = WAL").fetchall()
    for migration in load_migrations()[:migrations]:
        apply_migration(database, migration, path)
    for table in LOG:
        columns = ", ".join(
            name for (name,) in database.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
        )
        for row in filled.execute(f"SELECT {columns} FROM {table}"):
            database.execute(f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(row))})", row)
    filled.close()
    return database

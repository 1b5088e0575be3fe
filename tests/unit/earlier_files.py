"""Files as earlier versions wrote them: by their migrations alone, with what this version writes into their columns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import apsw

from ireneo.adapters.sqlite.opening import apply_migration, load_migrations, open_sqlite
from ireneo.ports.store import Transaction

LOG = ("sessions", "segments", "messages", "payloads", "branches", "summaries")


def written_by(migrations: int, path: Path, fill: Callable[[Transaction], None]) -> apsw.Connection:
    """A file at `path` of so many migrations, which holds the log that `fill` writes."""
    newest = path.with_name("newest.db")

    async def write() -> None:
        store = await open_sqlite(newest)
        await store.write(fill)
        await store.close()

    asyncio.run(write())
    database = apsw.Connection(str(path))
    database.execute("PRAGMA journal_mode = WAL").fetchall()
    for migration in load_migrations()[:migrations]:
        apply_migration(database, migration, path)
    database.execute("ATTACH ? AS newest", (str(newest),))
    for table in LOG:
        columns = ", ".join(
            name for (name,) in database.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
        )
        database.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM newest.{table}")
    database.execute("DETACH newest")
    return database

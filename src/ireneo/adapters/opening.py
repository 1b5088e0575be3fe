"""Which store an address means."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from ireneo.errors import MissingExtra

if TYPE_CHECKING:
    from ireneo.ports.store import Migrated, Store

IN_MEMORY = ":memory:"
SERVERS = ("postgresql://", "postgres://")
"""How the address of a database on a server begins."""
EXTRA = "PostgreSQL needs an extra: pip install 'ireneo[postgres]'."


async def open_store(url: str, *, durability: Literal["full", "normal"] = "full", busy_seconds: float = 30.0) -> Store:
    """Open the store at a path or an address; whoever uses it works below the verbs, and closes it."""
    # Imported when used, so that `import ireneo` loads no database.
    if url == IN_MEMORY:
        from ireneo.adapters.in_memory.store import InMemoryStore

        return InMemoryStore()
    if url.startswith(SERVERS):
        try:
            from ireneo.adapters.postgres.store import open_postgres
        except ModuleNotFoundError as missing:
            raise MissingExtra(EXTRA) from missing
        return await open_postgres(url, durability=durability, busy_seconds=busy_seconds)
    from ireneo.adapters.sqlite.store import open_sqlite

    return await open_sqlite(url.removeprefix("sqlite:///"), durability=durability, busy_seconds=busy_seconds)


async def migrate_store(url: str, *, dry_run: bool) -> Migrated:
    """Bring the database at a path or an address up to date, as `open_store` does; `dry_run` only looks."""
    if url.startswith(SERVERS):
        try:
            from ireneo.adapters.postgres.store import migrate_postgres
        except ModuleNotFoundError as missing:
            raise MissingExtra(EXTRA) from missing
        return await asyncio.to_thread(migrate_postgres, url, dry_run=dry_run)
    from ireneo.adapters.sqlite.store import migrate_sqlite

    return await migrate_sqlite(url.removeprefix("sqlite:///"), dry_run=dry_run)

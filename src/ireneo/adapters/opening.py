"""Opening the store at an address."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from ireneo.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    from ireneo.ports.store import Migrated, Store

IN_MEMORY = ":memory:"
SERVERS = ("postgresql://", "postgres://")
"""The schemes of database servers."""
EXTRA = "PostgreSQL needs an extra: pip install 'ireneo[postgres]'."


async def open_store(url: str, *, durability: Literal["full", "normal"] = "full", busy_seconds: float = 30.0) -> Store:
    """Open the store at a path or an address, for use below the verbs; the caller closes it."""
    if durability not in ("full", "normal"):
        raise BadInput(f"`durability` is {durability!r}; give 'full' or 'normal'.")
    # Imported when used, so that `import ireneo` loads no database.
    if url == IN_MEMORY:
        from ireneo.adapters.in_memory import InMemoryStore

        return InMemoryStore()
    if url.startswith(SERVERS):
        try:
            from ireneo.adapters.postgres.store import open_postgres
        except ModuleNotFoundError as missing:
            raise MissingExtra(EXTRA) from missing
        return await open_postgres(url, durability=durability, busy_seconds=busy_seconds)
    from ireneo.adapters.sqlite.opening import open_sqlite

    return await open_sqlite(_file(url), durability=durability, busy_seconds=busy_seconds)


async def migrate_store(url: str, *, dry_run: bool) -> Migrated:
    """Migrate the database at a path or an address, as `open_store` does, or only report it (`dry_run`)."""
    if url.startswith(SERVERS):
        try:
            from ireneo.adapters.postgres.store import migrate_postgres
        except ModuleNotFoundError as missing:
            raise MissingExtra(EXTRA) from missing
        return await asyncio.to_thread(migrate_postgres, url, dry_run=dry_run)
    from ireneo.adapters.sqlite.opening import migrate_sqlite

    return await migrate_sqlite(_file(url), dry_run=dry_run)


def _file(url: str) -> str:
    """The file at an address. Raises BadInput for the address of another kind of store."""
    path = url.removeprefix("sqlite:///")
    if not path.strip():
        raise BadInput("The address of the database is empty; give a file, or ':memory:' for a temporary one.")
    if "://" in path:
        raise BadInput(f"{path!r} is not a known kind of database; give a file, ':memory:', or postgresql://….")
    return path

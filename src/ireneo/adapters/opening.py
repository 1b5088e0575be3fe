"""Which store an address means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ireneo.errors import MissingExtra

if TYPE_CHECKING:
    from ireneo.ports.store import Store

IN_MEMORY = ":memory:"
SERVERS = ("postgresql://", "postgres://")
"""How the address of a database on a server begins."""


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
            raise MissingExtra("PostgreSQL needs an extra: pip install 'ireneo[postgres]'.") from missing
        return await open_postgres(url, durability=durability, busy_seconds=busy_seconds)
    from ireneo.adapters.sqlite.store import open_sqlite

    return await open_sqlite(url.removeprefix("sqlite:///"), durability=durability, busy_seconds=busy_seconds)

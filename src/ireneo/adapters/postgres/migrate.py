"""Bring a database up to date: each migration in a transaction of its own, under a lock that one process has."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import psycopg

from ireneo.adapters.sql.database import Migration, Row, read_migrations
from ireneo.errors import NewerDatabase, NotADatabase, StoreError

LOCK = 1232236144
"""The advisory lock of whoever migrates."""
OLDEST = 150000
"""The oldest server that is known to do, as it numbers itself."""


@cache
def load_migrations() -> tuple[Migration, ...]:
    """The migrations that ship with the package, in their order."""
    return read_migrations(Path(__file__).with_name("migrations"))


def migrate(driver: psycopg.Connection[Row], place: str) -> None:
    """Apply what a database does not hold yet; any number of processes may do so at once.

    Raises NewerDatabase for one that a later version wrote, NotADatabase for one with tables of another program, and
    StoreError for a server that is too old.
    """
    if driver.info.server_version < OLDEST:
        raise StoreError(
            f"{place} is a PostgreSQL server of version {driver.info.server_version // 10_000}; it takes 15."
        )
    applied = read_applied(driver, place)
    if all(migration.number in applied for migration in load_migrations()):
        return
    driver.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
    try:
        for migration in load_migrations():
            if migration.number not in read_applied(driver, place):
                with driver.transaction():
                    if migration.number == 1:
                        driver.execute(
                            "CREATE TABLE ireneo_migrations ("
                            "number bigint PRIMARY KEY, name text NOT NULL, "
                            "applied_at timestamptz NOT NULL DEFAULT now())"
                        )
                    driver.execute(migration.sql.encode())
                    driver.execute(
                        "INSERT INTO ireneo_migrations (number, name) VALUES (%s, %s)",
                        (migration.number, migration.name),
                    )
    finally:
        driver.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


def read_applied(driver: psycopg.Connection[Row], place: str) -> frozenset[int]:
    """The numbers of the migrations that a database holds; none for an empty one."""
    row = driver.execute(
        "SELECT to_regclass('ireneo_migrations') IS NOT NULL, count(*) FROM pg_class "
        "WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace"
    ).fetchone()
    ours, tables = row or (False, 0)
    if not ours:
        if tables:
            raise NotADatabase(f"{place} holds the tables of another program; name another database, or a new one.")
        return frozenset()
    applied = frozenset(number for (number,) in driver.execute("SELECT number FROM ireneo_migrations"))
    if applied - {migration.number for migration in load_migrations()}:
        raise NewerDatabase(f"{place} was written by a newer Ireneo; upgrade with `pip install -U ireneo`.")
    return applied

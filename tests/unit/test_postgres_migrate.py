"""A PostgreSQL database is brought up to date once, whoever comes, and while an earlier release goes on in it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest
from tests.postgres_server import bare_database

import ireneo
from ireneo.adapters.postgres import store as migrating
from ireneo.adapters.postgres.store import BREAKS, load_migrations, migrate, read_applied
from ireneo.adapters.sql.database import Migration
from ireneo.errors import NewerDatabase
from ireneo.log.message import Draft, Text

LATER = Migration(number=9001, name="add_weather", sql="ALTER TABLE sessions ADD COLUMN weather text")
CHANGING = Migration(number=9002, name="drop_weather", sql=f"{BREAKS}\nALTER TABLE sessions DROP COLUMN weather")


@pytest.fixture
def url() -> Iterator[str]:
    with bare_database() as url:
        yield url


def release(monkeypatch: pytest.MonkeyPatch, *more: Migration) -> None:
    """Be a release that has these migrations more than this one."""
    ours = load_migrations()
    monkeypatch.setattr(migrating, "load_migrations", lambda: (*ours, *more))


def bring(url: str) -> tuple[str, ...]:
    with psycopg.connect(url, autocommit=True) as driver:
        return migrate(driver, "it")


async def work(url: str, session: str) -> None:
    async with ireneo.open(url) as memory:
        await (await memory.session(session)).append([Draft(role="user", parts=(Text(text="It rains."),))])


def test_four_at_once_apply_each_migration_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    release(monkeypatch, LATER)
    ours = migrating.load_migrations()
    applied: list[str] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            applied.extend(bring(url))
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert applied == [each.name for each in ours]
    with psycopg.connect(url, autocommit=True) as driver:
        assert read_applied(driver, "it") == {each.number for each in ours}


def test_an_earlier_release_goes_on_beside_what_was_added_and_not_beside_what_was_changed(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(work(url, "before"))
    with monkeypatch.context() as later:
        release(later, LATER)
        assert bring(url) == ("add_weather",)
        assert bring(url) == ()
    asyncio.run(work(url, "after"))
    assert bring(url) == ()
    with monkeypatch.context() as later:
        release(later, LATER, CHANGING)
        assert bring(url) == ("drop_weather",)
    with pytest.raises(NewerDatabase, match="newer Ireneo"):
        asyncio.run(work(url, "too late"))


def test_a_migration_that_fails_leaves_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asyncio.run(work(url, "before"))
    with monkeypatch.context() as later:
        release(later, LATER, Migration(number=9003, name="bad", sql="CREATE TABLE clouds (a int); SELECT nothing"))
        with pytest.raises(psycopg.Error):
            bring(url)
        with psycopg.connect(url, autocommit=True) as driver:
            assert {9001} <= read_applied(driver, "it")
            assert 9003 not in read_applied(driver, "it")
            assert driver.execute("SELECT to_regclass('clouds')").fetchone() == (None,)
    asyncio.run(work(url, "after"))


def test_whoever_is_at_a_table_is_waited_for_and_holds_up_nobody_else(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change that waits for its table keeps all others from it: so it waits in turns, between which others go on."""
    asyncio.run(work(url, "before"))
    release(monkeypatch, LATER)
    read = 0
    with psycopg.connect(url) as reader:
        reader.execute("SELECT count(*) FROM sessions")
        migrator = threading.Thread(target=bring, args=(url,))
        migrator.start()
        # Longer than a turn, so that the migrator has begun to wait.
        until = time.monotonic() + 2.5
        while time.monotonic() < until or read < 6:
            with psycopg.connect(url) as other:
                other.execute("SET statement_timeout = '30s'")
                other.execute("SELECT count(*) FROM sessions")
            read += 1
        assert migrator.is_alive()
        reader.rollback()
        migrator.join(60)
    assert not migrator.is_alive()
    with psycopg.connect(url, autocommit=True) as driver:
        assert LATER.number in read_applied(driver, "it")


def test_it_says_from_where_to_where_and_does_nothing_where_it_only_looks(url: str) -> None:
    last = load_migrations()[-1].number
    names = tuple(each.name for each in load_migrations())
    looked = asyncio.run(ireneo.migrate(url, dry_run=True))
    assert (looked.before, looked.after, looked.applied) == (0, last, names)
    assert asyncio.run(ireneo.migrate(url, dry_run=True)) == looked
    assert asyncio.run(ireneo.migrate(url)) == looked
    again = asyncio.run(ireneo.migrate(url))
    assert (again.before, again.after, again.applied) == (last, last, ())

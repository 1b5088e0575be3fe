"""Opening a file: ours, new, foreign, newer, damaged, or none."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.errors import BadInput, NewerDatabase, NotADatabase, StoreError
from ireneo.log.tree import SessionKey

APPLIED = [
    (1, "log"),
    (2, "models"),
    (3, "leases"),
    (4, "memories"),
    (5, "vectors"),
    (6, "erasure"),
    (7, "lessons"),
    (8, "checksums"),
    (9, "scopes"),
    (10, "claim_codes"),
    (11, "traps"),
    (12, "read_marks"),
    (13, "projects"),
    (14, "told_failures"),
]


async def open_and_close(path: Path) -> None:
    await (await open_sqlite(path)).close()


def query(path: Path, sql: str) -> list[tuple[object, ...]]:
    """Ask the file without us."""
    connection = apsw.Connection(str(path))
    try:
        return list(connection.execute(sql))
    finally:
        connection.close()


def test_a_new_file_has_all_tables(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    asyncio.run(open_and_close(path))
    assert query(path, "SELECT number, name FROM migrations") == APPLIED
    assert query(path, "PRAGMA journal_mode") == [("wal",)]
    assert [file.name for file in tmp_path.iterdir()] == ["new.db"]


def test_an_empty_file_is_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    asyncio.run(open_and_close(path))
    assert query(path, "SELECT number, name FROM migrations") == APPLIED


@pytest.mark.parametrize("content", [b"x", b"This is a note, and no database.\n" * 100, bytes(range(256)) * 64])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes(content)
    with pytest.raises(NotADatabase, match=r"note\.txt"):
        asyncio.run(open_and_close(path))
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["note.txt"]


@pytest.mark.parametrize(
    "sql", ["CREATE TABLE theirs (id)", "PRAGMA application_id = 12345; CREATE TABLE migrations (number)"]
)
def test_a_foreign_database_is_refused_and_left_alone(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "foreign.db"
    query(path, sql)
    before = path.read_bytes()
    with pytest.raises(NotADatabase, match="another program"):
        asyncio.run(open_and_close(path))
    assert path.read_bytes() == before


def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    asyncio.run(open_and_close(path))
    query(path, "INSERT INTO migrations VALUES (999, 'from_the_future', '2099-01-01')")
    with pytest.raises(NewerDatabase, match="pip install -U ireneo"):
        asyncio.run(open_and_close(path))


def test_a_damaged_database_is_named_so(tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    asyncio.run(open_and_close(path))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="damaged"):
        asyncio.run(open_and_close(path))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotADatabase, match="is a folder"):
        asyncio.run(open_and_close(tmp_path))


def test_a_file_in_a_folder_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no folder"):
        asyncio.run(open_and_close(tmp_path / "missing" / "new.db"))


@pytest.mark.parametrize("path", ["", ":memory:"])
def test_a_store_needs_a_file(path: str) -> None:
    with pytest.raises(BadInput, match="needs a file"):
        asyncio.run(open_and_close(path))  # type: ignore[arg-type]


def test_a_migration_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ireneo.adapters.sqlite import opening as migrate

    good = migrate.load_migrations()
    broken = migrate.Migration(
        number=len(good) + 1, name="broken", sql="CREATE TABLE half (id); CREATE TABLE half (id);"
    )
    path = tmp_path / "store.db"
    asyncio.run(open_and_close(path))
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "load_migrations", lambda: (*good, broken))
        with pytest.raises(StoreError, match="half already exists"):
            asyncio.run(open_and_close(path))
    assert query(path, "SELECT number, name FROM migrations") == APPLIED
    assert query(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'") == [(0,)]
    asyncio.run(open_and_close(path))


def test_a_schema_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ireneo.adapters.sqlite import opening

    path = tmp_path / "store.db"
    good = opening.load_schema()
    with monkeypatch.context() as patch:
        patch.setattr(opening, "load_schema", lambda: f"{good} CREATE TABLE sessions (id);")
        with pytest.raises(StoreError, match="sessions already exists"):
            asyncio.run(open_and_close(path))
    assert query(path, "SELECT count(*) FROM sqlite_schema") == [(0,)]
    asyncio.run(open_and_close(path))
    assert query(path, "SELECT number, name FROM migrations") == APPLIED


def synchronous(database: apsw.Connection) -> object:
    ((found,),) = database.execute("PRAGMA synchronous")
    return found


@pytest.mark.parametrize(("durability", "level"), [("full", 2), ("normal", 1)])
def test_durability_is_that_of_the_connection_that_writes(tmp_path: Path, durability: str, level: int) -> None:
    async def ask() -> object:
        store = await open_sqlite(tmp_path / "store.db", durability=durability)  # type: ignore[arg-type]
        try:
            return await store._writers.run(lambda writer, _: synchronous(writer.database))
        finally:
            await store.close()

    assert asyncio.run(ask()) == level


def test_a_store_may_serve_several_event_loops_in_turn(tmp_path: Path) -> None:
    key = SessionKey("space", "session")
    store = asyncio.run(open_sqlite(tmp_path / "store.db"))

    async def make(name: str) -> None:
        await store.write(lambda tx: tx.sessions.create(SessionKey("space", name), None))

    async def make_many() -> None:
        await asyncio.gather(*(make(f"{number}") for number in range(10)))
        assert await store.read(lambda tx: tx.log.head(key)) is None

    for _ in range(3):
        asyncio.run(make_many())
    asyncio.run(store.close())


CREATE = """
import asyncio, sys
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.log.tree import SessionKey

async def main():
    sys.stdin.readline()
    store = await open_sqlite(sys.argv[1])
    await store.write(lambda tx: tx.sessions.create(SessionKey("space", sys.argv[2]), None))
    await store.close()

asyncio.run(main())
"""


def test_several_processes_may_make_one_file_at_once(tmp_path: Path) -> None:
    for attempt in range(2):
        path = tmp_path / f"{attempt}.db"
        makers = [
            subprocess.Popen(
                [sys.executable, "-c", CREATE, str(path), str(number)],
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for number in range(4)
        ]
        for maker in makers:
            assert maker.stdin is not None
            maker.stdin.write("go\n")
            maker.stdin.flush()
        for maker in makers:
            _, errors = maker.communicate(timeout=60)
            assert maker.returncode == 0, errors
        assert query(path, "SELECT count(*) FROM sessions") == [(4,)]
        assert query(path, "SELECT number, name FROM migrations") == APPLIED


@pytest.mark.skipif(os.name != "posix", reason="the system has no such permissions")
def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    asyncio.run(open_and_close(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

"""What the store in PostgreSQL promises beyond what every store does: spaces apart, migrations, lost connections."""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import cast
from uuid import uuid4

import psycopg
import pytest
from psycopg.rows import TupleRow
from tests.postgres_server import at, bare_database, empty_database, server_url

import ireneo
from ireneo.adapters.postgres.connection import QUERIES, PostgresTransaction
from ireneo.adapters.postgres.store import load_migrations, open_postgres
from ireneo.adapters.sqlite.store import SQL as SQLITE
from ireneo.errors import NotADatabase, SessionNotFound, StoreBusy, StoreError, Unreachable
from ireneo.log.message import Draft, Text
from ireneo.log.tree import SessionKey
from ireneo.memories.scratchpad import Pad
from ireneo.ports.store import Transaction
from ireneo.testing.conformance.check import SPACE, learned

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
OF_NO_SPACE = frozenset(
    "begin_write begin_read commit roll_back list_all_spaces "
    "overwrite_deleted add_scrub list_scrubs delete_scrub vacuum find_outcome end_transaction heed_silence "
    "index_vectors what_hinders_vectors".split()
)
"""What begins and ends a transaction, what became of it, what a doctor goes by, and the marks of erasures."""
OF_NO_KEY = ("ireneo_migrations", "ireneo_additions", "scrubs")
ALIAS = r"(?:\s+AS)?\s+(?!(?:ON|WHERE|SET|JOIN|LEFT|CROSS|ORDER|GROUP|LIMIT|VALUES|USING|OFFSET|SELECT)\b)([a-z]+)\b"
TABLE = re.compile(rf"\b(?:FROM|JOIN|UPDATE|USING)\s+([a-z_]+)\b(?:{ALIAS})?")
INSERT = re.compile(rf"\bINSERT INTO (\w+)(?:{ALIAS})? \( ?(\w+), [\w, ]+\) (?:VALUES \( ?|SELECT )([:.\w]+)")
SOURCES = Path(ireneo.__file__).parent


@pytest.fixture
def url() -> str:
    return empty_database()


@pytest.fixture
def nobody_s() -> Iterator[str]:
    with bare_database() as url:
        yield url


def without_comments(query: str) -> str:
    return " ".join(re.sub(r"--.*", "", query).split())


def blocks(query: str) -> list[str]:
    """The query, and each text in parentheses in it, without what is in parentheses within: a SELECT is one of them."""
    found, unclosed = [], [""]
    for piece in re.split(r"([()])", query):
        if piece == "(":
            unclosed.append("")
        elif piece == ")":
            found.append(unclosed.pop())
            unclosed[-1] += "()"
        else:
            unclosed[-1] += piece
    return [*found, *unclosed]


def unbound(query: str) -> list[str]:
    """The tables with a space that a query reads or changes without a condition on their space, or writes without it.

    The condition has to stand in the same SELECT, and to name that very table where it has an alias.
    """
    with_a_space, text = tables_with_a_space(), without_comments(query)
    found = []
    for block in blocks(text):
        for table, alias in TABLE.findall(block):
            of = rf"\b{alias}\." if alias else rf"(?:(?<![.\w])|\b{table}\.)"
            if table in with_a_space and not re.search(rf"{of}space = (?::space\b|\w+\.space\b)", block):
                found.append(table)
    inserts = INSERT.findall(text)
    found += [table for table, _, column, value in inserts if (column, value[-5:]) != ("space", "space")]
    if len(inserts) != text.count("INSERT INTO"):
        found.append("a table that something is inserted into")
    return found


def test_what_is_unbound_is_seen() -> None:
    assert unbound("SELECT id FROM memories WHERE space = :space") == []
    assert unbound("SELECT id FROM memories WHERE number = :number AND cue = ':space'") == ["memories"]
    joined = "SELECT m.id FROM sessions AS s JOIN messages AS m ON {}m.session = s.key WHERE s.space = :space"
    assert unbound(joined.format("m.space = s.space AND ")) == []
    assert unbound(joined.format("")) == ["messages"]
    within = "DELETE FROM pads WHERE space = :space AND EXISTS (SELECT 1 FROM memories WHERE {}cue <> '')"
    assert unbound(within.format("memories.space = pads.space AND ")) == []
    assert unbound(within.format("")) == ["memories"]
    assert unbound("INSERT INTO pads (space, task) VALUES (:space, :task)") == []
    assert unbound("INSERT INTO pads (space, task) VALUES (:task, :space)") == ["pads"]
    assert unbound("INSERT INTO pads (task, space) VALUES (:task, :space)") == ["pads"]
    assert unbound("INSERT INTO pads SELECT * FROM read_marks WHERE space = :space") != []


@pytest.mark.parametrize("name", sorted(set(QUERIES) - OF_NO_SPACE))
def test_every_query_names_its_space(name: str) -> None:
    assert ":space" in without_comments(QUERIES[name]), "it reads or writes in all spaces"
    assert unbound(QUERIES[name]) == []


def test_every_query_in_a_file_is_among_those() -> None:
    in_files = {
        name: file
        for folder in ("sql", "postgres")
        for file in (SOURCES / "adapters" / folder / "queries").iterdir()
        for name in re.findall(r"^\W*name\W+(\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(in_files) > 240
    assert set(in_files) == set(QUERIES)
    # Each is one statement, and what the dialects differ in is gone from it.
    for query in QUERIES.values():
        assert without_comments(query).count(";") == 1
        assert not re.search("[{}]", query)


def test_no_query_stands_in_the_code() -> None:
    tables = "|".join(sorted(tables_with_a_space()))
    for folder in ("sql", "postgres"):
        for file in (SOURCES / "adapters" / folder).glob("*.py"):
            assert not re.search(rf"\b(FROM|JOIN|INTO|UPDATE) ({tables})\b", file.read_text(encoding="utf-8")), file


def tables_with_a_space() -> frozenset[str]:
    made = re.findall(r"CREATE TABLE (\w+) \(\s+space ", load_migrations()[0].sql)
    return frozenset(made)


def test_it_has_the_queries_that_a_file_has() -> None:
    of_a_file = set(SQLITE) - set(QUERIES)
    assert of_a_file <= {
        *("check_file", "empty_wal", "find_migrations", "lessons_to_rename", "list_all_sessions", "list_indexes"),
        *("observations_to_rename", "read_format", "recognise", "record_migration", "refresh_words", "rename_lesson"),
        *("rename_observation", "reset_memory_words", "reset_message_words", "settle_memory_words"),
        *("settle_message_words", "take_snapshot"),
    }
    assert set(QUERIES) - set(SQLITE) == {
        *"lock_space name_space find_outcome end_transaction heed_silence tell_of_work channel_of_work".split(),
        "take_first_lease",
        *("index_vectors", "large_vector_sets", "likely_vectors", "vectors_beside", "what_hinders_vectors"),
    }


def test_the_space_leads_every_key(url: str) -> None:
    with psycopg.connect(url) as driver:
        keys = driver.execute(
            "SELECT t.relname, i.relname, a.attname FROM pg_index AS x "
            "JOIN pg_class AS t ON t.oid = x.indrelid JOIN pg_class AS i ON i.oid = x.indexrelid "
            "JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = x.indkey[0] "
            "WHERE t.relnamespace = 'public'::regnamespace AND x.indisunique"
        ).fetchall()
        sequences = driver.execute("SELECT count(*) FROM pg_class WHERE relkind = 'S'").fetchone()
    assert len(keys) > 25
    assert [key for key in keys if key[0] not in OF_NO_KEY and key[2] != "space"] == []
    assert sequences == (0,)


def begin(tx: Transaction, space: str, session: str = "one") -> None:
    tx.sessions.create(SessionKey(space, session), None)
    tx.pads.write(space, Pad(task="mend", goal=f"Of {space}.", written=NOON))


async def fill(url: str, *spaces: str) -> None:
    store = await open_postgres(url)
    try:
        for space in spaces:
            await store.write(begin, space)
    finally:
        await store.close()


def test_a_role_sees_the_rows_of_the_space_that_its_transaction_names(url: str) -> None:
    asyncio.run(fill(url, "mine", "yours"))
    role = f"ireneo_{uuid4().hex[:8]}"
    with psycopg.connect(url, autocommit=True) as driver:
        driver.execute(f"CREATE ROLE {role} NOINHERIT")
        driver.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}")
        try:
            driver.execute(f"SET ROLE {role}")
            for table in ("sessions", "pads"):
                assert driver.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
            with driver.transaction():
                driver.execute("SELECT set_config('ireneo.space', 'mine', true)")
                for table in ("sessions", "pads"):
                    assert driver.execute(f"SELECT DISTINCT space FROM {table}").fetchall() == [("mine",)]
                    # What it can't see it can't change either.
                    assert driver.execute(f"DELETE FROM {table} WHERE space = 'yours'").rowcount == 0
                with pytest.raises(psycopg.errors.InsufficientPrivilege), driver.transaction():
                    driver.execute("INSERT INTO spaces (space, number) VALUES ('yours', 1)")
        finally:
            driver.execute("RESET ROLE")
            driver.execute(f"DROP OWNED BY {role}")
            driver.execute(f"DROP ROLE {role}")


def test_a_role_that_owns_nothing_works_in_its_spaces_and_says_what_it_can_t_clean(url: str) -> None:
    role = f"ireneo_{uuid4().hex[:8]}"

    async def work() -> None:
        theirs = await open_postgres(f"{url}{'&' if '?' in url else '?'}options=-c%20role%3D{role}")
        ours = await open_postgres(url)
        try:
            await theirs.write(begin, "mine")
            assert [each.key.session for each in await theirs.read(lambda tx: tx.sessions.list("mine"))] == ["one"]
            await theirs.write(lambda tx: tx.erasure.begin())
            scrubbed = await theirs.scrub()
            assert not scrubbed.complete
            assert "as their owner" in scrubbed.note
            assert (await ours.scrub()).complete
            assert (await ours.scrub(look=True)).complete
        finally:
            await theirs.close()
            await ours.close()

    with psycopg.connect(url, autocommit=True) as driver:
        driver.execute(f"CREATE ROLE {role} NOINHERIT")
        driver.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}")
        try:
            asyncio.run(work())
        finally:
            driver.execute(f"DROP OWNED BY {role}")
            driver.execute(f"DROP ROLE {role}")


SCANS = (
    "SELECT sum(seq_scan), sum(idx_scan) > 0 FROM pg_stat_xact_user_tables WHERE relname ~ '^(message|memory)_words_'"
)


def test_a_role_finds_words_by_their_index_and_in_its_space_alone(url: str) -> None:
    """Behind a policy the planner tests what may leak only after it, which would be to read whole partitions."""

    async def say() -> None:
        for space in ("mine", "yours"):
            async with ireneo.open(url, space=space, listen=False) as memory:
                session = await memory.session("one")
                texts = [f"The {space} ferry leaves at {hour}." for hour in range(200)]
                await session.append([Draft(role="user", parts=(Text(text=text),)) for text in texts])
                await memory.remember("The ferry to Hull was sold.")

    def look(driver: psycopg.Connection[TupleRow], words: str, space: str, term: str) -> tuple[int, int, int]:
        prefix = driver.execute("SELECT number FROM spaces WHERE space = %s", (space,)).fetchone()
        given = (space, f"{prefix[0] if prefix else 0}s{term}")
        counted = driver.execute(f"SELECT * FROM count_in_{words}(%s, %s, NULL)", given).fetchone()
        up_to = driver.execute(f"SELECT * FROM count_in_{words}(%s, %s, 7)", given).fetchone()
        found = driver.execute(f"SELECT * FROM find_in_{words}(%s, %s, NULL)", given).fetchone()
        return (counted or (-1,))[0], (up_to or (-1,))[0], len(json.loads(found[0] if found else ""))

    asyncio.run(say())
    role, nobody = (f"ireneo_{uuid4().hex[:8]}" for _ in range(2))
    with psycopg.connect(url, autocommit=True) as driver:
        numbers = dict(driver.execute("SELECT space, number FROM spaces").fetchall())
        driver.execute(f"CREATE ROLE {role} NOINHERIT")
        driver.execute(f"CREATE ROLE {nobody} NOINHERIT")
        driver.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}")
        try:
            driver.execute(f"SET ROLE {role}")
            assert look(driver, "message_words", "mine", "ferri") == (0, 0, 0), "no space is named yet"
            with driver.transaction():
                driver.execute("SELECT set_config('ireneo.space', 'mine', true)")
                assert look(driver, "message_words", "mine", "ferri") == (200, 7, 200)
                assert look(driver, "message_words", "mine", "199") == (1, 1, 1)
                assert look(driver, "memory_words", "mine", "ferri") == (1, 1, 1)
                of_yours = ("yours", f"{numbers['yours']}sferri")
                for words in ("message_words", "memory_words"):
                    assert driver.execute(f"SELECT * FROM count_in_{words}(%s, %s, NULL)", of_yours).fetchone() == (0,)
                    assert driver.execute(f"SELECT * FROM find_in_{words}(%s, %s, NULL)", of_yours).fetchone() == (
                        "[]",
                    )
                assert driver.execute(SCANS).fetchone() == (0, True)
            driver.execute(f"SET ROLE {nobody}")
            with driver.transaction(force_rollback=True):
                driver.execute("SELECT set_config('ireneo.space', 'mine', true)")
                for function in ("count_in_message_words", "find_in_memory_words"):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege), driver.transaction():
                        driver.execute(f"SELECT * FROM {function}('mine', %s, NULL)", (f"{numbers['mine']}sferri",))
        finally:
            driver.execute("RESET ROLE")
            for each in (role, nobody):
                driver.execute(f"DROP OWNED BY {each}")
                driver.execute(f"DROP ROLE {each}")


def test_the_tables_of_another_program_are_left_alone(nobody_s: str) -> None:
    with psycopg.connect(nobody_s, autocommit=True) as driver:
        driver.execute("CREATE TABLE invoices (number bigint)")
    with pytest.raises(NotADatabase, match="another program"):
        asyncio.run(fill(nobody_s, "mine"))
    with pytest.raises(NotADatabase, match="another program"):
        asyncio.run(ireneo.migrate(nobody_s))


@pytest.mark.parametrize("wrong", ["postgresql://reader:hunter2@127.0.0.1:1/memory", ""])
def test_what_can_t_be_opened_is_said_in_a_sentence(wrong: str) -> None:
    with pytest.raises(Unreachable, match="can't be reached; check that the server runs") as told:
        asyncio.run(fill(wrong or at(server_url(), "ireneo_of_nobody"), "mine"))
    assert "hunter2" not in str(told.value)


async def test_writers_of_one_space_wait_and_those_of_others_don_t(url: str) -> None:
    one = await open_postgres(url, busy_seconds=0.2)
    other = await open_postgres(url, busy_seconds=0.2)
    held, done = threading.Event(), threading.Event()

    def hold(tx: Transaction) -> None:
        begin(tx, "mine")
        held.set()
        done.wait(20)

    try:
        holding = asyncio.create_task(one.write(hold))
        await asyncio.to_thread(held.wait, 20)
        await other.write(begin, "yours")
        with pytest.raises(StoreBusy):
            await other.write(begin, "mine", "two")
        done.set()
        await holding
        await other.write(begin, "mine", "two")
        listed = await other.read(lambda tx: tx.sessions.list("mine"))
        assert [each.key.session for each in listed] == ["two", "one"]
    finally:
        done.set()
        await one.close()
        await other.close()


async def test_a_write_that_is_taken_back_still_has_its_space(url: str) -> None:
    """The server lets go of a lock that was taken behind a savepoint when it goes back to that."""
    one = await open_postgres(url, busy_seconds=0.2)
    other = await open_postgres(url, busy_seconds=0.2)
    held, done = threading.Event(), threading.Event()

    def fail_and_go_on(tx: Transaction) -> None:
        with pytest.raises(SessionNotFound):
            tx.log.move(SessionKey("mine", "nowhere"), "main", None)
        begin(tx, "mine")
        held.set()
        done.wait(20)

    try:
        holding = asyncio.create_task(one.write(fail_and_go_on))
        await asyncio.to_thread(held.wait, 20)
        with pytest.raises(StoreBusy):
            await other.write(begin, "mine", "two")
        done.set()
        await holding
    finally:
        done.set()
        await one.close()
        await other.close()


async def test_what_was_sent_and_went_wrong_is_never_committed(url: str) -> None:
    """That a write failed shows with the next answer that is waited for; whoever passes it over commits nothing."""

    def fail(tx: Transaction) -> None:
        assert isinstance(tx, PostgresTransaction)
        begin(tx, "mine", "kept")
        for _ in range(2):
            tx.database.of("mine").send("insert_payload", key=1, segment=0, position=0, packed=b"")

    def fail_and_go_on(tx: Transaction) -> None:
        fail(tx)
        with pytest.raises(StoreError, match="duplicate key"):
            tx.sessions.list("mine")

    def fail_and_write_on(tx: Transaction) -> None:
        fail(tx)
        with pytest.raises(StoreError, match="duplicate key"):
            tx.log.move(SessionKey("mine", "kept"), "main", None)

    def never_sent_and_go_on(tx: Transaction) -> None:
        assert isinstance(tx, PostgresTransaction)
        begin(tx, "mine", "kept")
        tx.database.of("mine").send("delete_session", key=cast("int", object()))
        tx.database.of("mine").send("delete_session", key=2)
        with pytest.raises(StoreError):
            tx.sessions.list("mine")

    store = await open_postgres(url)
    try:
        for work in (fail, fail_and_go_on, fail_and_write_on, never_sent_and_go_on):
            with pytest.raises(StoreError):
                await store.write(work)
            assert await store.read(lambda tx: tx.sessions.list("mine")) == []
        await store.write(begin, "mine")
        assert len(await store.read(lambda tx: tx.sessions.list("mine"))) == 1
    finally:
        await store.close()


async def test_a_damaged_vector_is_removed_by_a_repair(url: str) -> None:
    def fill(tx: Transaction) -> None:
        record = learned("The ferry leaves at noon.")
        tx.memories.put(SPACE, [record, learned("The mill is closed.")])
        documents = tx.vectors.due(SPACE, "memories", "one", 2)
        tx.vectors.put(SPACE, "memories", "one", dict.fromkeys(documents, b"\x01\x02"))

    def repair(tx: Transaction) -> int:
        assert [fault for fault in tx.upkeep.corrupted().faults if fault.startswith("Vector ")]
        tx.upkeep.repair()
        assert tx.upkeep.corrupted().faults == ()
        return len(tx.vectors.due(SPACE, "memories", "one", 2))

    store = await open_postgres(url)
    try:
        await store.write(fill)
        with psycopg.connect(url, autocommit=True) as driver:
            driver.execute(
                "UPDATE vectors SET vector = %s WHERE document = (SELECT min(document) FROM vectors)", (b"no",)
            )
        assert await store.write(repair) == 1
    finally:
        await store.close()


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], int]:
    """How often an answer was waited for since it was asked last, as the driver's own trace has it."""
    traced = tmp_path / "trace"
    connect = psycopg.connect

    def tracing(url: str, **options: object) -> psycopg.Connection[tuple[object, ...]]:
        driver = connect(url, **options)  # type: ignore[call-overload]
        driver.pgconn.trace(os.open(traced, os.O_WRONLY | os.O_CREAT | os.O_APPEND))
        return cast("psycopg.Connection[tuple[object, ...]]", driver)

    monkeypatch.setattr(psycopg, "connect", tracing)
    seen = 0

    def count() -> int:
        nonlocal seen
        lines = [line.split(b"\t") for line in traced.read_bytes().splitlines()]
        # A pipeline ends with both at once, a Flush behind the Sync.
        all_of_them = sum(line[1:2] == [b"F"] and line[3] in (b"Sync", b"Query") for line in lines)
        since, seen = all_of_them - seen, all_of_them
        return since

    return count


def test_few_answers_are_waited_for(url: str, round_trips: Callable[[], int]) -> None:
    async def use() -> dict[str, int]:
        taken = {}
        async with ireneo.open(url, space="mine", listen=False) as memory:
            session = await memory.session("talk")
            texts = [f"The ferry number {number} leaves at noon with {number * 7} crates." for number in range(40)]
            for text in texts:
                await session.append([ireneo.Draft(role="user", parts=(Text(text=text),))])
                taken["append"] = round_trips()
            for text in texts:
                await memory.remember(f"Remember: {text}", kind="episodic")
                taken["remember"] = round_trips()
            assert len(await memory.recall("When does ferry number 7 leave?", limit=20)) == 20
            taken["recall"] = round_trips()
        return taken

    taken = asyncio.run(use())
    assert 10 < taken["append"] <= 22
    assert 5 < taken["remember"] <= 22
    assert 10 < taken["recall"] <= 40


async def test_a_memory_is_opened_by_its_address(url: str, tmp_path: Path) -> None:
    async with ireneo.open(url, space="mine") as memory:
        session = await memory.session("talk")
        await session.append([ireneo.Draft(role="user", parts=(Text(text="The ferry leaves at noon."),))])
        await memory.remember("The ferry leaves at noon.", kind="semantic", subject="ferry")
        found = await memory.recall("When does the ferry leave?")
        assert "noon" in found[0].text
    async with ireneo.open(url, space="yours") as other:
        assert not (await other.recall("When does the ferry leave?"))

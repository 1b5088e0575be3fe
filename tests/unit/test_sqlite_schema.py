"""The schema is the sum of its migrations, and every query of it keeps to one space and to an index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import apsw
import pytest

from ireneo.adapters.sql.database import in_postgres, in_sqlite, parse_queries
from ireneo.adapters.sqlite.opening import APPLICATION_ID, load_migrations
from ireneo.adapters.sqlite.store import SQL

PACKAGE = files("ireneo.adapters.sqlite")
OF_ALL_SPACES = ("file.sql", "connection.sql", "faults.sql", "checksums.sql")
"""The queries on the file itself, and those that look for what is wrong with it: they read all of it, once."""
OF_SPACES = (
    *("sessions", "spending", "spaces", "authors", "memories", "memory_sources", "pads", "vector_sets"),
    *("runs", "sightings", "ledger", "traps", "undone", "memory_projects"),
)
"""The tables whose rows belong to a space, and not to one of its sessions."""
OF_SETS = ("vectors", "vectors_gone")
"""The tables whose rows belong to a set of vectors, which is one space's, and each to a document, whose number begins
with its session's key."""
OF_SCRUBS = ("add_scrub", "list_scrubs", "delete_scrub")
"""The marks of erasures are of the whole file."""
Shape = tuple[int, list[tuple[str, str, str]]]


def shape(database: apsw.Connection) -> Shape:
    """All that a schema is, its spaces and comments aside."""
    ((application,),) = database.execute("PRAGMA application_id")
    things = database.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name")
    return application, [(kind, name, " ".join(re.sub(r"--.*", "", sql).split())) for kind, name, sql in things]


def query_files() -> Iterator[tuple[str, dict[str, str]]]:
    """Each file of queries that SQLite has, by its name, with its queries by theirs."""
    for package in (files("ireneo.adapters.sql"), PACKAGE):
        for file in package.joinpath("queries").iterdir():
            yield file.name, parse_queries(in_sqlite(file.read_text(encoding="utf-8")))


@pytest.fixture
def migrated() -> apsw.Connection:
    database = apsw.Connection(":memory:")
    for migration in load_migrations():
        database.execute(migration.sql)
    return database


def test_the_schema_is_the_sum_of_the_migrations(migrated: apsw.Connection) -> None:
    written = apsw.Connection(":memory:")
    written.execute(PACKAGE.joinpath("schema.sql").read_text(encoding="utf-8"))
    assert shape(written) == shape(migrated)
    assert shape(written)[0] == APPLICATION_ID


def test_migrations_are_numbered_without_a_gap() -> None:
    assert [migration.number for migration in load_migrations()] == list(range(1, len(load_migrations()) + 1))


def test_a_space_or_its_session_leads_every_key(migrated: apsw.Connection) -> None:
    tables = [name for (name,) in migrated.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    assert "messages" in tables
    # An index of words has tables of its own, in which a term begins with the number of its space.
    of_words = {table for table in tables if "_words" in table}
    for table in set(tables) - of_words - {"migrations", "scrubs", "sqlite_sequence"}:
        keys = [
            [column for (column,) in migrated.execute("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (index,))]
            for (index,) in migrated.execute("SELECT name FROM pragma_index_list(?)", (table,))
        ]
        assert keys, table
        leads = {"vector_set", "document"} if table in OF_SETS else {"space" if table in OF_SPACES else "session"}
        assert {key[0] for key in keys} <= leads, table


def test_no_query_scans_a_table(migrated: apsw.Connection) -> None:
    faults: dict[str, str] = {}
    for file, queries in query_files():
        if file in ("faults.sql", "checksums.sql"):
            faults |= queries
    looks = ("rows_of_messages", "list_indexes", "observations_to_rename", "lessons_to_rename", "refresh_words")
    for name, query in SQL.items():
        if name in faults or name in looks or not re.match(r"(--.*\n)*\s*(SELECT|WITH|INSERT|UPDATE|DELETE)", query):
            continue
        bindings = dict.fromkeys(re.findall(r":(\w+)", query), 1)
        plan = [row[3] for row in migrated.execute(f"EXPLAIN QUERY PLAN {query}", bindings)]
        # A virtual table is an index of words, which is asked for a term or a row, or a list that was handed in.
        scans = {step.split()[1] for step in plan if step.startswith("SCAN") and "VIRTUAL TABLE INDEX" not in step}
        # Migrations and marks of erasures are a handful; `stretch`, `needed` and `summarizer` are walks, a `tip` is a
        # segment's last row, and what is `cited` was looked up.
        walks = {"stretch", "needed", "family", "tip", "cited"}
        walks |= {"sessions"} if name == "list_all_sessions" else set()
        # What looks after all spaces goes through their keys.
        walks |= {"spaces", "sessions", "memories", "pads", "runs", "ledger"} if name == "list_all_spaces" else set()
        # What a query of its own found is put into one value, or counted; what that one scans is in the plan besides.
        walks |= {"(subquery-1)"} if name.endswith("s_with") else set()
        handful = {"migrations", "scrubs", "sqlite_master", "pragma_application_id", "CONSTANT", "w"}
        assert scans <= walks | handful, (name, plan)


def test_every_query_but_those_on_the_file_names_a_session_or_a_space() -> None:
    for file, queries in query_files():
        for name, query in queries.items():
            assert ":key" in query or ":space" in query or file in OF_ALL_SPACES or name in OF_SCRUBS, name


def test_the_next_summary_is_one_look_into_an_index(migrated: apsw.Connection) -> None:
    bindings = dict.fromkeys(re.findall(r":(\w+)", SQL["next_summary"]), 1)
    (step,) = (row[3] for row in migrated.execute(f"EXPLAIN QUERY PLAN {SQL['next_summary']}", bindings))
    assert "COVERING INDEX summaries_by_place" in step
    assert "first_position>" in step


@pytest.mark.parametrize(
    ("query", "looked_up"),
    [
        ("list_spans", "session=? AND family=? AND segment=? AND first_position>? AND first_position<?"),
        ("list_families", "session=? AND family>?"),
        ("list_summaries", "session=?"),
    ],
)
def test_what_needs_no_record_reads_only_the_index(migrated: apsw.Connection, query: str, looked_up: str) -> None:
    bindings = dict.fromkeys(re.findall(r":(\w+)", SQL[query]), 1)
    plan = [row[3] for row in migrated.execute(f"EXPLAIN QUERY PLAN {SQL[query]}", bindings)]
    looks = [step for step in plan if step.startswith("SEARCH")]
    assert all("USING COVERING INDEX summaries_by_place" in step for step in looks), plan
    assert looks[-1].endswith(f"({looked_up})"), plan


@pytest.mark.parametrize(
    ("query", "index"), [("list_annotations", "annotations_by_place"), ("spent_of_day", "spending_by_day")]
)
def test_what_is_asked_for_often_is_one_range_of_an_index(migrated: apsw.Connection, query: str, index: str) -> None:
    bindings = dict.fromkeys(re.findall(r":(\w+)", SQL[query]), 1)
    # One step: no sorting besides.
    (step,) = (row[3] for row in migrated.execute(f"EXPLAIN QUERY PLAN {SQL[query]}", bindings))
    assert f"INDEX {index}" in step


def test_every_query_is_used() -> None:
    files = Path(str(PACKAGE)).parent.glob("sql*/*.py")
    code = "".join(file.read_text(encoding="utf-8") for file in files)
    assert {name for name in SQL if f'"{name}"' not in code and not name.startswith("rows_of_")} == set()
    asked = re.findall(r'atabase\.(?:rows?|column|scan|number|change|send|send_all|each)\(\s*"(\w+)"', code)
    assert len(asked) > 100
    assert set(asked) <= set(SQL)


def test_a_query_may_be_another_with_a_condition_more() -> None:
    text = "-- name: one\nSELECT 1 WHERE space = :space;\n-- name: two\n-- like: one, where 2 = 2\n"
    assert parse_queries(text)["two"] == "SELECT 1 WHERE space = :space AND 2 = 2;"
    first = "-- name: one\nSELECT 1 FROM t WHERE space = :space;\n"
    text = f"{first}-- name: two\n-- like: one, from t INDEXED BY i, where 2 = 2"
    assert parse_queries(text)["two"] == "SELECT 1 FROM t INDEXED BY i WHERE space = :space AND 2 = 2;"


def test_a_query_has_parts_that_one_of_the_databases_needs() -> None:
    text = "SELECT bytes_of(id) FROM t {sqlite: INDEXED BY i }WHERE {space = :space AND }id IN (SELECT listed(:ids))"
    assert in_postgres(text) == "SELECT bytes_of(id) FROM t WHERE space = :space AND id IN (SELECT listed(:ids))"
    rendered = "SELECT CAST(id AS BLOB) FROM t INDEXED BY i WHERE id IN (SELECT value FROM json_each(:ids))"
    assert in_sqlite(text) == rendered


def test_queries_are_split_at_their_names() -> None:
    text = "-- a comment\n\n-- name: one\nSELECT 1;\n\n-- name: two\n-- said of two\nSELECT\n    2;\n"
    assert parse_queries(text) == {"one": "SELECT 1;", "two": "-- said of two\nSELECT\n    2;"}


def test_a_name_stands_once() -> None:
    with pytest.raises(ValueError, match="two queries are named one"):
        parse_queries("-- name: one\nSELECT 1;\n-- name: one\nSELECT 2;\n")

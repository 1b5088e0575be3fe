"""Many rows go into PostgreSQL by COPY: what is stored is the same, whoever stores it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import psycopg
import pytest
from tests.postgres_server import empty_database

from ireneo.adapters.postgres import connection
from ireneo.adapters.postgres.connection import COPIED, LEAST_COPIED, QueryPipeline, as_copy
from ireneo.adapters.postgres.store import open_postgres
from ireneo.log.message import Draft, Message, Text
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Store, Transaction
from ireneo.testing.conformance import check_store
from ireneo.testing.conformance.check import after

KEY = SessionKey("mine", "talk")


async def test_every_row_may_come_by_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LEAST_COPIED", 1)
    store = await open_postgres(empty_database())

    @asynccontextmanager
    async def emptied() -> AsyncIterator[Store]:
        empty_database()
        yield store

    report = await check_store(emptied, capabilities=("log", "search"))
    await store.close()
    assert report.conforms, str(report)


def test_plain_inserts_are_copied_and_no_others() -> None:
    copied = {name for name, each in COPIED.items() if each is not None}
    assert {"insert_message", "insert_payload", "add_document", "index_message", "index_memory"} <= copied
    assert not copied & {"put_document", "add_memory", "create_session", "add_memory_source", "put_memory_vector"}
    odd = as_copy("INSERT INTO words (space, terms) VALUES (:space, upper(:terms));")
    assert odd is None
    lists = as_copy("-- Words.\nINSERT INTO words (space, terms)\nVALUES (:space, string_to_array(:terms, ' '));")
    assert lists is not None
    assert lists.statement == b"COPY words (space, terms) FROM STDIN"
    assert list(lists.rows([{"space": "s", "terms": "a b"}])) == [["s", ["a", "b"]]]


def long_talk() -> list[Message]:
    """More than is stored one by one, with what is no plain text of a database."""
    odd = ("a tab\tand a \\ line\n", "NUL \x00 and \ue000", "\\N", "{braces} and \"quotes\", 'both'", "")
    drafts = [Draft(role="user", parts=(Text(text=f"{odd[n % 5]} {n}"),)) for n in range(2 * LEAST_COPIED)]
    return after(None, drafts)


def store_all(tx: Transaction, messages: list[Message]) -> int:
    tx.sessions.create(KEY, None)
    new = tx.log.insert(KEY, messages)
    tx.log.move(KEY, "main", messages[-1].id)
    return new


@pytest.mark.parametrize("owner", [True, False])
def test_a_role_that_sees_one_space_stores_as_much_as_the_owner(owner: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server lets no role copy into a table of which it sees some rows: then they go as inserts."""
    url = empty_database()
    role = f"ireneo_{uuid4().hex[:8]}"
    copies: list[bytes] = []
    copy = QueryPipeline.copy

    def counted(pipe: QueryPipeline, statement: bytes, rows: object) -> None:
        copies.append(statement)
        copy(pipe, statement, rows)  # type: ignore[arg-type]

    monkeypatch.setattr(QueryPipeline, "copy", counted)

    async def use() -> None:
        store = await open_postgres(url if owner else f"{url}{'&' if '?' in url else '?'}options=-c%20role%3D{role}")
        try:
            messages = long_talk()
            assert await store.write(store_all, messages) == len(messages)
            assert list(await store.read(lambda tx: tx.log.path(KEY, messages[-1].id, 0, 1000))) == messages
            assert await store.write(store_all, messages) == 0
        finally:
            await store.close()

    with psycopg.connect(url, autocommit=True) as driver:
        driver.execute(f"CREATE ROLE {role} NOINHERIT")
        driver.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}")
        try:
            asyncio.run(use())
        finally:
            driver.execute(f"DROP OWNED BY {role}")
            driver.execute(f"DROP ROLE {role}")
    assert bool(copies) == owner

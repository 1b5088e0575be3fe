"""Vectors in PostgreSQL: a space with one vector in a hundred finds its own, with an index and without one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from uuid import uuid4

import numpy as np
import psycopg
import pytest
from tests.postgres_server import at, server_url

import ireneo.adapters.postgres.store as vectors_on_server
from ireneo.adapters.postgres.store import migrate, open_postgres
from ireneo.adapters.sql.database import checksum
from ireneo.engine.searching import VectorCache
from ireneo.memories.index import quantised
from ireneo.memories.nearest import Vectors
from ireneo.ports.store import Transaction

TENANTS = 100
EACH = 60
LENGTH = 96
ASKED = 30
K = 10
EMBEDDER = "tiny:1"
NAIVE = (
    "SELECT document FROM vectors WHERE space = %s AND vector_set = 1 AND indexed_length(octet_length(vector)) = 384 "
    "ORDER BY direction(vector, 384)::halfvec(384) <=> direction(%s, 384)::halfvec(384) LIMIT 10"
)


def directions(count: int, seed: int) -> list[bytes]:
    """Directions in clusters, as those of texts lie."""
    numbers = np.random.default_rng(seed)
    centres = np.random.default_rng(1).standard_normal((40, LENGTH))
    rows = centres[numbers.integers(40, size=count)] + 0.9 * numbers.standard_normal((count, LENGTH))
    return [quantised(row.tolist()) for row in rows]


def kept(document: int, vector: bytes) -> int:
    """The checksum of a vector of the first set."""
    return checksum([b"1", b"%d" % document, vector])


def names_of_one_partition(driver: psycopg.Connection[tuple[object, ...]], count: int) -> list[str]:
    """Spaces that lie together, so that each has a hundredth of what its index holds."""
    rows = driver.execute(
        "SELECT name FROM (SELECT 'space ' || n AS name FROM generate_series(1, 5000) AS n) AS named "
        "WHERE satisfies_hash_partition('vectors'::regclass, 8, 3, name) LIMIT %s",
        (count,),
    )
    return [str(name) for (name,) in rows]


class Shared:
    """A database in which a hundred spaces have as many vectors each, in one partition."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.given = directions(TENANTS * EACH, 2)
        with psycopg.connect(url, autocommit=True) as driver:
            migrate(driver, url)
            self.spaces = names_of_one_partition(driver, TENANTS)
            with driver.cursor() as cursor, driver.transaction():
                for space in self.spaces:
                    cursor.execute("INSERT INTO spaces (space, number) VALUES (%s, 1)", (space,))
                    cursor.execute(
                        "INSERT INTO vector_sets (space, key, shelf, embedder, dimensions) "
                        "VALUES (%s, 1, 'memories', %s, %s)",
                        (space, EMBEDDER, LENGTH),
                    )
                with cursor.copy(
                    "COPY vectors (space, vector_set, document, change, vector, checksum) FROM STDIN"
                ) as copy:
                    for number, vector in enumerate(self.given):
                        # Each space has some of all that there is.
                        row = (
                            self.spaces[number % TENANTS],
                            1,
                            number,
                            number // TENANTS + 1,
                            vector,
                            kept(number, vector),
                        )
                        copy.write_row(row)
            driver.execute("ANALYZE vectors")

    def nearest(self, tenant: int, asked: bytes) -> set[int]:
        """The truth."""
        compared = Vectors()
        compared.change({number: self.given[number] for number in range(tenant, len(self.given), TENANTS)})
        return {document for document, _ in compared.nearest(asked, K)}

    def recall(self, find: Callable[[str, bytes], Sequence[int]]) -> float:
        """The share of the true nearest that is found, over questions in several spaces."""
        found = 0
        for number, asked in enumerate(directions(ASKED, 3)):
            tenant = number * 7 % TENANTS
            found += len(self.nearest(tenant, asked) & set(find(self.spaces[tenant], asked)))
        return found / (ASKED * K)


@pytest.fixture(scope="module")
def shared() -> Iterator[Shared]:
    name = f"ireneo_{uuid4().hex}"
    with psycopg.connect(server_url(), autocommit=True) as driver:
        driver.execute(f'CREATE DATABASE "{name}"')
        yield Shared(at(server_url(), name))
        driver.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def recalled(shared: Shared, *, indexed: bool) -> tuple[float, list[bool]]:
    """The recall of the engine's search, and whether it went by the index."""
    by_index: list[bool] = []

    async def all_of_them() -> float:
        store = await open_postgres(shared.url)
        held = VectorCache()

        def nearest(tx: Transaction, space: str, asked: bytes) -> list[int]:
            found = held.nearest(tx.vectors, space, "memories", EMBEDDER, asked, K)
            by_index.append(held.count(space, "memories", EMBEDDER) == 0)
            return [document for document, _ in found]

        loop = asyncio.get_running_loop()

        def find(space: str, asked: bytes) -> list[int]:
            return asyncio.run_coroutine_threadsafe(store.read(nearest, space, asked), loop).result()

        try:
            return await asyncio.to_thread(shared.recall, find)
        finally:
            await store.close()

    share = asyncio.run(all_of_them())
    assert set(by_index) == {indexed}
    return share, by_index


def test_the_naive_plan_finds_few_of_one_in_a_hundred(shared: Shared) -> None:
    with psycopg.connect(shared.url, autocommit=True) as driver:
        driver.execute("SET enable_sort = off")
        plan = driver.execute(f"EXPLAIN {NAIVE}", (shared.spaces[0], shared.given[0])).fetchall()
        assert any("vectors_3_direction" in str(line) and "Index Scan" in str(line) for line in plan), plan

        def naive(space: str, asked: bytes) -> list[int]:
            return [int(row[0]) for row in driver.execute(NAIVE, (space, asked), prepare=False)]

        assert shared.recall(naive) < 0.2


def test_a_small_set_is_compared_whole(shared: Shared) -> None:
    share, _ = recalled(shared, indexed=False)
    assert share == 1.0


def test_by_the_index_nearly_all_are_found(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors_on_server, "INDEXED_FROM", EACH)
    monkeypatch.setattr(vectors_on_server, "is_index_faster", lambda kept, beside, wanted: True)
    monkeypatch.setattr(vectors_on_server, "LEAST_TAKEN", 2 * K)
    share, _ = recalled(shared, indexed=True)
    assert share >= 0.97
    with psycopg.connect(shared.url, autocommit=True) as driver:
        # As a role that sees one space alone.
        role = f"ireneo_{uuid4().hex[:8]}"
        driver.execute(f"CREATE ROLE {role} NOINHERIT")
        driver.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
        driver.execute("LOAD 'auto_explain'")
        driver.execute("SET auto_explain.log_min_duration = 0")
        driver.execute("SET auto_explain.log_nested_statements = on")
        driver.execute("SET client_min_messages = log")
        told: list[str] = []
        driver.add_notice_handler(lambda notice: told.append(str(notice.message_primary)))
        driver.execute(f"SET ROLE {role}")
        driver.execute("SELECT set_config('ireneo.space', %s, false)", (shared.spaces[1],))
        query = "SELECT * FROM likely_vectors(%s, 1, %s, 20, 20000)"
        assert len(driver.execute(query, (shared.spaces[1], shared.given[5])).fetchall()) == 20
        assert driver.execute(query, (shared.spaces[2], shared.given[5])).fetchall() == []
        driver.execute("RESET ROLE")
        driver.execute(f"DROP OWNED BY {role}")
        driver.execute(f"DROP ROLE {role}")
        plans = [each for each in told if "ORDER BY direction" in each]
        assert any("Index Scan using vectors_3_direction" in each and "Sort" not in each for each in plans), told


def test_an_index_is_index_faster_for_what_is_large_and_no_crumb_of_what_it_holds() -> None:
    worth = vectors_on_server.is_index_faster
    assert not worth(19_999, 19_999, 120)
    assert worth(20_000, 20_000, 120)
    # A hundredth of a million is sooner compared than found among the others.
    assert not worth(10_000, 1_000_000, 120)
    assert worth(1_000_000, 10_000_000, 120)
    assert not worth(20_000, 100_000_000, 120)


def test_without_the_extension_all_are_compared_and_a_doctor_says_so_once_it_matters(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults: list[list[str]] = []

    async def look(repair: bool) -> None:
        store = await open_postgres(shared.url)
        try:
            if repair:
                await store.write(lambda tx: tx.upkeep.repair())
            faults.append([each for each in await store.read(lambda tx: tx.upkeep.faults()) if "no index" in each])
        finally:
            await store.close()

    with psycopg.connect(shared.url, autocommit=True) as driver:
        driver.execute("DROP EXTENSION vector CASCADE")
        driver.execute("DELETE FROM vectors WHERE document >= 500")
        driver.execute(
            "CREATE OR REPLACE FUNCTION what_hinders_vectors() RETURNS text LANGUAGE sql RETURN 'absent'::text"
        )
    asyncio.run(look(repair=False))
    monkeypatch.setattr(vectors_on_server, "INDEXED_FROM", 5)
    monkeypatch.setattr(vectors_on_server, "is_index_faster", lambda kept, beside, wanted: True)
    asyncio.run(look(repair=True))
    with psycopg.connect(shared.url, autocommit=True) as driver:
        driver.execute("CREATE OR REPLACE FUNCTION what_hinders_vectors() RETURNS text LANGUAGE sql RETURN ''::text")
    asyncio.run(look(repair=False))
    asyncio.run(look(repair=True))
    none_large, absent, there, mended = faults
    assert (none_large, mended) == ([], [])
    assert len(absent) == TENANTS
    assert "have 5 vectors of tiny:1" in absent[0]
    assert "Install pgvector 0.8" in absent[0]
    assert "Run `ireneo doctor --repair` as the owner" in there[0]
    with psycopg.connect(shared.url, autocommit=True) as driver:
        rows = driver.execute("SELECT * FROM likely_vectors(%s, 1, %s, 5, 20000)", (shared.spaces[0], shared.given[0]))
        assert {int(row[0]) for row in rows} == set(range(0, 500, TENANTS))

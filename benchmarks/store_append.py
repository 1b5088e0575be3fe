"""Rows per second of appends through the store, against a bare insert through the same driver in the same run.

    python benchmarks/store_append.py [--appends 400] [--batch 20000]

The bare side writes id and text into a table with one key: BEGIN IMMEDIATE, INSERT, COMMIT, with SQLite's own busy
wait. The store's side does what the engine does for a message: it reads the head, inserts with payload and counters,
and moves the branch, in one transaction that a worker thread runs. "slowest" is the longest that one append took: under
contention it shows who starves.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from typing import Literal

import apsw
from msgspec import Struct

from ireneo.adapters.sqlite.opening import Durability, open_sqlite
from ireneo.log.message import Draft, Native, Part, Text, chain
from ireneo.log.tree import MAIN, SessionKey
from ireneo.ports.store import Transaction

TEXT = "The quick brown fox jumps over the lazy dog, and the log keeps each of its words. " * 8
"""Some 650 characters: between a short answer and a tool's output."""

Side = Literal["bare", "store"]
SIDES: tuple[Side, Side] = ("bare", "store")
ROUNDS = 3


class Job(Struct, frozen=True, kw_only=True):
    """What one process has to do."""

    side: Side
    folder: Path
    durability: Durability
    appends: int
    batch: int
    """Messages in one append."""


class Done(Struct, frozen=True, kw_only=True):
    """How long it took."""

    seconds: float
    slowest: float


def count(parts: Sequence[Part]) -> tuple[int, int]:
    """Count a token a letter; it makes no difference here."""
    return sum(len(part.text) for part in parts if isinstance(part, Text)), 0


def drafts(job: Job, number: int) -> list[Draft]:
    """The messages of one append, all different."""
    texts = (f"{number} {place} {TEXT}" for place in range(job.batch))
    return [
        Draft(role="user", parts=(Text(text=text),), native=Native(format="chat", payload={"content": text}))
        for text in texts
    ]


def open_bare(job: Job) -> apsw.Connection:
    """Open a file with one plain table."""
    connection = apsw.Connection(str(job.folder / "bare.db"))
    connection.set_busy_timeout(60_000)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute(f"PRAGMA synchronous = {job.durability}")
    connection.execute("CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT")
    return connection


def append_bare(job: Job, barrier: Barrier) -> Done:
    """Insert rows, a transaction for each batch."""
    connection = open_bare(job)
    process = multiprocessing.current_process().name
    barrier.wait()
    began = time.perf_counter()
    slowest = 0.0
    for number in range(job.appends):
        start = time.perf_counter()
        rows = [(f"{process} {number} {place}", f"{number} {place} {TEXT}") for place in range(job.batch)]
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO messages (id, text) VALUES (?, ?)", rows)
        connection.execute("COMMIT")
        slowest = max(slowest, time.perf_counter() - start)
    done = Done(seconds=time.perf_counter() - began, slowest=slowest)
    connection.close()
    return done


def append(tx: Transaction, key: SessionKey, new: Sequence[Draft]) -> None:
    messages = chain(tx.log.head(key), new, count)
    tx.log.insert(key, messages)
    tx.log.move(key, MAIN, messages[-1].id)


async def append_store(job: Job, barrier: Barrier) -> Done:
    """Append through the store, a transaction for each batch, to a session of the process's own."""
    store = await open_sqlite(job.folder / "store.db", durability=job.durability, busy_seconds=60.0)
    key = SessionKey("bench", multiprocessing.current_process().name)
    await store.write(lambda tx: tx.sessions.create(key, None))
    barrier.wait()
    began = time.perf_counter()
    slowest = 0.0
    for number in range(job.appends):
        start = time.perf_counter()
        await store.write(append, key, drafts(job, number))
        slowest = max(slowest, time.perf_counter() - start)
    done = Done(seconds=time.perf_counter() - began, slowest=slowest)
    await store.close()
    return done


def work(job: Job, barrier: Barrier, report: Callable[[Done], None]) -> None:
    """What one process does."""
    report(append_bare(job, barrier) if job.side == "bare" else asyncio.run(append_store(job, barrier)))


def measure(job: Job, processes: int) -> Done:
    """Do the job in some processes at once, and take the time of the one that was longest."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(processes)
    queue: multiprocessing.Queue[Done] = context.Queue()
    workers = [context.Process(target=work, args=(job, barrier, queue.put)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    done = [queue.get() for _ in workers]
    for worker in workers:
        worker.join()
    return Done(seconds=max(each.seconds for each in done), slowest=max(each.slowest for each in done))


def compare(durability: Durability, processes: int, appends: int, batch: int) -> None:
    """Print one line of the table: the middle of some rounds in which the two sides take turns, for the disk drifts."""
    rates: dict[Side, list[float]] = {"bare": [], "store": []}
    slowest: dict[Side, list[float]] = {"bare": [], "store": []}
    for _ in range(ROUNDS):
        for side in SIDES:
            with tempfile.TemporaryDirectory() as folder:
                job = Job(side=side, folder=Path(folder), durability=durability, appends=appends, batch=batch)
                done = measure(job, processes)
            rates[side].append(processes * appends * batch / done.seconds)
            slowest[side].append(done.slowest * 1000)
    bare, store = (median(rates[side]) for side in SIDES)
    print(
        f"{durability:>10} {processes:>9} {batch:>10} {bare:>10.0f} {store:>10.0f} {bare / store:>10.1f} "
        f"{max(slowest['bare']):>13.0f} {max(slowest['store']):>13.0f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Rows per second of appends, against a bare insert.")
    parser.add_argument("--appends", type=int, default=300, help="transactions of each process")
    parser.add_argument("--batch", type=int, default=20_000, help="messages of the large append")
    given = parser.parse_args()
    print("rows per second; the ratio says how many bare inserts an append costs")
    print(
        f"{'durability':>10} {'processes':>9} {'rows in tx':>10} {'bare':>10} {'store':>10} {'ratio':>10} "
        f"{'bare slowest':>13} {'slowest, ms':>13}"
    )
    for durability in ("full", "normal"):
        for processes in (1, 4):
            compare(durability, processes, given.appends, 1)
        compare(durability, 1, 1, given.batch)


if __name__ == "__main__":
    main()

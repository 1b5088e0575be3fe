"""How much 1, 2 and 4 workers get done behind conversations, on a SQLite file and on a PostgreSQL database.

    python benchmarks/work_throughput.py [--sessions 4] [--messages 120] [--answer 1.0]

Each worker is a process with `Memory.work`. The model takes `--answer` seconds for an answer and then says some of the
sentences that it is shown, so that what is measured is how well workers keep out of each other's way.
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
from typing import TypeVar

import msgspec

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.postgres_server import empty_database

import ireneo
from ireneo.ports.models import Prompt, Reply, Usage
from racing.model import chosen, reply_to
from racing.tale import POLICY, message_with, word_of

R = TypeVar("R", bound=msgspec.Struct)
WORKERS = (1, 2, 4)
WRITTEN = ("written", "repaired", "offline")


class Slow:
    """A model that takes its time, and says what it is shown."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def ask(self, prompt: Prompt, reply: type[R]) -> Reply[R]:
        """Some of the sentences."""
        await asyncio.sleep(self._seconds)
        value = msgspec.convert(
            reply_to(prompt.user, lambda told: {"text": " ".join(chosen(told)), "facts": []}), reply
        )
        return Reply(value=value, usage=Usage(tokens_in=100, tokens_out=100), model="slow")


async def fill(url: str, sessions: int, messages: int) -> None:
    """Sessions with much to summarise."""
    chance = random.Random(1)
    async with ireneo.open(url, listen=False) as memory:
        for number in range(sessions):
            session = await memory.session(f"tale {number}")
            await session.append([message_with(word_of(number, 0, each), chance) for each in range(messages)])


Done = tuple[int, int, float]
"""How many texts a worker wrote, how many of its calls were in vain, and when it wrote the last."""


async def work(url: str, seconds: float, barrier: Barrier) -> Done:
    """Work until nothing is due."""
    texts = vain = 0
    last = 0.0

    def count(done: ireneo.WorkResult) -> None:
        nonlocal texts, vain, last
        vain += done.did == "taken_over"
        if done.did in WRITTEN:
            texts, last = texts + 1, time.monotonic()

    async with ireneo.open(url, model=Slow(seconds), listen=False) as memory:
        barrier.wait()
        await memory.work(until_idle=True, preset=POLICY, on_progress=count)
    return texts, vain, last


def worker(url: str, seconds: float, barrier: Barrier, report: Callable[[Done], None]) -> None:
    """What one process does."""
    report(asyncio.run(work(url, seconds, barrier)))


def texts_a_second(url: str, workers: int, *, sessions: int = 4, messages: int = 120, answer: float = 1.0) -> float:
    """What so many workers write in a second, in an empty database. Raises SystemExit where a call was in vain."""
    asyncio.run(fill(url, sessions, messages))
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(workers + 1)
    queue: multiprocessing.Queue[Done] = context.Queue()
    processes = [context.Process(target=worker, args=(url, answer, barrier, queue.put)) for _ in range(workers)]
    for process in processes:
        process.start()
    barrier.wait()
    began = time.monotonic()
    done = [queue.get() for _ in processes]
    for process in processes:
        process.join()
    if vain := sum(each[1] for each in done):
        raise SystemExit(f"{vain} texts were written by two workers")
    return sum(each[0] for each in done) / (max(each[2] for each in done) - began)


def work_rows(
    sessions: int = 4, messages: int = 120, answer: float = 1.0, workers: Sequence[int] = WORKERS
) -> dict[str, tuple[float, float]]:
    """Of so many workers each: texts a second on a file, and on a server."""
    rows = {}
    for number in workers:
        found = []
        with tempfile.TemporaryDirectory() as folder:
            for url in (str(Path(folder) / "memory.db"), empty_database()):
                found.append(texts_a_second(url, number, sessions=sessions, messages=messages, answer=answer))
        rows[f"texts/s, {number} workers" if number > 1 else "texts/s, 1 worker"] = (found[0], found[1])
    return rows


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--sessions", type=int, default=4)
    given.add_argument("--messages", type=int, default=120)
    given.add_argument("--answer", type=float, default=1.0, help="seconds that the model takes")
    asked = given.parse_args()
    print(f"{'':<24}{'SQLite':>10}{'PostgreSQL':>12}{'ratio':>8}")
    for name, (one, other) in work_rows(asked.sessions, asked.messages, asked.answer).items():
        print(f"{name:<24}{one:>10.1f}{other:>12.1f}{other / one:>8.2f}", flush=True)


if __name__ == "__main__":
    main()

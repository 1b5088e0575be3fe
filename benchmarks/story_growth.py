"""What the context of a story costs as it grows: append a message, show the story, again and again, at several lengths.

A chat without end is appended to one SQLite file and told without a model behind it, as `ireneo work` does. At each
length the file is copied, and on the copy every round appends one message and asks for a context of each budget.
Wanted: the 95th percentile at a hundred thousand messages within a third of that at ten thousand, and so at a million,
which takes half an hour and more to be told: `--sizes 10000,100000,1000000`. The first context of a new process is
shown beside them: it has nothing at hand yet. Times are those on the clock, and, since a machine may have other work,
the 95th percentile of the processor's as well ("cpu").
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import ireneo
from ireneo.log.message import Draft, Text

PEOPLE = ("Maren", "Tobin", "Isolde", "Corvin", "Hale", "Brannoch", "Yselle", "Odo")
TOWNS = ("Greyhaven", "Stonewick", "Eastmarch", "Fallowmere", "Redwater", "Thornfield")
THINGS = ("lantern", "ledger", "rope", "map", "letter", "boat", "key", "coat", "bridge", "mill", "ferry", "orchard")
DEEDS = ("carried", "mended", "sold", "found", "hid", "burned", "painted", "lost", "counted", "followed", "opened")
WHEN = ("before the rain", "at dusk", "on the third day", "without a word", "for the second time", "after supper")
SAYINGS = (
    "{a} {deed} the {thing} near {town} {when}, and {b} saw it from the {other}.",
    "I never liked the road to {town}; the {thing} was gone {when}, and nobody asked {b} about it.",
    "Then {a} came back from {town} with the {thing}. The {other} was wet, and {b} laughed.",
    "What about the {thing}? {b} keeps it in {town}, I think, behind the {other}.",
    "We went by {town} {when}. {a} {deed} the {thing} there, and the {other} with it.",
    "Yes, the old {thing}. {b} {deed} one like it in {town}.",
)
PROMISES = (
    "I promise you, {b}, I will bring the {thing} back to {town} {when}.",
    "I swear I will find whoever {deed} the {thing} in {town}.",
    "I owe {b} twenty crowns for the {thing}, and {town} knows it.",
)
PROMISED = 0.012
BATCH = 5_000


def chat(seed: int) -> Iterator[Draft]:
    """A chat without end between people with names, in which something is promised now and then."""
    source = random.Random(seed)
    while True:
        speaker, other = source.sample(PEOPLE, 2)
        sayings = PROMISES if source.random() < PROMISED else SAYINGS
        said = [_said(source, other, sayings), *(_said(source, other, SAYINGS) for _ in range(source.randint(0, 1)))]
        role = "assistant" if speaker == PEOPLE[0] else "user"
        yield Draft(role=role, parts=(Text(text=" ".join(said), author=speaker),))


def _said(source: random.Random, other: str, sayings: Sequence[str]) -> str:
    thing, second = source.sample(THINGS, 2)
    return source.choice(sayings).format(
        a=source.choice(PEOPLE),
        b=other,
        thing=thing,
        other=second,
        town=source.choice(TOWNS),
        deed=source.choice(DEEDS),
        when=source.choice(WHEN),
    )


async def grow(database: Path, source: Iterator[Draft], more: int) -> tuple[float, float, int]:
    """Append `more` messages and tell them; the seconds of both, and how many leaves and deeper summaries it made."""
    appending = telling = 0.0
    summaries = 0
    async with ireneo.open(database, durability="normal") as memory:
        session = await memory.session("story")
        while more > 0:
            batch = [next(source) for _ in range(min(BATCH, more))]
            started = time.perf_counter()
            await session.append(batch)
            appending += time.perf_counter() - started
            more -= len(batch)
        started = time.perf_counter()

        def tell(done: ireneo.WorkResult) -> None:
            print(f"  {done.behind:,} messages behind", end="   \r", file=sys.stderr)

        summaries = (await memory.work(until_idle=True, preset="story", on_progress=tell)).summaries
        telling = time.perf_counter() - started
    return appending, telling, summaries


def build(database: Path, source: Iterator[Draft], more: int) -> str:
    """Append and tell `more` messages; the row that says what it took."""
    appending, telling, summaries = asyncio.run(grow(database, source, more))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"{more / appending:>10,.0f} {summaries:>10,} {summaries / telling:>12.1f} {telling:>8.0f} s"
        f" {database.stat().st_size / 1e6:>8,.0f} MB {memory:>8,.0f} MB"
    )


async def first(database: Path, budget: int) -> float:
    """The seconds that the first context takes."""
    async with ireneo.open(database, durability="normal") as memory:
        session = await memory.session("story", must_exist=True)
        started = time.perf_counter()
        await session.context(budget, preset="story")
        return time.perf_counter() - started


def cold(database: Path, budget: int) -> tuple[float, float]:
    """The seconds of the first context in a process of its own, and of that process from its start to its end."""
    command = [sys.executable, __file__, "--first", str(database), "--budgets", str(budget)]
    started = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout), time.perf_counter() - started


async def rounds(
    database: Path, source: Iterator[Draft], budgets: Sequence[int], count: int
) -> list[list[tuple[float, float]]]:
    """The seconds of each context of each budget, and those of the processor, one message further each time."""
    out: list[list[tuple[float, float]]] = [[] for _ in budgets]
    async with ireneo.open(database, durability="normal") as memory:
        session = await memory.session("story")
        for budget in budgets:
            await session.context(budget, preset="story")
        for _ in range(count):
            await session.append(next(source))
            for times, budget in zip(out, budgets, strict=True):
                started, busy = time.perf_counter(), time.process_time()
                await session.context(budget, preset="story")
                times.append((time.perf_counter() - started, time.process_time() - busy))
    return out


def measure(folder: Path, size: int, budgets: Sequence[int], count: int, bases: dict[int, list[float]]) -> None:
    """Print the rows of one length."""
    copy = folder / "copy.db"
    shutil.copyfile(folder / f"story-{size}.db", copy)
    colds = [cold(copy, budget) for budget in budgets]
    every = asyncio.run(rounds(copy, chat(size + 1), budgets, count))
    for budget, times, (alone, whole) in zip(budgets, every, colds, strict=True):
        clock, busy = ([each[place] for each in times] for place in (0, 1))
        p95 = [statistics.quantiles(row, n=20)[18] for row in (clock, busy)]
        base = bases.setdefault(budget, p95)
        print(
            f"{size:>9,} {budget:>7,} {statistics.median(clock) * 1e3:>7.1f} ms {p95[0] * 1e3:>6.1f} ms"
            f" {max(clock) * 1e3:>6.1f} ms {p95[0] / base[0]:>8.2f}× {statistics.median(busy) * 1e3:>7.1f} ms"
            f" {p95[1] * 1e3:>6.1f} ms {p95[1] / base[1]:>8.2f}× {alone * 1e3:>8.0f} ms {whole * 1e3:>7.0f} ms",
            flush=True,
        )
    copy.unlink()


def profile(database: Path, budgets: Sequence[int], count: int) -> None:
    """Print where the time of the rounds goes."""
    profiler = cProfile.Profile()
    profiler.enable()
    asyncio.run(rounds(database, chat(99), budgets, count))
    profiler.disable()
    pstats.Stats(profiler).sort_stats("cumulative").print_stats(60)


def main() -> None:
    """Print the rows of each length, and what it took to get there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--budgets", default="4000,16000")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--keep", type=Path, help="the folder to build in; what was built there before is taken")
    parser.add_argument("--profile", type=Path, help="print a profile of the rounds on this file, and nothing else")
    parser.add_argument("--first", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    budgets = [int(each) for each in given.budgets.split(",")]
    if given.first:
        print(asyncio.run(first(given.first, budgets[0])))
        return
    if given.profile:
        profile(given.profile, budgets, given.rounds)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        source, stored = chat(7), 0
        database = folder / "story.db"
        bases: dict[int, list[float]] = {}
        built: list[str] = []
        print(f"{given.rounds} rounds; context alone, and the first one of a new process (context, whole process)")
        print(
            f"{'messages':>9} {'budget':>7} {'p50':>10} {'p95':>9} {'max':>9} {'to row 1':>9} {'p50 cpu':>10}"
            f" {'p95 cpu':>9} {'to row 1':>9} {'first':>11} {'process':>10}",
            flush=True,
        )
        for size in map(int, given.sizes.split(",")):
            more, stored = size - stored, size
            there = folder / f"story-{size}.db"
            if there.exists():
                shutil.copyfile(there, database)
                deque(islice(source, more), maxlen=0)
            else:
                built.append(f"{size:>9,} {build(database, source, more)}")
                shutil.copyfile(database, there)
            measure(folder, size, budgets, given.rounds, bases)
        print("\nbuilding, each length from the one before it")
        print(
            f"{'messages':>9} {'append/s':>10} {'summaries':>10} {'summaries/s':>12} {'telling':>10} {'file':>11}"
            f" {'memory':>11}"
        )
        print("\n".join(built))


if __name__ == "__main__":
    main()

"""What a context costs as a session grows: append a step, cut a context, again and again, at several lengths.

The first context of a session writes the summaries of everything before it; what counts is each one after that.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import ireneo
from ireneo.log.message import Call, Draft, Result, Text

ROOMS = ("orders", "billing", "search", "users")
FILES = [f"src/{room}/{name}.py" for room in ROOMS for name in ("store", "rules", "views")]
WORDS = ["queue", "drops", "message", "when", "two", "writers", "meet", "so", "lease", "must", "be", "renewed", "first"]


def steps(seed: int) -> Iterator[list[Draft]]:
    """A run without end: a request now and then, and the calls that it takes."""
    source = random.Random(seed)
    number = 0
    while True:
        yield [Draft(role="user", parts=(Text(text=f"Please fix {source.choice(FILES)}: {_words(source, 20)}."),))]
        for _ in range(source.randint(5, 60)):
            number += 1
            call, result = _call(source, number)
            yield [
                Draft(role="assistant", parts=(Text(text=f"Let me look: {_words(source, 12)}."), call)),
                Draft(role="tool", parts=(result,)),
            ]
        yield [Draft(role="assistant", parts=(Text(text=f"Done: {_words(source, 30)}."),))]


def _call(source: random.Random, number: int) -> tuple[Call, Result]:
    path = source.choice(FILES)
    name = f"handle_{source.choice(WORDS)}_{source.randint(0, 400)}"
    kind = source.random()
    if kind < 0.4:
        arguments: dict[str, object] = {"file_path": path}
        text, failed = "\n".join(f"{n} def {name}_{n}(): {_words(source, 6)}" for n in range(40)), None
    elif kind < 0.7:
        arguments = {"file_path": path, "old_string": f"return {name}", "new_string": f"return {name}_checked"}
        text, failed = "The file was updated.", None
    else:
        arguments = {"command": f"pytest {path}"}
        failed = source.random() < 0.3
        text = f"AssertionError: {name}" if failed else "12 passed"
    tool = "Bash" if "command" in arguments else "Edit" if "old_string" in arguments else "Read"
    call = Call(id=f"call_{number}", name=tool, arguments=arguments)
    return call, Result(call_id=call.id, parts=(Text(text=text),), failed=failed)


def _words(source: random.Random, count: int) -> str:
    return " ".join(source.choice(WORDS) for _ in range(count))


async def measure(size: int, budget: int, rounds: int) -> tuple[float, list[float], int]:
    """The seconds of the first context of a session of `size` messages, those of each after it, and its tokens."""
    with tempfile.TemporaryDirectory() as folder:
        async with ireneo.open(Path(folder) / "memory.db", durability="normal") as memory:
            session = await memory.session("run")
            run = steps(7)
            batch: list[Draft] = []
            stored = 0
            while stored < size:
                batch += next(run)
                if len(batch) >= min(size - stored, 5_000):
                    await session.append(batch)
                    stored, batch = stored + len(batch), []
            started = time.perf_counter()
            first = await session.context(budget)
            took = time.perf_counter() - started
            times = []
            for _ in range(rounds):
                await session.append(next(run))
                started = time.perf_counter()
                await session.context(budget)
                times.append(time.perf_counter() - started)
            return took, times, first.tokens_before


def main() -> None:
    """Print a row a length, with the ratio to the first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--budget", type=int, default=32_000)
    parser.add_argument("--rounds", type=int, default=200)
    given = parser.parse_args()
    print(f"budget {given.budget:,} tokens, {given.rounds} steps after the first context")
    print(f"{'messages':>9} {'tokens':>12} {'first':>9} {'p50':>9} {'p95':>9} {'max':>9} {'p95 to row 1':>13}")
    base = 0.0
    for size in map(int, given.sizes.split(",")):
        print(f"{size:>9,} …", end="\r", file=sys.stderr)
        first, times, tokens = asyncio.run(measure(size, given.budget, given.rounds))
        p95 = statistics.quantiles(times, n=20)[18]
        base = base or p95
        print(
            f"{size:>9,} {tokens:>12,} {first:>7.2f} s {statistics.median(times) * 1e3:>6.1f} ms {p95 * 1e3:>6.1f} ms"
            f" {max(times) * 1e3:>6.1f} ms {p95 / base:>12.2f}×"
        )


if __name__ == "__main__":
    main()

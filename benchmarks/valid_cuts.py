"""Every cut of every sample session, in every chat format: how many rules its context breaks, and whether it fits.

Each session is told message by message, as an agent would live it; after each one a context is cut to each budget
and written in each format, and the format's validator reads it.
"""

from __future__ import annotations

import argparse
import asyncio
import glob
import lzma
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import ireneo
from ireneo.formats.logs.format import LoggedSession
from ireneo.log.message import Draft

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
FORMATS = ("anthropic", "gemini", "langchain", "openai", "openai-responses", "pydantic-ai")


def path_of(logged: LoggedSession) -> list[Draft]:
    """The drafts from the session's beginning to where its log left off."""
    out: list[Draft] = []
    place: int | None = logged.head
    while place is not None:
        out.append(logged.nodes[place].draft)
        place = logged.nodes[place].parent
    return out[::-1]


def sessions(file: str) -> Iterator[LoggedSession]:
    """The sessions of a log."""
    with lzma.open(file) as lines:
        sample = lines.read(65_536)
        lines.seek(0)
        yield from ireneo.recognise(sample, file).read(lines, Path(file).name)


async def check(path: list[Draft], budgets: list[int], every: int) -> Counter[str]:
    """Cut after every message (or after each `every`-th), and count what is wrong."""
    out: Counter[str] = Counter()
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("sample")
        for place in range(0, len(path), every):
            await session.append(path[place : place + every])
            for budget in budgets:
                for name in FORMATS:
                    context = await session.context(budget, to=name)
                    out["contexts"] += 1
                    out["violations"] += len(context.violations)
                    out["over budget"] += context.tokens > budget
                    covered = sum(row.covers for row in context.view)
                    out["not exactly once"] += covered != min(place + every, len(path))
                    for violation in context.violations:
                        print(f"{violation.rule} at {violation.index}: {violation.message}", file=sys.stderr)
    return out


def run(file: str, budgets: list[int], every: int) -> tuple[str, Counter[str]]:
    """Check the sessions of one file."""
    out: Counter[str] = Counter()
    for logged in sessions(file):
        out["sessions"] += 1
        out.update(asyncio.run(check(path_of(logged), budgets, every)))
    return file, out


def main() -> None:
    """Print the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="logs (default: the sample sessions beside the project)")
    parser.add_argument("--budgets", default="2000", help="tokens, separated by commas")
    parser.add_argument("--every", type=int, default=1, help="cut after each so many messages")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    kinds = ("claude_code_sessions", "claude_code_malformed", "tau_bench_airline", "mini_swe_agent")
    files = given.files or sorted(name for kind in kinds for name in glob.glob(str(DATA / kind / "*.jsonl.xz")))
    if not files:
        sys.exit(f"No logs: {DATA} is missing, and none were named.")
    budgets = [int(budget) for budget in given.budgets.split(",")]
    total: Counter[str] = Counter()
    started = time.perf_counter()
    with ProcessPoolExecutor(given.jobs) as pool:
        for done, (_, counts) in enumerate(pool.map(run, files, [budgets] * len(files), [given.every] * len(files)), 1):
            total.update(counts)
            print(f"\r{done} of {len(files)} files, {total['contexts']:,} contexts", end="", file=sys.stderr)
    print(file=sys.stderr)
    for name in ("sessions", "contexts", "violations", "over budget", "not exactly once"):
        print(f"{name:>17} {total[name]:>9,}")
    print(f"{'seconds':>17} {time.perf_counter() - started:>9,.0f}")


if __name__ == "__main__":
    main()

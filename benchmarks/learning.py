"""What learning from logs costs, what is kept of them, and whether what is kept is true.

    python benchmarks/learning.py [FOLDER…] [--sample 100] [--on local:2 --on dask://scheduler:8786]

Each folder (the samples beside the project, where none is named) is learned from by the command line into a database
of its own, twice. The table says how long that took, how much smaller the lessons and diaries of a run are than its
log, how much of that the second time cost, and of how many sampled lessons everything that is named stands in the
messages that they cite. With `--on` it learns once more for each of these workers, and says how long that took beside
the first time, and whether the lessons are the same to the byte.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import ireneo
from ireneo.grounding.evidence import SourceIndex, check_text, source_texts
from ireneo.types import LearnedRun, Lesson

SAMPLES = Path(__file__).resolve().parents[2] / "shared" / "data"
FOLDERS = ("claude_code_sessions", "specstory_history", "mini_swe_agent", "tau_bench_airline", "aider_chats")
SEED = 7
COMMAND = [sys.executable, "-m", "ireneo"]


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    asked.add_argument("folders", nargs="*", type=Path)
    asked.add_argument("--sample", type=int, default=100)
    asked.add_argument("--on", action="append", default=[], metavar="WORKERS")
    given = asked.parse_args()
    folders = given.folders or [SAMPLES / name for name in FOLDERS]
    missing = [folder for folder in folders if not folder.exists()]
    if missing:
        print(f"There is no {missing[0]}; name folders with logs.", file=sys.stderr)
        return 2
    head = f"{'source':<24}{'runs':>6}{'tokens':>12}{'kept':>9}{'smaller':>9}{'median':>8}{'10th':>7}"
    print(
        f"{head}{'lessons':>9}{'untrue':>9}{'first':>9}{'again':>8}{'ratio':>7}" + "".join(f"  {on}" for on in given.on)
    )
    for folder in folders:
        print(_row(folder, given.sample, given.on), flush=True)
    return 0


def _row(folder: Path, sample: int, workers: Sequence[str]) -> str:
    with tempfile.TemporaryDirectory() as place:
        db = Path(place) / "memory.db"
        first, again = (_learn(folder, db) for _ in range(2))
        others = "".join(f"  {_elsewhere(folder, on, db, first):>{len(on)}}" for on in workers)
        runs, lessons, untrue, checked = asyncio.run(_look(db, sample))
    shares = _shares(runs, lessons)
    log, kept = sum(run.tokens for run in runs), sum(shares.values())
    ratios = sorted(run.tokens / max(shares[run.session], 1) for run in runs if run.calls)
    tenth = ratios[len(ratios) // 10] if ratios else 0
    return (
        f"{folder.name:<24}{len(runs):>6,}{log:>12,}{kept:>9,.0f}{log / max(kept, 1):>8,.0f}×"
        f"{statistics.median(ratios or [0]):>7,.0f}×{tenth:>6,.0f}×{len(lessons):>9,}{untrue:>4} of{checked:>3}"
        f"{first:>8.1f}s{again:>7.1f}s{again / first:>6.0%} {others}"
    )


def _elsewhere(folder: Path, on: str, db: Path, first: float) -> str:
    """How long it takes with workers, beside the time without, and whether the lessons are those in `db`."""
    other = db.with_name(f"{on.translate(str.maketrans(':/', '__'))}.db")
    took = _learn(folder, other, "--on", on)
    told = [
        subprocess.run([*COMMAND, "lessons", "--json", "--db", str(each)], capture_output=True, check=True)
        for each in (db, other)
    ]
    return f"{took / first:.2f}×, {'the same' if told[0].stdout == told[1].stdout else 'OTHERS'}"


def _learn(folder: Path, db: Path, *more: str) -> float:
    begun = time.perf_counter()
    done = subprocess.run([*COMMAND, "learn", str(folder), "--db", str(db), *more], capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())
    return time.perf_counter() - begun


async def _look(db: Path, sample: int) -> tuple[Sequence[LearnedRun], Sequence[Lesson], int, int]:
    async with ireneo.open(db) as memory:
        runs, lessons = await memory.runs(), await memory.lessons()
        chosen = random.Random(SEED).sample(list(lessons), min(sample, len(lessons)))
        untrue = 0
        for lesson in chosen:
            untrue += bool(check_text(lesson.lesson, SourceIndex(await _texts(memory, lesson))))
        return runs, lessons, untrue, len(chosen)


async def _texts(memory: ireneo.Memory, lesson: Lesson) -> list[str]:
    texts: list[str] = []
    for cited in {(each.session, each.message) for each in lesson.sources}:
        opened = await (await memory.session(cited[0])).expand(cited[1])
        texts += source_texts(opened.messages)
    return texts


def _shares(runs: Sequence[LearnedRun], lessons: Sequence[Lesson]) -> dict[str, float]:
    """What is kept of each run: its diary, and its share of each lesson that it speaks for; four characters a token."""
    kept = {run.session: float(run.diary_tokens) for run in runs}
    for lesson in lessons:
        for session in {cited.session for cited in lesson.sources}:
            kept[session] += len(lesson.lesson) / 4 / max(lesson.seen, 1)
    return kept


if __name__ == "__main__":
    sys.exit(main())

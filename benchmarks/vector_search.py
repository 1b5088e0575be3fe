"""What a search among vectors costs: all compared exactly, and by their signs first, and how often these agree.

The times are of made-up directions in clusters, as those of texts lie, of 384 dimensions; only their number matters
for a time. How well the signs choose does hang on the texts: that is measured on sentences of the novels that lie
beside the project (`../shared/data/novels`), embedded on this machine; without them, or without the extra `local`, that
part is left out, which is said. Wanted: at most 6 ms among 100,000, and 98 in a hundred of the exact top 20.

    benchmarks/vector_search.py [--sizes 10000,100000] [--sentences 10000]
"""

from __future__ import annotations

import argparse
import asyncio
import lzma
import random
import re
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ireneo.adapters.embed.opening import open_embedder
from ireneo.errors import MissingExtra
from ireneo.memories import nearest
from ireneo.memories.index import Vector
from ireneo.memories.nearest import Vectors

NOVELS = Path(__file__).resolve().parents[2] / "shared" / "data" / "novels"
DIMENSIONS = 384
QUESTIONS = 200
ALWAYS, NEVER = 0, 1 << 62
"""From how many vectors on the signs are looked at first."""


def directions(count: int, seed: int) -> list[Vector]:
    """Made-up directions: some fifty subjects, and what each text makes of one."""
    numbers = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((50, DIMENSIONS)).astype(np.float32)
    made: list[Vector] = []
    for start in range(0, count, 10_000):
        size = min(10_000, count - start)
        rows = centres[numbers.integers(50, size=size)] + 1.3 * numbers.standard_normal((size, DIMENSIONS), np.float32)
        scaled = np.rint(rows * (127 / np.abs(rows).max(axis=1, keepdims=True))).astype(np.int8)
        made += [row.tobytes() for row in scaled]
    return made


def search(vectors: Vectors, questions: Sequence[Vector], k: int, from_on: int) -> tuple[list[list[int]], list[float]]:
    """What is found for each question, and the milliseconds that it took."""
    nearest.EXACT_BELOW = from_on
    found, times = [], []
    for question in questions:
        begun = time.perf_counter()
        found.append([document for document, _ in vectors.nearest(question, k)])
        times.append((time.perf_counter() - begun) * 1_000)
    return found, times


def row(name: str, vectors: Vectors, questions: Sequence[Vector], k: int) -> str:
    """A line of the table."""
    exact, exactly = search(vectors, questions, k, NEVER)
    likely, by_signs = search(vectors, questions, k, ALWAYS)
    agree = statistics.mean(len(set(one) & set(other)) / k for one, other in zip(exact, likely, strict=True))
    cells = [f"{quantile(times, at):7.2f}" for times in (exactly, by_signs) for at in (0.5, 0.95)]
    return f"{name:<22}{k:>5}   {'  '.join(cells)}   {agree:8.4f}   {vectors.size_bytes / 1e6:7.1f}"


def quantile(times: Sequence[float], at: float) -> float:
    """The time that a share `at` of all doesn't exceed."""
    return sorted(times)[min(len(times) - 1, int(at * len(times)))]


def sentences(count: int) -> list[str]:
    """Sentences of the novels, each once, in an order of no meaning."""
    found: set[str] = set()
    for file in sorted(NOVELS.glob("*.txt.xz")):
        text = lzma.decompress(file.read_bytes()).decode()
        found.update(" ".join(each.split()) for each in re.split(r"(?<=[.!?])\s+", text) if 40 < len(each) < 200)
    ordered = sorted(found)
    random.Random(7).shuffle(ordered)
    return ordered[:count]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--sentences", type=int, default=10_000)
    given = parser.parse_args()
    print("                                  exact (ms)        by signs (ms)    of the exact")
    print(f"vectors                   k      p50      p95      p50      p95     {'ones':>6}        MB")
    for size in (int(each) for each in given.sizes.split(",")):
        vectors = Vectors()
        vectors.change(dict(enumerate(directions(size, 1))))
        for k in (20, 100):
            print(row(f"{size:,} made up", vectors, directions(QUESTIONS, 2), k), flush=True)
    texts = sentences(given.sentences) if NOVELS.is_dir() else []
    if len(texts) <= QUESTIONS:
        print(f"no sentences of novels: {NOVELS} is not there")
        return 0
    try:
        embedder = open_embedder("local")
    except MissingExtra as missing:
        print(f"no sentences of novels: {missing}")
        return 0
    assert embedder is not None
    begun = time.perf_counter()
    rows = asyncio.run(embedder.embed(texts))
    seconds = time.perf_counter() - begun
    vectors = Vectors()
    vectors.change(dict(enumerate(rows[QUESTIONS:])))
    for k in (20, 100):
        print(row(f"{len(vectors):,} sentences", vectors, rows[:QUESTIONS], k), flush=True)
    print(f"embedded on this machine: {len(texts) / seconds:,.0f} sentences a second")
    return 0


if __name__ == "__main__":
    sys.exit(main())

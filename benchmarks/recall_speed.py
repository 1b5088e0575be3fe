"""What recall costs in a large file: full text and hybrid, in one space of many, against a bare FTS5 query.

Memories with the word frequencies of prose (Zipf; the commonest words are those of English) are stored in one SQLite
file, a tenth of them in the space that is asked. The questions are six words of a memory there. Beside it stands a
plain FTS5 table with the same texts (porter stems, the space as a column of its own, ranked by bm25): the least that
any answer by words can cost. Wanted: the 95th percentile of full text under 15 ms and within three times of the bare
query, and of full text with vectors under 25 ms. The vectors are random: only their number matters here.

    benchmarks/recall_speed.py [--memories 1000000] [--share 0.1] [--questions 200] [--at FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw

import ireneo
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.language.words import common_words
from ireneo.log.message import digest
from ireneo.memories.record import Evidence, MemoryId, Record
from ireneo.ports.store import Transaction

WORDS = 40_000
LENGTH = (6, 34)
BATCH = 5_000
LEAST_WORDS = 3
"""A text with fewer words that are not the commonest asks nothing."""
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
ASKED = "asked"
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ar", "en", "il")]
DIMENSIONS = 384


class Prose:
    """Texts whose words are as common as those of prose are."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        made = {"".join(self._random.choices(SYLLABLES, k=self._random.randint(2, 4))) for _ in range(2 * WORDS)}
        self.content = sorted(made)[:WORDS]
        self._random.shuffle(self.content)
        self._vocabulary = [*sorted(common_words(), key=len)[:120], *self.content]
        self._weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(self._vocabulary))))

    def text(self) -> str:
        """One text of some 20 words."""
        count = self._random.randint(*LENGTH)
        return " ".join(self._random.choices(self._vocabulary, cum_weights=self._weights, k=count))

    def question(self, text: str) -> str:
        """Six words of a text that are not the commonest."""
        known = set(self.content)
        words = [word for word in dict.fromkeys(text.split()) if word in known]
        return " ".join(self._random.sample(words, min(6, len(words))))


def record(space: str, number: int, text: str) -> Record:
    """A memory of what happened, with no slot that would be compared with others."""
    at = BEGIN + timedelta(seconds=number)
    return Record(
        id=MemoryId(digest("m", space.encode(), str(number).encode())),
        kind="episodic",
        key="",
        text=text,
        at=at,
        recorded=at,
        evidence=(Evidence(at=at, recorded=at),),
    )


def spaces(memories: int, share: float) -> Iterator[tuple[str, int]]:
    """The space of each memory, mixed as they come, and its number."""
    others = max(1, round(1 / share) - 1)
    for number in range(memories):
        yield (ASKED if number % (others + 1) == 0 else f"space {number % (others + 1)}"), number


def put(tx: Transaction, pending: Mapping[str, list[Record]]) -> None:
    for space, records in pending.items():
        tx.memories.put(space, records)


async def fill(place: Path, bare: apsw.Connection, memories: int, share: float) -> list[str]:
    """Store everything twice; gives some texts of the space that is asked."""
    prose = Prose(7)
    kept: list[str] = []
    store = await open_sqlite(place, durability="normal")
    began = time.perf_counter()
    pending: dict[str, list[Record]] = {}
    rows: list[tuple[str, str]] = []
    for space, number in spaces(memories, share):
        text = prose.text()
        pending.setdefault(space, []).append(record(space, number, text))
        rows.append((space.replace(" ", ""), text))
        if space == ASKED and len(kept) < 5_000:
            kept.append(text)
        if len(rows) == BATCH or number == memories - 1:
            await store.write(put, pending)
            with bare:
                bare.executemany("INSERT INTO bare (space, text) VALUES (?, ?)", rows)
            pending, rows = {}, []
            print(f"  {number + 1:,} stored, {time.perf_counter() - began:.0f} s", end="\r", file=sys.stderr)
    await store.close()
    print(file=sys.stderr)
    return kept


def known(bare: apsw.Connection) -> list[str]:
    """Some texts of the space that is asked, where a file is measured that was filled before."""
    return [text for (text,) in bare.execute("SELECT text FROM bare WHERE space = ? LIMIT 5000", (ASKED,))]


def ask_bare(bare: apsw.Connection, question: str) -> int:
    """The ten best by bm25 in the space; how many there were."""
    any_word = " OR ".join(f'"{word}"' for word in question.split())
    found = bare.execute(
        "SELECT rowid, text FROM bare WHERE bare MATCH ? ORDER BY rank LIMIT 10",
        (f"space:{ASKED} AND text:({any_word})",),
    )
    return len(found.fetchall())


class RandomEmbedder:
    """Gives each question a direction at once, so that only the search is measured."""

    name = f"random-{DIMENSIONS}"
    dimensions = DIMENSIONS

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[bytes]:
        """A vector of random bytes for each text, the same one for the same text."""
        return [random.Random(text).randbytes(DIMENSIONS) for text in texts]


def row(name: str, times: Sequence[float], base: float) -> str:
    """A line of the table: median and 95th percentile in milliseconds, and the ratio of the latter."""
    p50, p95 = statistics.median(times) * 1_000, statistics.quantiles(times, n=20)[-1] * 1_000
    return f"{name:<26}{p50:>10.1f}{p95:>10.1f}{p95 / base if base else 1:>10.2f}"


async def timed(place: Path, questions: Sequence[str], embedder: RandomEmbedder | None) -> list[float]:
    """The seconds of each question, after a few that warm up."""
    times = []
    async with ireneo.open(place, space=ASKED, embedder=embedder) as memory:
        for question in questions[:10]:
            await memory.recall(question)
        for question in questions:
            began = time.perf_counter()
            await memory.recall(question)
            times.append(time.perf_counter() - began)
    return times


async def embed(place: Path) -> None:
    """Give every memory of the space that is asked a vector."""
    async with ireneo.open(place, space=ASKED, embedder=RandomEmbedder(), durability="normal") as memory:
        await memory.embed()


async def measure(place: Path, arguments: argparse.Namespace) -> None:
    """Fill, ask, and print the table."""
    bare = apsw.Connection(str(place) + ".bare")
    bare.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF")
    bare.execute("CREATE VIRTUAL TABLE IF NOT EXISTS bare USING fts5(space, text, tokenize='porter unicode61')")
    kept = known(bare) or await fill(place, bare, arguments.memories, arguments.share)
    prose = Prose(8)
    prose.content = Prose(7).content
    asked_of = [text for text in kept if len(prose.question(text).split()) >= LEAST_WORDS]
    chosen = random.Random(3).sample(asked_of, min(arguments.questions, len(asked_of)))
    questions = [prose.question(text) for text in chosen]
    for question in questions[:10]:
        ask_bare(bare, question)
    times = []
    for question in questions:
        began = time.perf_counter()
        ask_bare(bare, question)
        times.append(time.perf_counter() - began)
    base = statistics.quantiles(times, n=20)[-1] * 1_000
    asked = round(arguments.memories * arguments.share)
    print(f"\n{asked:,} memories in the space that is asked, {arguments.memories:,} in the file")
    print(f"{'':<26}{'p50 ms':>10}{'p95 ms':>10}{'p95 ratio':>10}")
    print(row("bare FTS5", times, base))
    print(row("full text", await timed(place, questions, None), base))
    await embed(place)
    print(row("full text and vectors", await timed(place, questions, RandomEmbedder()), base))


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=1_000_000)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--at", type=Path, help="keep the file here")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(arguments.at or Path(folder) / "memory.db", arguments))


if __name__ == "__main__":
    main()

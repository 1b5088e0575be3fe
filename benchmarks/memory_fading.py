"""Which memories fade, and how long that takes: each group with the share that is archived, and why.

    python benchmarks/memory_fading.py [--memories 100000] [--keep 10000]

The space is made up: events of five years that were told once, told twice, used last month, or pinned, and lasting
facts as old. Wanted: first what passed and nobody asked for, the oldest first; what was used, confirmed or pinned stays
longer than what wasn't. First `work` archives what has faded, then `archive` goes down to `--keep`.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import ireneo
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.log.message import MessageId, digest
from ireneo.memories.record import Evidence, MemoryId, Record
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Transaction

NOW = datetime.now(UTC)
DAYS = 5 * 365
BATCH = 5_000
GROUPS = ("event", "event", "event", "event", "event", "event", "told twice", "used", "pinned", "fact")
"""One of these each, in turn."""


def record(number: int) -> tuple[str, Record]:
    """A memory and its group."""
    group = GROUPS[number % len(GROUPS)]
    at = NOW - timedelta(days=number * 7919 % DAYS, seconds=number)
    said = (MessageId(digest("m", b"said", str(number).encode())),)
    pieces = tuple(
        Evidence(at=at + each, recorded=at + each, messages=said)
        for each in (timedelta(), timedelta(days=1))[: 1 + (group == "told twice")]
    )
    uses = (NOW - timedelta(days=30),) if group == "used" else ()
    kind = "semantic" if group == "fact" else "episodic"
    made = Record(
        id=MemoryId(digest("m", b"memory", str(number).encode())),
        kind=kind,
        key=f"user\x1fthing {number}" if kind == "semantic" else "",
        text=f"Item {number} was seen at pier {number % 97}.",
        at=at,
        recorded=at,
        evidence=pieces,
        uses=uses,
        used=len(uses),
        pinned=group == "pinned",
    )
    return group, made


def away(tx: Transaction) -> list[Record]:
    """The archived memories."""
    return list(tx.memories.list("default", MemoryFilter(archived=True)))


async def main(memories: int, keep: int) -> None:
    """Fill a file and print the table."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "memory.db"
        store = await open_sqlite(place, durability="normal")
        groups: dict[str, str] = {}
        for first in range(0, memories, BATCH):
            made = [record(number) for number in range(first, min(first + BATCH, memories))]
            groups |= {each.id: group for group, each in made}
            await store.write(lambda tx, made=made: tx.memories.put("default", [each for _, each in made]))
        all_of = Counter(groups.values())
        async with ireneo.open(place, keep_memories=memories) as memory:
            for name, doing in (("work", memory.work(until_idle=True)), ("archive", memory.archive(keep))):
                began = time.perf_counter()
                await doing
                gone = await store.read(away)
                print(f"{name}: {len(gone):,} of {memories:,} archived, {time.perf_counter() - began:.1f} s")
                of = Counter(groups[each.id] for each in gone)
                kept = [record(number)[1] for number in range(memories)]
                names = {each.id for each in gone}
                for group, count in all_of.items():
                    ages = [(NOW - each.at).days for each in kept if groups[each.id] == group and each.id not in names]
                    oldest = f"oldest left {max(ages):,} days" if ages else "none left"
                    print(f"  {group:12}{of[group]:8,} of {count:8,}   {oldest}")
                whys = Counter(each.archived_why.partition(": ")[2] for each in gone)
                print("  why: " + "; ".join(f"{why} {count:,}" for why, count in whys.most_common()))
        await store.close()


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--memories", type=int, default=100_000)
    options.add_argument("--keep", type=int, default=10_000)
    given = options.parse_args()
    asyncio.run(main(given.memories, given.keep))

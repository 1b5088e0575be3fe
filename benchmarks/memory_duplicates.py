"""How many memories are doubled where several processes gather those of the same sessions at once, again and again.

    python benchmarks/memory_duplicates.py ../shared/data/claude_code_sessions

The sessions are imported once. Then 4 processes gather their memories, all of all sessions, into that one file, each 3
times, and one process alone does it in a file of its own. Two memories are doubles where kind, words and event are the
same. MemoryFilter: none, and that many hands make what one makes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import ireneo
from ireneo.engine.intake import EpisodeReader
from ireneo.errors import UnknownFormat
from ireneo.formats.logs.format import recognise
from ireneo.memories.record import Record, normalised_words
from ireneo.ports.memories import MemoryFilter

PROCESSES = 4
TIMES = 3


def main() -> int:
    """Run, and print the table; 1 where there are doubles, or the hands differ."""
    wanted = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    wanted.add_argument("sessions", type=Path, help="a folder of logs, as .jsonl or .jsonl.xz")
    wanted.add_argument("--limit", type=int, help="so many logs at the most")
    wanted.add_argument("--processes", type=int, default=PROCESSES)
    wanted.add_argument("--times", type=int, default=TIMES)
    wanted.add_argument("--json", action="store_true", help="print the figures as JSON")
    wanted.add_argument("--gather", type=Path, help=argparse.SUPPRESS)
    given = wanted.parse_args()
    if given.gather:
        asyncio.run(_gather(given.gather, given.times))
        return 0
    logs = sorted([*given.sessions.glob("*.jsonl"), *given.sessions.glob("*.jsonl.xz")])[: given.limit]
    if not logs:
        print(f"skipped: there are no logs in {given.sessions}")
        return 0
    figures = _measure(logs, given.sessions, given.processes, given.times)
    print(json.dumps(figures) if given.json else _table(figures))
    return 1 if figures["duplicates"] or figures["differing"] else 0


def _measure(logs: Sequence[Path], folder: Path, processes: int, times: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as made:
        many, alone = Path(made, "many.db"), Path(made, "alone.db")
        sessions = asyncio.run(_import(many, logs))
        asyncio.run(_import(alone, logs))
        started = time.perf_counter()
        command = [sys.executable, __file__, str(folder), "--times", str(times), "--gather"]
        running = [subprocess.Popen([*command, str(many)]) for _ in range(processes)]
        failed = sum(process.wait() != 0 for process in running)
        seconds = time.perf_counter() - started
        asyncio.run(_gather(alone, 1))
        records, expected = asyncio.run(_records(many)), asyncio.run(_records(alone))
    events = Counter((each.kind, normalised_words(each.text), _event(each)) for each in records)
    return {
        "sessions": sessions,
        "records": len(records),
        "alone": len(expected),
        "duplicates": sum(count - 1 for count in events.values()),
        "differing": len(_content(records) ^ _content(expected)),
        "failed": failed,
        "seconds": round(seconds, 1),
    }


async def _import(file: Path, logs: Sequence[Path]) -> int:
    async with ireneo.open(file, durability="normal") as memory:
        for log in logs:
            with (lzma.open if log.suffix == ".xz" else open)(log, "rb") as lines:
                try:
                    form = recognise(lines.read(65_536), log.name)
                except UnknownFormat as error:
                    print(f"skipped: {error}", file=sys.stderr)
                    continue
                lines.seek(0)
                await memory.import_log(lines, form, name=log.name.partition(".")[0])
        return len(await memory.sessions())


async def _gather(file: Path, times: int) -> None:
    async with ireneo.open(file, durability="normal") as memory:
        for _ in range(times):
            gatherer = EpisodeReader(memory._resources, memory.space)
            for info in await memory.sessions():
                async for _ in gatherer.session(info):
                    pass


async def _records(file: Path) -> Sequence[Record]:
    async with ireneo.open(file) as memory:
        return await memory._store.read(lambda tx: tx.memories.list(memory.space, MemoryFilter()))


def _event(record: Record) -> tuple[object, ...]:
    """What happened, as far as it can be told: when, in which sessions, and of which messages it tells."""
    return record.at, record.sessions, record.signature


def _content(records: Sequence[Record]) -> set[tuple[object, ...]]:
    """What memories say and rest on, without when they were written down."""
    return {
        (each.id, each.kind, each.text, each.state, each.seen, frozenset(_pieces(each)), each.stale) for each in records
    }


def _pieces(record: Record) -> list[tuple[datetime | None, bool, tuple[str, ...]]]:
    return [(piece.at if piece.timed else None, piece.against, piece.sources) for piece in record.evidence]


def _table(figures: dict[str, float]) -> str:
    rows = {
        "sessions": "sessions",
        "records": "memories, made by all of them",
        "alone": "memories, made by one alone",
        "duplicates": "doubles (wanted 0)",
        "differing": "memories that differ (wanted 0)",
        "failed": "processes that failed (wanted 0)",
        "seconds": "seconds",
    }
    return "\n".join(f"{title:34}{figures[name]:>10,}" for name, title in rows.items())


if __name__ == "__main__":
    sys.exit(main())

"""What the hook costs before each call: CPU of the whole process, beside a database of many runs.

    python benchmarks/guard_speed.py [RUNS [TRAPS]]

RUNS runs (default: 1,000) that show TRAPS traps (default: 300) are put into a SQLite database; the session so far is a
transcript of 2 MB. Times are milliseconds of user and system time, start-up included, beside those of a bare Python.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import ireneo
from ireneo.engine.remember import settle_drafts
from ireneo.lessons.run import LearnedRun, Observation, Trigger
from ireneo.log.message import MessageId
from ireneo.memories.record import MemoryDraft
from ireneo.ports.store import Transaction

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TIMES = 15
A_RUN = 4
"""Traps that a run shows."""
CALLS = (
    ("a call that names nothing of any trap", "ls -la src && cat README.md"),
    ("one that names a word of a trap", "echo target-7 | tee notes.txt"),
    ("one that is told of a trap", "cd /w/project-1 && make target-7 2>&1 | tail -20"),
)


def shown(number: int, trap: int) -> Observation:
    """What a run shows of a trap."""
    program = f"make target-{trap}"
    return Observation(
        cue=f"{program} ⇒ connection refused",
        category="failure",
        session=f"run-{number}",
        project=f"project-{trap % 5}",
        at=NOW - timedelta(hours=number),
        held=1,
        text=f"When `{program}` fails with “connection refused”, run `make up-{trap}` first. “It needs it.”",
        way_out=f"run `make up-{trap}` first",
        why="It needs it",
        trigger=Trigger(command=program, unless=(f"make up-{trap}",)),
    )


def put(tx: Transaction, space: str, runs: int, traps: int) -> None:
    """Store the runs with the lessons that they teach."""
    chance = random.Random(1)
    for number in range(runs):
        seen = [shown(number, trap) for trap in chance.sample(range(traps), min(A_RUN, traps))]
        head = MessageId(f"m_{number}")
        tx.runs.put(space, LearnedRun(session=f"run-{number}", head=head, learner="bench", learned=NOW), seen)
        settle_drafts(tx, space, [draft(each) for each in seen])


def draft(seen: Observation) -> MemoryDraft:
    """The evidence that an observation is for its lesson."""
    return MemoryDraft(
        text=seen.text,
        kind="failure",
        at=seen.at or NOW,
        recorded=NOW,
        origin="run",
        signature=seen.cue,
        cue=seen.cue,
        session=seen.session,
        project=seen.project,
    )


async def fill(path: Path, runs: int, traps: int) -> None:
    """Make the database."""
    async with ireneo.open(path, durability="normal") as memory:
        await memory._resources.store.write(put, memory.space, runs, traps)


def transcript(path: Path) -> Path:
    """A long session of Claude Code."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(1_000):
            given = {"command": f"cd pkg && go test ./part{number}/... && make target-{number % 5 + 900}"}
            used = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": given}
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "is_error": False, "content": "ok\n" * 500}
            for role, block in (("assistant", used), ("user", result)):
                file.write(json.dumps({"type": role, "message": {"role": role, "content": [block]}}) + "\n")
    return path


def spent(command: Sequence[str], given: bytes, environment: dict[str, str]) -> list[float]:
    """What a process takes, several times over."""
    out = []
    for _ in range(TIMES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, input=given, check=True, capture_output=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        out.append(1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime))
    # What a user runs is compiled once.
    return sorted(out[1:])


def row(name: str, times: Sequence[float]) -> str:
    """A row of the table."""
    return f"  {name:<48}{times[0]:>8.0f}{median(times):>8.0f}{times[-1]:>8.0f}"


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    traps = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        asyncio.run(fill(path, runs, traps))
        log = transcript(Path(folder) / "session.jsonl")
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "compiled")
        print(f"{runs:,} runs, {traps:,} traps, {path.stat().st_size / 1e6:.0f} MB; CPU of the process, in ms")
        print(f"  {'':<48}{'least':>8}{'median':>8}{'most':>8}")
        print(row("python -c pass", spent([sys.executable, "-c", "pass"], b"", environment)))
        hook = [sys.executable, "-m", "ireneo", "hook", "--db", str(path)]
        asked = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "transcript_path": str(log)}
        for name, command in CALLS:
            given = {**asked, "tool_input": {"command": command}, "cwd": "/srv/project-2"}
            print(row(name, spent(hook, json.dumps(given).encode(), environment)))
        start = {"hook_event_name": "SessionStart", "source": "startup"}
        for name, place in (("a start where nothing is known", "elsewhere"), ("a start with a brief", "project-2")):
            given = {**start, "cwd": f"/srv/{place}"}
            print(row(name, spent(hook, json.dumps(given).encode(), environment)))


if __name__ == "__main__":
    main()

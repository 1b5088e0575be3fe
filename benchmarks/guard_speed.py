"""How long a check takes before a call, with many runs in the store and a long session.

    python benchmarks/guard_speed.py [RUNS [MESSAGES]]

RUNS runs (default: 1,000) of 60 calls each are put into a SQLite database with what they show; a session of MESSAGES
messages (default: 10,000) goes on while it is asked. Times are in milliseconds.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median, quantiles

import ireneo
from ireneo.lessons.guard import guard_observations
from ireneo.lessons.run import LearnedRun, Observation
from ireneo.lessons.shell import RunMaterial
from ireneo.log.message import Call, Draft, Result, Text
from ireneo.log.tree import chain
from ireneo.ports.store import Transaction

NOW = datetime(2026, 3, 1, tzinfo=UTC)
CALLS = 60
ASKED = 200
PROGRAMS = ("go test ./...", "mise run lint", "pytest -q", "npm run build", "cargo check", "make docs", "git push")


def drafts(chance: random.Random, calls: int, at: datetime) -> list[Draft]:
    """A session: files are read and edited, and checked, which often fails."""
    out = [Draft(role="user", parts=(Text(text="Make it work."),), at=at)]
    for number in range(calls):
        path = f"/w/pkg/file_{chance.randrange(40)}.go"
        failed = chance.random() < 0.15
        name, given, said = chance.choice(
            (
                ("Read", {"file_path": path}, "     1→package pkg\n" * 40),
                ("Edit", {"file_path": path, "old_string": "package pkg", "new_string": "package one"}, "Updated."),
                ("Bash", {"command": chance.choice(PROGRAMS)}, f"--- FAIL: TestOne\n {path}:3: wrong\n" * 20),
            )
        )
        out.append(Draft(role="assistant", parts=(Call(id=f"c{number}", name=name, arguments=dict(given)),), at=at))
        result = Result(call_id=f"c{number}", parts=(Text(text=said),), failed=failed and name == "Bash")
        out.append(Draft(role="tool", parts=(result,), at=at))
    return out


def next_call(chance: random.Random) -> tuple[str, dict[str, object]]:
    """A call that is about to be made."""
    path = f"/w/pkg/file_{chance.randrange(60)}.go"
    edit: dict[str, object] = {"file_path": path, "old_string": "package pkg", "new_string": "x"}
    return chance.choice(
        (("Edit", edit), ("Bash", {"command": chance.choice(PROGRAMS)}), ("Read", {"file_path": path}))
    )


def line(name: str, times: list[float]) -> str:
    """A row of the table."""
    ordered = quantiles(times, n=20) if len(times) > 1 else [times[0]] * 19
    return f"  {name:<52}{median(times):>8.1f}{ordered[18]:>8.1f}{max(times):>8.1f}"


def put(tx: Transaction, space: str, run: LearnedRun, shown: Sequence[Observation]) -> None:
    tx.runs.put(space, run, shown)


async def fill(memory: ireneo.Memory, runs: int, chance: random.Random) -> int:
    """Put the runs in; tells how many observations they have."""
    observations = 0
    for number in range(runs):
        at = NOW - timedelta(hours=number)
        messages = tuple(chain(None, drafts(chance, CALLS, at), lambda parts: (50, 0)))
        run = RunMaterial(session=f"run-{number}", project=f"project-{number % 5}", messages=messages)
        shown = guard_observations(run)
        observations += len(shown)
        learned = LearnedRun(session=run.session, head=messages[-1].id, learner="bench", learned=NOW, ended=at)
        await memory._resources.store.write(put, memory.space, learned, shown)
    return observations


async def timed(memory: ireneo.Memory, chance: random.Random, session: str | None) -> float:
    """One check, in milliseconds."""
    tool, given = next_call(chance)
    began = time.perf_counter()
    await memory.check(tool, given, session=session, project="project-1")
    return 1000 * (time.perf_counter() - began)


async def table(path: Path, runs: int, length: int) -> None:
    """Fill a database and print the times."""
    chance = random.Random(1)
    async with ireneo.open(path, durability="normal") as memory:
        observations = await fill(memory, runs, chance)
        print(
            f"{runs:,} runs, {observations:,} observations, {path.stat().st_size / 1e6:.0f} MB; a session of {length:,}"
        )
        print(f"  {'':<52}{'median':>8}{'p95':>8}{'max':>8}")
        print(line("without a session", [await timed(memory, chance, None) for _ in range(ASKED)]))
        session = await memory.session("now")
        await session.append(drafts(chance, length // 2, NOW))
        print(line("the first check in a session", [await timed(memory, chance, "now")]))
        again = []
        for _ in range(ASKED):
            added = drafts(chance, 1, NOW)[1:]
            await session.append(added)
            again.append(await timed(memory, chance, "now"))
        print(line("each call of a session that goes on", again))
    given = b'{"tool_name": "Bash", "tool_input": {"command": "go test ./..."}, "cwd": "/w/project-1"}'
    # What a user runs is compiled once.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(path.parent / "compiled")
    whole = []
    for _ in range(8):
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "ireneo", "check", "--hook", "--db", str(path)],
            input=given,
            check=True,
            capture_output=True,
            env=environment,
        )
        whole.append(1000 * (time.perf_counter() - began))
    print(line("the whole process of the hook, start-up included", whole[1:]))


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    length = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(table(Path(folder) / "memory.db", runs, length))


if __name__ == "__main__":
    main()

"""How long each verb keeps an event loop from everything else: the longest wait of a heartbeat beside it.

    python benchmarks/event_loop.py [--messages 10000] [--log FILE]

A server that serves others from the same loop stands still for as long. The session is an agent's, made up, of so
many messages, or that of a log; the database is SQLite's. A heartbeat that sleeps for a millisecond at a time notes
how much longer each sleep took, and how much of that all threads of the process and the loop's own were computing:
the rest is the machine, which others may use as well. A thread beside the loop computes some milliseconds between two
beats, and longer where it holds the interpreter: with a long text in one call, or in a round of the garbage collector,
of which the longest stands beside. What is waited where nothing is done is the first line. What a verb took as a whole
stands at the end. `compact` is no line: it is a plain call, which holds whoever makes it.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import ireneo

WANTED_MS = 50
SLEEP_SECONDS = 0.001
WRONG = "ERROR in src/app_{0}.py line {0}: boom\n" * 40
Verb = Callable[[ireneo.Memory, ireneo.Session], Awaitable[object]]


def work(turns: int, first: int = 0) -> list[dict[str, object]]:
    """An agent's messages, four a turn."""
    out: list[dict[str, object]] = []
    for number in range(first, first + turns):
        given = json.dumps({"command": f"pytest tests/test_{number}.py"})
        call = {"id": f"c{number}", "type": "function", "function": {"name": "bash", "arguments": given}}
        asked = f"Please fix the bug number {number} in src/app_{number}.py, and never touch the tests."
        out += [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": f"I look at number {number}.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"{WRONG.format(number)}exit status 1"},
            {"role": "assistant", "content": f"Number {number} is done: the bound was off by one."},
        ]
    return out


def lines(turns: int) -> list[bytes]:
    """The same as a log with a message on each line."""
    return [json.dumps(each).encode() + b"\n" for each in work(turns)]


VERBS: dict[str, Verb] = {
    "append of one message": lambda _, session: session.append({"role": "user", "content": "And one more."}),
    "first context": lambda _, session: session.context(8_000),
    "context as it stood": lambda _, session: session.context(8_000),
    "rebuilt context": lambda _, session: session.context(8_000, rebuild=True),
    "context of another budget": lambda _, session: session.context(30_000),
    "messages": lambda _, session: session.messages(),
    "tree": lambda _, session: session.tree(),
    "diary": lambda _, session: session.diary(),
    "work": lambda memory, _: memory.work(until_idle=True),
    "learn": lambda memory, _: memory.learn(),
    "lessons": lambda memory, _: memory.lessons(),
    "check of a call": lambda memory, _: memory.check("bash", {"command": "pytest tests/test_7.py"}),
    "recall": lambda memory, _: memory.recall("Which bug was in app_7?"),
    "brief": lambda memory, _: memory.brief(goal="Fix the bug number 7", about_to="pytest"),
    "remember": lambda memory, _: memory.remember("Anna lives in Porto.", subject="Anna", attribute="home"),
    "reflect": lambda memory, _: memory.reflect(),
    "doctor": lambda memory, _: memory.doctor(),
    "search for secrets": lambda memory, _: memory.secrets(),
    "forget in preview": lambda memory, _: memory.forget(subject="Anna", preview=True),
    "export of memories": lambda memory, _: memory.export_memories("jsonl"),
}


class Measured(NamedTuple):
    """What a verb did to the loop, in milliseconds."""

    waited: float
    """The longest wait of the heartbeat."""
    held: float
    """The most that all threads computed between two of its beats."""
    computed: float
    """The most that the loop's thread computed between two of its beats."""
    collected: float
    """The most that a round of the garbage collector computed."""
    took: float


async def measured(doing: Awaitable[object]) -> Measured:
    """Do something beside a heartbeat."""
    waited = held = computed = collected = began_round = 0.0
    over = asyncio.Event()

    def collecting(phase: str, _: object) -> None:
        nonlocal collected, began_round
        if phase == "start":
            began_round = time.thread_time()
        else:
            collected = max(collected, time.thread_time() - began_round)

    async def beat() -> None:
        nonlocal waited, held, computed
        while not over.is_set():
            began, spent, all_spent = time.perf_counter(), time.thread_time(), time.process_time()
            await asyncio.sleep(SLEEP_SECONDS)
            waited = max(waited, time.perf_counter() - began - SLEEP_SECONDS)
            held = max(held, time.process_time() - all_spent)
            computed = max(computed, time.thread_time() - spent)

    beating = asyncio.create_task(beat())
    await asyncio.sleep(SLEEP_SECONDS)
    gc.collect()
    await asyncio.sleep(SLEEP_SECONDS)
    waited = held = computed = 0.0
    gc.callbacks.append(collecting)
    began = time.perf_counter()
    await doing
    took = time.perf_counter() - began
    gc.callbacks.remove(collecting)
    over.set()
    await beating
    return Measured(1000 * waited, 1000 * held, 1000 * computed, 1000 * collected, 1000 * took)


def row(name: str, each: Measured) -> None:
    """One line of the table."""
    over = "  over" if each.held > WANTED_MS else ""
    figures = "".join(f"{one:11.1f} ms" for one in each[:-1]) + f"{each.took:11.0f} ms"
    print(f"{name:26}{figures}{over}", flush=True)


async def measure(folder: Path, turns: int, log: Path | None) -> None:
    """The table."""
    async with ireneo.open(folder / "memory.db") as memory:
        row("nothing", await measured(asyncio.sleep(1)))
        given: Sequence[bytes] = lines(turns) if log is None else log.read_bytes().splitlines(keepends=True)
        reader = ireneo.log_format("openai") if log is None else ireneo.recognise(b"".join(given[:200]), log.name)
        row("import of a log", await measured(memory.import_log(given, reader, name="imported.jsonl")))
        if log is None:
            session = await memory.session("made-up")
            row("append of all", await measured(session.append(work(turns, turns))))
        else:
            infos = await memory.sessions()
            session = await memory.session(max(infos, key=lambda info: info.messages).key.session)
        for name, verb in VERBS.items():
            row(name, await measured(verb(memory, session)))


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--log", type=Path, help="an agent's log or a chat, instead of a session that is made up")
    asked = parser.parse_args()
    print(f"{'':26}{'longest wait':>14}{'all threads':>14}{'the loop':>14}{'the collector':>14}{'as a whole':>14}")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), asked.messages // 4, asked.log))
    print(f"wanted: nothing computed over {WANTED_MS} ms between two beats")


if __name__ == "__main__":
    main()

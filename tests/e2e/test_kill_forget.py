"""A process that is killed with signal 9 while it forgets has forgotten nothing or all; the next one finishes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import ireneo
from ireneo import Draft
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.errors import NotFound
from ireneo.lessons.run import DiaryEntry, DiaryLine, LearnedRun, Observation
from ireneo.log.message import MessageId, Text
from ireneo.memories.record import Evidence, MemoryId, Record
from ireneo.ports.memories import LearnedFile
from ireneo.ports.store import Transaction
from ireneo.testing.scripted import ManualClock

NOW = ManualClock().now()
SECRET = b"skerryvore_"
MESSAGES = 120
FORGETS = """
import asyncio, sys, ireneo

async def main():
    async with ireneo.open(sys.argv[1]) as memory:
        await memory.sessions()
        print("begins", flush=True)
        await memory.forget(session="watch")
        print("done", flush=True)

asyncio.run(main())
"""


async def fill(place: Path) -> None:
    """Two sessions, one of which is to be forgotten, and a memory from each."""
    async with ireneo.open(place, durability="normal") as memory:
        for name, word in (("watch", "skerryvore_"), ("other", "lismore_")):
            texts = [f"{word}{number} and some more about {word}{number}. " * 8 for number in range(MESSAGES)]
            session = await memory.session(name)
            ids = (await session.append([Draft(role="user", parts=(Text(text=text),)) for text in texts])).ids
            await learn(place, name, word, ids[0])


async def learn(place: Path, session: str, word: str, source: MessageId) -> None:
    """A memory from one message, a run with what it showed, and the mark of its file."""
    piece = Evidence(at=NOW, recorded=NOW, session=session, messages=(source,))
    name = MemoryId(f"m_{session}")
    record = Record(id=name, kind="episodic", key=f"t_{word}", text=word, at=NOW, recorded=NOW, evidence=(piece,))
    line = DiaryLine(text=word, sources=(source,))
    entry = DiaryEntry(goal=word, opening=source, last=source, failed=(line,))
    run = LearnedRun(session=session, head=source, learner="1", learned=NOW, source=word, diary=(entry,))
    observation = Observation(cue=word, category="failure", session=session, held=1, text=word, sources=(source,))
    file = LearnedFile(digest=session, learner="1", name=f"{word}.jsonl", at=NOW, sessions=(session,))
    store = await open_sqlite(place)

    def change(tx: Transaction) -> None:
        tx.memories.put("default", [record])
        tx.runs.put("default", run, [observation])
        tx.ledger.mark("default", file)

    await store.write(change)
    await store.close()


async def left(place: Path) -> tuple[int, int, int]:
    """How many messages, memories and runs there are of what was to be forgotten; the rest must all be there."""
    store = await open_sqlite(place)

    def look(tx: Transaction) -> tuple[int, int, int]:
        assert list(tx.upkeep.faults()) == []
        infos = {info.key.session: info.messages for info in tx.sessions.list("default")}
        found = [record.id for record in tx.memories.get("default", ["m_watch", "m_other"])]
        runs = [run.session for run in tx.runs.get("default", ["watch", "other"])]
        shown = [each.session for each in tx.runs.observations("default", ["skerryvore_", "lismore_"])]
        files = {file.digest: file.name for file in tx.ledger.list("default")}
        assert infos["other"] == MESSAGES
        assert "m_other" in found
        # The mark of the forgotten one stays without a name, so that it is not learned from again.
        assert files == {"other": "lismore_.jsonl", "watch": "skerryvore_.jsonl" if "watch" in runs else ""}
        assert (runs, shown) in ((["watch", "other"],) * 2, (["other"],) * 2)
        return infos.get("watch", 0), found.count(MemoryId("m_watch")), runs.count("watch")

    there = await store.read(look)
    await store.close()
    return there


async def finish(place: Path) -> None:
    """Forget again, and look at every byte."""
    async with ireneo.open(place) as memory:
        with suppress(NotFound):
            await memory.forget(session="watch")
    assert await left(place) == (0, 0, 0)
    assert SECRET not in b"".join(file.read_bytes() for file in place.parent.glob(f"{place.name}*"))


def forget_and_kill(place: Path, after_seconds: float | None) -> float:
    """Forget in a process of its own, and kill it so long after it began; gives how long it went on."""
    with subprocess.Popen([sys.executable, "-c", FORGETS, str(place)], stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"begins\n"
        began = time.monotonic()
        if after_seconds is None:
            process.wait()
        else:
            time.sleep(after_seconds)
            process.kill()
        process.wait()
        return time.monotonic() - began


@pytest.mark.skipif(sys.platform == "win32", reason="there is no signal 9")
def test_who_is_killed_has_forgotten_nothing_or_all(tmp_path: Path) -> None:
    full = tmp_path / "full.db"
    asyncio.run(fill(full))
    whole = full.read_bytes()
    seconds = forget_and_kill(full, None)
    assert SECRET not in full.read_bytes()
    rounds = 4
    for number in range(rounds):
        place = tmp_path / f"round{number}.db"
        place.write_bytes(whole)
        forget_and_kill(place, seconds * number / rounds)
        assert asyncio.run(left(place)) in {(MESSAGES, 1, 1), (0, 0, 0)}
        asyncio.run(finish(place))

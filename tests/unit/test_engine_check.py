"""`Memory.check`: the session as it is stored, past runs from the store, and the lesson that is made of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.property.invariants.promises import TOKENS
from tests.unit.guarded import Made, drafts, material, runs
from tests.unit.waiting import waited

import ireneo
from ireneo import Memory
from ireneo.adapters.in_memory.store import InMemoryStore
from ireneo.engine import check as checking
from ireneo.engine.resources import Resources
from ireneo.lessons.guard import guard_observations, lesson_cue
from ireneo.lessons.run import LearnedRun
from ireneo.lessons.shell import RunMaterial
from ireneo.log.message import Call
from ireneo.ports.store import Transaction
from ireneo.testing.scripted import ManualClock

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TEST = "go test ./pkg -run TestOne"
FELL: Made = ("Bash", TEST, "--- FAIL: TestOne (0.1s)\n    one.go:12: wrong\nFAIL", True)
PASSED: Made = ("Bash", TEST, "ok  \tpkg\t0.1s", False)
MISSING: Made = ("Bash", "pytest -q", "bash: line 1: pytest: command not found", True)
every_store = pytest.mark.parametrize("kind", ["in memory", "sqlite"])


@asynccontextmanager
async def memory_of(kind: str, folder: Path) -> AsyncIterator[Memory]:
    if kind == "in memory":
        yield Memory(Resources(store=InMemoryStore(), count=TOKENS.count, clock=ManualClock(NOW)), "mine")
        return
    async with ireneo.open(folder / "memory.db", durability="normal") as memory:
        yield memory


async def keep(memory: Memory, past: list[RunMaterial]) -> None:

    def change(tx: Transaction) -> None:
        for run in past:
            head = run.messages[-1].id
            learned = LearnedRun(session=run.session, head=head, learner="test", learned=NOW, project=run.project)
            tx.runs.put(memory.space, learned, guard_observations(run))

    await memory._resources.store.write(change)


@every_store
@waited
async def test_past_runs_speak_against_a_call(kind: str, tmp_path: Path) -> None:
    async with memory_of(kind, tmp_path) as memory:
        assert await memory.check("Bash", {"command": "pytest -q"}, project="cli") is None
        await keep(memory, runs([MISSING], 8))
        said = await memory.check("Bash", {"command": "pytest -q"}, project="cli")
        assert said is not None
        assert "command not found" in said.text
        assert said.failed == 8
        of_folder = await memory.check("Bash", {"command": "pytest -q"}, project="/home/ann/work/cli")
        assert of_folder == said
        assert await memory.check("Bash", "{broken", project="cli") is None


@every_store
@waited
async def test_a_session_is_read_as_it_stands(kind: str, tmp_path: Path) -> None:
    async with memory_of(kind, tmp_path) as memory:
        await keep(memory, runs([FELL, FELL, FELL], 6))
        session = await memory.session("now")
        asked = ("Bash", {"command": TEST})
        told = drafts(FELL, PASSED)
        await session.append(told[:3])
        said = await memory.check(*asked, session="now", project="cli")
        assert said is not None
        assert said.evidence[0].session == ""
        failed = (await session.messages())[-1].id
        assert said.evidence[0].message == failed
        await session.append(told[3:])
        assert await memory.check(*asked, session="now", project="cli") is None
        await session.rewind(failed)
        assert await memory.check(*asked, session="now", project="cli") == said


@waited
async def test_what_was_folded_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    class Counting(checking.Situation):
        def hear(self, message: ireneo.Message) -> None:
            seen.append(message.position)
            super().hear(message)

    monkeypatch.setattr(checking, "Situation", Counting)
    async with memory_of("sqlite", tmp_path) as memory:
        session = await memory.session("now")
        await session.append(drafts(*[PASSED] * 300))
        await memory.check("Bash", "ls", session="now")
        # Of a session that is first met only the end is read.
        assert seen == list(range(601 - checking.LOOKED_BACK, 601))
        await session.append(drafts(FELL)[1:])
        await memory.check("Bash", "ls", session="now")
        assert seen[checking.LOOKED_BACK :] == [601, 602]


@waited
async def test_a_run_that_was_learned_from_is_no_past_run_of_itself(tmp_path: Path) -> None:
    async with memory_of("in memory", tmp_path) as memory:
        await keep(memory, [material("now", *[MISSING] * 8), material("other", MISSING)])
        said = await memory.check("Bash", {"command": "pytest -q"}, session="now", project="cli")
        assert said is None or all(proof.session != "now" for proof in said.evidence)


@waited
async def test_the_lesson_that_is_made_of_it_is_named(tmp_path: Path) -> None:
    async with memory_of("sqlite", tmp_path) as memory:
        await keep(memory, runs([MISSING], 8))
        said = await memory.check("Bash", {"command": "pytest -q"}, project="cli")
        assert said is not None
        assert said.lesson is None
        cue = f"{lesson_cue(Call(id='', name='Bash', arguments={'command': 'pytest -q'}))}use:bin/test"
        assert cue.startswith("pytest ⇒ ")
        record = (await memory.remember("`pytest` is not installed here.", kind="failure")).record
        await memory._resources.store.write(lambda tx: tx.memories.put(memory.space, [replace(record, cue=cue)]))
        named = await memory.check("Bash", {"command": "pytest -q"}, project="cli")
        assert named is not None
        assert named.lesson == record.id
        assert record.id in named.markdown

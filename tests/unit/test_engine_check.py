"""`Memory.check`: the session as it is stored, the traps that lessons know, and what is kept of them for hooks."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from tests.property.invariants.promises import TOKENS
from tests.unit.guarded import NOW, SAW, Made, drafts, shown_by, teach

import ireneo
from ireneo import Memory
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.kept_traps import read_trap_index
from ireneo.engine.resources import Resources
from ireneo.guard import check_call
from ireneo.lessons.needles import VERSION
from ireneo.testing.scripted import ManualClock

FELL: Made = ("Bash", "make integration", "connection refused", True)
UP: Made = ("Bash", "make db", "up", False)
CALL = ("Bash", {"command": "cd x && make integration"})


@asynccontextmanager
async def memory_of(folder: Path | None = None) -> AsyncIterator[Memory]:
    """A memory in memory, or in a folder."""
    if folder is None:
        yield Memory(Resources(store=InMemoryStore(), count=TOKENS.count, clock=ManualClock(NOW)), "mine")
    else:
        async with ireneo.open(folder / "memory.db", durability="normal") as memory:
            yield memory


async def test_a_known_trap_is_told() -> None:
    async with memory_of() as memory:
        assert await memory.check(*CALL, project="cli") is None
        known = (await teach(memory, shown_by(3)))[0]
        said = await memory.check(*CALL, project="cli")
        assert said is not None
        assert said.text.splitlines() == [
            "trap: `make integration` fails with “connection refused”; instead: run `make db` first",
            "why: “It needs a database” · seen in 3 of 3 runs; last in March 2026",
        ]
        assert said.lesson == known.id
        assert await memory.check(*CALL, project="/home/ann/work/cli") == said
        assert await memory.check(*CALL, project="osprey") is None
        assert await memory.check("Bash", "{broken", project="cli") is None


async def test_a_session_is_read_as_it_stands() -> None:
    async with memory_of() as memory:
        await teach(memory, shown_by(3))
        session = await memory.session("now")
        told = drafts(("Bash", "ls", "a", False), UP)
        await session.append(told[:3])
        listed = (await session.messages())[-1].id
        assert await memory.check(*CALL, session="now", project="cli") is not None
        await session.append(told[3:])
        assert await memory.check(*CALL, session="now", project="cli") is None
        await session.rewind(listed)
        assert await memory.check(*CALL, session="now", project="cli") is not None
        await session.append(drafts(FELL)[1:])
        assert await memory.check(*CALL, session="now", project="cli") is None


async def test_what_was_told_in_a_session_is_not_told_again() -> None:
    async with memory_of() as memory:
        await teach(memory, shown_by(3))
        said = await memory.check(*CALL, session="now", project="cli")
        assert said is not None
        await (await memory.session("now")).append({"role": "user", "content": said.markdown})
        assert await memory.check(*CALL, session="now", project="cli") is None


async def test_a_run_that_was_learned_from_is_no_past_run_of_itself() -> None:
    async with memory_of() as memory:
        await teach(memory, [replace(SAW, session="now")])
        assert await memory.check(*CALL, session="now", project="cli") is None
        assert await memory.check(*CALL, session="other", project="cli") is not None


def kept(path: Path) -> str:
    """What a hook reads of a database: nothing where it has to ask the store."""
    found = read_trap_index(path, "default", VERSION)
    return "" if found is None else f"{found[0]} {found[1]}"


async def test_what_hooks_read_is_made_when_the_memory_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with memory_of(tmp_path) as memory:
        assert read_trap_index(path, "default", VERSION) == ((), "")
        await teach(memory, shown_by(3))
        assert read_trap_index(path, "default", VERSION) is None
    found = read_trap_index(path, "default", VERSION)
    assert found is not None
    assert found[0] == ("integration",)
    assert read_trap_index(path, "default", VERSION + 1) is None
    assert read_trap_index(path, "another", VERSION) == ((), "")
    assert read_trap_index(tmp_path / "none.db", "default", VERSION) is None


async def test_what_no_longer_holds_is_gone_for_hooks_at_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with memory_of(tmp_path) as memory:
        known = (await teach(memory, shown_by(3)))[0]
    async with memory_of(tmp_path) as memory:
        assert "connection refused" in kept(path)
        await memory.dispute(known.id, "It is up always now.")
        assert kept(path) == ""
        assert await memory.check(*CALL, project="cli") is None
    assert "connection refused" not in kept(path)


async def test_erased_words_leave_what_hooks_read_in_the_same_write(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with memory_of(tmp_path) as memory:
        known = (await teach(memory, shown_by(3)))[0]
    async with memory_of(tmp_path) as memory:
        assert "It needs a database" in kept(path)
        await memory.forget(memory=known.id)
        assert "database" not in kept(path)
    assert "database" not in kept(path)
    assert await asyncio.to_thread(partial(check_call, path, "default", *CALL, folder="/home/ann/work/cli")) is None


async def test_a_hook_answers_as_the_memory_does_and_keeps_what_it_had_to_compile(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with memory_of(tmp_path) as memory:
        await teach(memory, shown_by(3))
        said = await memory.check(*CALL, project="cli")
    ask = partial(check_call, path, "default", *CALL, folder="/home/ann/work/cli")
    assert await asyncio.to_thread(ask) == said
    with sqlite3.connect(path) as other:
        other.execute("DELETE FROM traps")
    other.close()
    assert kept(path) == ""
    assert await asyncio.to_thread(ask) == said
    assert "connection refused" in kept(path)

"""A session that work meets an error in is named and passed over, and keeps nobody from the others."""

from __future__ import annotations

import asyncio
from pathlib import Path

import apsw
import pytest

import ireneo
from ireneo.engine.memory import Memory
from ireneo.errors import ReadOnlyStore

REFUSED = """CREATE TRIGGER refused BEFORE INSERT ON memories WHEN NEW.record LIKE '%Porto%'
    BEGIN SELECT RAISE(ABORT, 'not in here'); END"""
NO_ORIGIN = "UPDATE messages SET origin = 'nobody' WHERE session = (SELECT key FROM sessions WHERE session = 'bad')"
SAID = {"bad": "I live in Porto.", "good": "My brother is called Tom.", "late": "My sister is called Ida."}


async def said_to(path: Path) -> None:
    async with ireneo.open(path) as memory:
        for name, text in SAID.items():
            await (await memory.session(name)).append({"role": "user", "content": text})


def changed(path: Path, statement: str) -> None:
    database = apsw.Connection(str(path))
    database.execute(statement)
    database.close()


async def values(memory: Memory) -> set[str]:
    return {each.value or "" for each in (await memory.memories())}


@pytest.mark.parametrize("leases", [True, False])
@pytest.mark.parametrize(("fault", "why"), [(REFUSED, "not in here"), (NO_ORIGIN, "can't be read")])
async def test_a_session_with_a_fault_stops_no_other(tmp_path: Path, fault: str, why: str, leases: bool) -> None:
    await said_to(tmp_path / "s.db")
    changed(tmp_path / "s.db", fault)
    async with ireneo.open(tmp_path / "s.db") as memory:
        report = await memory.work(leases=leases)
        (passed,) = report.passed_over
        assert (passed.session, passed.did) == ("bad", "passed_over")
        assert why in passed.reason
        assert report.memories == 2
        assert await values(memory) == {"Tom", "Ida"}


async def test_it_is_tried_again_when_it_changes_and_the_doctor_names_it_until_then(tmp_path: Path) -> None:
    await said_to(tmp_path / "s.db")
    changed(tmp_path / "s.db", REFUSED)
    async with ireneo.open(tmp_path / "s.db") as memory:
        await memory.work()
        (found,) = [each for each in await memory.doctor() if each.kind == "fault"]
        assert (found.session, found.text.startswith("`ireneo work` passed it over: ")) == ("bad", True)
        assert "not in here" in found.text
        changed(tmp_path / "s.db", "DROP TRIGGER refused")
        await (await memory.session("bad")).append({"role": "user", "content": "I work as a cooper."})
        report = await memory.work()
        assert not report.passed_over
        assert not [each for each in await memory.doctor() if each.kind == "fault"]
        assert {"Porto", "Tom", "Ida"} <= await values(memory)


async def test_a_worker_that_goes_on_looks_at_it_again_only_when_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ireneo.engine.work.POLL_SECONDS", 0.01)
    monkeypatch.setattr("ireneo.engine.work.IDLE_SECONDS", 0.01)
    await said_to(tmp_path / "s.db")
    changed(tmp_path / "s.db", REFUSED)
    passed: asyncio.Queue[str] = asyncio.Queue()

    def report(done: ireneo.WorkResult) -> None:
        if done.did == "passed_over":
            passed.put_nowait(done.session)

    async with ireneo.open(tmp_path / "s.db") as memory, asyncio.timeout(20):
        working = asyncio.create_task(memory.work(until_idle=False, on_progress=report))
        assert await passed.get() == "bad"
        # What is made of another session meanwhile shows that several rounds went by.
        for name in ("one", "two", "three"):
            await (await memory.session(name)).append({"role": "user", "content": f"My {name} dogs bark."})
            await asyncio.sleep(0.05)
        assert passed.empty()
        await (await memory.session("bad")).append({"role": "user", "content": "And I keep bees."})
        assert await passed.get() == "bad"
        working.cancel()


async def test_what_the_next_session_would_meet_too_ends_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await said_to(tmp_path / "s.db")

    def full(*_: object) -> None:
        raise ReadOnlyStore

    async with ireneo.open(tmp_path / "s.db") as memory:
        monkeypatch.setattr("ireneo.engine.intake.settle_statements", full)
        with pytest.raises(ReadOnlyStore):
            await memory.work()

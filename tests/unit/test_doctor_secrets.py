"""What the doctor says of secrets that are stored, and what is left when it has taken them out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import msgspec
from msgspec.structs import replace
from tests.planted import all_planted, bytes_in, left, planted
from tests.progress import progress_of
from tests.property.invariants.faults import BreakingStore, BrokenOffError, Fuse
from tests.unit.test_secrets_at_each_door import run_with
from tests.whole import whole

from ireneo import Memory
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.redact import SecretRedactor
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.engine.resources import Resources
from ireneo.formats.logs.format import log_format
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Scrubbed, Store
from ireneo.summaries.summary import Summary
from ireneo.testing.scripted import ManualClock

NOON = datetime(2031, 5, 9, 12, tzinfo=UTC)
OPENAI = log_format("openai")
ONE = planted("github classic", 11)
TOKEN = ONE.secrets[0]
ALL = all_planted(seed=7)
Talk = list[dict[str, object]]

TALK: Talk = [
    {"role": "user", "content": "Good morning, look at the gate."},
    {"role": "assistant", "content": "It is shut."},
    {"role": "user", "content": f"Open it with {TOKEN}. Never open the gate at night."},
    {"role": "assistant", "content": f"It is open, the token {TOKEN} was right."},
    {"role": "user", "content": "And now?"},
    {"role": "assistant", "content": "It stands open."},
]


@asynccontextmanager
async def living(folder: Path | None = None) -> AsyncIterator[tuple[Memory, Memory, Store]]:
    """A memory that keeps secrets, one over the same store that doesn't, and the store: in memory, or in a folder."""
    store = await open_sqlite(folder / "memory.db", durability="normal") if folder else InMemoryStore()
    means = Resources(
        store=store,
        count=lambda text: len(text.split()),
        clock=ManualClock(NOON),
        redactor=SecretRedactor,
        keep_secrets=True,
    )
    try:
        yield Memory(means, "mine"), Memory(replace(means, keep_secrets=False), "mine"), store
    finally:
        await store.close()


def lines_of(talk: Talk, name: str = "gate") -> list[bytes]:
    return [json.dumps({"id": name, "messages": talk}).encode() + b"\n"]


async def imported(memory: Memory, talk: Talk = TALK, name: str = "gate") -> int:
    for done in await progress_of(memory.import_log, lines_of(talk, name), OPENAI, name="log"):
        return done.new
    raise AssertionError("the log has a session")


async def ids(memory: Memory, session: str = "gate", branch: str = "main") -> list[str]:
    return [each.id for each in await (await memory.session(session, branch=branch)).messages()]


async def summaries(store: Store) -> list[Summary]:
    """All that are stored of the session, by where they begin."""
    key = SessionKey("mine", "gate")
    return await store.read(lambda tx: list(tx.summaries.get(key, tx.upkeep.summaries(key))))


async def clean_ids(talk: Talk = TALK) -> list[str]:
    """The ids that the messages have where they came in without their secrets."""
    means = Resources(store=InMemoryStore(), count=len, clock=ManualClock(NOON), redactor=SecretRedactor)
    memory = Memory(means, "other")
    await imported(memory, talk)
    return await ids(memory)


async def test_it_says_how_many_of_which_kind_stand_where_and_not_what_they_are() -> None:
    async with living() as (keeping, memory, _):
        await imported(keeping)
        session = await keeping.session("gate")
        await session.pin(f"Open it with {TOKEN}.")
        await keeping.remember(f"The gate opens with {TOKEN}.")
        await keeping.scratchpad("gate").write(goal=f"open it with {TOKEN}")
        found = await memory.secrets()
        told = {(each.where, each.session): (each.things, dict(each.kinds)) for each in found.found}
        assert told == {
            ("messages", "gate"): (2, {"github-token": 1}),
            ("notes", "gate"): (1, {"github-token": 1}),
            ("memories", ""): (1, {"github-token": 1}),
            ("scratchpads", ""): (1, {"github-token": 1}),
        }
        assert (found.messages, found.repaired) == (6, False)
        assert TOKEN not in whole(found)


async def test_messages_get_the_ids_of_the_clean_ones_and_their_log_adds_nothing() -> None:
    async with living() as (keeping, memory, _):
        await imported(keeping)
        before = await ids(keeping)
        done = await memory.secrets(repair=True)
        assert done.repaired
        assert done.complete
        after = await ids(memory)
        assert after == await clean_ids()
        assert (after[:2], after[2:] == before[2:]) == (before[:2], False)
        assert await imported(memory) == 0
        session = await memory.session("gate")
        assert (await session.append(TALK, after="root", format="openai")).new == 0
        assert (await memory.secrets()).found == ()
        assert (await memory.recall("morning gate"))[0].id == after[0]
        assert await memory.doctor() == []


async def test_branches_pins_releases_memories_and_what_was_abandoned_follow() -> None:
    async with living() as (keeping, memory, _):
        await imported(keeping)
        path = await ids(keeping)
        session = await keeping.session("gate")
        pin = await session.pin(f"Lock it with {TOKEN}.")
        await session.release("Never open the gate")
        await keeping.remember("The gate stands open.", messages=[path[5]], session="gate")
        side = await session.fork("side", at=path[3])
        await side.append({"role": "user", "content": "Shut it again."})
        await session.append({"role": "user", "content": "This leads nowhere."})
        await session.rewind(to=path[5])
        await memory.secrets(repair=True)
        now = await ids(memory)
        assert (await ids(memory, branch="side"))[:4] == now[:4]
        session = await memory.session("gate")
        assert len(now) == 6
        (info,) = await memory.sessions()
        assert info.messages == 8
        pins = await session.pins()
        assert [each.text for each in pins] == ["Lock it with [REDACTED github-token]."]
        assert pins[0].id != pin.id
        (record,) = await memory.get([each.id for each in await memory.recall("stands open", kind="semantic")])
        assert record.evidence[0].messages == (now[5],)
        assert [each for each in await memory.doctor() if each.kind == "fault"] == []


async def test_a_session_that_came_in_twice_with_and_without_becomes_one_again() -> None:
    async with living() as (keeping, memory, _):
        await imported(keeping)
        clean = [json.loads(json.dumps(each).replace(TOKEN, "[REDACTED github-token]")) for each in TALK]
        await imported(keeping, clean)
        (info,) = await memory.sessions()
        assert info.messages == 10
        await memory.secrets(repair=True)
        (info,) = await memory.sessions()
        assert (info.messages, await ids(memory)) == (6, await clean_ids())
        assert await imported(memory) == 0


async def test_a_session_keeps_its_project() -> None:
    async with living() as (keeping, memory, _):
        session = await keeping.session("s", project="harbour")
        await session.append("The password is hunter2xyz.")
        await memory.secrets(repair=True)
        (info,) = await memory.sessions()
        assert info.project == "harbour"


async def test_what_was_forgotten_stays_forgotten() -> None:
    async with living() as (keeping, memory, _):
        await imported(keeping)
        path = await ids(keeping)
        await keeping.forget(message=path[4])
        await memory.secrets(repair=True)
        session = await memory.session("gate")
        told = [each.text for each in await session.messages()]
        assert told[4:] == ["[erased]", "It stands open."]
        assert await imported(memory) == 0
        assert (await session.append(TALK, after="root", format="openai")).new == 0
        assert [each.text for each in await session.messages()] == told


async def test_summaries_over_what_changed_go_and_the_others_stay() -> None:
    async with living() as (keeping, memory, store):
        talk: Talk = []
        for number in range(60):
            talk.append({"role": "user", "content": f"{number}: {'word ' * 60}"})
            talk.append({"role": "assistant", "content": "It is done. " + "word " * 60})
        talk += [*TALK, *talk[:60]]
        await imported(keeping, talk)
        session = await keeping.session("gate")
        for budget in (800, 2_000, 4_000):
            await session.context(budget=budget)
        before = await summaries(store)
        assert any(each.last_position >= 122 for each in before)
        await memory.secrets(repair=True)
        after = await summaries(store)
        assert [each.id for each in after] == [each.id for each in before if each.last_position < 122]
        assert after
        cut = await (await memory.session("gate")).context(budget=800)
        assert TOKEN not in whole(cut)
        assert await memory.doctor() == []


async def test_no_byte_of_any_secret_is_left_in_the_folder(tmp_path: Path) -> None:
    async with living(tmp_path) as (keeping, memory, _):
        form = log_format("claude-code")
        for one in ALL[::11]:
            lines = [line.replace(b"22222222", f"{ALL.index(one):08d}".encode()) for line in run_with(one)]
            await keeping.import_log(lines, form, name="run")
        for number, one in enumerate(ALL):
            await keeping.remember(f"{number}: {one.text}", origin="agent")
        await keeping.learn()
        await keeping.work(until_idle=True)
        assert set(left(bytes_in(tmp_path), ALL)) == {one.kind for one in ALL}
        done = await memory.secrets(repair=True)
        assert done.complete
        assert left(msgspec.json.encode(done), ALL) == []
        assert left(bytes_in(tmp_path), ALL) == []
        assert (await memory.secrets()).found == ()
        assert [each for each in await memory.doctor() if each.kind == "fault"] == []
        await memory.learn()
        assert left(bytes_in(tmp_path), ALL) == []
    assert left(bytes_in(tmp_path), ALL) == []


class Scrubbing(BreakingStore):
    """One that is scrubbed as well, and breaks before it is and after."""

    async def scrub(self, *, look: bool = False) -> Scrubbed:
        self.fuse.step()
        done = await self.store.scrub(look=look)
        self.fuse.step()
        return done


async def test_broken_off_at_any_call_the_next_run_goes_on(tmp_path: Path) -> None:
    async with living(tmp_path) as (_, _, store):
        fuse = Fuse()
        means = Resources(
            store=cast("Store", Scrubbing(store, fuse)), count=len, clock=ManualClock(NOON), redactor=SecretRedactor
        )

        async def fill(space: str) -> None:
            filling = Memory(Resources(store=store, count=len, clock=ManualClock(NOON)), space)
            for name in ("gate", f"door {TOKEN}"):
                await imported(filling, name=name)
                await (await filling.session(name)).pin(f"Lock it with {TOKEN}.")
            path = await ids(filling)
            await filling.remember(f"It opens with {TOKEN}.", messages=[path[2]], session="gate")
            await filling.scratchpad("gate").write(goal=f"open it with {TOKEN}")

        await fill("whole")
        await Memory(means, "whole").secrets(repair=True)
        steps = fuse.steps
        assert steps > 100
        for at in range(0, steps, 1 + steps // 8):
            space = f"broken at {at}"
            await fill(space)
            fuse.set(at)
            with suppress(BrokenOffError):
                await Memory(means, space).secrets(repair=True)
            fuse.set(None)
            broken = Memory(means, space)
            seen = [len(await ids(broken, info.key.session)) for info in await broken.sessions()]
            assert seen == [len(TALK), len(TALK)]
            done = await broken.secrets(repair=True)
            assert done.complete
            whole = Memory(means, "whole")
            for name in ("gate", "door [REDACTED github-token]"):
                assert await ids(broken, name) == await ids(whole, name)
            told = [file.data for file in await broken.export_memories("jsonl")]
            assert told == [file.data for file in await whole.export_memories("jsonl")]
            assert (await broken.secrets()).found == ()
        assert TOKEN.encode() not in bytes_in(tmp_path)

"""Every door by which a text comes in: of no kind of secret is a byte left in the database, or in what it gives."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from tests.planted import Planted, all_planted, bytes_in, left, planted
from tests.progress import progress_of

import ireneo
from ireneo.formats.logs.format import log_format
from ireneo.log.message import Draft, Native, Text, Thinking
from ireneo.types import MemoryFile

ALL = all_planted(seed=7)
BARE = [planted(kind, 7) for kind in ("github classic", "anthropic", "stripe live", "npm", "google api key")]
"""Those that a name can hold: one word each."""

Door = Callable[[ireneo.Memory, Planted, int], Awaitable[object]]


async def append(memory: ireneo.Memory, one: Planted, number: int) -> object:
    session = await memory.session("appended")
    call = {
        "id": f"c{number}",
        "type": "function",
        "function": {"name": "run", "arguments": json.dumps({"a": one.text})},
    }
    return await session.append(
        [
            {"role": "system", "content": one.text},
            {"role": "user", "content": one.text},
            {"role": "assistant", "content": one.text, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps({"out": one.text})},
        ]
    )


async def append_drafts(memory: ireneo.Memory, one: Planted, number: int) -> object:
    session = await memory.session("drafted")
    parts = (Thinking(text=one.text, signature="c2ln"), Text(text=one.text, author=one.text[:40], present=(one.text,)))
    payload = {"content": [{"type": "text", "text": one.text}]}
    return await session.append(
        Draft(
            role="assistant",
            parts=parts,
            native=Native(format="anthropic", payload=payload),
            record=Native(format="anthropic", payload={"line": json.dumps(payload)}),
        )
    )


async def remember(memory: ireneo.Memory, one: Planted, number: int) -> object:
    return await memory.remember(f"{number}: {one.text}", origin="agent")


async def remember_all(memory: ireneo.Memory, one: Planted, number: int) -> object:
    return await memory.remember_all([(f"{number}: {one.text}", {"kind": "failure", "conditions": {"said": one.text}})])


async def pin(memory: ireneo.Memory, one: Planted, number: int) -> object:
    session = await memory.session("pinned")
    await session.append(f"{number}: go on")
    return await session.pin(one.text), await session.pins()


async def diary(memory: ireneo.Memory, one: Planted, number: int) -> object:
    session = await memory.session("told")
    await session.append(f"{number}: go on")
    return await session.diary(tried=" ".join(one.text.split()), goal="to go on")


async def scratchpad(memory: ireneo.Memory, one: Planted, number: int) -> object:
    pad = memory.scratchpad(f"task {number}")
    written = [await pad.write(goal=one.text), await pad.write(plan=[one.text]), await pad.write(facts=[one.text])]
    ended = await memory.scratchpad(f"other {number}").write(goal=one.text)
    return written, ended, await memory.scratchpad(f"other {number}").finish(one.text), await memory.pads()


async def dispute(memory: ireneo.Memory, one: Planted, number: int) -> object:
    known = await memory.remember(f"The lamp number {number} is green.", subject=f"lamp {number}", attribute="colour")
    return await memory.dispute(known.record.id, one.text)


async def exchange(memory: ireneo.Memory, one: Planted, number: int) -> object:
    page = f"+++\nkind = 'semantic'\n+++\n{number}: {' '.join(one.text.split())}\n"
    done = await memory.import_memories([MemoryFile(path=f"{number}.md", data=page.encode())])
    assert not done.faults
    return list(await memory.export_memories("jsonl"))


DOORS: tuple[Door, ...] = (
    append,
    append_drafts,
    remember,
    remember_all,
    pin,
    diary,
    scratchpad,
    dispute,
    exchange,
)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_no_secret_of_any_kind_comes_in(door: Door, tmp_path: Path) -> None:
    async def come() -> list[object]:
        async with ireneo.open(tmp_path / "a.db", durability="normal") as memory:
            given = [await door(memory, one, number) for number, one in enumerate(ALL)]
            given += [await memory.brief(goal="go on with the lamp"), await memory.recall("number")]
            return [*given, *list(await memory.export_memories())]

    given = asyncio.run(come())
    assert left(str(given).encode(), ALL) == []
    assert left(bytes_in(tmp_path), ALL) == []
    assert b"[REDACTED " in bytes_in(tmp_path)


async def test_no_name_of_a_session_a_branch_or_a_task_holds_one(tmp_path: Path) -> None:
    async with ireneo.open(tmp_path / "a.db", durability="normal") as memory:
        for one in BARE:
            session = await memory.session(f"run of {one.secrets[0]}")
            await session.append("Go on.")
            await session.fork(f"with {one.secrets[0]}")
            again = await memory.session(f"run of {one.secrets[0]}", must_exist=True)
            assert len(await again.messages()) == 1
            await memory.scratchpad(f"task {one.secrets[0]}").write(goal="to go on")
            assert await memory.scratchpad(f"task {one.secrets[0]}").read() is not None
    assert left(bytes_in(tmp_path), BARE) == []


async def test_a_value_is_known_by_the_name_of_its_attribute(tmp_path: Path) -> None:
    async with ireneo.open(":memory:") as memory:
        done = await memory.remember("It is hunter2xy.", subject="the gate", attribute="password", value="hunter2xy")
        assert (done.record.text, done.record.value) == ("It is [REDACTED password].", "[REDACTED password]")


def run_with(one: Planted) -> list[bytes]:
    """A run of Claude Code that fails with a secret in its call and its output, three times, and gets over it."""
    lines: list[dict[str, object]] = []

    def line(kind: str, content: object) -> None:
        number = len(lines)
        lines.append(
            {
                "type": kind,
                "uuid": f"{number:08d}-1111-4111-8111-111111111111",
                "parentUuid": f"{number - 1:08d}-1111-4111-8111-111111111111" if number else None,
                "sessionId": "22222222-1111-4111-8111-111111111111",
                "cwd": "/srv/garden",
                "timestamp": f"2026-01-05T10:{number:02d}:00.000Z",
                "message": {"role": kind, "id": f"msg_{number}", "content": content},
            }
        )

    def call(command: str, output: str, failed: bool) -> None:
        name = f"toolu_{len(lines):06d}"
        line("assistant", [{"type": "tool_use", "id": name, "name": "Bash", "input": {"command": command}}])
        line("user", [{"type": "tool_result", "tool_use_id": name, "content": output, "is_error": failed}])

    line("user", f"Make the checks pass.\n{one.text}")
    for _ in range(3):
        call(f"make check\n{one.text}", f"Error: the gate is shut\n{one.text}\nmake: *** [check] Error 2", True)
    call(f"make gate\n{one.text}", one.text, False)
    call(f"make check\n{one.text}", "12 passed", False)
    line("assistant", f"The checks pass after `make gate`.\n{one.text}")
    return [json.dumps(each).encode() + b"\n" for each in lines]


def test_what_is_drawn_from_a_session_that_keeps_its_secrets_holds_none(tmp_path: Path) -> None:
    used = ALL[::3]

    async def come(one: Planted, folder: Path) -> bytes:
        async with ireneo.open(folder / "a.db", durability="normal", keep_secrets=True) as memory:
            for done in await progress_of(memory.import_log, run_with(one), log_format("claude-code"), name="run"):
                session = await memory.session(done.session)
            learned = await progress_of(memory.learn)
            assert learned
            assert await progress_of(memory.work, until_idle=True)
            messages = await session.messages()
            given: list[object] = [learned, await memory.lessons(), await memory.runs(), await memory.claims()]
            given += [await session.diary(), await memory.brief(goal="make the checks pass", project="garden")]
            given += [list(await memory.export_memories())]
            given.append(await memory.check("Bash", {"command": f"make check\n{one.text}"}))
        assert left(msgspec.json.encode(messages), [one]) != []
        return str(given).encode()

    for number, one in enumerate(used):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert left(asyncio.run(come(one, folder)), [one]) == []


def test_signed_thinking_with_a_secret_goes_whole_and_that_of_its_loop_with_it() -> None:
    (one,) = [planted("github classic", 7)]
    thought = {"type": "thinking", "thinking": f"They gave me {one.text}", "signature": "c2ln"}
    plain = {"type": "thinking", "thinking": "I look at it.", "signature": "c2lu"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make"}}
    back = {"type": "tool_result", "tool_use_id": "toolu_1", "content": one.text}
    done = {"type": "text", "text": "Done."}

    async def shown(*messages: tuple[str, list[dict[str, object]]]) -> str:
        async with ireneo.open(":memory:") as memory:
            session = await memory.session("s")
            for role, content in messages:
                await session.append({"role": role, "content": content}, format="anthropic")
            return json.dumps((await session.context(budget=50_000, to="anthropic")).messages)

    said: list[dict[str, object]] = [{"type": "text", "text": "Go."}]
    first = (("user", said), ("assistant", [thought, call]), ("user", [back]), ("assistant", [plain, done]))
    told = asyncio.run(shown(*first))
    assert left(told.encode(), [one]) == []
    assert '"thinking"' not in told
    assert '"toolu_1"' in told
    later = asyncio.run(shown(*first, ("user", said), ("assistant", [plain, done])))
    assert later.count(json.dumps(plain)) == 1

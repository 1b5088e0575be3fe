"""Several logs in one session, one behind the other: what is there is left as it is, what is new is added."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator, Sequence

import pytest

import ireneo
from ireneo.engine import imports as joined
from ireneo.errors import BadInput, UnreadableLog
from ireneo.formats.logs.format import log_format

CHAT = log_format("chat")


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined, "BATCH", 4)


def lines(*said: str) -> list[bytes]:
    return [
        json.dumps({"author": "Vera", "text": text, "id": number}).encode() + b"\n" for number, text in enumerate(said)
    ]


def numbered(size: int, word: str = "line") -> list[bytes]:
    return lines(*(f"{word} {number}" for number in range(size)))


async def take(memory: ireneo.Memory, *logs: Sequence[bytes]) -> list[int]:
    done = await memory.import_file(*(io.BytesIO(b"".join(log)) for log in logs), session="gate", format="chat")
    return [each.new for each in done.sessions]


async def told(memory: ireneo.Memory) -> list[str]:
    return [message.text for message in await (await memory.session("gate")).messages()]


async def test_one_stands_behind_the_other_and_importing_again_changes_nothing() -> None:
    async with ireneo.open(":memory:") as memory:
        one, two = numbered(9, "first"), numbered(3, "second")
        assert await take(memory, one, two) == [9, 3]
        story = [f"first {n}" for n in range(9)] + [f"second {n}" for n in range(3)]
        assert await told(memory) == story
        assert await take(memory, one, two) == [0, 0]
        assert await take(memory, one) == [0]
        assert await told(memory) == story[:9], "the session is what its logs say, all of them named"
        assert await take(memory, one, two, lines("third")) == [0, 0, 1]
        assert await told(memory) == [*story, "third"]
        (info,) = await memory.sessions()
        assert (info.messages, info.source) == (13, "chat:gate")


async def test_ids_that_repeat_from_one_log_to_the_next_stand_behind_its_name() -> None:
    async with ireneo.open(":memory:") as memory:
        await take(memory, numbered(2, "first"), numbered(2, "second"))
        session = await memory.session("gate")
        assert [each.draft.source_id for each in await session.messages()] == ["0", "1", "log-2:0", "log-2:1"]


async def test_an_import_that_is_interrupted_keeps_what_it_had_and_goes_on() -> None:
    def broken() -> Iterator[bytes]:
        yield from numbered(10)[:7]
        raise KeyboardInterrupt

    async with ireneo.open(":memory:") as memory:
        for session in (None, "gate"):
            with pytest.raises(KeyboardInterrupt):
                await memory.import_log(broken(), CHAT, name="gate", session=session)
            assert await told(memory) == [], "nobody sees half a chat as the whole of it"
        assert await take(memory, numbered(10)) == [10]
        assert await told(memory) == [f"line {n}" for n in range(10)]


async def test_what_was_said_here_since_is_kept_on_a_branch_where_the_chat_goes_on_otherwise() -> None:
    async with ireneo.open(":memory:") as memory:
        one, two = numbered(5, "first"), lines("second")
        await take(memory, one)
        session = await memory.session("gate")
        await session.append("I go on by myself.")
        assert await take(memory, one) == [0]
        assert (await told(memory))[-1] == "I go on by myself.", "the chat ends where it ended"
        report = await memory.import_file(io.BytesIO(b"".join([*one, *two])), session="gate", format="chat")
        assert [each.kept for each in report.sessions] == ["main-2"]
        assert await told(memory) == [*(f"first {n}" for n in range(5)), "second"]
        kept = await memory.session("gate", branch="main-2")
        assert (await kept.messages())[-1].text == "I go on by myself."


async def test_another_chat_is_not_taken_into_a_session() -> None:
    async with ireneo.open(":memory:") as memory:
        one = numbered(5, "first")
        await take(memory, one)
        with pytest.raises(BadInput, match="holds another chat"):
            await take(memory, lines("quite another"))
        assert len(await told(memory)) == 5
        assert sum(info.messages for info in await memory.sessions()) == 5
        edited = [*lines("Edited.", *(f"first {n}" for n in range(1, 5)))]
        assert await take(memory, edited) == [5]
        assert (await told(memory))[:2] == ["Edited.", "first 1"]


async def test_a_chat_that_has_changed_is_taken_as_it_is_now() -> None:
    async with ireneo.open(":memory:") as memory:
        whole = ("one", "two", "three", "four", "five")
        for said in (whole, whole[:3], ("one", "other", "three"), whole, ("one", "three", "four")):
            for session in (None, "gate"):
                await memory.import_log(lines(*said), CHAT, name="gate", session=session)
                assert await told(memory) == list(said)


async def test_a_chat_stands_as_it_is_after_a_rewind_here_unless_it_was_gone_on_with() -> None:
    async with ireneo.open(":memory:") as memory:
        await take(memory, numbered(6))
        session = await memory.session("gate")
        await session.rewind("1")
        assert await take(memory, numbered(6)) == [0]
        assert len(await told(memory)) == 6
        await session.rewind("1")
        await session.append("Another way.")
        assert await take(memory, numbered(6)) == [0]
        assert (await told(memory))[1:] == ["line 1", "Another way."]
        assert await take(memory, numbered(7)) == [1]
        assert (await told(memory))[-1] == "line 6"
        assert sorted(await session.branches()) == ["main", "main-2"]


async def test_logs_of_agents_are_joined_by_their_paths() -> None:
    async with ireneo.open(":memory:") as memory:
        log = b"\n".join(json.dumps({"role": "user", "content": text}).encode() for text in ("one", "two"))
        done = await memory.import_file(io.BytesIO(log), io.BytesIO(log), session="gate", format="openai")
        assert [(each.session, each.messages, each.new) for each in done.sessions] == [("gate", 2, 2)] * 2
        assert await told(memory) == ["one", "two", "one", "two"]


async def test_what_each_log_adds_is_told_with_its_faults() -> None:
    async with ireneo.open(":memory:") as memory:
        logs = [b"".join([*lines("one"), b'{"oops\n']), b"".join(lines("two"))]
        dones = (await memory.import_file(*map(io.BytesIO, logs), session="gate", format="chat")).sessions
        (info,) = await memory.sessions()
        assert sum(done.tokens for done in dones) == info.tokens
        assert [[fault.line for fault in done.faults] for done in dones] == [[2], []]
        with pytest.raises(UnreadableLog, match="Line 1"):
            await memory.import_file(io.BytesIO(b'{"oops\n{"a": 1}\n'), session="gate", format="chat")


@pytest.mark.parametrize(
    ("author", "dated", "heard"), [("user", True, True), ("user", False, False), ("Vera", True, False)]
)
def test_of_a_chat_without_an_assistant_what_a_user_says_on_a_day_is_read(
    author: str, dated: bool, heard: bool
) -> None:
    line = {"author": author, "text": "I'm allergic to peanuts."} | ({"at": "2026-03-01T10:00:00Z"} if dated else {})

    async def read() -> int:
        async with ireneo.open(":memory:") as memory:
            await memory.import_file(io.BytesIO(json.dumps(line).encode()), session="gate", format="chat")
            await memory.work(until_idle=True)
            return len(await memory.memories())

    assert asyncio.run(read()) == heard

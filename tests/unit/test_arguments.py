"""Arguments of a wrong type, and empty names, are refused in a sentence, the same by both faces."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import ireneo
from ireneo.errors import BadInput, SessionNotFound, StoreError

Asking = Callable[[Any, Any], Awaitable[object]]


@pytest.mark.parametrize(
    ("asking", "sentence"),
    [
        (lambda memory, session: memory.session(None), "`id` is None; give a string."),
        (lambda memory, session: memory.session(5), "`id` is 5; give a string."),
        (lambda memory, session: memory.session(" "), "`id` is empty; give one."),
        (lambda memory, session: session.expand(None), "`id` is None; give a string."),
        (lambda memory, session: session.expand(""), "`id` is empty; give one."),
        (lambda memory, session: session.rewind(""), "There is no message '' in session talk"),
        (lambda memory, session: session.context(True), "`budget` is True; give a whole number."),
        (lambda memory, session: session.context(2**63), "`budget` is too large for 64 bits; give a whole number."),
        (lambda memory, session: session.messages(0, 10**30), "`last` is too large for 64 bits; give a whole number."),
        (lambda memory, session: session.messages(-3), "`first` is -3 and `last` None; give positions from 0"),
        (lambda memory, session: session.messages(5, 2), "`first` is 5 and `last` 2; give positions from 0"),
        (
            lambda memory, session: session.context(1_000, thinking="turns"),
            "`thinking` is 'turns'; give 'prefix' or 'turn' or 'none'.",
        ),
        (lambda memory, session: session.fork("side", at=3), "`at` is 3; give a string."),
        (lambda memory, session: memory.check("Bash", None), "`arguments` is None; give a mapping or a string."),
        (
            lambda memory, session: memory.import_memories(["x.md"]),
            "`files` holds 'x.md'; give a list, each",
        ),
        (lambda memory, session: memory.import_file(5), "`files` is 5; give a string or a path or an open file."),
        (lambda memory, session: memory.get("m_abcdefg"), "`ids` is 'm_abcdefg'; give a list, each a string."),
        (lambda memory, session: memory.get([5]), "`ids` holds 5; give a list, each a string."),
        (lambda memory, session: memory.forget(subject="x", preview="no"), "`preview` is 'no'; give True or False."),
        (lambda memory, session: memory.recall("x", at="2026-01-01"), "give a datetime with a zone."),
        (lambda memory, session: memory.work(on_progress=3), "`on_progress` is 3; give a function."),
        (lambda memory, session: memory.scratchpad("talk").write(plan="all"), "`plan` is 'all'; give a list"),
    ],
)
async def test_what_is_of_a_wrong_type_is_refused_in_a_sentence(asking: Asking, sentence: str) -> None:
    async with ireneo.open(":memory:") as memory:
        with pytest.raises(BadInput) as refused:
            await asking(memory, await memory.session("talk"))
        assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("url", "settings", "sentence"),
    [
        (None, {}, "`url` is None; give a string or a path."),
        ("", {}, "':memory:' for a temporary one"),
        ("mysql://here/memory", {}, "'mysql://here/memory' is not a known kind of database"),
        (":memory:", {"space": None}, "`space` is None; give a string."),
        (":memory:", {"space": " "}, "`space` is empty; give one."),
        (":memory:", {"tokens": 3}, "`tokens` is 3; give 'estimate' or 'o200k' or a Tokenizer."),
        (":memory:", {"tokens": Path()}, "`tokens` is PosixPath, which lacks `count`; give 'estimate'"),
        (":memory:", {"embedder": []}, "`embedder` is list, which lacks `name` and `dimensions` and `embed`; give"),
        (":memory:", {"model": 3}, "`model` is 3; give a string or a LanguageModel or a mapping"),
        (":memory:", {"embedder": 3}, "`embedder` is 3; give a string or an Embedder."),
        (":memory:", {"durability": "x"}, "`durability` is 'x'; give 'full' or 'normal'."),
        (":memory:", {"limits": 3}, "`limits` is 3; give a Limits."),
    ],
)
def test_a_wrong_setting_is_refused_on_opening_by_both_faces(url: str, settings: dict[str, Any], sentence: str) -> None:
    async def opened() -> None:
        async with ireneo.open(url, **settings):
            pass

    with pytest.raises(BadInput) as refused:
        asyncio.run(opened())
    assert sentence in str(refused.value)
    with pytest.raises(BadInput) as again:
        ireneo.sync.open(url, **settings)
    assert str(again.value) == str(refused.value)


def test_a_closed_memory_says_so_in_the_same_words_in_both_faces(tmp_path: Path) -> None:
    async def late() -> None:
        async with ireneo.open(tmp_path / "memory.db") as memory:
            pass
        await memory.sessions()

    with pytest.raises(StoreError) as refused:
        asyncio.run(late())
    with ireneo.sync.open(tmp_path / "memory.db") as memory:
        pass
    with pytest.raises(StoreError) as again:
        memory.sessions()
    assert type(again.value) is type(refused.value)
    assert str(again.value) == str(refused.value) == "The memory is closed; open it again."


async def test_messages_appended_at_once_stand_in_the_order_of_the_calls() -> None:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("talk")
        said = [f"This is message {number}." for number in range(20)]
        await asyncio.gather(*map(session.append, said))
        assert [message.text for message in await session.messages()] == said


async def test_a_memory_is_not_emptied_by_an_update() -> None:
    async with ireneo.open(":memory:") as memory:
        known = (await memory.remember("The user likes tea.")).record
        with pytest.raises(BadInput, match="The new text is empty"):
            await memory.update(known.id, text="")
        assert list(await memory.get([known.id])) == [known]


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("  ", "message 0: it has no content"),
        ({"role": "user"}, "message 0: it has no content"),
        ({"role": "user", "content": ""}, "message 0: it has no content"),
        ({"role": "user", "content": "Hello.", "timestamp": "yesterday"}, "its `timestamp` 'yesterday' is no time"),
    ],
)
async def test_a_message_that_says_nothing_or_has_no_real_time_is_refused(message: object, sentence: str) -> None:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("talk")
        with pytest.raises(BadInput) as refused:
            await session.append(message)
        assert sentence in str(refused.value)
        assert await memory.sessions() == []
        await session.append({"role": "assistant", "content": ""})
        assert len(await session.messages()) == 1, "some models end their turn without a word"


async def test_a_session_that_is_not_there_is_told_rather_than_searched() -> None:
    async with ireneo.open(":memory:") as memory:
        with pytest.raises(SessionNotFound):
            await memory.recall("Where are the files?", session="nosuch")
        with pytest.raises(BadInput, match="`tool` is empty"):
            await memory.check("", "ls")


async def test_a_listed_session_has_the_id_that_opens_it() -> None:
    async with ireneo.open(":memory:") as memory:
        await (await memory.session("talk")).append("The ferry leaves at nine.")
        (info,) = await memory.sessions()
        assert info.id == info.key.session == "talk"


async def test_a_message_shows_itself_on_one_line() -> None:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("talk")
        await session.append("The ferry leaves at nine. " * 80)
        await session.pin("Never sail at night.")
        (message,) = await session.messages()
        assert repr(message).startswith(f"Message(id={message.id[:9]!r}, position=0, turn=1")
        assert len(repr(message)) < 300


def test_whatever_counts_is_a_tokenizer() -> None:
    class Thirds:
        def count(self, text: str) -> int:
            return len(text) // 3

    cut = ireneo.compact([{"role": "user", "content": "The ferry leaves at nine."}], budget=300, tokens=Thirds())
    assert cut.tokens >= len("The ferry leaves at nine.") // 3

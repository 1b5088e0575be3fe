"""Each message is read in the format whose marks it bears, at every door; what nothing tells is refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

import ireneo
from ireneo.errors import UnreadableLog
from ireneo.log.message import Opaque, Part, Text, Thinking

Message = dict[str, Any]
GO: Message = {"role": "user", "content": "Go."}
DONE: Message = {"role": "assistant", "content": "Done."}
ANTHROPIC: list[Message] = [
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "tool_use", "id": "a", "name": "run", "input": {"x": 1}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "fine"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
]
OPENAI: list[Message] = [
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "b", "type": "function", "function": {"name": "run", "arguments": '{"x":1}'}}],
    },
    {"role": "tool", "tool_call_id": "b", "content": "fine"},
    DONE,
]
RESPONSES: list[Message] = [
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbA=="},
    {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "run", "arguments": '{"x":1}'},
    {"type": "function_call_output", "call_id": "c", "output": "fine"},
    {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
]
GEMINI: list[Message] = [
    {"role": "model", "parts": [{"functionCall": {"name": "run", "args": {"x": 1}}, "thoughtSignature": "c2ln"}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "run", "response": {"output": "fine"}}}]},
    {"role": "model", "parts": [{"text": "Done."}]},
]
LOOPS = {"anthropic": ANTHROPIC, "gemini": GEMINI, "openai": OPENAI, "openai-responses": RESPONSES}
each_loop = pytest.mark.parametrize("name", sorted(LOOPS))
each_other = pytest.mark.parametrize("other", sorted(LOOPS))


async def _told(appends: Sequence[object], to: str | None) -> tuple[list[Part], list[ireneo.Context]]:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("s")
        for each in appends:
            await session.append(each)
        again = await memory.session("s")
        parts = [part for message in await again.messages() for part in message.parts]
        return parts, [await each.context(100_000, to=to) for each in (session, again)]


def told(appends: Sequence[object], to: str | None = None) -> tuple[list[Part], list[ireneo.Context]]:
    return asyncio.run(_told(appends, to))


def kinds(parts: Sequence[Part]) -> list[str]:
    return [type(part).__name__ for part in parts if not isinstance(part, Thinking)]


@each_loop
@pytest.mark.parametrize(
    "begun", [["Go."], [GO], ["Go.", DONE, GO]], ids=["words", "plain message", "plain conversation"]
)
def test_plain_messages_settle_no_format(name: str, begun: list[object]) -> None:
    parts, contexts = told([*begun, *LOOPS[name]])
    assert kinds(parts) == ["Text"] * len(begun) + ["Call", "Result", "Text"]
    for context in contexts:
        # The first message that tells is the session's own, and is remembered with it.
        assert context.format == name
        assert context.violations == context.repaired == ()
        assert context.messages[-len(LOOPS[name]) :] == LOOPS[name]


@each_loop
@each_other
def test_a_session_goes_on_in_another_format(name: str, other: str) -> None:
    parts, (context, _) = told(["Go.", *LOOPS[name], GO, *LOOPS[other]])
    assert kinds(parts) == ["Text", "Call", "Result", "Text"] * 2
    assert (context.format, context.violations) == (name, ())
    results = [part.text for part in ireneo.chat_format(name).decode(context.messages) for part in part.results]
    assert results == ["fine", "fine"]


@each_loop
@each_other
def test_a_list_in_two_formats_comes_out_in_the_one_that_is_named(name: str, other: str) -> None:
    messages = [GO, DONE, GO, *LOOPS[name], GO, *LOOPS[other]]
    cut = ireneo.compact(messages, 100_000, to=other)
    assert (cut.format, cut.violations) == (other, ())
    read = ireneo.chat_format(other).decode({"messages": cut.messages})
    assert [draft.results[0].text for draft in read if draft.results] == ["fine", "fine"]
    if name != other:
        with pytest.raises(
            UnreadableLog, match=rf"several formats \({name} and {other}\); name the one to write with `to`"
        ):
            ireneo.compact(messages, 100_000)


@each_loop
@each_other
def test_what_is_not_in_the_format_that_is_named_is_refused(name: str, other: str) -> None:
    async def appended() -> None:
        async with ireneo.open(":memory:") as memory:
            session = await memory.session("s")
            await session.append(["Go.", *LOOPS[name]], format=other)

    if name == other:
        asyncio.run(appended())
    else:
        with pytest.raises(UnreadableLog, match=rf'message 1: it is in the format {name}.*format="{name}"'):
            asyncio.run(appended())


@each_loop
def test_a_fork_knows_the_format(name: str) -> None:
    async def forked() -> ireneo.Context:
        async with ireneo.open(":memory:") as memory:
            session = await memory.session("s")
            fork = await (await memory.session("s")).fork("other") if await session.append("Go.") else session
            await session.append(LOOPS[name])
            return await fork.context(10_000)

    assert asyncio.run(forked()).format == name


def test_a_block_that_nothing_tells_the_format_of_is_refused() -> None:
    block = {"role": "assistant", "content": [{"type": "weather_report", "sky": "grey"}]}
    with pytest.raises(
        UnreadableLog, match=r"message 0: nothing tells which provider's a 'weather_report' block is; .*format="
    ):
        told(["Go.", block])
    # In a session whose format is known it is that format's, and is carried to it unchanged.
    parts, (context, _) = told([*ANTHROPIC, GO, block])
    assert parts[-1] == Opaque(format="anthropic", payload=block["content"][0])
    assert context.messages[-1] == block


def test_objects_of_frameworks_go_on_from_words() -> None:
    call: Any = {"name": "run", "args": {"x": 1}, "id": "a", "type": "tool_call"}
    chain = [AIMessage("", tool_calls=[call], id="1"), ToolMessage("fine", tool_call_id="a", id="2")]
    parts, contexts = told(["Go.", *chain])
    assert kinds(parts) == ["Text", "Text", "Call", "Result"]
    for context in contexts:
        assert isinstance(context.messages[0], HumanMessage)
        assert context.messages[1:] == chain
    history = [ModelRequest([UserPromptPart("Go.")]), ModelResponse([TextPart("Done.")])]
    _, contexts = told(["Hello.", *history])
    assert [context.messages[-2:] for context in contexts] == [history, history]


def test_dictionaries_of_a_framework_come_back_as_such() -> None:
    flat = {"type": "ai", "data": {"type": "ai", "content": "Done.", "id": "1", "tool_calls": []}}
    _, contexts = told(["Go.", flat])
    assert all(isinstance(message, dict) for context in contexts for message in context.messages)


def test_a_plain_message_among_a_frameworks_objects_is_read() -> None:
    state = {"messages": [{"role": "user", "content": "Go."}, AIMessage("Done.", id="1")]}
    cut = ireneo.compact(state, 1_000)
    assert [message.content for message in cut.messages] == ["Go.", "Done."]
    assert isinstance(cut.messages[0], HumanMessage)


@pytest.mark.parametrize(
    "given",
    [
        {"system": "Be brief.", "messages": [GO, *OPENAI]},
        {"system": "Be brief.", "messages": [GO, *ANTHROPIC]},
        {"instructions": "Be brief.", "input": [GO, *RESPONSES]},
        {"systemInstruction": {"parts": [{"text": "Be brief."}]}, "contents": [GO, *GEMINI]},
        {"instructions": "Be brief.", "input": "Go."},
    ],
)
def test_a_request_is_read_with_the_prompt_that_stands_beside_its_messages(given: Mapping[str, object]) -> None:
    cut = ireneo.compact(given, 1_000)
    assert "Be brief." in (cut.system or str(cut.messages[0]))
    parts, _ = told([given])
    assert parts[:2] == [Text(text="Be brief."), Text(text="Go.")]


@pytest.mark.parametrize(("key", "value"), [("messages", 7), ("messages", "Go."), ("contents", {}), ("input", None)])
def test_a_request_whose_messages_are_no_list_is_refused(key: str, value: object) -> None:
    for read in (lambda: ireneo.compact({key: value}, 1_000), lambda: told([{key: value}])):
        with pytest.raises(UnreadableLog, match=f"`{key}` is .*, not a list of messages"):
            read()


def test_a_transcript_that_begins_with_words_is_imported_as_what_it_is(tmp_path: Path) -> None:
    # Longer than what is looked at to recognise a file.
    long = [message for number in range(80) for message in ({"role": "user", "content": f"{number} " * 400}, DONE)]
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"messages": [*long, GO, *ANTHROPIC]}))

    async def imported() -> list[Part]:
        async with ireneo.open(":memory:") as memory:
            with file.open("rb") as lines:
                log = ireneo.recognise(file.read_bytes()[:65_536], file.name)
                (done,) = (await memory.import_log(lines, log, name="run")).sessions
            session = await memory.session(done.session)
            return [part for message in await session.messages() for part in message.parts]

    parts = asyncio.run(imported())
    assert kinds(parts)[-3:] == ["Call", "Result", "Text"]
    assert isinstance(parts[-4], Thinking)


def test_where_a_cache_may_end_is_kept_from_before_the_format_was_told() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    system = {"role": "system", "content": [{"type": "text", "text": "Be brief."} | mark]}
    first = {"role": "user", "content": [{"type": "text", "text": "Go."} | mark]}
    _, contexts = told([system, first, *ANTHROPIC], to="anthropic")
    for context in contexts:
        assert context.system == system["content"]
        assert context.messages == [first, *ANTHROPIC]
        assert context.repaired == ()

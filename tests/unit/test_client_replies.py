"""What the providers' clients and the frameworks return is taken as it is, and comes back as what a provider takes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse
from pydantic_ai.models.test import TestModel

import ireneo
from ireneo.errors import BadInput, UnreadableLog
from ireneo.log.message import Call, Part, Result, Text, Thinking

CALL = {"id": "a", "type": "function", "function": {"name": "run", "arguments": '{"x":1}'}}
REPLY: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "refusal": None,
    "annotations": [],
    "tool_calls": [CALL],
}
BLOCKS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
    {"type": "text", "text": "I look."},
    {"type": "tool_use", "id": "a", "name": "run", "input": {"x": 1}},
]
ITEMS: list[dict[str, Any]] = [
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbA=="},
    {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "run", "arguments": '{"x":1}'},
]
ANSWERS: dict[str, dict[str, Any]] = {
    "openai": {"role": "tool", "tool_call_id": "a", "content": "fine"},
    "anthropic": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "fine"}]},
    "openai-responses": {"type": "function_call_output", "call_id": "a", "output": "fine"},
    "gemini": {"role": "user", "parts": [{"functionResponse": {"name": "run", "response": {"output": "fine"}}}]},
}
SIGNED = {"functionCall": {"name": "run", "args": {"x": 1}}, "thoughtSignature": "+//+"}
SENT: dict[str, list[dict[str, Any]]] = {
    "openai": [REPLY],
    "anthropic": [{"role": "assistant", "content": BLOCKS}],
    "openai-responses": ITEMS,
    "gemini": [{"role": "model", "parts": [SIGNED]}],
}


@cache
def clients() -> SimpleNamespace:
    """What clients return; they are imported by whoever asks first, since that takes each worker some seconds."""
    from anthropic.types import Message as AnthropicMessage
    from anthropic.types import RawMessageStopEvent, ToolUseBlock
    from google.genai import types as google
    from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessage
    from openai.types.responses import Response

    completion = ChatCompletion.model_validate(
        {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": REPLY}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
    )
    message = AnthropicMessage.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": BLOCKS,
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    response = Response.model_validate(
        {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": "m",
            "output": ITEMS,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }
    )
    generated = google.GenerateContentResponse.model_validate(
        {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [
                            {"function_call": {"name": "run", "args": {"x": 1}}, "thought_signature": b"\xfb\xff\xfe"}
                        ],
                    }
                }
            ]
        }
    )
    return SimpleNamespace(
        google=google,
        reply=ChatCompletionMessage,
        chunk=ChatCompletionChunk,
        stop=RawMessageStopEvent,
        tool_use=ToolUseBlock,
        completion=completion,
        choice=completion.choices[0],
        message=message,
        response=response,
        generated=generated,
    )


async def _told(appends: Sequence[object], budget: int = 100_000) -> tuple[list[Part], ireneo.Context]:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("s")
        for each in appends:
            await session.append(each)
        return [part for each in await session.messages() for part in each.parts], await session.context(budget)


def told(*appends: object) -> tuple[list[Part], ireneo.Context]:
    return asyncio.run(_told(appends))


TWO_CHOICES = r"reply with 2 choices.*choices\[0\]\.message"
RETURNED: list[tuple[str, Callable[[SimpleNamespace], object]]] = [
    ("openai", lambda of: of.completion),
    ("openai", lambda of: of.choice),
    ("openai", lambda of: of.choice.message),
    ("openai", lambda of: of.completion.model_dump(exclude_unset=True)),
    ("openai", lambda of: REPLY | {"tool_calls": of.choice.message.tool_calls}),
    ("anthropic", lambda of: of.message),
    ("anthropic", lambda of: of.message.model_dump(exclude_unset=True)),
    ("anthropic", lambda of: of.message.model_dump()),
    ("anthropic", lambda of: {"role": "assistant", "content": of.message.content}),
    ("anthropic", lambda of: {"role": "assistant", "content": tuple(of.message.content)}),
    ("openai-responses", lambda of: of.response),
    ("openai-responses", lambda of: of.response.output),
    ("openai-responses", lambda of: of.response.model_dump(mode="json", exclude_unset=True)),
    ("openai-responses", lambda of: of.response.model_dump(mode="json")),
    ("gemini", lambda of: of.generated),
]


@pytest.mark.parametrize(("name", "given"), RETURNED, ids=[f"{name}-{i}" for i, (name, _) in enumerate(RETURNED)])
def test_what_a_client_returned_is_taken_as_it_is(name: str, given: Callable[[SimpleNamespace], object]) -> None:
    returned = given(clients())
    parts, context = told("Go.", returned, ANSWERS[name])
    spoken = [part for part in parts if not isinstance(part, Thinking | Text)]
    assert [type(part) for part in spoken] == [Call, Result]
    assert isinstance(spoken[0], Call)
    assert (spoken[0].name, spoken[0].arguments) == ("run", {"x": 1})
    assert (context.format, context.violations, context.repaired) == (name, (), ())
    # What the provider told with its reply it does not take back.
    assert context.messages[1:-1] == SENT[name]
    first, last = context.messages[0], context.messages[-1]
    cut = ireneo.compact([first, *(returned if isinstance(returned, list) else [returned]), last], 100_000)
    assert (cut.format, cut.messages) == (name, context.messages)


def test_a_reply_that_was_dumped_whole_is_sent_without_calls_that_are_null() -> None:
    reply = clients().reply(role="assistant", content="Done.")
    _, context = told("Go.", reply.model_dump(), "And?")
    assert context.format == "openai"
    assert context.messages[1]["content"] == "Done."
    assert not {"tool_calls", "function_call"} & context.messages[1].keys()


def test_contents_of_googles_client_come_back_as_such() -> None:
    google, generated = clients().google, clients().generated
    asked = google.Content(role="user", parts=[google.Part(text="Go.")])
    _, context = told(asked, generated, google.Content.model_validate(ANSWERS["gemini"]))
    assert context.messages == [
        asked,
        generated.candidates[0].content,
        google.Content.model_validate(ANSWERS["gemini"]),
    ]
    assert ireneo.compact(context.messages, 1_000).messages == context.messages
    assert ireneo.compact(context.messages, 1_000, to="openai").messages[0] == {"role": "user", "content": "Go."}


def test_what_a_client_parsed_of_a_reply_is_not_sent_back() -> None:
    call = CALL | {"function": {"name": "run", "arguments": '{"x":1}', "parsed_arguments": {"x": 1}}}
    parsed = {"role": "assistant", "content": "{}", "parsed": {"a": 1}, "tool_calls": [call]}
    from openai.types.chat import ParsedChatCompletion

    completion = clients().completion.model_dump(exclude_unset=True) | {
        "choices": [{"index": 0, "finish_reason": "stop", "message": parsed}]
    }
    for returned in (completion, ParsedChatCompletion[Any].model_validate(completion)):
        _, context = told("Go.", returned, ANSWERS["openai"])
        assert context.messages[1] == {"role": "assistant", "content": "{}", "tool_calls": [CALL]}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (lambda of: of.completion.model_copy(update={"choices": [of.choice] * 2}), TWO_CHOICES),
        (lambda of: of.completion.model_copy(update={"choices": []}), "reply with 0 choices"),
        (
            lambda of: of.chunk.model_validate(
                {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
            ),
            "a ChatCompletionChunk, a piece of a stream; hand in the whole message",
        ),
        (lambda of: of.stop(type="message_stop"), "a RawMessageStopEvent, a piece of a stream"),
        (
            lambda of: of.google.GenerateContentResponse.model_validate({"candidates": [{"finish_reason": "SAFETY"}]}),
            "without any",
        ),
        (lambda of: of.message.content[2], "a 'tool_use' is a part of a message; hand in the whole message"),
        (
            lambda of: [of.tool_use(type="tool_use", id="a", name="run", input={})],
            "a 'tool_use' is a part of a message",
        ),
        (lambda of: of.choice.message.tool_calls[0], "a 'function' is a part of a message"),
    ],
)
def test_a_piece_of_a_clients_reply_is_answered_by_what_to_hand_in(
    given: Callable[[SimpleNamespace], object], says: str
) -> None:
    with pytest.raises(UnreadableLog, match=says) as raised:
        told(given(clients()))
    assert str(raised.value).startswith("message 0")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (7, "it is a number; hand in a provider's message as a dictionary, what a client"),
        (None, "it is null; hand in"),
        (object(), "it is a Python object; hand in"),
        (("user", "Go."), "it is a Python tuple; hand in"),
        ([("user", "Go.")], "it is a Python tuple; hand in"),
        (b'{"role": "user"}', "it is a Python bytes; hand in"),
        ([["Go."]], "it is a list; hand in"),
        ({"content": "Go."}, "it has no role"),
        ({"role": "user", "content": [object()]}, "can't be written as JSON"),
    ],
)
def test_what_cannot_be_read_is_answered_by_what_to_hand_in(given: object, says: str) -> None:
    with pytest.raises(UnreadableLog, match=says) as raised:
        told(given)
    assert str(raised.value).startswith("message 0")


def test_a_place_is_that_of_what_was_handed_in() -> None:
    with pytest.raises(UnreadableLog, match="message 2: it is a number"):
        told(["Go.", clients().response, 7])
    broken = {"role": "assistant", "tool_calls": 7}
    with pytest.raises(UnreadableLog, match="message 2, tool_calls"):
        told(["Go.", clients().response, broken])
    for faulty, says in ((7, "message 1: it is a number"), (broken, "message 1, tool_calls")):
        with pytest.raises(UnreadableLog, match=says):
            ireneo.compact({"system": "Be brief.", "messages": [{"role": "user", "content": "Go."}, faulty]}, 1_000)


async def later() -> str:
    return "Done."


def test_a_reply_that_was_not_awaited_is_refused() -> None:
    reply = later()
    with pytest.raises(UnreadableLog, match="must be awaited first"):
        told(reply)
    reply.close()


async def test_the_result_of_an_agents_run_is_taken_and_goes_into_the_next() -> None:
    agent = Agent(TestModel(custom_output_text="Done."))
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("s")
        for number in range(3):
            history: list[ModelMessage] = (await session.context(10_000)).messages
            result = await agent.run(f"Go {number}.", message_history=history)
            await session.append(result)
            assert (await session.context(10_000)).messages == result.all_messages()
        whole = result.all_messages()
        assert len(whole) == 6
        assert all(isinstance(message, ModelRequest | ModelResponse) for message in whole)
        assert (await session.append(whole, after="root")).new == 0
        assert ireneo.compact(result, 10_000).messages == whole
        assert ireneo.compact(whole, 10_000).messages == whole


def test_a_prompt_that_was_filled_in_is_taken() -> None:
    from langchain_core.prompts import ChatPromptTemplate

    prompt = ChatPromptTemplate.from_messages([("system", "Be brief."), ("human", "{words}")])
    _, context = told(prompt.invoke({"words": "Go."}), AIMessage("Done."))
    assert all(isinstance(message, BaseMessage) for message in context.messages)
    assert [message.content for message in context.messages] == ["Be brief.", "Go.", "Done."]


def test_objects_that_came_in_are_given_by_another_process_as_well(tmp_path: Path) -> None:
    async def told_twice() -> list[Any]:
        chain = [
            AIMessage("", id="1", tool_calls=[{"name": "run", "args": {}, "id": "a"}]),
            ToolMessage("x", tool_call_id="a"),
        ]
        async with ireneo.open(tmp_path / "memory.db") as memory:
            await (await memory.session("s")).append(["Go.", *chain])
        async with ireneo.open(tmp_path / "memory.db") as memory:
            session = await memory.session("s")
            return [(await session.context(10_000)).messages, (await session.context(10_000, to="openai")).messages]

    own, other = asyncio.run(told_twice())
    assert [type(message) for message in own] == [HumanMessage, AIMessage, ToolMessage]
    assert all(isinstance(message, dict) for message in other)


def test_objects_of_a_library_that_is_gone_are_asked_for_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from ireneo.formats.chat import reading as replies

    gone = replies.TRAITS["langchain"]._replace(loader="langchain_that_is_gone.messages messages_from_dict")
    monkeypatch.setattr(replies, "TRAITS", {**replies.TRAITS, "langchain": gone})
    with pytest.raises(BadInput, match=r"came in as objects of langchain_that_is_gone.*or name another format: to="):
        ireneo.compact([HumanMessage("Go.")], 1_000)
    assert ireneo.compact([HumanMessage("Go.")], 1_000, to="openai").messages == [{"role": "user", "content": "Go."}]


def test_a_message_that_is_built_by_hand_is_taken() -> None:
    _, context = told("Go.", clients().reply(role="assistant", content="Done."))
    assert context.messages[1] == {"role": "assistant", "content": "Done."}


def test_a_reply_is_said_when_its_provider_says() -> None:
    async def said() -> list[datetime | None]:
        async with ireneo.open(":memory:") as memory:
            session = await memory.session("s")
            await session.append(
                ["Go.", clients().completion.model_copy(update={"created": 1_760_000_000}), ANSWERS["openai"]]
            )
            return [message.draft.at for message in await session.messages()]

    assert asyncio.run(said())[1] == datetime.fromtimestamp(1_760_000_000, UTC)

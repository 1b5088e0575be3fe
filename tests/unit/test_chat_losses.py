"""Nothing that stands beside the words goes in silence: it comes back, or a context says that it is left out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import ireneo
from ireneo.types import FormatName

Message = dict[str, Any]
CACHE: Message = {"cache_control": {"type": "ephemeral"}}
SYSTEM: list[Message] = [{"type": "text", "text": "You are careful."}, {"type": "text", "text": "Be brief."} | CACHE]
CITED: Message = {
    "type": "char_location",
    "cited_text": "Long.",
    "document_index": 0,
    "start_char_index": 0,
    "end_char_index": 5,
}
RICH: dict[str, list[Message]] = {
    "anthropic": [
        {
            "role": "user",
            "content": [
                {
                    "type": "document",
                    "source": {"type": "text", "media_type": "text/plain", "data": "Long."},
                    "title": "Plan",
                    "citations": {"enabled": True},
                }
                | CACHE,
                {"type": "text", "text": "Read it."},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "text", "text": "It says so.", "citations": [CITED]},
                {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srv_1",
                    "content": [
                        {"type": "web_search_result", "title": "x", "url": "https://x.org", "encrypted_content": "e"}
                    ],
                },
                {"type": "tool_use", "id": "a", "name": "run", "input": {}} | CACHE,
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "a",
                    "is_error": False,
                    "content": [
                        {"type": "text", "text": "fine"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
                        {
                            "type": "search_result",
                            "source": "s",
                            "title": "t",
                            "content": [{"type": "text", "text": "x"}],
                        },
                    ],
                }
                | CACHE,
                {"type": "text", "text": "And?", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
            ],
        },
        {"role": "assistant", "content": "Done."},
    ],
    "openai": [
        {"role": "system", "name": "boss", "content": [{"type": "text", "text": "Be brief."} | CACHE]},
        {
            "role": "user",
            "name": "ada",
            "content": [
                {"type": "text", "text": "Look."},
                {"type": "image_url", "image_url": {"url": "https://x.org/a.png", "detail": "low"}},
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
                {"type": "file", "file": {"file_id": "file_1"}},
            ],
        },
        {
            "role": "assistant",
            "content": "Hm.",
            "refusal": None,
            "annotations": [{"type": "url_citation", "url_citation": {"url": "https://x.org", "title": "x"}}],
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "run", "arguments": '{ "x": 1}'}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "fine"} | CACHE]},
        {"role": "assistant", "content": None, "refusal": "No."},
        {"role": "user", "content": "Say it."},
        {"role": "assistant", "content": None, "audio": {"id": "aud_1"}},
    ],
    "openai-responses": [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_image", "image_url": "https://x.org/a", "detail": "low"}],
        },
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Hm."}],
            "encrypted_content": "e",
        },
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [
                {
                    "type": "output_text",
                    "text": "So.",
                    "annotations": [{"type": "url_citation", "url": "https://x.org"}],
                }
            ],
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "a",
            "name": "run",
            "arguments": "{}",
            "status": "completed",
        },
        {
            "type": "function_call",
            "id": "fc_2",
            "call_id": "b",
            "name": "run",
            "arguments": "{}",
            "status": "completed",
        },
        {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "fine"}]},
        {"type": "function_call_output", "call_id": "b", "output": "fine"},
        {"type": "message", "id": "msg_2", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "aGk=", "displayName": "x"}}]},
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True},
                {"functionCall": {"name": "run", "args": {}}, "thoughtSignature": "c2ln"},
                {"functionCall": {"name": "run", "args": {"x": 1}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "run", "response": {"output": "fine"}}},
                {"functionResponse": {"name": "run", "response": {"error": "no", "code": 7}}},
            ],
        },
        {"role": "model", "parts": [{"executableCode": {"language": "PYTHON", "code": "1"}}, {"text": "Done."}]},
    ],
}


async def _kept(given: object, *, singly: bool, to: str | None = None, budget: int = 100_000) -> ireneo.Context:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("s")
        for each in given if singly and isinstance(given, list) else [given]:
            await session.append(each)
        return await session.context(budget, to=to)


def kept(given: object, *, singly: bool = False, to: str | None = None, budget: int = 100_000) -> ireneo.Context:
    return asyncio.run(_kept(given, singly=singly, to=to, budget=budget))


@pytest.mark.parametrize("name", sorted(RICH))
def test_what_is_not_cut_comes_back_equal(name: str) -> None:
    messages = RICH[name]
    told = [kept(messages, singly=True, to=name), kept(messages), ireneo.compact(messages, 100_000)]
    for context in told:
        assert (context.format, context.messages) == (name, messages)
        assert context.violations == context.repaired == ()


@pytest.mark.parametrize("singly", [False, True])
def test_a_system_prompt_keeps_where_its_cache_may_end(singly: bool) -> None:
    request = {"system": SYSTEM, "messages": RICH["anthropic"]}
    listed = [{"role": "system", "content": SYSTEM}, *RICH["anthropic"]]
    for context in (kept(request), kept(listed, singly=singly), ireneo.compact(request, 100_000)):
        assert (context.format, context.system) == ("anthropic", SYSTEM)
        assert context.messages == RICH["anthropic"]


def long_loop() -> list[Message]:
    out: list[Message] = []
    for turn in range(30):
        out += [
            {"role": "user", "content": [{"type": "text", "text": f"Look at file_{turn}.py."} | CACHE]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "I wonder. " * 9, "signature": "c2ln"},
                    {"type": "text", "text": "It says so.", "citations": [CITED]},
                    {"type": "tool_use", "id": f"a{turn}", "name": "run", "input": {}} | CACHE,
                ],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": f"a{turn}", "content": "fine " * 60} | CACHE],
            },
            {"role": "assistant", "content": [{"type": "text", "text": "Done.", "citations": [CITED]}]},
        ]
    return out


def unthought(message: Message) -> Message:
    return message | {"content": [block for block in message["content"] if block["type"] != "thinking"]}


@pytest.mark.parametrize("stored", [False, True])
def test_what_a_cut_leaves_keeps_its_keys(stored: bool) -> None:
    request = {"system": SYSTEM, "messages": long_loop()}
    cut = kept(request, budget=2_000) if stored else ireneo.compact(request, 2_000)
    assert cut.system == SYSTEM
    assert len(cut.messages) < len(long_loop())
    # The thinking before a rebuild goes; nothing else does.
    assert cut.messages[-4:] == [unthought(message) for message in long_loop()[-4:]]
    assert cut.repaired == ()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "openai",
            {
                "role": "assistant",
                "name": "bo",
                "content": "So.",
                "reasoning_content": "Hm.",
                "annotations": [{"x": 1}],
            },
        ),
        (
            "gemini",
            {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "So.", "partMetadata": {"x": 1}}]},
        ),
        (
            "pydantic-ai",
            {
                "kind": "response",
                "model_name": "m",
                "parts": [
                    {"part_kind": "thinking", "content": "Hm.", "signature": "c2ln"},
                    {"part_kind": "text", "content": "So.", "provider_details": {"x": 1}},
                ],
            },
        ),
        (
            "langchain",
            {
                "type": "ai",
                "data": {
                    "type": "ai",
                    "id": "1",
                    "name": "bo",
                    "response_metadata": {"x": 1},
                    "content": [
                        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                        {"type": "text", "text": "So.", "annotations": [{"x": 1}]},
                    ],
                },
            },
        ),
    ],
)
def test_a_message_without_its_thinking_keeps_the_rest(name: str, message: Message) -> None:
    filler = [
        each for turn in range(40) for each in (f"Question {turn}? " * 9, {"role": "assistant", "content": "No."})
    ]
    # It stands behind what is cut, in a turn that is over.
    context = ireneo.compact([*filler, "Go.", message, "Now?"], 800, to=name)
    written = [each for each in context.messages if "So." in str(each) and "x" in str(each)]
    assert len(written) == 1
    assert "Hm." not in str(written)
    assert "{'x': 1}" in str(written[0])


def left_out(context: ireneo.Context) -> str:
    return "\n".join(loss.message for loss in context.repaired)


@pytest.mark.parametrize(
    ("message", "to", "says"),
    [
        ({"role": "user", "content": "Hi.", "name": "ada"}, "anthropic", "its `name` is left out"),
        (
            {"role": "user", "content": [{"type": "text", "text": "Hi."} | CACHE]},
            "gemini",
            "its `cache_control` is left",
        ),
        (RICH["anthropic"][0], "openai", "a document block of anthropic is left out: openai has no place for it"),
        (
            {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}}]},
            "anthropic",
            r"audio/wav, 3 bytes is left out: anthropic has no place for it",
        ),
        ({"role": "assistant", "content": "Hi.", "reasoning_content": "Hm."}, "openai", "its thinking is left out"),
        (
            {"role": "assistant", "content": "Hi.", "reasoning_content": "Hm."},
            "anthropic",
            "thinking without a signature",
        ),
        (RICH["openai"][2], "anthropic", "its `annotations` is left out"),
        (
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "https://x.org/a", "detail": "low"}}],
            },
            "anthropic",
            "its `detail` is left out",
        ),
    ],
)
def test_what_a_format_has_no_place_for_is_said(message: Message, to: str, says: str) -> None:
    for context in (ireneo.compact([message], 10_000, to=to), kept([message], to=to)):
        assert context.violations == ()
        assert says in left_out(context)
        assert all(context.view[loss.index].id[:9] in loss.message for loss in context.repaired)


def test_what_a_list_breaks_is_said_where_it_was_repaired() -> None:
    call = {"type": "tool_use", "id": "a", "name": "run", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "b", "content": "fine"}
    broken = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": "Done."},
    ]
    for context in (ireneo.compact(broken, 10_000), kept(broken), kept(broken, singly=True)):
        assert context.violations == ()
        assert [(loss.rule, loss.index) for loss in context.repaired] == [
            ("unanswered-call", 1),
            ("orphaned-result", 2),
        ]
        assert "call 'a' of run has no result; one that says so stands in its place." in left_out(context)
        assert "the result names call 'b', which no message before it makes; it is told as a note." in left_out(context)


@pytest.mark.parametrize("singly", [False, True])
def test_an_item_does_not_outlive_the_reasoning_that_its_id_names(singly: bool) -> None:
    loop: list[Message] = []
    for turn in range(30):
        loop += [
            {"role": "user", "content": f"Look at file_{turn}.py."},
            {"type": "reasoning", "id": f"rs_{turn}", "summary": [], "encrypted_content": "c2VhbA==" * 40},
            {"type": "function_call", "id": f"fc_{turn}", "call_id": f"a{turn}", "name": "run", "arguments": "{}"},
            {"type": "function_call_output", "call_id": f"a{turn}", "output": "fine " * 60},
        ]
    whole = kept(loop, singly=singly)
    assert whole.messages == loop
    cut = kept(loop, singly=singly, budget=1_500)
    assert cut.violations == ()
    reasoned = {item["id"][3:] for item in cut.messages if item.get("type") == "reasoning" and "id" in item}
    named = {item["id"][3:] for item in cut.messages if item.get("type") == "function_call" and "id" in item}
    assert named <= reasoned
    assert any(item.get("type") == "function_call" for item in cut.messages)


@pytest.mark.parametrize("name", ["openai", "openai-responses"])
@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("nothing", "[The call failed.] nothing"),
        ("", "[The call failed.]"),
        ("Error: no such file", "Error: no such file"),
    ],
)
def test_a_call_that_failed_is_said_to_have_in_formats_without_a_flag(name: FormatName, output: str, told: str) -> None:
    listed: list[Message] = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "run", "input": {}}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "content": output, "is_error": True}],
        },
    ]
    written = list(ireneo.compact(listed, 2_000, to=name).messages)
    assert written[-1].get("content", written[-1].get("output")) == told
    if output != told:
        (result,) = ireneo.chat_format(name).decode(written)[-1].results
        assert (result.failed, result.text) == (True, output), "and is read so when it comes back"


def test_a_blank_message_that_comes_back_is_not_reported_as_left_out() -> None:
    messages: list[Message] = [
        {"role": "user", "content": "Hello."},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]},
        {"role": "assistant", "content": "\r"},
    ]
    context = kept(messages, singly=True)
    assert context.messages == messages
    assert not context.repaired

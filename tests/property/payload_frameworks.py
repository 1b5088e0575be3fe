"""Lists as LangChain and Pydantic AI write them."""

from __future__ import annotations

from hypothesis import strategies as st
from tests.property.payload_anthropic import blocks, thoughts
from tests.property.payload_words import Message, Messages, extras, json_values, maybe, objects, words

from ireneo.formats.chat.format import Payload

langchain_blocks = st.sampled_from(
    [
        {"type": "image", "base64": "aGk=", "mime_type": "image/png"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": "aGk="}},
        {"type": "file", "file_id": "f"},
        {"type": "non_standard", "value": {"a": 1}},
    ]
)
langchain_thoughts = st.sampled_from(
    [
        {"type": "reasoning", "reasoning": "Hm.", "extras": {"signature": "c2ln"}},
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "server_tool_call", "id": "s", "name": "web_search", "args": {}},
    ]
)


@st.composite
def langchain_lists(draw: st.DrawFn) -> Payload:
    said = words | st.just("") | st.lists(words | blocks | langchain_blocks, min_size=1, max_size=3)
    replied = words | st.lists(words | blocks | thoughts | langchain_thoughts, min_size=1, max_size=3)
    messages: Messages = []

    def add(kind: str, content: object, **fields: object) -> None:
        source = maybe(draw, lc_source=draw(st.sampled_from(["summarization", "async_subagent"])))
        more = maybe(
            draw, additional_kwargs=source, response_metadata={"x": 1}, name=None, type=kind, extra=draw(objects)
        )
        data = {"content": content, "id": f"m{len(messages)}"} | more | fields
        messages.append({"type": kind, "data": data} | draw(extras))

    if draw(st.booleans()):
        add("system", draw(words))
    for turn in range(draw(st.integers(1, 4))):
        add(draw(st.sampled_from(["human", "HumanMessageChunk"])), draw(said))
        ids = [f"c{turn}_{index}" for index in range(draw(st.integers(0, 2)))]
        made = [{"name": "run.it", "args": draw(objects), "id": name, "type": "tool_call"} for name in ids]
        broken = [{"name": "run", "args": "{", "id": f"b{turn}", "error": None}] if draw(st.booleans()) else []
        told: list[object] = [{"type": "tool_use", "id": name, "name": "run.it", "input": {}} for name in ids]
        content = [*told, "Look."] if draw(st.booleans()) else draw(replied)
        add("ai", content, tool_calls=made, invalid_tool_calls=broken)
        for name in draw(st.permutations([*ids, *(f"b{turn}" for _ in broken)])):
            status = draw(st.sampled_from(["success", "error"]))
            add("tool", draw(said), tool_call_id=name, **maybe(draw, status=status, artifact=draw(json_values)))
    return Payload(messages=messages)


prompt_items = st.sampled_from(
    [
        {"kind": "binary", "data": "aGk=", "media_type": "image/png"},
        {"kind": "image-url", "url": "https://example.org/a.png"},
        {"kind": "text-content", "content": "Hi.", "metadata": {"a": 1}},
        {"kind": "cache-point", "ttl": "5m"},
    ]
)
request_parts = st.builds(lambda text: {"part_kind": "system-prompt", "content": text}, words) | st.builds(
    lambda content: {"part_kind": "user-prompt", "content": content}, words | st.lists(words | prompt_items, max_size=3)
)
beside_parts = request_parts | st.sampled_from(
    [
        {"part_kind": "compaction", "content": "Earlier: much."},
        {"part_kind": "retry-prompt", "content": "Say it in JSON."},
        {"part_kind": "tool-availability-delta", "tools_added": ["a"]},
    ]
)
response_parts = st.builds(lambda text: {"part_kind": "text", "content": text}, words) | st.sampled_from(
    [
        {"part_kind": "thinking", "content": "Hm.", "signature": "c2ln", "provider_name": "anthropic"},
        {"part_kind": "compaction", "content": None, "provider_name": "openai", "provider_details": {"a": 1}},
        {"part_kind": "builtin-tool-call", "tool_name": "web_search", "args": {"q": 1}, "tool_call_id": "n"},
        {"part_kind": "file", "content": {"kind": "binary", "data": "aGk=", "media_type": "image/png"}},
    ]
)


@st.composite
def pydantic_ai_lists(draw: st.DrawFn) -> Payload:
    messages: Messages = []
    results: Messages = []
    for turn in range(draw(st.integers(1, 4))):
        beside = draw(st.lists(beside_parts, min_size=0 if results else 1, max_size=3))
        asked: Message = {"kind": "request", "parts": [*results, *beside]}
        messages.append(asked | maybe(draw, instructions="Be kind.", run_id="r"))
        ids = [f"c{turn}_{index}" for index in range(draw(st.integers(0, 2)))]
        given = objects | words | st.none()
        made = [
            {"part_kind": "tool-call", "tool_name": "run", "args": draw(given), "tool_call_id": name} for name in ids
        ]
        messages.append(
            {"kind": "response", "parts": [*draw(st.lists(response_parts, max_size=3)), *made]}
            | maybe(draw, model_name="some-model", usage={"input_tokens": 1})
        )
        results = [
            {"part_kind": "tool-return", "tool_name": "run", "content": draw(json_values | words), "tool_call_id": name}
            | maybe(draw, outcome=draw(st.sampled_from(["success", "failed", "retried"])), metadata=draw(objects))
            for name in draw(st.permutations(ids))
        ]
    messages += [{"kind": "request", "parts": results}] if results else []
    return Payload(messages=messages)

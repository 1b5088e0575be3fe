"""Lists as providers write them, in all their spellings, come back equal."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ireneo.formats.chat.anthropic.chat import AnthropicMessages
from ireneo.formats.chat.format import ChatFormat, Payload
from ireneo.formats.chat.langchain.chat import LangChainMessages
from ireneo.formats.chat.openai.chat import OpenAIChat
from ireneo.formats.chat.pydantic_ai.chat import PydanticAIMessages

Message = dict[str, object]
Messages = list[Message]

CALM = settings(deadline=None, max_examples=150)

words = st.sampled_from(["Hello.", "Für Elise 𝄞", " padded\n", "<system-reminder>x</system-reminder>"]) | st.text(
    min_size=1, max_size=5
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
objects = st.dictionaries(st.text(max_size=4), json_values, max_size=2)
extras: st.SearchStrategy[Message] = st.dictionaries(
    st.sampled_from(["x_cache", "name", "id", "annotations"]), st.text(), max_size=1
)


def maybe(draw: st.DrawFn, **fields: object) -> Message:
    """Some of `fields`, or none."""
    return {key: value for key, value in fields.items() if draw(st.booleans())}


def message(draw: st.DrawFn, role: str, content: object) -> Message:
    """A message with a field or two that the format may not know."""
    return {"role": role, "content": content} | draw(extras)


@st.composite
def openai_content(draw: st.DrawFn) -> object:
    part = st.builds(lambda text: {"type": "text", "text": text}, words | st.just(""))
    image = st.sampled_from(["data:image/png;base64,aGk=", "data:image/heic;base64,aGk=", "https://example.org/a.png"])
    shown = st.builds(lambda url, more: {"type": "image_url", "image_url": {"url": url} | more}, image, extras)
    other = st.builds(lambda inner: {"type": "video_url", "video_url": inner}, objects)
    return draw(words | st.just("") | st.lists(part | shown | other, min_size=1, max_size=3))


@st.composite
def openai_reply(draw: st.DrawFn) -> Message:
    said = draw(words | st.lists(st.builds(lambda text: {"type": "text", "text": text}, words), min_size=1, max_size=2))
    more = maybe(draw, refusal=None, reasoning_content=draw(words), audio=None, tool_calls=None, annotations=[])
    return {"role": "assistant", "content": said} | more


@st.composite
def openai_work(draw: st.DrawFn) -> Messages:
    ids = draw(st.lists(st.sampled_from(["a", "b", "c:0", "call_1"]), min_size=1, max_size=3, unique=True))
    written = st.builds(
        lambda value, spaced: json.dumps(value, separators=None if spaced else (",", ":"), ensure_ascii=spaced),
        json_values | objects,
        st.booleans(),
    )
    function = st.builds(lambda text: {"name": "run.it", "arguments": text}, written | words)
    made = [{"id": name, "type": "function", "function": draw(function)} | maybe(draw, index=0) for name in ids]
    asked: Message = {"role": "assistant", "tool_calls": made} | maybe(draw, content=draw(st.none() | openai_content()))
    done = draw(openai_content())
    back = [
        {"role": "tool", "tool_call_id": name, "content": done} | draw(extras) for name in draw(st.permutations(ids))
    ]
    return [asked, *back]


@st.composite
def openai_lists(draw: st.DrawFn) -> Payload:
    messages: Messages = []
    for _ in range(draw(st.integers(1, 5))):
        role = draw(st.sampled_from(["system", "developer", "user", "user", "assistant", "work"]))
        if role == "work":
            messages += draw(openai_work())
        elif role == "assistant":
            messages.append(draw(openai_reply()))
        else:
            messages.append(message(draw, role, draw(openai_content())))
    return Payload(messages=messages)


blocks = st.builds(lambda text, more: {"type": "text", "text": text} | more, words, extras)
sources = st.sampled_from(
    [
        {"type": "base64", "media_type": "image/png", "data": "aGk="},
        {"type": "base64", "media_type": "image/bmp", "data": "aGk="},
        {"type": "url", "url": "https://example.org/a.png"},
        {"type": "file", "file_id": "file_1"},
        {"type": "text", "media_type": "text/plain", "data": "words"},
    ]
)
shown = st.builds(
    lambda kind, source: {"type": kind, "source": source}, st.sampled_from(["image", "document"]), sources
)
thoughts = st.sampled_from(
    [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "thinking", "thinking": "", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "c2VhbA=="},
    ]
)


@st.composite
def server_pair(draw: st.DrawFn, name: str) -> Messages:
    kind, call = draw(
        st.sampled_from([("web_search", "server_tool_use"), ("mcp", "mcp_tool_use"), ("x", "x_tool_use")])
    )
    server: Message = {"server_name": draw(st.sampled_from(["files", "a__b"]))} if kind == "mcp" else {}
    made: Message = {"type": call, "id": name, "name": "run", "input": draw(objects)}
    return [
        made | server,
        {"type": f"{kind}_tool_result", "tool_use_id": name, "content": draw(json_values)},
    ]


@st.composite
def anthropic_turn(draw: st.DrawFn, number: int) -> Messages:
    opening = draw(words | st.lists(blocks | shown, min_size=1, max_size=2))
    content: list[object] = [*draw(st.lists(thoughts, max_size=2)), *draw(st.lists(blocks | shown, max_size=2))]
    if draw(st.booleans()):
        content += draw(server_pair(f"s{number}"))
    ids = [f"t{number}_{index}" for index in range(draw(st.integers(0, 2)))]
    content += [{"type": "tool_use", "id": name, "name": "run", "input": draw(objects)} | draw(extras) for name in ids]
    inner = st.text(max_size=3) | st.lists(blocks | shown, max_size=2)
    back = [
        {"type": "tool_result", "tool_use_id": name} | maybe(draw, content=draw(inner), is_error=draw(st.booleans()))
        for name in draw(st.permutations(ids))
    ]
    turn = [message(draw, "user", opening), *([message(draw, "assistant", content)] if content else [])]
    if back:
        turn.append(message(draw, "user", [*back, *draw(st.lists(blocks | shown, max_size=2))]))
    return turn


@st.composite
def anthropic_lists(draw: st.DrawFn) -> Payload:
    system = draw(st.none() | words | st.lists(blocks, max_size=2))
    turns = [draw(anthropic_turn(number)) for number in range(draw(st.integers(1, 3)))]
    return Payload(messages=[message for turn in turns for message in turn], system=system)


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


FORMATS: list[ChatFormat] = [
    OpenAIChat(),
    AnthropicMessages(),
    LangChainMessages(),
    PydanticAIMessages(),
    OpenAIChat(alternate=True),
]
LISTS = [openai_lists(), anthropic_lists(), langchain_lists(), pydantic_ai_lists()]
each_format = pytest.mark.parametrize(
    ("form", "lists"), list(zip(FORMATS, LISTS, strict=False)), ids=[form.name for form in FORMATS[: len(LISTS)]]
)


@each_format
@CALM
@given(data=st.data())
def test_a_valid_list_comes_back_equal(
    form: ChatFormat, lists: st.SearchStrategy[Payload], data: st.DataObject
) -> None:
    payload = data.draw(lists)
    assume(not form.validate(payload))
    drafts = form.decode(payload)
    back = form.encode(drafts)
    # Compared as text: in Python, though not in JSON, 1 equals true.
    written = [json.dumps([each.system, each.messages], sort_keys=True) for each in (payload, back)]
    assert written[0] == written[1]
    assert form.decode(back) == drafts


@each_format
@CALM
@given(data=st.data())
def test_every_cut_of_a_list_is_valid_in_every_format(
    form: ChatFormat, lists: st.SearchStrategy[Payload], data: st.DataObject
) -> None:
    drafts = form.decode(data.draw(lists))
    kept = data.draw(st.lists(st.booleans(), min_size=len(drafts), max_size=len(drafts)))
    cut = [draft for draft, stays in zip(drafts, kept, strict=True) if stays]
    for target in FORMATS:
        assert target.validate(target.encode(cut)) == []

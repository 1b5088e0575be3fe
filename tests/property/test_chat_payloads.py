"""Lists as providers write them, in all their spellings, come back equal."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ireneo.formats.chat.anthropic.chat import AnthropicMessages
from ireneo.formats.chat.format import ChatFormat, Payload
from ireneo.formats.chat.openai.chat import OpenAIChat

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


FORMATS: list[ChatFormat] = [OpenAIChat(), AnthropicMessages(), OpenAIChat(alternate=True)]
each_format = pytest.mark.parametrize(
    ("form", "lists"), [(FORMATS[0], openai_lists()), (FORMATS[1], anthropic_lists())], ids=["openai", "anthropic"]
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

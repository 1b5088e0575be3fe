"""Lists as Anthropic writes them."""

from __future__ import annotations

from hypothesis import strategies as st
from tests.property.payload_words import Message, Messages, extras, json_values, maybe, message, objects, words

from ireneo.formats.chat.format import Payload

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

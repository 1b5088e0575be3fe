"""Lists as OpenAI Chat Completions writes them."""

from __future__ import annotations

import json

from hypothesis import strategies as st
from tests.property.payload_words import Message, Messages, extras, json_values, maybe, message, objects, words

from ireneo.formats.chat.format import Payload


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

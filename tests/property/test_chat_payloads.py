"""Lists as providers write them, in all their spellings, come back equal."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ireneo.formats.chat.anthropic.chat import AnthropicMessages
from ireneo.formats.chat.format import ChatFormat, Payload
from ireneo.formats.chat.gemini.chat import GeminiContents
from ireneo.formats.chat.openai.chat import OpenAIChat
from ireneo.formats.chat.responses.chat import OpenAIResponses

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


item_fields: st.SearchStrategy[Message] = st.dictionaries(st.sampled_from(["x_cache", "status"]), st.text(), max_size=1)
inputs = st.builds(lambda text, more: {"type": "input_text", "text": text} | more, words | st.just(""), item_fields)
pictures = st.sampled_from(
    [
        {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
        {"type": "input_image", "image_url": "https://example.org/a.png", "detail": "low"},
        {"type": "input_image", "file_id": "file_1"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="},
        {"type": "input_file", "file_url": "https://example.org/a.pdf"},
    ]
)
served = st.sampled_from(
    [
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "x"}},
        {"type": "mcp_call", "id": "mcp_1", "name": "read", "arguments": "{}", "output": "ok"},
        {"type": "image_generation_call", "id": "ig_1", "result": "aGk="},
        {"type": "item_reference", "id": "rs_0"},
        {"type": "compaction", "encrypted_content": "c2VhbA=="},
    ]
)
summaries = st.lists(st.builds(lambda text: {"type": "summary_text", "text": text}, words), max_size=2)


def numbered(draw: st.DrawFn, prefix: str) -> Message:
    """The id that the provider gave an item, or none."""
    return {"id": f"{prefix}_{draw(st.integers(0, 9))}"} if draw(st.booleans()) else {}


@st.composite
def responses_reasoning(draw: st.DrawFn) -> Message:
    more = maybe(draw, encrypted_content="c2VhbA==", status="completed", content=[])
    return {"type": "reasoning", "summary": draw(summaries)} | numbered(draw, "rs") | more


@st.composite
def responses_words(draw: st.DrawFn) -> Message:
    if draw(st.booleans()):
        return {"role": "assistant", "content": draw(words | st.just("[SUMMARIZED] 3 calls"))}
    block = st.builds(lambda text, more: {"type": "output_text", "text": text} | more, words, item_fields)
    refusal = st.just({"type": "refusal", "refusal": "No."})
    content = draw(st.lists(block | refusal | st.just({"type": "output_x"}), min_size=1, max_size=2))
    return {"type": "message", "role": "assistant", "content": content} | numbered(draw, "msg") | draw(item_fields)


@st.composite
def responses_call(draw: st.DrawFn, call_id: str) -> tuple[Message, Message]:
    kind = draw(st.sampled_from(["function_call"] * 3 + ["custom_tool_call", "local_shell_call", "computer_call"]))
    made: Message = {"type": kind, "call_id": call_id} | draw(item_fields)
    content: object = draw(st.text(max_size=3) | st.lists(inputs | pictures, max_size=2))
    if kind == "function_call":
        written = json.dumps(draw(json_values | objects)) if draw(st.booleans()) else draw(words)
        made |= {"name": "run", "arguments": written} | numbered(draw, "fc")
    elif kind == "custom_tool_call":
        made |= {"name": "run", "input": draw(words)}
    else:
        made |= {"id": "x_1", "action": draw(objects)}
        content = draw(st.sampled_from([[], {"type": "computer_screenshot", "image_url": "data:,x"}]) | st.text())
    done: Message = {"type": f"{kind}_output", "call_id": call_id, "output": content} | draw(item_fields)
    return made, done


@st.composite
def responses_reply(draw: st.DrawFn, number: str) -> Messages:
    items: Messages = []
    for _ in range(draw(st.integers(0, 2))):
        items += [draw(responses_reasoning()), draw(responses_words() | served)]
    if draw(st.booleans()):
        items.append(draw(responses_reasoning()))
    pairs = [draw(responses_call(f"c{number}_{index}")) for index in range(draw(st.integers(0, 2)))]
    items += [made for made, _ in pairs] or [draw(responses_words())]
    return [*items, *(done for _, done in draw(st.permutations(pairs)))]


@st.composite
def responses_lists(draw: st.DrawFn) -> Payload:
    items: Messages = []
    for turn in range(draw(st.integers(1, 3))):
        role = draw(st.sampled_from(["user", "user", "user", "developer", "system"]))
        said = draw(words | st.just("") | st.lists(inputs | pictures, min_size=1, max_size=2))
        items.append({"role": role, "content": said} | maybe(draw, type="message"))
        for step in range(draw(st.integers(0, 3))):
            items += draw(responses_reply(f"{turn}_{step}"))
    return Payload(messages=items, system=draw(st.none() | words))


signatures = st.sampled_from(["c2ln", "c2lnMg==", "skip_thought_signature_validator"])
snakes = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "thoughtSignature": "thought_signature",
    "inlineData": "inline_data",
    "mimeType": "mime_type",
}


def spelt(draw: st.DrawFn, part: Message) -> Message:
    """A part, in camel or in snake case."""
    if draw(st.booleans()):
        return part
    inner = {key: spelt(draw, value) if isinstance(value, dict) else value for key, value in part.items()}
    return {snakes.get(key, key): value for key, value in inner.items()}


@st.composite
def gemini_part(draw: st.DrawFn) -> Message:
    text = st.builds(lambda said: {"text": said}, words)
    data = st.sampled_from(
        [
            {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
            {"inlineData": {"mimeType": "image/bmp", "data": "aGk="}},
            {"fileData": {"mimeType": "video/mp4", "fileUri": "https://example.org/a.mp4"}},
            {"executableCode": {"language": "PYTHON", "code": "1"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK"}},
        ]
    )
    return spelt(
        draw, draw(text | text | data) | draw(extras.map(lambda more: {f"x_{key}": more[key] for key in more}))
    )


@st.composite
def gemini_step(draw: st.DrawFn) -> Messages:
    parts: Messages = draw(st.lists(gemini_part(), max_size=2))
    if draw(st.booleans()):
        thought: Message = {"text": draw(words), "thought": True}
        parts = [spelt(draw, thought | maybe(draw, thoughtSignature=draw(signatures))), *parts]
    made: list[Message] = []
    for index in range(draw(st.integers(0, 3))):
        known: Message = {"id": f"c{index}"} if draw(st.booleans()) else {}
        made.append(known | {"name": draw(st.sampled_from(["run", "look"]))})
    for index, call in enumerate(made):
        signed = draw(signatures) if index == 0 else draw(st.none() | signatures)
        mark = {"thoughtSignature": signed} if signed else {}
        parts.append(spelt(draw, {"functionCall": call | {"args": draw(objects)}} | mark))
    if not made:
        parts.append({"text": draw(words)} | maybe(draw, thoughtSignature=draw(signatures)))
    if draw(st.booleans()):
        parts.append({"text": "", "thoughtSignature": draw(signatures)})
    told = st.builds(lambda key, said: {key: said}, st.sampled_from(["output", "result", "error"]), json_values)
    back = [spelt(draw, {"functionResponse": call | {"response": draw(told | objects)}}) for call in made]
    also = draw(st.lists(gemini_part(), max_size=1)) if back else []
    return [{"role": "model", "parts": parts}, *([{"role": "user", "parts": [*back, *also]}] if back else [])]


@st.composite
def gemini_lists(draw: st.DrawFn) -> Payload:
    contents: Messages = []
    for _ in range(draw(st.integers(1, 3))):
        asked: Message = {"parts": draw(st.lists(gemini_part(), min_size=1, max_size=2))}
        contents.append(asked | ({"role": "user"} if draw(st.booleans()) else {}))
        for _ in range(draw(st.integers(0, 3))):
            contents += draw(gemini_step())
    return Payload(messages=contents, system=draw(st.none() | words))


FORMATS: list[ChatFormat] = [
    OpenAIChat(),
    AnthropicMessages(),
    OpenAIResponses(),
    GeminiContents(),
    OpenAIChat(alternate=True),
]
LISTS = [openai_lists(), anthropic_lists(), responses_lists(), gemini_lists()]
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

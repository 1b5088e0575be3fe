"""Items as OpenAI Responses writes them."""

from __future__ import annotations

import json

from hypothesis import strategies as st
from tests.property.payload_words import Message, Messages, json_values, maybe, objects, words

from ireneo.formats.chat.format import Payload

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

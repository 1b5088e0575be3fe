"""Whatever is handed in, what comes out is valid; and what was valid comes back equal."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import times

from ireneo.formats.chat.anthropic import AnthropicMessages
from ireneo.formats.chat.format import ChatFormat, Payload
from ireneo.formats.chat.gemini import GeminiContents
from ireneo.formats.chat.langchain import LangChainMessages
from ireneo.formats.chat.openai import OpenAIChat
from ireneo.formats.chat.pydantic_ai import PydanticAIMessages
from ireneo.formats.chat.responses import OpenAIResponses
from ireneo.log.message import Call, Draft, Media, Native, Opaque, Origin, Part, Result, Role, Text, Thinking

FORMATS: dict[str, ChatFormat] = {
    "openai": OpenAIChat(),
    "anthropic": AnthropicMessages(),
    "langchain": LangChainMessages(),
    "pydantic-ai": PydanticAIMessages(),
    "openai-responses": OpenAIResponses(),
    "gemini": GeminiContents(),
}
every_format = pytest.mark.parametrize("name", sorted(FORMATS))
CALM = settings(deadline=None, max_examples=times(10))

words = st.sampled_from(
    ["", " ", "\n\t", "hello", "Für Elise 𝄞", "<system-reminder>be brief</system-reminder>", "[SUMMARIZED] 3 calls"]
) | st.text(max_size=6)
# Few ids, so that they meet, and meet again: that is where lists break.
ids = st.sampled_from(["", "a", "b", "c", "a_2", "functions.run:0", "function_call:run"])
names = st.sampled_from(["run", "look_up", "mcp.server/tool", "mcp__files__read", ""])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
objects = st.dictionaries(st.text(max_size=4), json_values, max_size=2)

texts = st.builds(Text, text=words)
thoughts = st.builds(
    Thinking,
    text=words,
    signature=st.none() | st.sampled_from(["", "c2ln"]),
    sealed=st.none() | st.just("c2VhbA=="),
    format=st.none() | st.sampled_from(["anthropic", "openai-responses", "gemini"]),
)
media = st.builds(
    Media,
    media_type=st.sampled_from(["image/png", "image/*", "image/tiff", "audio/wav", "application/pdf", "x"]),
    data=st.none() | st.just("aGk="),
    url=st.none() | st.sampled_from(["https://example.org/a.png", "data:,x", ""]),
    name=st.none() | st.just("plan.pdf"),
)
makers = st.sampled_from(["openai", "anthropic", "gemini", "openai-responses", "langchain", "pydantic-ai"])
known = ["search_result", "tool_use", "tool_result", "thinking", "web_search_tool_result", "server_tool_use", "text"]
items = ["web_search_call", "reasoning", "function_call", "computer_call_output", "message", "mcp_approval_response"]
contents = ["input_file", "input_text", "output_x", "refusal", "functionCall", "x"]
kinds = st.sampled_from([*known, *items, *contents])
payloads = st.builds(lambda kind, rest: rest | {"type": kind}, kinds, objects) | objects
opaques = st.builds(Opaque, format=makers, payload=payloads)
calls = st.builds(Call, id=ids, name=names, arguments=objects | words, server=st.booleans())
inner_parts = st.lists(texts | media | opaques, max_size=3).map(tuple)
failures = st.none() | st.booleans()
results = st.builds(Result, call_id=ids, parts=inner_parts, failed=failures, name=st.none() | names)


@st.composite
def server_results(draw: st.DrawFn) -> Result:
    """The result of a call that Anthropic ran, as its reader makes it."""
    name = draw(ids)
    block: dict[str, object] = {"type": "web_search_tool_result", "tool_use_id": name, "content": draw(json_values)}
    return Result(call_id=name, parts=(Opaque(format="anthropic", payload=block),), failed=draw(failures))


parts = texts | thoughts | media | opaques | calls | results | server_results()
tame: dict[Role, st.SearchStrategy[Part]] = {
    "system": texts,
    "user": texts | media,
    "assistant": texts | thoughts | calls,
    "tool": results,
}
roles: st.SearchStrategy[Role] = st.sampled_from(["assistant", "system", "tool", "user"])
origins: st.SearchStrategy[Origin] = st.sampled_from(["spoken", "spoken", "spoken", "injected", "summary"])


inside: dict[Role, st.SearchStrategy[list[Part]]] = {
    role: st.lists(each, max_size=4) | st.lists(parts, max_size=4) for role, each in tame.items()
}
"""What a draft mostly holds, and now and then anything."""
natives: dict[Role, st.SearchStrategy[Native | None]] = {
    role: st.none()
    | st.builds(Native, format=makers, payload=objects)
    | st.builds(Native, format=makers, payload=st.fixed_dictionaries({"role": st.just(role), "content": words}))
    for role in tame
}
drafts = roles.flatmap(
    lambda role: st.builds(
        Draft,
        role=st.just(role),
        parts=inside[role].map(tuple),
        origin=origins,
        joined=st.booleans(),
        native=natives[role],
    )
)
broken_lists = st.lists(drafts, max_size=9)
extras = st.dictionaries(st.sampled_from(["x_cache", "x_index"]), json_values, max_size=1)


def unknown_fields(draw: st.DrawFn, record: dict[str, object]) -> dict[str, object]:
    """`record` with fields that no format knows, in it and in the objects of its content."""
    for key in ("content", "data", "parts"):
        inner = record.get(key)
        if isinstance(inner, list):
            known = [unknown_fields(draw, block) if isinstance(block, dict) else block for block in inner]
            record = record | {key: known}
        elif isinstance(inner, dict):
            record = record | {key: unknown_fields(draw, inner)}
    return record | draw(extras)


@st.composite
def valid_payloads(draw: st.DrawFn, form: ChatFormat) -> Payload:
    """A valid list with fields that no format knows."""
    payload = form.encode(draw(broken_lists))
    return Payload(messages=[unknown_fields(draw, message) for message in payload.messages], system=payload.system)


@every_format
@CALM
@given(data=st.data())
def test_what_is_valid_comes_back_equal_and_every_cut_of_it_is_valid_in_every_format(
    name: str, data: st.DataObject
) -> None:
    form = FORMATS[name]
    payload = data.draw(valid_payloads(form))
    assert form.validate(payload) == []
    read = form.decode(payload)
    written = form.encode(read)
    assert written == payload
    assert form.decode(written) == read
    for message in written.messages:
        message["content"] = "overwritten by the caller"
    assert form.decode(form.encode(read)) == read, "what is written shares nothing with what was read"
    kept = data.draw(st.lists(st.booleans(), min_size=len(read), max_size=len(read)))
    cut = [draft for draft, stays in zip(read, kept, strict=True) if stays]
    for other in FORMATS.values():
        assert other.validate(other.encode(cut)) == []


@every_format
@CALM
@given(mixed=broken_lists, places=st.lists(st.integers(0, 9), max_size=4))
def test_whatever_is_written_is_valid_and_no_users_words_are_lost(
    name: str, mixed: list[Draft], places: list[int]
) -> None:
    form = FORMATS[name]
    for number, place in enumerate(places):
        mixed.insert(place, Draft(role="user", parts=(Text(text=f"word{number}"),)))
    payload = form.encode(mixed)
    assert form.validate(payload) == []
    written = str(payload.messages)
    assert all(f"word{number}" in written for number in range(len(places)))
    summary = Draft(role="assistant", parts=(Text(text="[SUMMARIZED] 3 calls"),), origin="summary")
    assert form.decode(form.encode([*mixed, summary]))[-1].role == "user", "a summary is not the assistant's last word"

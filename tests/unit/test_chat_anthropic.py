"""Anthropic's messages are read for what they say, and come back as they were."""

from __future__ import annotations

import pytest

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.anthropic import AnthropicMessages
from ireneo.formats.chat.format import Payload
from ireneo.formats.chat.openai import OpenAIChat
from ireneo.log.message import Call, Draft, Media, Opaque, Result, Text, Thinking

FORM = AnthropicMessages()
Block = dict[str, object]

IMAGE: Block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
LINKED: Block = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
PDF: Block = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "aGk="}}
STORED: Block = {"type": "document", "source": {"type": "file", "file_id": "file_1"}, "title": "Plan"}
SEARCH: Block = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND: Block = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"encrypted": "…"}]}
MCP: Block = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "read", "server_name": "files", "input": {}}
MCP_RESULT: Block = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": []}
THOUGHT: Block = {"type": "thinking", "thinking": "Hm …\n", "signature": "c2ln"}
SEALED: Block = {"type": "redacted_thinking", "data": "c2VhbA=="}


def text(words: str, **fields: object) -> Block:
    return {"type": "text", "text": words, **fields}


def use(call_id: str, **fields: object) -> Block:
    return {"type": "tool_use", "id": call_id, "name": "look", "input": {"at": call_id}, **fields}


def result(call_id: str, content: object = "ok", **fields: object) -> Block:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


WHOLE: list[dict[str, object]] = [
    {"role": "user", "content": [text("What is this?"), IMAGE, LINKED, PDF, STORED], "id": "u1"},
    {"role": "assistant", "content": [THOUGHT, SEALED, text("Let me look."), use("a"), use("b", caller={"type": "x"})]},
    {"role": "user", "content": [result("b"), result("a", is_error=True), text("Quick!"), IMAGE], "x_seen": True},
    {"role": "assistant", "content": [THOUGHT, SEARCH, FOUND, MCP, MCP_RESULT, text("So.", citations=[{"n": 1}])]},
    {"role": "user", "content": "And?"},
    {"role": "assistant", "content": "Wait."},
    {"role": "assistant", "content": [use("c"), {"type": "container_upload", "file_id": "f"}, text("One moment.")]},
    {
        "role": "user",
        "content": [
            result(
                "c",
                [text("a"), IMAGE, {"type": "search_result", "title": "t"}],
                is_error=False,
                cache_control={"type": "ephemeral"},
            ),
            text("<system-reminder>Be brief.</system-reminder>"),
        ],
    },
    {"role": "assistant", "content": [use("d")]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "d"}]},
    {"role": "user", "content": [text("Thanks.", cache_control={"type": "ephemeral"})]},
]


@pytest.mark.parametrize(
    "system",
    [None, "", "Be brief.", [], [text("Be brief.")], [text("A"), text("B", cache_control={"type": "ephemeral"})]],
)
def test_a_list_of_everything_comes_back_equal(system: object) -> None:
    drafts = FORM.decode({"system": system, "messages": WHOLE})
    payload = FORM.encode(drafts)
    assert payload.messages == WHOLE
    assert payload.system == system
    assert FORM.validate(payload) == []
    assert FORM.decode(payload) == drafts


def test_results_and_words_of_one_message_are_two_drafts() -> None:
    drafts = FORM.decode(WHOLE)
    assert [(draft.role, draft.joined) for draft in drafts[2:4]] == [("tool", False), ("user", True)]
    assert [each.call_id for each in drafts[2].results] == ["b", "a"]
    assert drafts[3].text == "Quick!"
    assert [(draft.role, draft.origin, draft.joined) for draft in drafts[8:10]] == [
        ("tool", "spoken", False),
        ("user", "injected", True),
    ]


def test_a_half_can_stand_alone() -> None:
    drafts = FORM.decode(WHOLE)
    assert FORM.encode(drafts[3:4]).messages == [
        {"role": "user", "content": [text("Quick!"), IMAGE], "x_seen": True},
    ]
    assert FORM.encode(drafts[1:3]).messages[2] == {
        "role": "user",
        "content": [result("b"), result("a", is_error=True)],
        "x_seen": True,
    }


def test_parts_are_read() -> None:
    drafts = FORM.decode({"system": "Be brief.", "messages": WHOLE})
    assert drafts[0] == Draft(role="system", parts=(Text(text="Be brief."),))
    assert drafts[1].source_id == "u1"
    assert drafts[1].parts[1:4] == (
        Media(media_type="image/png", data="aGk="),
        Media(media_type="image/*", url="https://example.org/a.png"),
        Media(media_type="application/pdf", data="aGk="),
    )
    assert drafts[1].parts[4] == Opaque(format="anthropic", payload=STORED)
    assert drafts[2].parts[:2] == (
        Thinking(text="Hm …\n", signature="c2ln", format="anthropic"),
        Thinking(sealed="c2VhbA==", format="anthropic"),
    )
    assert [each.failed for each in drafts[3].results] == [None, True]
    assert drafts[5].calls == (
        Call(id="srvtoolu_1", name="web_search", arguments={"query": "x"}, server=True),
        Call(id="mcptoolu_1", name="mcp__files__read", arguments={}, server=True),
    )
    assert drafts[5].results[0] == Result(call_id="srvtoolu_1", parts=(Opaque(format="anthropic", payload=FOUND),))
    assert drafts[9].results[0].failed is None


def test_the_native_is_kept_only_where_the_parts_do_not_say_it_all() -> None:
    plain: list[dict[str, object]] = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [THOUGHT, SEALED, text("Hi"), SEARCH, FOUND, use("a"), use("b")]},
        {"role": "user", "content": [result("a", [text("x"), IMAGE]), result("b", is_error=True), text("So?")]},
        {"role": "assistant", "content": [MCP, MCP_RESULT, {"type": "container_upload", "file_id": "f"}]},
    ]
    assert [draft.native for draft in FORM.decode({"system": "Hi", "messages": plain})] == [None] * 6


def test_a_system_prompt_in_the_list_is_read() -> None:
    drafts = FORM.decode([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])
    payload = FORM.encode(drafts)
    assert (payload.system, payload.messages) == ("Be brief.", [{"role": "user", "content": "Hi"}])


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        (7, "This is a number, not a list of messages"),
        ([{"role": "tool", "content": "ok"}], "message 0: its role 'tool' is unknown; expected one of user, assistant"),
        ([{"role": "user"}], "message 0, content: it is null, neither a string nor a list of blocks"),
        ([{"role": "user", "content": ["hello"]}], "message 0, block 0: it is a string, not an object"),
        ([{"role": "user", "content": [{}]}], "message 0, block 0: it has no type"),
        ([{"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}], "message 0, block 0, name: it is null"),
        ([{"role": "user", "content": [result("a", [7])]}], "message 0, block 0, block 0: it is a number"),
        ({"system": 7, "messages": []}, "system: it is a number, not a list"),
        ({"system": [{"type": "text"}], "messages": []}, "system, block 0, text: it is null, not a string"),
    ],
)
def test_what_can_not_be_read_is_refused_with_its_place(payload: object, says: str) -> None:
    with pytest.raises(UnreadableLog) as refused:
        FORM.decode(payload)
    assert says in str(refused.value)


def test_openai_messages_go_over() -> None:
    drafts = OpenAIChat().decode(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}]},
            {
                "role": "assistant",
                "content": "",
                "reasoning_content": "Hm.",
                "tool_calls": [
                    {"id": "run:0", "type": "function", "function": {"name": "files.read", "arguments": "no json"}}
                ],
            },
            {"role": "tool", "tool_call_id": "run:0", "content": "ok"},
            {"role": "assistant", "content": None, "function_call": {"name": "add", "arguments": "{}"}},
            {"role": "function", "name": "add", "content": ""},
            {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}}]},
        ]
    )
    payload = FORM.encode(drafts)
    added = {"type": "tool_use", "id": "function_call_add", "name": "add", "input": {}}
    assert payload == Payload(
        system="Be brief.",
        messages=[
            {"role": "user", "content": [IMAGE]},
            {
                "role": "assistant",
                "content": [use("run_0", name="files_read", input={"arguments": "no json"})],
            },
            {"role": "user", "content": [result("run_0")]},
            {"role": "assistant", "content": [added]},
            {"role": "user", "content": [result("function_call_add", "")]},
            {"role": "user", "content": "[audio/mpeg, 3 bytes, not shown]"},
        ],
    )
    assert FORM.validate(payload) == []


def test_one_reply_over_many_drafts_is_one_message_again() -> None:
    spread = FORM.decode(
        [
            {"role": "assistant", "content": [THOUGHT]},
            {"role": "assistant", "content": [use("a", caller={"type": "x"})]},
            {"role": "assistant", "content": [use("b")]},
            {"role": "user", "content": [result("a", is_error=False)]},
            {"role": "user", "content": [result("b")]},
        ]
    )
    drafts = [
        Draft(role=draft.role, parts=draft.parts, native=draft.native, joined=index in (1, 2))
        for index, draft in enumerate(spread)
    ]
    assert FORM.encode(drafts).messages[1:] == [
        {"role": "assistant", "content": [THOUGHT, use("a", caller={"type": "x"}), use("b")]},
        {"role": "user", "content": [result("a", is_error=False), result("b")]},
    ]

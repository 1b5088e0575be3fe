"""OpenAI's messages are read for what they say, and come back as they were."""

from __future__ import annotations

import pytest

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.openai import OpenAIChat
from ireneo.log.message import Call, Draft, Media, Opaque, Result, Text, Thinking

FORM = OpenAIChat()
PNG = "data:image/png;base64,aGk="


def call(name: str, arguments: str, call_id: str = "c1", **fields: object) -> dict[str, object]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **fields}


WHOLE: list[dict[str, object]] = [
    {"role": "developer", "content": "Be brief."},
    {"role": "system", "content": [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}]},
    {
        "role": "user",
        "name": "ada",
        "content": [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}},
            {"type": "file", "file": {"file_id": "file-1"}},
            {"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}},
        ],
    },
    {
        "role": "assistant",
        "content": "",
        "reasoning_content": "They want to know.",
        "refusal": None,
        "tool_calls": [
            call("look", '{"at": "a"}', "c1", index=0),
            call("look", '{"at":"b"}', "c2"),
            call("look", "no json", "c3"),
            {"id": "c4", "type": "custom", "custom": {"name": "shell", "input": "ls"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c2", "name": "look", "content": "b"},
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "a"}], "x_time": 1.5},
    {"role": "tool", "tool_call_id": "c3", "content": ""},
    {"role": "tool", "tool_call_id": "c4", "content": "a.pdf"},
    {"role": "assistant", "content": None, "function_call": {"name": "add", "arguments": '{"n":1}'}},
    {"role": "function", "name": "add", "content": "2"},
    {"role": "assistant", "content": None, "function_call": {"name": "add", "arguments": ""}},
    {"role": "function", "name": "add", "content": "3"},
    {"role": "assistant", "content": None, "refusal": "I can't help with that.", "annotations": []},
    {"role": "assistant", "audio": {"id": "audio_1"}, "content": None},
    {"role": "assistant", "content": [{"type": "text", "text": "A"}, {"type": "refusal", "refusal": "B"}]},
    {"role": "user", "content": ""},
]


def test_a_list_of_everything_comes_back_equal() -> None:
    payload = FORM.encode(FORM.decode(WHOLE))
    assert payload.messages == WHOLE
    assert FORM.validate(payload) == []


def test_an_object_with_messages_is_read_as_the_list() -> None:
    assert FORM.decode({"model": "gpt", "messages": WHOLE}) == FORM.decode(WHOLE)
    assert FORM.decode(FORM.encode(FORM.decode(WHOLE))) == FORM.decode(WHOLE)


def test_one_message_is_one_draft_of_its_role() -> None:
    roles = [draft.role for draft in FORM.decode(WHOLE)]
    expected = ["system", "system", "user", "assistant", *["tool"] * 4, *["assistant", "tool"] * 2]
    assert roles == [*expected, "assistant", "assistant", "assistant", "user"]


def test_the_native_is_kept_only_where_the_parts_do_not_say_it_all() -> None:
    plain = [
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": PNG}}]},
        {"role": "assistant", "content": None, "tool_calls": [call("look", '{"at":"b"}')]},
        {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "b"},
    ]
    assert [draft.native for draft in FORM.decode(plain)] == [None] * 4
    native = FORM.decode([{"role": "developer", "content": "Hi"}])[0].native
    assert native is not None
    assert (native.format, native.payload) == ("openai", {"role": "developer", "content": "Hi"})


def test_parts_are_read() -> None:
    drafts = FORM.decode(WHOLE)
    assert drafts[2].parts[1:5] == (
        Media(media_type="image/png", data="aGk="),
        Media(media_type="image/*", url="https://example.org/a.png"),
        Media(media_type="audio/wav", data="aGk="),
        Media(media_type="application/pdf", data="aGk=", name="a.pdf"),
    )
    assert all(isinstance(part, Opaque) for part in drafts[2].parts[5:])
    assert drafts[3].parts[0] == Thinking(text="They want to know.")
    assert [made.arguments for made in drafts[3].calls] == [{"at": "a"}, {"at": "b"}, "no json", "ls"]
    assert drafts[4].results == (Result(call_id="c2", name="look", parts=(Text(text="b"),)),)
    assert drafts[6].results == (Result(call_id="c3", parts=()),)
    assert drafts[8].calls[0].id == drafts[9].results[0].call_id
    assert drafts[12].text == "I can't help with that."


@pytest.mark.parametrize("arguments", ['{"n": NaN}', '{"s": "\\ud83d"}', '{"n": 1e999}', "[1]", "{", '{"a":1}{'])
def test_arguments_that_are_no_json_object_stay_a_string(arguments: str) -> None:
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call("look", arguments)]},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
    ]
    drafts = FORM.decode(messages)
    assert drafts[0].calls[0].arguments == arguments
    assert FORM.encode(drafts).messages == messages


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("<system-reminder>Be brief.</system-reminder>", "injected"),
        ("\n<system-reminder>a</system-reminder>\n <system-reminder>b</system-reminder>\n", "injected"),
        ("<system-reminder>a</system-reminder> Hello. <system-reminder>b</system-reminder>", "spoken"),
        ("<system-reminder>a", "spoken"),
        ("", "spoken"),
    ],
)
def test_a_message_that_is_all_reminder_was_not_spoken(text: str, origin: str) -> None:
    assert FORM.decode([{"role": "user", "content": text}])[0].origin == origin


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        ("hello", "This is a string, not a list of messages"),
        ({"messages": None}, "`messages` is null, not a list of messages"),
        ([["user", "hello"]], "message 0: it is a list, not an object"),
        ([WHOLE[0], {"content": "hello"}], "message 1: it has no role; expected one of system, developer, user"),
        ([{"role": "model", "content": "hello"}], "message 0: its role 'model' is unknown"),
        ([{"role": "user", "content": 7}], "message 0, content: it is a number, neither a string nor a list"),
        ([{"role": "user", "content": ["hello"]}], "message 0, content part 0: it is a string, not an object"),
        ([{"role": "user", "content": [{"text": "hello"}]}], "message 0, content part 0: it has no type"),
        ([{"role": "user", "content": [{"type": "text"}]}], "message 0, content part 0, text: it is null, not a"),
        ([{"role": "assistant", "tool_calls": {}}], "message 0, tool_calls: it is an object, not a list"),
        ([{"role": "assistant", "tool_calls": [7]}], "message 0, tool call 0: it is a number, not an object"),
        ([{"role": "assistant", "tool_calls": [{"id": "a"}]}], "message 0, tool call 0, function: it is null"),
        ([{"role": "user", "content": "\ud83d"}], "message 0: it can't be written as JSON"),
        ([{"role": "user", "content": object()}], "message 0: it can't be written as JSON"),
    ],
)
def test_what_can_not_be_read_is_refused_with_its_place(payload: object, says: str) -> None:
    with pytest.raises(UnreadableLog) as refused:
        FORM.decode(payload)
    assert says in str(refused.value)


def test_a_native_that_says_something_else_is_not_sent() -> None:
    draft = FORM.decode([{"role": "user", "name": "ada", "content": "The whole story."}])[0]
    masked = Draft(role="user", parts=(Text(text="[masked]"),), native=draft.native)
    assert FORM.encode([masked]).messages == [{"role": "user", "content": "[masked]"}]


def test_an_outcome_that_was_derived_later_leaves_the_native_in_place() -> None:
    drafts = FORM.decode(WHOLE[3:8])
    derived = [
        Draft(
            role=draft.role,
            parts=tuple(
                Result(call_id=part.call_id, parts=part.parts, name=part.name, failed=False)
                if isinstance(part, Result)
                else part
                for part in draft.parts
            ),
            native=draft.native,
        )
        for draft in drafts
    ]
    assert FORM.encode(derived).messages == WHOLE[3:8]


def test_other_formats_parts_are_said_in_text() -> None:
    drafts = [
        Draft(role="user", parts=(Media(media_type="image/tiff", data="A" * 45_000), Text(text="See?"))),
        Draft(
            role="assistant",
            parts=(
                Thinking(text="Hm.", signature="c2ln"),
                Opaque(format="anthropic", payload={"type": "container_upload", "file_id": "f"}),
                Call(id="s", name="web_search", arguments={"q": "x"}, server=True),
                Call(id="a", name="look", arguments={}),
            ),
        ),
        Draft(role="tool", parts=(Result(call_id="a", parts=(Media(media_type="image/png", data="aGk="),)),)),
    ]
    assert FORM.encode(drafts).messages == [
        {"role": "user", "content": "[image/tiff, 34 kB, not shown]\n\nSee?"},
        {
            "role": "assistant",
            "content": "[anthropic container_upload, 41 bytes, not shown]\n\n"
            '[call of web_search, not shown as one] {"q":"x"}',
            "tool_calls": [call("look", "{}", "a")],
        },
        {"role": "tool", "tool_call_id": "a", "content": "[image/png, 3 bytes, not shown]"},
    ]

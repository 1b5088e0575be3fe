"""Items of OpenAI Responses are read for what they say, and come back as they were."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.anthropic import AnthropicMessages
from ireneo.formats.chat.format import Payload
from ireneo.formats.chat.responses import OpenAIResponses
from ireneo.log.message import Call, Draft, Media, Opaque, Result, Text, Thinking

FORM = OpenAIResponses()
Item = dict[str, object]
PNG = "data:image/png;base64,aGk="
USER: Item = {"role": "user", "content": "Go on."}


def reasoning(number: int, **fields: object) -> Item:
    return {"type": "reasoning", "id": f"rs_{number}", "summary": [{"type": "summary_text", "text": "Hm."}], **fields}


def call(call_id: str, **fields: object) -> Item:
    return {"type": "function_call", "call_id": call_id, "name": "look", "arguments": '{"at":"a"}', **fields}


def output(call_id: str, said: object = "ok", **fields: object) -> Item:
    return {"type": "function_call_output", "call_id": call_id, "output": said, **fields}


def message(text: str, **fields: object) -> Item:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content, **fields}


WHOLE: list[Item] = [
    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be kind."}]},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "What is this?"},
            {"type": "input_image", "image_url": PNG, "detail": "low"},
            {"type": "input_image", "file_id": "file-1"},
            {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="},
        ],
    },
    reasoning(1, encrypted_content="c2VhbA==", content=[], status="completed"),
    message("Let me look."),
    call("c1", id="fc_1", status="completed"),
    call("c2", id="fc_2"),
    output("c1", id="fc_3"),
    output("c2", [{"type": "input_text", "text": "b"}, {"type": "input_image", "image_url": PNG}]),
    call("c3", id="fc_4"),
    output("c3"),
    {"type": "custom_tool_call", "call_id": "c4", "name": "shell", "input": "ls", "id": "ctc_1"},
    {"type": "custom_tool_call_output", "call_id": "c4", "output": "a.pdf"},
    {"type": "local_shell_call", "id": "lsh_1", "call_id": "c5", "action": {"command": ["ls"]}, "status": "completed"},
    {"type": "local_shell_call_output", "id": "c5", "output": '{"stdout":"a"}'},
    {"type": "computer_call", "id": "cu_1", "call_id": "c6", "action": {"type": "screenshot"}, "status": "completed"},
    {"type": "computer_call_output", "call_id": "c6", "output": {"type": "computer_screenshot", "image_url": PNG}},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}},
    message("So.", id="msg_2", phase="final_answer"),
    {"type": "mcp_approval_request", "id": "mcpr_1", "name": "read", "arguments": "{}", "server_label": "files"},
    {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
    {"type": "item_reference", "id": "msg_0"},
    {"type": "compaction", "id": "cmp_1", "encrypted_content": "c2VhbA=="},
    USER,
    {"role": "assistant", "content": "Fine."},
    {"role": "system", "content": "Hurry."},
]


@pytest.mark.parametrize("instructions", [None, "", "Be brief."])
def test_a_list_of_everything_comes_back_equal(instructions: str | None) -> None:
    drafts = FORM.decode({"instructions": instructions, "input": WHOLE})
    payload = FORM.encode(drafts)
    assert payload == Payload(messages=WHOLE, system=instructions)
    assert FORM.validate(payload) == []
    assert FORM.decode(payload) == drafts


def test_every_object_that_holds_a_list_is_read_as_the_list() -> None:
    assert FORM.decode({"input": WHOLE}) == FORM.decode({"messages": WHOLE}) == FORM.decode(WHOLE)
    assert FORM.decode({"input": "Hi", "instructions": "A"}) == FORM.decode(
        {"messages": [{"role": "user", "content": "Hi"}], "system": "A"}
    )


def test_a_reply_is_one_draft_up_to_its_first_output() -> None:
    drafts = FORM.decode(WHOLE)
    assert [draft.role for draft in drafts] == [
        *("system", "user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "tool", "assistant", "tool"),
        *("assistant", "tool", "assistant", "user", "assistant", "user", "assistant", "system"),
    ]
    reply = drafts[2]
    assert reply.parts == (
        Thinking(text="Hm.", sealed="c2VhbA==", format="openai-responses"),
        Text(text="Let me look."),
        Call(id="c1", name="look", arguments={"at": "a"}),
        Call(id="c2", name="look", arguments={"at": "a"}),
    )
    assert reply.native is not None
    assert reply.native.payload == WHOLE[2:6]


def test_parts_are_read() -> None:
    drafts = FORM.decode(WHOLE)
    assert drafts[1].parts[1] == Media(media_type="image/png", data="aGk=")
    assert isinstance(drafts[1].parts[2], Opaque)
    assert drafts[1].parts[3] == Media(media_type="application/pdf", data="aGk=", name="a.pdf")
    assert drafts[4].results == (
        Result(call_id="c2", parts=(Text(text="b"), Media(media_type="image/png", data="aGk="))),
    )
    assert drafts[7].calls == (Call(id="c4", name="shell", arguments="ls"),)
    assert drafts[9].calls == (Call(id="c5", name="local_shell", arguments={"command": ["ls"]}),)
    assert drafts[10].results[0].call_id == "c5"
    assert drafts[12].results[0].parts == (Media(media_type="image/png", data="aGk="),)
    assert isinstance(drafts[13].parts[0], Opaque)


def test_the_native_is_kept_only_where_the_parts_do_not_say_it_all() -> None:
    plain = [USER, {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"}, output("a", "")]
    assert [draft.native for draft in FORM.decode(plain)] == [None] * 3


def test_a_changed_reply_keeps_sealed_reasoning_and_loses_the_ids() -> None:
    drafts = FORM.decode([USER, *WHOLE[2:8]])
    masked = [
        replace(draft, parts=(*draft.parts[:3], Call(id="c2", name="look", arguments={"at": "[masked]"})))
        if draft.calls
        else draft
        for draft in drafts
    ]
    payload = FORM.encode(masked)
    assert FORM.validate(payload) == []
    assert payload.messages[1:5] == [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "c2VhbA=="},
        {"role": "assistant", "content": "Let me look."},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at":"a"}'},
        {"type": "function_call", "call_id": "c2", "name": "look", "arguments": '{"at":"[masked]"}'},
    ]


def test_reasoning_that_only_its_id_could_bring_back_goes_with_its_reply_or_not_at_all() -> None:
    listed = [USER, reasoning(1), call("a", id="fc_1"), output("a")]
    drafts = FORM.decode(listed)
    assert FORM.encode(drafts).messages == listed
    changed = replace(drafts[1], parts=(*drafts[1].parts, Text(text="[note]")))
    assert FORM.encode([drafts[0], changed, drafts[2]]).messages == [
        USER,
        call("a"),
        {"role": "assistant", "content": "[note]"},
        output("a"),
    ]
    without = replace(drafts[1], parts=drafts[1].parts[1:])
    assert FORM.encode([drafts[0], without, drafts[2]]).messages[1] == call("a")


def test_ids_that_hang_on_the_reasoning_before_an_output_go_when_it_goes() -> None:
    listed = [USER, reasoning(1), call("a", id="fc_1"), output("a"), call("b", id="fc_2"), output("b")]
    drafts = FORM.decode(listed)
    assert FORM.encode(drafts).messages == listed
    assert FORM.encode([drafts[0], *drafts[3:]]).messages == [USER, call("b"), output("b")]
    alone = FORM.decode([USER, *listed[4:]])
    assert FORM.encode(alone).messages == [USER, *listed[4:]]


def test_a_reply_that_was_handed_in_item_by_item_is_one_again() -> None:
    listed = [USER, reasoning(1), call("a", id="fc_1"), output("a")]
    drafts = [draft for item in listed for draft in FORM.decode([item])]
    assert FORM.encode(drafts).messages == listed
    assert FORM.encode(drafts[:2]).messages == [USER]


def test_a_thought_of_another_provider_is_left_out() -> None:
    thoughts = (Thinking(text="Hm.", sealed="x", format="anthropic"), Thinking(text="Hm.", signature="y"))
    drafts = [
        Draft(role="user", parts=(Text(text="Go on."),)),
        Draft(role="assistant", parts=(*thoughts, Text(text="A"))),
    ]
    assert FORM.encode(drafts).messages == [USER, {"role": "assistant", "content": "A"}]


def test_an_output_stays_of_its_calls_kind() -> None:
    drafts = FORM.decode([USER, *WHOLE[10:16]])
    hidden = [
        replace(draft, parts=(replace(draft.results[0], parts=(Text(text="[masked]"),)),)) if draft.results else draft
        for draft in drafts
    ]
    payload = FORM.encode(hidden)
    assert FORM.validate(payload) == []
    assert payload.messages[1:3] == [
        WHOLE[10],
        {"type": "custom_tool_call_output", "call_id": "c4", "output": "[masked]"},
    ]
    # A shell's output can't be told in words: the call becomes one of a function.
    assert payload.messages[3] == {
        "type": "function_call",
        "call_id": "c5",
        "name": "local_shell",
        "arguments": '{"command":["ls"]}',
    }
    assert payload.messages[4] == output("c5", "[masked]")


def test_what_a_cut_left_is_repaired() -> None:
    drafts = FORM.decode([USER, call("a"), output("a"), call("b"), output("b"), USER])
    kept = [drafts[0], drafts[2], drafts[3], drafts[5]]
    payload = FORM.encode(kept)
    assert FORM.validate(payload) == []
    assert payload.messages == [
        USER,
        {"role": "user", "content": "[result of a call that is no longer shown] ok"},
        call("b"),
        output("b", "[no result: this call was not answered]"),
        USER,
    ]


def test_a_summary_of_ours_is_no_part_of_a_reply() -> None:
    block = "[SUMMARIZED] 3 calls\n## Status\nCOMPLETE"
    drafts = FORM.decode([USER, {"role": "assistant", "content": "A"}, {"role": "assistant", "content": block}, USER])
    assert [draft.origin for draft in drafts] == ["spoken", "spoken", "summary", "spoken"]


def test_anthropic_messages_go_over() -> None:
    drafts = AnthropicMessages().decode(
        {
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "See?"}]},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                        {"type": "text", "text": "Yes."},
                        {"type": "tool_use", "id": "a", "name": "look", "input": {}},
                    ],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]},
            ],
        }
    )
    assert FORM.encode(drafts) == Payload(
        system="Be brief.",
        messages=[
            {"role": "user", "content": "See?"},
            {"role": "assistant", "content": "Yes."},
            {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
            output("a"),
        ],
    )


BROKEN: dict[str, tuple[str, int, list[Item]]] = {
    "an output that follows nothing": ("orphaned-result", 1, [USER, output("a")]),
    "a call that is never answered": ("unanswered-call", 1, [USER, call("a"), USER]),
    "words between a call and its output": ("result-not-next", 3, [USER, call("a"), USER, output("a")]),
    "two outputs of one call": ("duplicate-result", 3, [USER, call("a"), output("a"), output("a")]),
    "one id for two calls": ("duplicate-call-id", 3, [USER, call("a"), output("a"), call("a"), output("a")]),
    "a call without an id": ("call-without-id", 1, [USER, call("")]),
    "an id that is too long": ("bad-call-id", 1, [USER, call("a" * 65), output("a" * 65)]),
    "arguments that are no string": ("bad-arguments", 1, [USER, call("a", arguments={}), output("a")]),
    "a tool's name with a dot": ("bad-call-name", 1, [USER, call("a", name="files.read"), output("a")]),
    "an output of another kind": (
        "wrong-kind",
        2,
        [USER, call("a"), {"type": "custom_tool_call_output", "call_id": "a", "output": ""}],
    ),
    "an output that is an object": ("empty-content", 2, [USER, call("a"), output("a", {})]),
    "reasoning at the end": ("reasoning-alone", 1, [USER, reasoning(1)]),
    "reasoning before the user": ("reasoning-alone", 1, [USER, reasoning(1), USER]),
    "reasoning before an output": ("reasoning-alone", 2, [USER, call("a"), reasoning(1), output("a")]),
    "reasoning without a summary": ("reasoning-without-summary", 0, [{"type": "reasoning"}, message("A")]),
    "an id of someone else's": ("bad-item-id", 0, [message("A", id="call_1")]),
    "a message without content": ("empty-content", 0, [{"role": "user", "content": None}]),
    "input that the model says": (
        "misplaced-content",
        0,
        [message("A", content=[{"type": "input_text", "text": "A"}])],
    ),
    "output that the user says": (
        "misplaced-content",
        0,
        [{"role": "user", "content": [{"type": "output_text", "text": "A"}]}],
    ),
    "an unknown role": ("unknown-role", 0, [{"role": "model", "content": "A"}]),
    "content that is a number": ("unreadable", 0, [{"role": "user", "content": 7}]),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_every_rule_has_a_list_that_breaks_it_and_is_repaired(name: str) -> None:
    rule, index, items = BROKEN[name]
    found = FORM.validate(Payload(messages=items))
    assert (rule, index) in [(each.rule, each.index) for each in found]
    assert all(each.message.startswith(f"message {each.index}") for each in found)
    if rule not in ("unknown-role", "unreadable"):
        assert FORM.validate(FORM.encode(FORM.decode(items))) == []


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        (7, "This is a number, not a list of messages nor an object that holds one in `input`"),
        ({"input": None}, "`input` is null, not a list of messages"),
        ({"input": [], "instructions": []}, "instructions: it is a list, not a string"),
        (["hello"], "message 0: it is a string, not an object"),
        ([{"content": "hello"}], "message 0: it has neither a type nor a role"),
        ([USER, {"role": "tool", "content": "ok"}], "message 1: its role 'tool' is unknown; expected one of user"),
        ([{"role": "user", "content": [7]}], "message 0, content part 0: it is a number, not an object"),
        ([{"role": "user", "content": [{"type": "input_text"}]}], "message 0, content part 0, text: it is null"),
        ([{"type": "function_call", "call_id": "a"}], "message 0, name: it is null, not a string"),
        ([{"type": "reasoning", "summary": "Hm."}], "message 0, summary: it is a string, not a list"),
        ([output("a", [{"type": "input_text"}])], "message 0, output part 0, text: it is null, not a string"),
    ],
)
def test_what_can_not_be_read_is_refused_with_its_place(payload: object, says: str) -> None:
    with pytest.raises(UnreadableLog) as refused:
        FORM.decode(payload)
    assert says in str(refused.value)


def test_a_step_without_ids_does_not_part_a_reply_from_the_reasoning_that_it_goes_on_from() -> None:
    def call(name: str) -> dict[str, object]:
        return {"type": "function_call", "call_id": name, "name": "run", "arguments": "{}"}

    def output(name: str) -> dict[str, object]:
        return {"type": "function_call_output", "call_id": name, "output": "ok"}

    said: dict[str, object] = {"type": "message", "role": "assistant", "id": "msg_0", "content": []}
    said["content"] = [{"type": "output_text", "text": "Done."}]
    listed = [
        {"role": "user", "content": "Go on."},
        {"type": "reasoning", "summary": []},
        *(call("a"), output("a"), call("b"), output("b")),
        said,
    ]
    form = OpenAIResponses()
    drafts = form.decode(listed)
    assert form.encode(drafts).messages == listed
    # Without the reasoning its id would be refused.
    (written,) = [each for each in form.encode([drafts[0], *drafts[2:]]).messages if each.get("role") == "assistant"]
    assert "id" not in written

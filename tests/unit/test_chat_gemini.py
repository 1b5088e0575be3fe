"""Gemini's contents are read for what they say, and come back as they were."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.anthropic import AnthropicMessages
from ireneo.formats.chat.format import Payload
from ireneo.formats.chat.gemini import GeminiContents
from ireneo.log.message import Call, Draft, Media, Opaque, Result, Text, Thinking

FORM = GeminiContents()
Content = dict[str, object]

STAND_IN = "skip_thought_signature_validator"
INLINE: Content = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
CODE: Content = {"executableCode": {"language": "PYTHON", "code": "1"}}


def user(*parts: Content | str) -> Content:
    return {"role": "user", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def model(*parts: Content | str) -> Content:
    return {**user(*parts), "role": "model"}


def call(name: str, signature: str | None = None, **fields: object) -> Content:
    mark = {"thoughtSignature": signature} if signature else {}
    return {"functionCall": {"name": name, "args": {}, **fields}, **mark}


def result(name: str, response: object = None, **fields: object) -> Content:
    given = {"output": "ok"} if response is None else response
    return {"functionResponse": {"name": name, "response": given, **fields}}


WHOLE: list[Content] = [
    user("What is this?", INLINE, {"fileData": {"mimeType": "video/mp4", "fileUri": "https://example.org/a.mp4"}}),
    model(
        {"text": "Hm.", "thought": True},
        "Let me look.",
        call("look", "c2ln"),
        call("look"),
        call("read", args={"at": "b"}),
    ),
    user(result("look"), result("look", {"result": "b"}), result("read", {"error": "gone"}), "Quick!"),
    model({"text": "So.", "thoughtSignature": "c2lnMg=="}, CODE, {"codeExecutionResult": {"outcome": "OUTCOME_OK"}}),
    {"parts": [{"inline_data": {"mime_type": "image/png", "data": "aGk="}}]},
    {"role": "model", "parts": [{"function_call": {"name": "look"}, "thought_signature": "c2ln"}]},
    {"role": "user", "parts": [{"function_response": {"name": "look", "response": {"a": 1}}}]},
    model(call("read", STAND_IN, id="c1")),
    user(result("read", {"output": "b"}, id="c1", parts=[INLINE])),
    model("Done.", {"text": "", "thoughtSignature": "c2lnMw=="}),
]


@pytest.mark.parametrize("system", [None, "", "Be brief."])
def test_a_list_of_everything_comes_back_equal(system: str | None) -> None:
    drafts = FORM.decode({"systemInstruction": system, "contents": WHOLE})
    payload = FORM.encode(drafts)
    assert payload == Payload(messages=WHOLE, system=system)
    assert FORM.validate(payload) == []
    assert FORM.decode(payload) == drafts


@pytest.mark.parametrize("key", ["systemInstruction", "system_instruction", "system"])
@pytest.mark.parametrize(
    "system",
    ["Be brief.\n\nBe kind.", {"parts": [{"text": "Be brief."}, {"text": "Be kind."}]}, ["Be brief.", "Be kind."]],
)
def test_a_system_instruction_is_read_in_every_spelling(key: str, system: object) -> None:
    for held in ("contents", "messages"):
        drafts = FORM.decode({key: system, held: WHOLE[:1]})
        assert FORM.encode(drafts) == Payload(messages=WHOLE[:1], system="Be brief.\n\nBe kind.")


def test_parts_are_read() -> None:
    drafts = FORM.decode(WHOLE)
    roles = ["user", "assistant", "tool", "user", "assistant", "user", *["assistant", "tool"] * 2, "assistant"]
    assert [draft.role for draft in drafts] == roles
    assert drafts[0].parts[1:] == (
        Media(media_type="image/png", data="aGk="),
        Media(media_type="video/mp4", url="https://example.org/a.mp4"),
    )
    assert drafts[1].parts == (
        Thinking(text="Hm.", format="gemini"),
        Text(text="Let me look."),
        Thinking(signature="c2ln", format="gemini"),
        Call(id="gemini-call-0-look", name="look", arguments={}),
        Call(id="gemini-call-1-look", name="look", arguments={}),
        Call(id="gemini-call-0-read", name="read", arguments={"at": "b"}),
    )
    assert [(each.call_id, each.text, each.failed) for each in drafts[2].results] == [
        ("gemini-call-0-look", "ok", None),
        ("gemini-call-1-look", "b", None),
        ("gemini-call-0-read", "gone", True),
    ]
    assert drafts[3].joined
    assert drafts[4].parts[:2] == (Thinking(signature="c2lnMg==", format="gemini"), Text(text="So."))
    assert drafts[4].parts[2] == Opaque(format="gemini", payload=CODE)
    assert drafts[7].results[0].text == '{"a":1}'
    # The stand-in is no signature.
    assert drafts[8].parts == (Call(id="c1", name="read", arguments={}),)
    assert drafts[9].results[0].parts == (Text(text="b"), Media(media_type="image/png", data="aGk="))
    assert drafts[10].parts == (Text(text="Done."), Thinking(signature="c2lnMw==", format="gemini"))


def test_the_native_is_kept_only_where_the_parts_do_not_say_it_all() -> None:
    natives = [draft.native is not None for draft in FORM.decode(WHOLE)]
    assert natives == [False, False, True, False, False, True, True, True, False, True, False]


def test_a_result_that_is_read_alone_knows_its_call() -> None:
    asked = FORM.decode([user("Go on."), model(call("look"), call("look"), call("read"))])
    answered = FORM.decode([user(result("look"), result("look"), result("read"))])
    assert [each.call_id for each in answered[0].results] == [each.id for each in asked[1].calls]


def test_the_running_turn_is_signed() -> None:
    earlier = [user("One"), model(call("look")), user(result("look")), model("Done.")]
    running = [user("Two"), model("Yes.", call("look"), call("look")), user(result("look"), result("look"))]
    drafts = FORM.decode([*earlier, *running, model(call("read", "c2ln")), user(result("read"))])
    payload = FORM.encode(drafts)
    assert payload.messages == [
        *earlier,
        running[0],
        model("Yes.", call("look", STAND_IN), call("look")),
        *running[2:],
        model(call("read", "c2ln")),
        user(result("read")),
    ]
    assert FORM.validate(payload) == []
    assert FORM.decode(payload)[5].calls == drafts[5].calls


def test_results_come_in_the_order_of_their_calls() -> None:
    calls = (Call(id="a", name="look", arguments={}), Call(id="b", name="read.it", arguments="no json"))
    drafts = [
        Draft(role="user", parts=(Text(text="Go on."),)),
        Draft(role="assistant", parts=(Text(text="Looking."),)),
        Draft(role="assistant", parts=calls),
        Draft(role="tool", parts=(Result(call_id="b", parts=(Text(text="B"),)),)),
        Draft(role="tool", parts=(Result(call_id="a", parts=(Text(text="A"),), failed=True),)),
    ]
    payload = FORM.encode(drafts)
    assert FORM.validate(payload) == []
    assert payload.messages == [
        user("Go on."),
        model("Looking.", call("look", STAND_IN, id="a"), call("read.it", id="b", args={"arguments": "no json"})),
        user(result("look", {"error": "A"}, id="a"), result("read.it", {"output": "B"}, id="b")),
    ]


def test_what_a_cut_left_is_repaired() -> None:
    drafts = FORM.decode(
        [user("Go on."), model(call("look", "c2ln")), user(result("look")), model(call("read", "c2ln"))]
    )
    payload = FORM.encode(drafts[2:])
    assert FORM.validate(payload) == []
    assert payload.messages == [
        user("[result of a call that is no longer shown] ok"),
        model(call("read", "c2ln")),
        user(result("read", {"error": "[no result: this call was not answered]"})),
    ]
    assert FORM.encode(drafts[3:]).messages[0] == user("[The conversation begins here.]")


def test_a_changed_call_keeps_its_signature() -> None:
    drafts = FORM.decode(
        [
            user("Go on."),
            {"role": "model", "parts": [{"function_call": {"name": "look"}, "thought_signature": "c2ln"}]},
            user(result("look")),
        ]
    )
    changed = replace(drafts[1], parts=(drafts[1].parts[0], replace(drafts[1].calls[0], arguments={"at": "[masked]"})))
    assert FORM.encode([drafts[0], changed, drafts[2]]).messages[1] == model(
        call("look", "c2ln", args={"at": "[masked]"})
    )


def test_messages_of_others_go_over() -> None:
    drafts = AnthropicMessages().decode(
        {
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": "See?"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                        {"type": "tool_use", "id": "a", "name": "look", "input": {}},
                    ],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]},
            ],
        }
    )
    assert FORM.encode(drafts) == Payload(
        system="Be brief.",
        messages=[user("See?"), model(call("look", STAND_IN, id="a")), user(result("look", id="a"))],
    )
    there = AnthropicMessages().encode(FORM.decode(WHOLE))
    assert AnthropicMessages().validate(there) == []


def test_words_alone_are_a_user_message() -> None:
    drafts = FORM.decode([{"role": "user", "content": "Go on."}])
    assert FORM.encode(drafts).messages == [user("Go on.")]


BROKEN: dict[str, tuple[str, int, list[Content]]] = {
    "a result that follows nothing": ("orphaned-result", 0, [user(result("look"))]),
    "a call that is never answered": ("unanswered-call", 1, [user("A"), model(call("look")), user("B")]),
    "one of two calls unanswered": (
        "unanswered-call",
        1,
        [user("A"), model(call("look"), call("read")), user(result("look"))],
    ),
    "words between a call and its result": (
        "result-not-next",
        3,
        [user("A"), model(call("look")), user("B"), user(result("look"))],
    ),
    "results in another order": (
        "answers-differ",
        2,
        [user("A"), model(call("look", "s"), call("read")), user(result("read"), result("look"))],
    ),
    "a result that doesn't bear the call's id": (
        "answers-differ",
        2,
        [user("A"), model(call("look", "s", id="a")), user(result("look"))],
    ),
    "a result under another name": ("answers-differ", 2, [user("A"), model(call("look", "s")), user(result("read"))]),
    "one id for two calls": (
        "duplicate-call-id",
        1,
        [user("A"), model(call("look", "s", id="a"), call("look", id="a")), user(result("look", id="a"))],
    ),
    "a call behind words of the model": (
        "call-not-after-user",
        2,
        [user("A"), model("B"), model(call("look", "s")), user(result("look"))],
    ),
    "a model that begins": ("first-not-user", 0, [model("A")]),
    "a call without its signature": ("unsigned-call", 1, [user("A"), model(call("look")), user(result("look"))]),
    "a call by the user": ("misplaced-part", 0, [user(call("look"))]),
    "a result from the model": ("misplaced-part", 1, [user("A"), model(result("look"))]),
    "words before the results": (
        "results-not-first",
        2,
        [user("A"), model(call("look", "s")), user("B", result("look"))],
    ),
    "a content of no parts": ("empty-content", 0, [user()]),
    "an empty text": ("empty-part", 0, [user("", "A")]),
    "a part of nothing": ("empty-part", 0, [user({}, "A")]),
    "nothing but a thought": ("thought-alone", 1, [user("A"), model({"text": "Hm.", "thought": True})]),
    "arguments that are no object": ("bad-arguments", 1, [user("A"), model(call("look", args="{}"))]),
    "a response that is no object": (
        "bad-arguments",
        2,
        [user("A"), model(call("look", "s")), user(result("look", "ok"))],
    ),
    "a call of no function": ("bad-call-name", 1, [user("A"), model(call("", "s")), user(result(""))]),
    "an id that stands for none": ("bad-call-id", 1, [user("A"), model(call("look", "s", id="gemini-call-0-look"))]),
    "an older role": ("unknown-role", 0, [{"role": "function", "parts": [{"text": "A"}]}]),
    "parts that are no list": ("unreadable", 0, [{"role": "user", "parts": "A"}]),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_every_rule_has_a_list_that_breaks_it_and_is_repaired(name: str) -> None:
    rule, index, contents = BROKEN[name]
    found = FORM.validate(Payload(messages=contents))
    assert (rule, index) in [(each.rule, each.index) for each in found]
    assert all(each.message.startswith(f"message {each.index}") for each in found)
    if rule != "unreadable":
        assert FORM.validate(FORM.encode(FORM.decode(contents))) == []


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        (7, "This is a number, not a list of messages nor an object that holds one in `contents`"),
        ({"contents": None}, "`contents` is null, not a list of messages"),
        ({"contents": [], "systemInstruction": 7}, "system: it is a number, neither a string nor a content"),
        ({"contents": [], "system_instruction": {"parts": [7]}}, "system, part 0: it is a number, not an object"),
        ([{"role": "system", "parts": []}], "message 0: its role 'system' is unknown; expected one of user, model"),
        ([user("A"), {"role": "user", "parts": [7]}], "message 1, part 0: it is a number, not an object"),
        ([user({"text": 7})], "message 0, part 0, text: it is a number, not a string"),
        ([model({"functionCall": 7})], "message 0, part 0, functionCall: it is a number, not an object"),
        ([model({"functionCall": {}})], "message 0, part 0, functionCall, name: it is null, not a string"),
        ([user({"functionResponse": {}})], "message 0, part 0, functionResponse, name: it is null, not a string"),
    ],
)
def test_what_can_not_be_read_is_refused_with_its_place(payload: object, says: str) -> None:
    with pytest.raises(UnreadableLog) as refused:
        FORM.decode(payload)
    assert says in str(refused.value)

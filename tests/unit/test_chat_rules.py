"""Every rule has a list that breaks it, and says where."""

from __future__ import annotations

import pytest

from ireneo.formats.chat.anthropic import AnthropicMessages
from ireneo.formats.chat.format import ChatFormat, Payload
from ireneo.formats.chat.openai import OpenAIChat

Message = dict[str, object]

USER: Message = {"role": "user", "content": "Go on."}


def said(content: object, **fields: object) -> Message:
    return {"role": "assistant", "content": content, **fields}


def calls(*ids: str, arguments: object = "{}") -> Message:
    made = [{"id": name, "type": "function", "function": {"name": "run", "arguments": arguments}} for name in ids]
    return said(None, tool_calls=made)


def tool(name: str | None, content: object = "ok") -> Message:
    return {"role": "tool", "tool_call_id": name, "content": content}


OPENAI: dict[str, tuple[str, int, list[Message]]] = {
    "a tool message that follows nothing": ("orphaned-result", 1, [USER, tool("a")]),
    "a result that comes before its call": ("orphaned-result", 1, [USER, tool("a"), calls("a"), tool("a")]),
    "a call that is never answered": ("unanswered-call", 1, [USER, calls("a"), USER]),
    "a call that waits at the end": ("unanswered-call", 1, [USER, calls("a", "b"), tool("a")]),
    "words between a call and its result": ("result-not-next", 3, [USER, calls("a"), USER, tool("a")]),
    "two results of one call": ("duplicate-result", 3, [USER, calls("a"), tool("a"), tool("a")]),
    "a second result further on": ("duplicate-result", 4, [USER, calls("a"), tool("a"), USER, tool("a")]),
    "one id for two calls side by side": ("duplicate-call-id", 1, [USER, calls("a", "a"), tool("a")]),
    "a call without an id": ("call-without-id", 1, [USER, calls("")]),
    "a result that names no call": ("call-without-id", 3, [USER, calls("a"), tool("a"), tool(None)]),
    "arguments that are no string": ("bad-arguments", 1, [USER, calls("a", arguments={"x": 1}), tool("a")]),
    "a custom tool whose input is no string": (
        "bad-arguments",
        0,
        [said(None, tool_calls=[{"id": "a", "type": "custom", "custom": {"name": "run"}}]), tool("a")],
    ),
    "a call of no function": (
        "bad-call-name",
        0,
        [said(None, function_call={"name": "", "arguments": "{}"}), {"role": "function", "name": "", "content": ""}],
    ),
    "an assistant that says nothing": ("empty-content", 1, [USER, said(None)]),
    "an empty list of calls": ("empty-content", 1, [USER, said("Yes.", tool_calls=[])]),
    "a tool message without content": ("empty-content", 2, [USER, calls("a"), tool("a", None)]),
    "an unknown role": ("unknown-role", 1, [USER, {"role": "model", "content": "Yes."}]),
    "no role": ("unknown-role", 0, [{"content": "Yes."}]),
    "calls that are no list": ("unreadable", 1, [USER, said("Yes.", tool_calls={"id": "a"})]),
    "a function's result without its call": ("orphaned-result", 0, [{"role": "function", "name": "f", "content": ""}]),
}


def block(kind: str, **fields: object) -> Message:
    return {"type": kind, **fields}


def uses(*ids: str, **fields: object) -> Message:
    return said([block("tool_use", id=name, name="run", input={}) | fields for name in ids])


def results(*ids: str | None, after: object = None, **fields: object) -> Message:
    brought = [block("tool_result", tool_use_id=name, content="ok") | fields for name in ids]
    return {"role": "user", "content": [*brought, *([after] if after else [])]}


TEXT = block("text", text="Look:")
SEARCH = block("server_tool_use", id="s", name="web_search", input={})
FOUND = block("web_search_tool_result", tool_use_id="s", content=[])

ANTHROPIC: dict[str, tuple[str, int, list[Message]]] = {
    "a result that follows nothing": ("orphaned-result", 0, [results("a")]),
    "a call that is never answered": ("unanswered-call", 1, [USER, uses("a"), USER]),
    "a call that waits at the end": ("unanswered-call", 1, [USER, uses("a")]),
    "one of two calls unanswered": ("unanswered-call", 1, [USER, uses("a", "b"), results("a")]),
    "words between a call and its result": ("result-not-next", 3, [USER, uses("a"), USER, results("a")]),
    "results in two messages": ("result-not-next", 3, [USER, uses("a", "b"), results("a"), results("b")]),
    "two results of one call": ("duplicate-result", 2, [USER, uses("a"), results("a", "a")]),
    "one id for two calls": ("duplicate-call-id", 3, [USER, uses("a"), results("a"), uses("a"), results("a")]),
    "a call without an id": ("call-without-id", 1, [USER, uses("")]),
    "a result that names no call": ("call-without-id", 2, [USER, uses("a"), results("a", None)]),
    "an id with a colon": ("bad-call-id", 1, [USER, uses("run:0"), results("run:0")]),
    "a tool's name with a dot": ("bad-call-name", 1, [USER, uses("a", name="files.read"), results("a")]),
    "an input that is no object": ("bad-arguments", 1, [USER, uses("a", input="{}"), results("a")]),
    "an assistant that begins": ("first-not-user", 0, [said("Hello.")]),
    "a blank text": ("empty-text", 1, [USER, said([block("text", text=" \n"), TEXT])]),
    "a blank string": ("empty-text", 0, [{"role": "user", "content": ""}]),
    "a blank text in a result": ("empty-text", 2, [USER, uses("a"), results("a", content=[block("text", text="")])]),
    "a message of no blocks": ("empty-content", 1, [USER, said([])]),
    "an error that says nothing": ("empty-content", 2, [USER, uses("a"), results("a", content="", is_error=True)]),
    "a text before the results": (
        "results-not-first",
        2,
        [USER, uses("a"), {"role": "user", "content": [TEXT, block("tool_result", tool_use_id="a", content="")]}],
    ),
    "a server's call without its result": ("server-pair-split", 1, [USER, said([SEARCH, TEXT])]),
    "a server's result without its call": ("server-pair-split", 1, [USER, said([FOUND, TEXT])]),
    "a server's pair over two messages": ("server-pair-split", 2, [USER, said([SEARCH]), said([FOUND])]),
    "a call by the user": ("misplaced-block", 0, [{"role": "user", "content": [block("tool_use", id="a", name="f")]}]),
    "a result from the assistant": ("misplaced-block", 1, [USER, said([block("tool_result", tool_use_id="a")])]),
    "thinking and nothing more": (
        "thinking-last",
        1,
        [USER, said([block("thinking", thinking="Hm.", signature="c2ln")])],
    ),
    "thinking without a signature": ("unsigned-thinking", 1, [USER, said([block("thinking", thinking="Hm."), TEXT])]),
    "an unknown role": ("unknown-role", 1, [USER, {"role": "tool", "content": "ok"}]),
    "a system prompt in the list": ("system-in-list", 1, [USER, {"role": "system", "content": "Be brief."}]),
    "content that is a number": ("unreadable", 1, [USER, said(7)]),
}

CASES: list[tuple[ChatFormat, str, tuple[str, int, list[Message]]]] = [
    *((OpenAIChat(), name, case) for name, case in OPENAI.items()),
    *((AnthropicMessages(), name, case) for name, case in ANTHROPIC.items()),
]


every_case = pytest.mark.parametrize(
    ("form", "case"), [(form, case) for form, _, case in CASES], ids=[f"{form.name}: {name}" for form, name, _ in CASES]
)
every_readable_case = pytest.mark.parametrize(
    ("form", "case"), [(form, case) for form, _, case in CASES if case[0] not in ("unknown-role", "unreadable")]
)


@every_case
def test_a_broken_rule_is_named_with_its_place(form: ChatFormat, case: tuple[str, int, list[Message]]) -> None:
    rule, index, messages = case
    found = form.validate(Payload(messages=messages))
    assert (rule, index) in [(fault.rule, fault.index) for fault in found]
    for fault in found:
        assert fault.message.startswith(f"message {fault.index}")
        assert fault.message.endswith(".")


@every_readable_case
def test_what_breaks_a_rule_can_be_repaired(form: ChatFormat, case: tuple[str, int, list[Message]]) -> None:
    _, _, messages = case
    assert form.validate(form.encode(form.decode(messages))) == []


def test_one_fault_is_reported_once() -> None:
    form = AnthropicMessages()
    late = form.validate(Payload(messages=[USER, uses("a"), USER, results("a")]))
    assert [fault.rule for fault in late] == ["result-not-next"]


def test_openai_ids_may_come_again_in_a_later_message() -> None:
    messages = [USER, calls("call_0"), tool("call_0"), calls("call_0"), tool("call_0")]
    assert OpenAIChat().validate(Payload(messages=messages)) == []


def test_a_blank_block_of_the_system_prompt_is_reported() -> None:
    found = AnthropicMessages().validate(Payload(messages=[USER], system=[TEXT, block("text", text=" ")]))
    assert [(fault.rule, fault.message) for fault in found] == [("empty-text", "system, block 1: its text is blank.")]


def test_rubbish_is_reported_and_breaks_nothing() -> None:
    rubbish: list[Message] = [
        {},
        {"role": ["user"], "content": {}},
        {"role": "assistant", "content": [{"type": "server_tool_use", "id": []}, 7], "tool_calls": 3},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": {}}, {"type": None}]},
        {"role": "tool", "tool_call_id": [], "content": 7},
    ]
    for form in (OpenAIChat(), AnthropicMessages()):
        assert form.validate(Payload(messages=rubbish))

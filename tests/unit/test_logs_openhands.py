"""OpenHands' events, of both generations."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.anthropic import AnthropicMessages
from ireneo.formats.logs.format import LoggedSession
from ireneo.formats.logs.openhands import OpenHands
from ireneo.log.message import Call, Draft, Media, Text, Thinking

Raw = dict[str, object]
AT = "2026-01-02T03:04:05"


def read(*values: object, name: str = "file") -> list[LoggedSession]:
    return list(OpenHands().read([json.dumps(value).encode() + b"\n" for value in values], name))


def drafts(*events: Raw) -> list[Draft]:
    (session,) = read({"instance_id": "a-1", "history": list(events)})
    return session.path


def entries(draft: Draft) -> list[dict[str, object]]:
    assert draft.record is not None
    assert isinstance(draft.record.payload, list)
    return draft.record.payload


# The first generation.


def did(number: int, action: str, /, *, source: str = "agent", **args: object) -> Raw:
    return {
        "id": number,
        "timestamp": AT,
        "source": source,
        "message": f"Doing {action}",
        "action": action,
        "args": args,
    }


def by_model(event: Raw, call_id: str, name: str, arguments: str) -> Raw:
    message = {
        "role": "assistant",
        "reasoning_content": "Hm.",
        "tool_calls": [{"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}],
    }
    told = {"function_name": name, "tool_call_id": call_id, "model_response": {"choices": [{"message": message}]}}
    return event | {"tool_call_metadata": told}


def saw(number: int, cause: int, kind: str, content: str, **extras: object) -> Raw:
    seen = {"id": number, "timestamp": AT, "source": "agent", "message": "", "cause": cause, "observation": kind}
    return seen | {"content": content, "extras": extras}


TASK = did(1, "message", source="user", content="Mend it.")


def test_an_action_and_its_observation_are_a_call_and_its_result() -> None:
    run = by_model(did(2, "run", command="make", thought="I build."), "call_a", "execute_bash", '{"command": "make"}')
    out = drafts(TASK, run, saw(3, 2, "run", "no\n", metadata={"exit_code": 2, "working_dir": "/work"}))
    assert [draft.role for draft in out] == ["user", "assistant", "tool"]
    call = Call(id="call_a", name="execute_bash", arguments={"command": "make"})
    assert out[1].parts == (Thinking(text="Hm."), Text(text="I build."), call)
    (result,) = out[2].results
    assert (result.call_id, result.text, result.failed) == ("call_a", "no\n", True)
    assert out[1].at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert out[1].source_id == "2"
    assert [entries(draft)[0] for draft in out] == [{"cwd": "/work"}] * 3


def test_without_the_models_own_call_the_action_is_the_call() -> None:
    out = drafts(TASK, did(2, "read", path="a.py", thought=""), saw(3, 2, "read", "x = 1"))
    assert out[1].parts == (Call(id="event_2", name="read", arguments={"path": "a.py"}),)
    assert out[2].results[0].call_id == "event_2"


@pytest.mark.parametrize(
    ("seen", "failed"),
    [
        (saw(3, 2, "run", "", metadata={"exit_code": 0}), False),
        (saw(3, 2, "run", "", metadata={"exit_code": -1}), None),
        (saw(3, 2, "run", "", exit_code=1), True),
        (saw(3, 2, "edit", "ERROR:\nNo replacement was performed."), True),
        (saw(3, 2, "edit", "The file /a.py has been edited. Here's the result"), False),
        (saw(3, 2, "run_ipython", "Traceback (most recent call last):\n  File 'a'\nKeyError: 1"), True),
        (saw(3, 2, "error", "Missing argument."), True),
        (saw(3, 2, "user_rejected", "No."), True),
        (saw(3, 2, "mcp", "words"), None),
    ],
)
def test_failures_are_found(seen: Raw, failed: bool | None) -> None:
    assert drafts(TASK, did(2, "run", command="make"), seen)[-1].results[0].failed is failed


def test_the_oldest_events_are_pairs_without_sources_or_numbers() -> None:
    nothing = {"observation": "null", "content": ""}
    history = [
        [{"action": "message", "content": "Mend it.", "wait_for_response": False}, nothing],
        [
            {"action": "run", "command": "ls", "thought": "I look.", "keep_prompt": True},
            {"observation": "run", "content": "a", "exit_code": 1, "command": "ls"},
        ],
        [{"action": "message", "content": "What now?"}, nothing],
        [{"action": "message", "content": "Go on."}, nothing],
        [{"action": "finish", "outputs": {"content": "It is mended."}, "thought": ""}, nothing],
    ]
    issue = {"owner": "o", "repo": "r", "number": 5}
    (session,) = read({"issue": issue, "history": history, "success": True})
    assert session.id == "r-5"
    assert [(draft.role, draft.text) for draft in session.path] == [
        ("user", "Mend it."),
        ("assistant", "I look."),
        ("tool", ""),
        ("assistant", "What now?"),
        ("user", "Go on."),
        ("assistant", "It is mended."),
    ]
    assert session.path[1].calls[0].arguments == {"command": "ls"}
    assert session.path[2].results[0].failed is True
    assert {"issue": issue, "success": True} in entries(session.path[0])


def test_what_the_harness_says_opens_no_turn() -> None:
    knowledge = saw(4, 3, "recall", "Added", microagent_knowledge=[{"name": "git", "content": "Use git."}])
    own = did(5, "run", source="user", command="ls")
    out = drafts(
        did(0, "system", content="You act.", tools=[]),
        TASK,
        did(3, "recall", source="user", query="Mend it."),
        knowledge,
        own,
        saw(6, 5, "run", "a.py"),
        did(7, "change_agent_state", agent_state="finished"),
        saw(8, 7, "agent_state_changed", "", agent_state="finished"),
        saw(9, 99, "error", "The agent is stuck."),
    )
    assert [(draft.role, draft.origin, draft.text) for draft in out] == [
        ("system", "spoken", "You act."),
        ("user", "spoken", "Mend it."),
        ("user", "injected", "Use git."),
        ("user", "injected", "Doing run"),
        ("user", "injected", "a.py"),
        ("user", "injected", "The agent is stuck."),
    ]


def test_a_condensation_is_a_summary() -> None:
    out = drafts(
        TASK, did(2, "condensation", summary="What was done.", forgotten_event_ids=[1]), did(3, "condensation")
    )
    assert [(draft.origin, draft.text) for draft in out] == [("spoken", "Mend it."), ("summary", "What was done.")]


def test_two_calls_of_one_name_are_told_apart() -> None:
    first = by_model(did(2, "run", command="a"), "call", "execute_bash", "{}")
    second = by_model(did(4, "run", command="b"), "call", "execute_bash", "no JSON")
    out = drafts(TASK, first, second, saw(5, 4, "run", "B"), saw(6, 2, "run", "A"))
    assert [draft.calls[0].id for draft in out[1:3]] == ["call", "call-2"]
    assert [(draft.results[0].call_id, draft.results[0].text) for draft in out[3:]] == [("call-2", "B"), ("call", "A")]
    assert out[2].calls[0].arguments == "no JSON"


# The SDK.


def happened(kind: str, name: str, source: str = "agent", **fields: object) -> Raw:
    return {"kind": kind, "id": name, "timestamp": AT, "source": source} | fields


def message(name: str, role: str, text: str, source: str = "user", **fields: object) -> Raw:
    said = {"role": role, "content": [{"type": "text", "text": text}]}
    return happened("MessageEvent", name, source, llm_message=said, **fields)


def acted(name: str, call_id: str, reply: str, **fields: object) -> Raw:
    made = {"id": call_id, "name": "terminal", "arguments": '{"command": "make"}', "origin": "completion"}
    told: Raw = {"thought": [], "tool_name": "terminal", "tool_call_id": call_id, "tool_call": made}
    action = {"kind": "TerminalAction", "command": "make"}
    return happened("ActionEvent", name, **(told | {"action": action, "llm_response_id": reply} | fields))


def observed(name: str, call_id: str, text: str, **seen: object) -> Raw:
    observation = {"kind": "TerminalObservation", "content": [{"type": "text", "text": text}]} | seen
    told = {"tool_name": "terminal", "tool_call_id": call_id, "action_id": "x", "observation": observation}
    return happened("ObservationEvent", name, "environment", **told)


def test_the_sdks_events_are_read() -> None:
    prompt = {"type": "text", "text": "You act."}
    blocks = [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "redacted_thinking", "data": "r"}]
    out = drafts(
        happened("SystemPromptEvent", "e0", system_prompt=prompt, tools=[], dynamic_context={"text": "Host: a."}),
        message("e1", "user", "Mend it.", extended_content=[{"type": "text", "text": "Be kind."}]),
        acted("e2", "c1", "r1", thought=[{"type": "text", "text": "I build."}], thinking_blocks=blocks),
        acted("e3", "c2", "r1"),
        observed("e4", "c1", "built", is_error=False, exit_code=0, metadata={"working_dir": "/work"}),
        observed("e5", "c2", "no", is_error=False, exit_code=2),
        happened("ConversationStateUpdateEvent", "e6", "environment", key="x", value=1),
        message("e7", "assistant", "Done.", "agent"),
    )
    assert [(draft.role, draft.origin, draft.text) for draft in out] == [
        ("system", "spoken", "You act.\nHost: a."),
        ("user", "spoken", "Mend it."),
        ("user", "injected", "Be kind."),
        ("assistant", "spoken", "I build."),
        ("tool", "spoken", ""),
        ("tool", "spoken", ""),
        ("assistant", "spoken", "Done."),
    ]
    assert out[3].parts == (
        Thinking(text="Hm.", signature="s", format="anthropic"),
        Thinking(sealed="r", format="anthropic"),
        Text(text="I build."),
        Call(id="c1", name="terminal", arguments={"command": "make"}),
        Call(id="c2", name="terminal", arguments={"command": "make"}),
    )
    assert [(draft.results[0].call_id, draft.results[0].failed) for draft in out[4:6]] == [("c1", False), ("c2", True)]
    assert entries(out[0])[0] == {"cwd": "/work"}
    assert out[1].at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    chat = AnthropicMessages()
    assert chat.validate(chat.encode(out)) == []


@pytest.mark.parametrize(
    ("answer", "text", "failed"),
    [
        (
            happened("AgentErrorEvent", "e", tool_call_id="c", tool_name="t", error="No such tool."),
            "No such tool.",
            True,
        ),
        (
            happened("UserRejectObservation", "e", tool_call_id="c", tool_name="t", rejection_reason="Not now."),
            "Action rejected: Not now.",
            True,
        ),
        (observed("e", "c", "gone wrong", is_error=True), "gone wrong", True),
        (observed("e", "c", "waits", is_error=False, exit_code=-1), "waits", None),
        (observed("e", "c", "fine", is_error=False), "fine", False),
        (observed("e", "c", "FAILED (errors=1)", is_error=False), "FAILED (errors=1)", True),
        (observed("e", "c", "words"), "words", None),
    ],
)
def test_the_sdks_answers_tell_their_outcome(answer: Raw, text: str, failed: bool | None) -> None:
    (result,) = drafts(message("m", "user", "Go."), acted("a", "c", "r"), answer)[-1].results
    assert (result.call_id, result.text, result.failed) == ("c", text, failed)


def test_the_sdks_condensation_is_a_summary() -> None:
    out = drafts(
        message("m", "user", "Go."),
        happened(
            "Condensation", "k", "environment", summary="What was done.", forgotten_event_ids=["m"], summary_offset=1
        ),
        happened("Condensation", "l", "environment", summary=None, forgotten_event_ids=[]),
    )
    assert [(draft.origin, draft.text) for draft in out] == [("spoken", "Go."), ("summary", "What was done.")]


def test_events_that_share_a_parent_are_branches() -> None:
    (session,) = read(
        [
            message("a", "user", "One."),
            message("b", "assistant", "1", "agent", parent_id="a"),
            happened("PauseEvent", "c", "user", parent_id="a"),
            message("d", "assistant", "one", "agent", parent_id="c"),
        ]
    )
    assert [draft.text for draft in session.path] == ["One.", "one"]
    assert [node.parent for node in session.nodes] == [None, 0, 0]


def test_an_answer_that_belongs_to_no_call_is_told_by_the_harness() -> None:
    out = drafts(message("m", "user", "Go."), observed("e", "nowhere", "lost"))
    assert (out[1].role, out[1].origin, out[1].text) == ("user", "injected", "lost")


def test_pictures_and_words_alone_are_read_too() -> None:
    seen = {"kind": "BrowserObservation", "output": "a page"}
    picture = {"type": "image", "image_urls": ["data:image/png;base64,QQ==", "https://a.b/c.png"]}
    out = drafts(
        happened("MessageEvent", "m", "user", llm_message={"role": "user", "content": [picture]}),
        acted("a", "c", "r", tool_call={"name": "browse"}, action={"kind": "B", "url": "u"}),
        happened("ObservationEvent", "o", "environment", tool_call_id="c", observation=seen),
    )
    assert out[0].parts == (
        Media(media_type="image/png", data="QQ=="),
        Media(media_type="image/*", url="https://a.b/c.png"),
    )
    assert out[1].calls == (Call(id="c", name="browse", arguments={"url": "u"}),)
    assert out[2].results[0].text == "a page"


# Files.


@pytest.mark.parametrize("events", [[TASK, did(2, "think", thought="Hm.")], [message("a", "user", "One.")]])
def test_events_may_stand_alone_on_lines_in_a_list_or_in_a_record(events: list[Raw]) -> None:
    expected = drafts(*events)
    for values in (events, [events], [{"events": events, "id": "x"}]):
        text = "\n".join(json.dumps(value) for value in values).encode()
        assert OpenHands().recognises(text)
        (session,) = OpenHands().read(text.splitlines(keepends=True), "file")
        assert [draft.parts for draft in session.path] == [draft.parts for draft in expected]


def test_broken_lines_are_named_and_the_rest_is_kept() -> None:
    good = {"instance_id": "a", "history": [TASK, 7, {"action": "no such action"}]}
    lines = [
        json.dumps(good).encode() + json.dumps(good | {"instance_id": "b"}).encode(),
        b'{"instance_id": "c", "history": [',
        b'{"history": []}',
        json.dumps(good | {"instance_id": "d", "history": [did(1, "null")]}).encode(),
    ]
    sessions = list(OpenHands().read(lines, "file"))
    assert [session.id for session in sessions] == ["a", "b"]
    assert [fault.line for fault in sessions[0].faults] == [1, 1, 1]
    assert sum("holds 2 entries" in fault.message for fault in sessions[0].faults) == 2
    assert [fault.line for fault in sessions[1].faults] == [2, 3]


def test_a_file_without_events_is_refused() -> None:
    with pytest.raises(UnreadableLog):
        read({"instance_id": "a", "history": []})

"""Gemini CLI's chats: one document, and lines that are added to, written again, rewound and cut shorter."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from ireneo.errors import UnreadableLog
from ireneo.formats.logs.format import LoggedSession
from ireneo.formats.logs.gemini_cli import GeminiCli
from ireneo.log.message import Call, Text, Thinking

ABOUT: dict[str, object] = {"sessionId": "g-1", "projectHash": "ab12", "startTime": "2026-03-01T09:00:00Z"}


def user(text: object, name: str = "u1") -> dict[str, object]:
    return {"id": name, "timestamp": "2026-03-01T09:00:01Z", "type": "user", "content": text}


def reply(text: object, *calls: dict[str, object], name: str = "r1", **more: object) -> dict[str, object]:
    told = {"id": name, "timestamp": "2026-03-01T09:00:02Z", "type": "gemini", "content": text, **more}
    return {**told, "toolCalls": list(calls)} if calls else told


def call(
    output: object, *, name: str = "c1", tool: str = "run_shell_command", status: str = "success", key: str = "output"
) -> dict[str, object]:
    response = {"functionResponse": {"id": name, "name": tool, "response": {key: output}}}
    args = {"command": "make"} if tool == "run_shell_command" else {"file_path": "a.md"}
    return {"id": name, "name": tool, "args": args, "result": [response], "status": status}


def document(*messages: dict[str, object], **more: object) -> LoggedSession:
    text = json.dumps({**ABOUT, "messages": list(messages), **more}, indent=2)
    (session,) = GeminiCli().read(text.encode().splitlines(keepends=True), "file")
    return session


def lines(*values: object) -> LoggedSession:
    (session,) = GeminiCli().read([json.dumps(value).encode() + b"\n" for value in values], "file")
    return session


def test_a_document_is_read_with_its_calls_and_their_results() -> None:
    thoughts = [{"subject": "Plan", "description": "Run make."}]
    session = document(
        user("Build it."), reply("I build.", call("Exit Code: 0"), thoughts=thoughts), reply("Built.", name="r2")
    )
    assert session.id == "g-1"
    drafts = session.path
    assert [draft.role for draft in drafts] == ["user", "assistant", "tool", "assistant"]
    assert drafts[1].parts == (
        Thinking(text="Plan\nRun make."),
        Text(text="I build."),
        Call(id="c1", name="run_shell_command", arguments={"command": "make"}),
    )
    assert drafts[2].results[0].call_id == "c1"
    assert drafts[0].at == datetime(2026, 3, 1, 9, 0, 1, tzinfo=UTC)
    assert session.faults == ()


@pytest.mark.parametrize(
    ("told", "failed"),
    [
        (call("Command: make\nExit Code: 0"), False),
        (call("Command: make\nError: (none)\nExit Code: 2\nSignal: 0"), True),
        (call("no such file", key="error"), True),
        (call("File not found", tool="read_file", status="error"), True),
        (call("[Operation Cancelled]", status="cancelled"), True),
        (call("Error: is what the page says", tool="read_file"), False),
    ],
)
def test_a_failure_is_told_by_the_status_the_answer_and_the_exit_code(told: dict[str, object], failed: bool) -> None:
    assert document(user("Go."), reply("", told)).path[2].results[0].failed is failed


def test_a_call_that_was_still_waited_for_has_no_result() -> None:
    waiting = {"id": "c1", "name": "run_shell_command", "args": {}, "status": "executing"}
    session = document(user("Go."), reply("", waiting))
    assert [draft.role for draft in session.path] == ["user", "assistant"]


def test_a_notice_is_the_harness_and_a_snapshot_is_a_summary() -> None:
    notice = {"id": "i", "timestamp": "2026-03-01T09:00:01Z", "type": "info", "content": "An update is there."}
    session = document(user("<state_snapshot>We built.</state_snapshot>"), notice, user("Go on.", "u2"))
    assert [draft.origin for draft in session.path] == ["summary", "injected", "spoken"]


def test_a_message_that_is_written_again_stands_once_with_all_that_it_grew_to() -> None:
    session = lines(
        ABOUT, user("Build."), reply("I build."), {"$set": {"summary": "x"}}, reply("I build.", call("Exit Code: 0"))
    )
    assert [draft.role for draft in session.path] == ["user", "assistant", "tool"]


def test_a_rewind_leaves_a_branch() -> None:
    session = lines(
        ABOUT, user("One."), reply("First."), user("Two.", "u2"), {"$rewindTo": "u2"}, user("Another.", "u3")
    )
    assert [draft.text for draft in session.path] == ["One.", "First.", "Another."]
    assert len(session.nodes) == 4


def test_a_chat_that_was_rewound_and_left_stands_there() -> None:
    session = lines(ABOUT, user("One."), reply("First."), user("Two.", "u2"), {"$rewindTo": "u2"})
    assert [draft.text for draft in session.path] == ["One.", "First."]


def test_a_rewind_to_what_is_not_there_begins_anew_and_is_named() -> None:
    session = lines(ABOUT, user("One."), {"$rewindTo": "gone"}, user("Two.", "u2"))
    assert [draft.text for draft in session.path] == ["Two."]
    assert [fault.line for fault in session.faults] == [3]


def test_a_checkpoint_adds_its_summary_and_repeats_nothing() -> None:
    shortened = [
        user("<state_snapshot>We built.</state_snapshot>", "n1"),
        reply("Got it.", name="n2"),
        user(
            [{"functionResponse": {"id": "c1", "name": "run_shell_command", "response": {"output": "(masked)"}}}], "n3"
        ),
        reply("Done.", name="r2"),
    ]
    session = lines(
        ABOUT,
        user("Build."),
        reply("", call("Exit Code: 0")),
        reply("Done.", name="r2"),
        {"$set": {"messages": shortened}},
        user("Thanks.", "u2"),
    )
    assert [(draft.text, draft.origin) for draft in session.path if draft.role != "tool"] == [
        ("Build.", "spoken"),
        ("", "spoken"),
        ("Done.", "spoken"),
        ("<state_snapshot>We built.</state_snapshot>", "summary"),
        ("Got it.", "injected"),
        ("Thanks.", "spoken"),
    ]
    assert [result.text for draft in session.path for result in draft.results] == ["Exit Code: 0"]


def test_where_it_is_worked_is_told_with_each_turn() -> None:
    session = document(user("One."), user("Two.", "u2"), directories=["/home/ada/kiln"])
    payloads = [draft.record.payload for draft in session.path if draft.record]
    assert all(isinstance(payload, list) and payload[0] == {"cwd": "/home/ada/kiln"} for payload in payloads)
    assert len(payloads) == 2


def test_what_the_model_wrote_with_its_calls_is_no_second_call() -> None:
    parts = [
        {"text": "Hm.", "thought": True},
        {"text": "I build."},
        {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {}}},
    ]
    session = document(user("Go."), reply(parts, call("Exit Code: 0")))
    assert [type(part).__name__ for part in session.path[1].parts] == ["Thinking", "Text", "Call"]


def test_damaged_lines_are_named_and_the_rest_is_read() -> None:
    damaged = [
        json.dumps(ABOUT).encode(),
        b'{"id": "u0", "ty',
        b"7",
        b'{"colour": 1}',
        json.dumps(user("One.")).encode(),
    ]
    (session,) = GeminiCli().read([line + b"\n" for line in damaged], "file")
    assert [draft.text for draft in session.path] == ["One."]
    assert [fault.line for fault in session.faults] == [2, 3, 4]


def test_a_chat_in_which_nobody_speaks_is_none() -> None:
    with pytest.raises(UnreadableLog):
        lines(ABOUT, {"$set": {"lastUpdated": "x"}})

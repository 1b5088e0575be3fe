"""Transcripts in a chat provider's format, in every shape that a file may have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from ireneo.errors import UnreadableLog
from ireneo.formats.logs.format import LoggedSession, log_format
from ireneo.log.message import Call, Native

ASKED = {"role": "user", "content": "Book it."}
CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "book", "arguments": '{"seat": 3}'}}],
}
FAILED = {"role": "tool", "tool_call_id": "c1", "name": "book", "content": "Error: seat taken"}
MESSAGES = [{"role": "system", "content": "You book."}, ASKED, CALLED, FAILED, {"role": "assistant", "content": "No."}]


def read(*lines: object, name: str = "file", form: str = "openai", indent: int | None = None) -> list[LoggedSession]:
    text = "\n".join(line.decode() if isinstance(line, bytes) else json.dumps(line, indent=indent) for line in lines)
    return list(log_format(form).read(text.encode().splitlines(keepends=True), name))


def roles(session: LoggedSession) -> list[str]:
    assert [node.parent for node in session.nodes] == [None, *range(len(session.nodes) - 1)]
    assert session.head == len(session.nodes) - 1
    return [node.draft.role for node in session.nodes]


ALL = ["system", "user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    ("value", "name"),
    [
        (MESSAGES, "file"),
        ({"messages": MESSAGES}, "file"),
        ({"id": "talk-7", "messages": MESSAGES}, "talk-7"),
        ({"task_id": 4, "trial": 1, "reward": 1.0, "traj": MESSAGES}, "task-4-trial-1"),
        ([{"task_id": 4, "trial": 1, "traj": MESSAGES}], "task-4-trial-1"),
    ],
    ids=["list", "object", "object with an id", "tau-bench", "list of runs"],
)
def test_a_document_is_a_session(value: object, name: str, indent: int | None) -> None:
    (session,) = read(value, indent=indent)
    assert session.id == name
    assert roles(session) == ALL


def test_each_line_is_a_session() -> None:
    run = {"task_id": 1, "traj": MESSAGES}
    sessions = read(run | {"trial": 0}, run | {"trial": 1}, {"messages": MESSAGES}, {"messages": MESSAGES})
    assert [session.id for session in sessions] == ["task-1-trial-0", "task-1-trial-1", "file", "file-2"]
    assert all(roles(session) == ALL for session in sessions)


def test_one_message_a_line_is_one_session() -> None:
    (session,) = read(*MESSAGES)
    assert session.id == "file"
    assert roles(session) == ALL


def test_calls_and_results_are_read_and_failures_derived() -> None:
    (session,) = read(MESSAGES)
    assert session.nodes[2].draft.calls == (Call(id="c1", name="book", arguments={"seat": 3}),)
    answer = session.nodes[3].draft.results[0]
    assert (answer.call_id, answer.text, answer.failed) == ("c1", "Error: seat taken", True)


def test_what_was_noted_about_the_run_is_kept() -> None:
    (session,) = read({"task_id": 4, "trial": 1, "reward": 0.0, "traj": MESSAGES})
    record = Native(format="openai", payload=[{"task_id": 4, "trial": 1, "reward": 0.0}])
    assert [node.draft.record for node in session.nodes] == [record, None, None, None, None]


@pytest.mark.parametrize("key", ["timestamp", "created_at"])
def test_a_message_may_tell_its_time(key: str) -> None:
    (session,) = read([ASKED | {key: "2026-03-01T10:00:00+00:00"}])
    assert session.nodes[0].draft.at == datetime(2026, 3, 1, 10, tzinfo=UTC)


def test_anthropic_messages_and_their_system_prompt() -> None:
    used = {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "go test"}}
    answered = {"type": "tool_result", "tool_use_id": "c1", "content": "--- FAIL: TestA (0.00s)\nFAIL"}
    value = {
        "system": "You work.",
        "messages": [
            {"role": "user", "content": "Test it."},
            {"role": "assistant", "content": [{"type": "text", "text": "I test."}, used]},
            {"role": "user", "content": [answered, {"type": "text", "text": "and be quick"}]},
        ],
    }
    (session,) = read(value, form="anthropic")
    assert roles(session) == ["system", "user", "assistant", "tool", "user"]
    assert session.nodes[0].draft.text == "You work."
    assert session.nodes[3].draft.results[0].failed is True
    assert session.nodes[4].draft.joined


def test_a_system_prompt_beside_openai_messages_is_the_first() -> None:
    (session,) = read({"system": "You work.", "messages": [ASKED]})
    assert roles(session) == ["system", "user"]


def test_a_message_that_is_none_is_named_and_the_rest_is_kept() -> None:
    (session,) = read([ASKED, "rubbish", {"role": "wizard"}, {"role": "assistant", "content": "Yes."}])
    assert roles(session) == ["user", "assistant"]
    assert [fault.line for fault in session.faults] == [1, 1]
    assert "message 2" in session.faults[0].message
    assert "wizard" in session.faults[1].message


def test_a_broken_line_is_named_and_the_other_runs_are_kept() -> None:
    sessions = read({"messages": MESSAGES}, b'{"messages": [{"role": "us', b'{"a": 1}', {"messages": MESSAGES})
    assert [session.id for session in sessions] == ["file", "file-2"]
    assert [[fault.line for fault in session.faults] for session in sessions] == [[2, 3], []]


def test_a_last_line_that_is_cut_off_is_named_with_the_run_before() -> None:
    sessions = read({"messages": MESSAGES}, {"messages": MESSAGES}, b'{"messages": [{"role": "us')
    assert [[fault.line for fault in session.faults] for session in sessions] == [[], [3]]


def test_a_last_run_without_a_readable_message_is_named_with_the_run_before() -> None:
    sessions = read({"messages": MESSAGES}, {"messages": [{"role": "wizard"}]})
    assert [[fault.line for fault in session.faults] for session in sessions] == [[2]]


def test_a_broken_first_line_costs_one_run() -> None:
    sessions = read(b'{"messages": [{"role": "us', {"messages": MESSAGES})
    assert [[fault.line for fault in session.faults] for session in sessions] == [[1]]


def test_a_list_with_a_message_a_line_that_is_cut_off_keeps_the_whole_ones() -> None:
    text = b"[\n" + b",\n".join(json.dumps(message).encode() for message in MESSAGES)
    (session,) = list(log_format("openai").read(text[:-10].splitlines(keepends=True), "file"))
    assert roles(session) == ALL[:-1]
    assert session.faults[-1].line == 6


def test_a_document_that_is_cut_off_is_unreadable_and_says_where() -> None:
    text = json.dumps({"messages": MESSAGES}, indent=2).encode()
    with pytest.raises(UnreadableLog, match=r"one JSON document that is broken in line 1\d"):
        list(log_format("openai").read(text[: len(text) // 2].splitlines(keepends=True), "file"))


@pytest.mark.parametrize("lines", [(), (b"",), ({},), ([],), ({"messages": []},), (b"rubbish",)])
def test_a_file_without_a_message_is_unreadable(lines: tuple[object, ...]) -> None:
    with pytest.raises(UnreadableLog, match="holds no message"):
        read(*lines)


def test_runs_are_read_one_at_a_time() -> None:
    def lines() -> Iterator[bytes]:
        yield json.dumps({"messages": MESSAGES}).encode()
        yield json.dumps({"messages": MESSAGES}).encode()
        raise AssertionError("the first run was complete before this line was asked for")

    assert next(log_format("openai").read(lines(), "file")).id == "file"


@pytest.mark.parametrize("key", ["timestamp", "createdAt", "time", "date"])
def test_a_message_and_a_run_say_in_words_when_they_were(key: str) -> None:
    when, after = datetime(2023, 5, 8, 13, 56, tzinfo=UTC), datetime(2023, 5, 9, 8, 0, tzinfo=UTC)
    (session,) = read({key: "1:56 pm on 8 May, 2023", "messages": [ASKED, ASKED | {key: "8:00 am on 9 May, 2023"}]})
    assert [node.draft.at for node in session.nodes] == [when, after]

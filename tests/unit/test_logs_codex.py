"""Codex's rollouts, with the envelope and without, after the project's own types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.responses import OpenAIResponses
from ireneo.formats.logs.codex import Codex
from ireneo.formats.logs.format import LoggedSession
from ireneo.log.message import Call, Draft, Media, Text, Thinking

Raw = dict[str, object]
META: Raw = {"id": "s-1", "timestamp": "2026-01-02T03:04:05Z", "cwd": "/home/a", "originator": "codex_cli_rs"}
PATCH = "*** Begin Patch\n*** End Patch"


def line(kind: str, payload: Raw, at: str = "2026-01-02T03:04:06.700Z") -> Raw:
    return {"timestamp": at, "type": kind, "payload": payload}


def item(kind: str, **fields: object) -> Raw:
    return line("response_item", {"type": kind, **fields})


def said(role: str, *texts: str) -> Raw:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text} for text in texts])


def ran(call_id: str, *command: str) -> Raw:
    return item("function_call", name="shell", arguments=json.dumps({"command": command}), call_id=call_id)


def printed(call_id: str, output: object) -> Raw:
    return item("function_call_output", call_id=call_id, output=output)


def event(kind: str, **fields: object) -> Raw:
    return line("event_msg", {"type": kind, **fields})


def read(*raws: Raw | bytes, name: str = "rollout") -> LoggedSession:
    lines = [raw if isinstance(raw, bytes) else json.dumps(raw).encode() for raw in raws]
    (session,) = Codex().read([each + b"\n" for each in lines], name)
    return session


def drafts(*raws: Raw | bytes) -> list[Draft]:
    return read(line("session_meta", META), *raws).path


def outcome(output: object, *before: Raw) -> bool | None:
    out = drafts(said("user", "Do it."), ran("c", "make"), *before, printed("c", output))
    return out[-1].results[0].failed


def entries(draft: Draft) -> list[dict[str, object]]:
    assert draft.record is not None
    assert isinstance(draft.record.payload, list)
    return draft.record.payload


def test_a_session_has_the_id_the_prompt_the_time_and_the_directory_of_its_first_line() -> None:
    session = read(line("session_meta", META | {"base_instructions": {"text": "You act."}}), said("user", "Hello."))
    assert session.id == "s-1"
    assert [(draft.role, draft.text) for draft in session.path] == [("system", "You act."), ("user", "Hello.")]
    assert session.path[1].at == datetime(2026, 1, 2, 3, 4, 6, 700000, UTC)
    assert all({"cwd": "/home/a"} in entries(draft) for draft in session.path)


def test_reasoning_words_and_calls_up_to_the_first_output_are_one_reply() -> None:
    reasoned = item("reasoning", summary=[{"type": "summary_text", "text": "Hm."}], content=None, encrypted_content="x")
    out = drafts(
        said("user", "Do it."),
        reasoned,
        said("assistant", "I look."),
        ran("c1", "ls"),
        ran("c2", "pwd"),
        printed("c1", "a"),
        printed("c2", "/home/a"),
        said("assistant", "Done."),
    )
    assert [draft.role for draft in out] == ["user", "assistant", "tool", "tool", "assistant"]
    assert out[1].parts == (
        Thinking(text="Hm.", sealed="x", format="openai-responses"),
        Text(text="I look."),
        Call(id="c1", name="shell", arguments={"command": ["ls"]}),
        Call(id="c2", name="shell", arguments={"command": ["pwd"]}),
    )
    assert [draft.results[0].call_id for draft in out[2:4]] == ["c1", "c2"]
    assert [draft.results[0].text for draft in out[2:4]] == ["a", "/home/a"]
    chat = OpenAIResponses()
    assert chat.validate(chat.encode(out)) == []


def test_the_other_kinds_of_calls_are_paired_too() -> None:
    action = {"type": "exec", "command": ["ls"], "timeout_ms": None, "working_directory": None}
    out = drafts(
        said("user", "Do it."),
        item("custom_tool_call", status="completed", call_id="p", name="apply_patch", input=PATCH),
        item("custom_tool_call_output", call_id="p", output="Success. Updated the following files:\nM a.py"),
        item("local_shell_call", id="l", call_id=None, status="completed", action=action),
        printed("l", '{"output":"a\\n","metadata":{"exit_code":0,"duration_seconds":0.1}}'),
        item("web_search_call", status="completed", action={"type": "search", "query": "weather"}),
        said("assistant", "It rains."),
    )
    assert out[1].calls == (Call(id="p", name="apply_patch", arguments=PATCH),)
    assert out[2].results[0].call_id == "p"
    assert out[3].calls == (Call(id="l", name="local_shell", arguments=action),)
    assert (out[4].results[0].call_id, out[4].results[0].failed) == ("l", False)
    assert [type(part).__name__ for part in out[5].parts] == ["Opaque", "Text"]


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        ('{"output":"no\\n","metadata":{"exit_code":2,"duration_seconds":0.1}}', True),
        ('{"output":"1 failed, 2 passed in 3s","metadata":{"exit_code":0,"duration_seconds":0.1}}', False),
        ("Exit code: 1\nWall time: 0.2 seconds\nOutput:\nno", True),
        ("Exit code: 0\nWall time: 0.2 seconds\nTotal output lines: 3\nOutput:\nexit code: 1", False),
        ("Chunk ID: 1f\nWall time: 0.20 seconds\nProcess exited with code 7\nOriginal token count: 2\nOutput:\n", True),
        ("Wall time: 0.2 seconds\nProcess exited with code 0\nOutput:\nTraceback", False),
        ("Wall time: 9.9 seconds\nProcess running with session ID 4\nOutput:\nerror: x", None),
        ("execution error: Io(Os { code: 2 })", True),
        ("aborted by user after 3.2s", True),
        ("apply_patch verification failed: Failed to find expected lines in a.py", True),
        ("Traceback (most recent call last):\n  File 'a'\nKeyError: 1", True),
        ("some words", None),
        ({"content": "all went wrong", "success": False}, True),
        ([{"type": "input_text", "text": "Exit code: 3\nOutput:\n"}], True),
    ],
)
def test_a_failure_is_read_from_what_the_tool_printed(output: object, failed: bool | None) -> None:
    assert outcome(output) is failed


@pytest.mark.parametrize(
    ("told", "failed"),
    [
        (event("exec_command_end", call_id="c", exit_code=1, aggregated_output="fine"), True),
        (event("exec_command_end", call_id="c", exit_code=0), False),
        (event("patch_apply_end", call_id="c", success=False), True),
        (event("mcp_tool_call_end", call_id="c", result={"Err": "gone"}), True),
        (event("mcp_tool_call_end", call_id="c", result={"Ok": {"content": [], "isError": True}}), True),
        (event("mcp_tool_call_end", call_id="c", result={"Ok": {"content": []}}), False),
    ],
)
def test_an_event_that_tells_the_outcome_is_believed(told: Raw, failed: bool) -> None:
    assert outcome("fine", told) is failed


def test_events_that_repeat_the_items_are_left_out_and_the_others_kept_as_records() -> None:
    out = drafts(
        event("user_message", message="Do it."),
        said("user", "Do it."),
        event("agent_message", message="Done."),
        event("turn_aborted", reason="interrupted"),
        said("assistant", "Done."),
    )
    assert [draft.text for draft in out] == ["Do it.", "Done."]
    told = [entry for draft in out for entry in entries(draft) if entry.get("type") == "event_msg"]
    assert told == [event("turn_aborted", reason="interrupted")]


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n  <cwd>/home/a</cwd>\n</environment_context>",
        "# AGENTS.md instructions for /home/a\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>",
        "<user_instructions>\n\nBe kind.\n\n</user_instructions>",
        "<turn_aborted>\nThe user interrupted.\n</turn_aborted>",
    ],
)
def test_what_the_harness_puts_in_is_injected(text: str) -> None:
    out = drafts(said("user", text), said("developer", "Sandbox: none."), said("user", f"Look at this: {text}"))
    assert [(draft.role, draft.origin) for draft in out] == [
        ("user", "injected"),
        ("system", "injected"),
        ("user", "spoken"),
    ]


def test_a_compaction_is_a_summary_and_what_it_replaced_is_told_once() -> None:
    replaced = [said("user", "Do it.")["payload"]]
    out = drafts(
        said("user", "Do it."),
        said("assistant", "I begin."),
        line("compacted", {"message": "What was done.", "replacement_history": replaced}),
        line("compacted", {"message": "", "replacement_history": [{"type": "compaction", "encrypted_content": "x"}]}),
        said("user", "Go on."),
    )
    assert [(draft.origin, draft.text) for draft in out] == [
        ("spoken", "Do it."),
        ("spoken", "I begin."),
        ("summary", "What was done."),
        ("spoken", "Go on."),
    ]


def test_the_directory_follows_the_turns() -> None:
    out = drafts(said("user", "One."), line("turn_context", {"cwd": "/home/b", "model": "m"}), said("user", "Two."))
    assert [entries(draft)[0] for draft in out] == [{"cwd": "/home/a"}, {"cwd": "/home/b"}]


def test_a_rewind_is_a_branch() -> None:
    session = read(
        line("session_meta", META),
        said("user", "One."),
        said("assistant", "1"),
        said("user", "Two."),
        ran("c", "ls"),
        printed("c", "a"),
        event("thread_rolled_back", num_turns=1),
        said("user", "Three."),
    )
    assert [draft.text for draft in session.path] == ["One.", "1", "Three."]
    assert len(session.nodes) == 6


def test_a_session_that_was_rewound_to_nothing_stands_where_it_ended() -> None:
    session = read(line("session_meta", META), said("user", "One."), event("thread_rolled_back", num_turns=9))
    assert [draft.text for draft in session.path] == ["One."]


def test_a_forks_copy_of_its_parents_first_line_names_nothing() -> None:
    parents = line("session_meta", META | {"id": "older", "cwd": "/x"})
    session = read(line("session_meta", META), parents, said("user", "Hi"))
    assert session.id == "s-1"
    assert entries(session.path[0])[0] == {"cwd": "/home/a"}


def test_older_rollouts_have_items_without_an_envelope() -> None:
    raws = [
        said("user", "Do it."),
        ran("c", "make"),
        printed("c", "Exit code: 2\nOutput:\nno"),
        said("assistant", "No."),
    ]
    bare: list[Raw] = [raw["payload"] for raw in raws]  # type: ignore[misc]
    first: Raw = {"id": "old", "timestamp": "2025-05-06T07:08:09Z", "instructions": None, "git": {"branch": "main"}}
    session = read(first, {"record_type": "state"}, *bare)
    assert session.id == "old"
    assert [draft.role for draft in session.path] == ["user", "assistant", "tool", "assistant"]
    assert session.path[2].results[0].failed is True
    text = b"\n".join(json.dumps(raw).encode() for raw in [first, *bare])
    assert Codex().recognises(text)
    assert Codex().recognises(text.split(b"\n", 1)[1])


def test_a_broken_line_is_named_and_the_rest_is_kept() -> None:
    session = read(
        line("session_meta", META),
        said("user", "One."),
        b'{"timestamp":"t","type":"response_item","payl',
        b"42",
        json.dumps(said("assistant", "1")).encode() + json.dumps(said("user", "Two.")).encode(),
        item("message", role="wizard", content=[]),
        ran("c", "ls"),
    )
    assert [draft.text for draft in session.path] == ["One.", "1", "Two.", ""]
    assert [fault.line for fault in session.faults] == [3, 4, 5, 6]
    assert "2 JSON values" in session.faults[2].message
    assert "wizard" in session.faults[3].message


def test_one_item_that_cant_be_read_leaves_the_others_of_its_reply() -> None:
    session = read(
        said("user", "One."), item("reasoning", summary="?"), ran("c", "ls"), item("function_call", name=7, call_id="d")
    )
    assert [draft.calls for draft in session.path[1:]] == [(Call(id="c", name="shell", arguments={"command": ["ls"]}),)]
    assert [fault.line for fault in session.faults] == [2, 4]


def test_pictures_are_kept() -> None:
    content = [
        {"type": "input_text", "text": "Look."},
        {"type": "input_image", "image_url": "data:image/png;base64,QQ=="},
    ]
    (draft,) = drafts(item("message", role="user", content=content))
    assert draft.parts == (Text(text="Look."), Media(media_type="image/png", data="QQ=="))


def test_a_data_sets_records_are_a_session_each() -> None:
    records = [
        {"id": str(number), "rollout": [line("session_meta", META | {"id": f"s-{number}"}), said("user", "Hi")]}
        for number in (1, 2)
    ]
    sessions = list(Codex().read([json.dumps(record).encode() for record in records], "set"))
    assert [session.id for session in sessions] == ["s-1", "s-2"]
    assert {"id": "2"} in entries(sessions[1].path[0])


@pytest.mark.parametrize(
    "text", [b"", b"42", b'{"timestamp":"t","type":"event_msg","payload":{"type":"token_count"}}', b"{"]
)
def test_a_file_without_messages_is_refused(text: bytes) -> None:
    with pytest.raises(UnreadableLog):
        list(Codex().read([text], "file"))


def test_a_file_may_come_from_anything_that_yields_lines() -> None:
    def lines() -> Iterator[bytes]:
        yield json.dumps(said("user", "Hi.")).encode() + b"\n"

    assert [session.id for session in Codex().read(lines(), "name")] == ["name"]

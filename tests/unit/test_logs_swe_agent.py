"""SWE-agent's trajectories, older and newer."""

from __future__ import annotations

import json

import pytest

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.openai import OpenAIChat
from ireneo.formats.logs.format import LoggedSession
from ireneo.formats.logs.trajectories import SweAgent
from ireneo.log.message import Call, Draft, Text, Thinking

Raw = dict[str, object]
OPENING: list[Raw] = [
    {"role": "system", "content": "You act.", "agent": "main", "message_type": "system_prompt"},
    {"role": "user", "content": [{"type": "text", "text": "Mend it."}], "agent": "main"},
]


def step(action: str, observation: str, thought: str = "I see.", **more: object) -> Raw:
    told = {
        "action": action,
        "observation": observation,
        "thought": thought,
        "response": f"{thought}\n```\n{action}\n```",
    }
    return told | {"state": {"working_dir": "/repo"}} | more


def run(*steps: object, history: list[Raw] | None = None, **more: object) -> Raw:
    info = {"exit_status": "submitted", "model_stats": {"instance_cost": 0.1}}
    given = {"environment": "main", "trajectory": list(steps), "history": OPENING if history is None else history}
    return given | {"info": info} | more


def read(*values: object, name: str = "file") -> list[LoggedSession]:
    return list(SweAgent().read([json.dumps(value).encode() + b"\n" for value in values], name))


def drafts(*steps: object, history: list[Raw] | None = None) -> list[Draft]:
    (session,) = read(run(*steps, history=history))
    return session.path


def entries(draft: Draft) -> list[dict[str, object]]:
    assert draft.record is not None
    assert isinstance(draft.record.payload, list)
    return draft.record.payload


def test_a_step_is_a_thought_a_call_and_its_result() -> None:
    out = drafts(step("ls -a\n", "a.py\n"), step("open a.py", "[File: a.py]"), step("submit", "diff"))
    assert [(draft.role, draft.text) for draft in out[:3]] == [
        ("system", "You act."),
        ("user", "Mend it."),
        ("assistant", "I see."),
    ]
    assert [call for draft in out for call in draft.calls] == [
        Call(id="call_1", name="bash", arguments={"command": "ls -a"}),
        Call(id="call_2", name="open", arguments={"command": "open a.py"}),
        Call(id="call_3", name="submit", arguments={"command": "submit"}),
    ]
    assert [(draft.results[0].call_id, draft.results[0].text) for draft in out if draft.results] == [
        ("call_1", "a.py\n"),
        ("call_2", "[File: a.py]"),
        ("call_3", "diff"),
    ]
    chat = OpenAIChat()
    assert chat.validate(chat.encode(out)) == []


def test_the_calls_of_newer_versions_come_from_the_history() -> None:
    function = {"name": "open", "arguments": '{"path": "a.py"}'}
    reply: Raw = {
        "role": "assistant",
        "content": "I see.",
        "thought": "I see.",
        "action": "open a.py",
        "tool_calls": [{"id": "toolu_1", "type": "function", "function": function}],
        "thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}],
    }
    seen: Raw = {"role": "tool", "content": "[File: a.py]\nbash-$", "tool_call_ids": ["toolu_1"]}
    out = drafts(step("ls", "a.py"), step("open a.py", "[File: a.py]"), history=[*OPENING, reply, seen])
    assert out[2].calls[0].name == "bash"
    assert out[4].parts == (
        Thinking(text="Hm."),
        Text(text="I see."),
        Call(id="toolu_1", name="open", arguments={"path": "a.py"}),
    )
    assert (out[5].results[0].call_id, out[5].results[0].text) == ("toolu_1", "[File: a.py]")


@pytest.mark.parametrize(
    ("action", "observation", "failed"),
    [
        ("edit 1:1\nx\nend_of_edit", "Your proposed edit has introduced new syntax error(s).", True),
        (
            "edit 1:1\nx\nend_of_edit",
            "[File: a.py (1 lines total)]\n1:x\nFile updated. Please review the changes",
            False,
        ),
        ("str_replace_editor", "The file /a.py has been edited. Here's", False),
        ("rm a.py", "Your command ran successfully and did not produce any output.", False),
        ("python a.py", "Traceback (most recent call last):\n  File 'a.py', line 1\nKeyError: 1", True),
        ("sleep 99", "\nEXECUTION TIMED OUT", True),
        ("open a.py", "[File: a.py]\nFAILED (errors=1)", None),
        ("pytest", "FAILED (errors=1)", True),
        ("ls", "a.py", None),
    ],
)
def test_failures_are_found(action: str, observation: str, failed: bool | None) -> None:
    assert drafts(step(action, observation))[-1].results[0].failed is failed


def test_a_reply_without_an_action_is_turned_down_by_the_harness() -> None:
    out = drafts(step("", "Your output was not formatted correctly.", thought="", response="Let me think."))
    assert [(draft.role, draft.origin, draft.text) for draft in out[2:]] == [
        ("assistant", "spoken", "Let me think."),
        ("user", "injected", "Your output was not formatted correctly."),
    ]


def test_a_demonstration_opens_no_turn() -> None:
    demo: Raw = {"role": "user", "content": "Here is how it is done.", "is_demo": True}
    shown: Raw = {"role": "assistant", "content": "So.", "is_demo": True}
    out = drafts(step("ls", "a"), history=[OPENING[0], demo, shown, OPENING[1]])
    assert [(draft.role, draft.origin) for draft in out[:4]] == [
        ("system", "spoken"),
        ("user", "injected"),
        ("user", "injected"),
        ("user", "spoken"),
    ]


def test_the_directory_is_known_and_what_was_asked_each_time_is_not_kept() -> None:
    text_state = '{"open_file": "n/a", "working_dir": "/old"}\n'
    out = drafts(step("ls", "a", state=text_state, query=[{"role": "user", "content": "again"}]), step("ls", "a"))
    assert [entries(draft)[0] for draft in out] == [{"cwd": "/old"}] * 4 + [{"cwd": "/repo"}] * 2
    assert "query" not in entries(out[2])[1]
    assert entries(out[0])[1]["info"] == {"exit_status": "submitted", "model_stats": {"instance_cost": 0.1}}


def test_a_run_whose_steps_are_gone_is_read_from_its_history() -> None:
    reply: Raw = {"role": "assistant", "content": "I look.\n```\nls\n```", "thought": "I look.", "action": "ls"}
    (session,) = read(run(history=[*OPENING, reply, {"role": "user", "content": "a.py"}]))
    assert [draft.role for draft in session.path] == ["system", "user", "assistant", "tool"]
    assert session.path[3].results[0].text == "a.py"


def test_a_data_set_holds_a_document_a_line() -> None:
    records = [{"source_path": f"runs/{folder}/one.traj", "traj": run(step("ls", "a"))} for folder in ("a", "b", "b")]
    sessions = read(*records, {"instance_id": "two", "traj": run(step("ls", "a"))})
    assert [session.id for session in sessions] == ["one", "one-b", "one-b-2", "two"]
    assert entries(sessions[0].path[0])[1]["source_path"] == "runs/a/one.traj"


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_may_stand_on_one_line_or_on_many(indent: int | None) -> None:
    text = json.dumps(run(step("ls", "a")), indent=indent).encode()
    assert SweAgent().recognises(text)
    (session,) = SweAgent().read(text.splitlines(keepends=True), "name")
    assert (session.id, len(session.nodes)) == ("name", 4)


def test_broken_lines_are_named_and_the_rest_is_kept() -> None:
    good = json.dumps(run(step("ls", "a"), 7)).encode()
    first, second = SweAgent().read([b'{"a": 1}\n', good + good, b'{"trajectory": [{"acti'], "file")
    assert [fault.line for fault in first.faults] == [1, 2, 2]
    assert "2 JSON values" in first.faults[2].message
    assert "1 steps that are no objects" in first.faults[1].message
    assert [fault.line for fault in second.faults] == [2, 3]


@pytest.mark.parametrize("value", [{}, [], 7, {"trajectory": [{"action": "", "observation": ""}]}])
def test_a_file_without_a_run_is_refused(value: object) -> None:
    with pytest.raises(UnreadableLog):
        read(value)

"""mini-SWE-agent's trajectories, older and newer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from ireneo.errors import UnreadableLog
from ireneo.formats.logs.format import LoggedSession
from ireneo.formats.logs.trajectories import MiniSweAgent
from ireneo.log.message import Call, Draft, Native, Text

TASK = [{"role": "system", "content": "You act."}, {"role": "user", "content": "Mend it."}]


def said(words: str, *commands: str, **more: object) -> dict[str, object]:
    blocks = "".join(f"\n\n```bash\n{command}\n```" for command in commands)
    return {"role": "assistant", "content": f"THOUGHT: {words}{blocks}", **more}


def printed(code: int, output: str) -> dict[str, object]:
    return {"role": "user", "content": f"<returncode>{code}</returncode>\n<output>\n{output}</output>"}


def run(*messages: dict[str, object], **more: object) -> dict[str, object]:
    info = {"exit_status": "Submitted", "mini_version": "1.0"}
    given = {"instance_id": "a-1", "trajectory_format": "mini-swe-agent-1", "info": info}
    return given | {"messages": [*TASK, *messages]} | more


def read(*runs: dict[str, object], name: str = "file") -> list[LoggedSession]:
    return list(MiniSweAgent().read([json.dumps(one).encode() + b"\n" for one in runs], name))


def drafts(*messages: dict[str, object]) -> list[Draft]:
    return [node.draft for node in read(run(*messages))[0].nodes]


def test_a_block_is_a_call_and_the_next_message_its_result() -> None:
    out = drafts(said("I look.", "ls -l"), printed(0, "a\n"), said("I run.", "./a"), printed(3, "no\n"))
    assert [draft.role for draft in out] == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert out[2].parts == (
        Text(text="THOUGHT: I look."),
        Call(id="call_1", name="bash", arguments={"command": "ls -l"}),
    )
    assert out[3].results[0].call_id == "call_1"
    assert out[3].results[0].text == "<returncode>0</returncode>\n<output>\na\n</output>"
    assert [draft.results[0].failed for draft in out if draft.role == "tool"] == [False, True]


def test_words_behind_the_block_are_kept() -> None:
    message = {"role": "assistant", "content": "Before.\n```bash\nls\n```\nAfter."}
    assert [type(part).__name__ for part in drafts(message)[2].parts] == ["Text", "Call", "Text"]
    assert drafts(message)[2].text == "Before.\nAfter."


@pytest.mark.parametrize("commands", [(), ("ls", "pwd")])
def test_a_reply_without_one_block_is_no_call_and_is_turned_down(commands: tuple[str, ...]) -> None:
    refusal = {"role": "user", "content": "Please always provide EXACTLY ONE action in triple backticks."}
    out = drafts(said("Well.", *commands), refusal, said("I look.", "ls"), printed(0, ""))
    assert out[2].calls == ()
    assert (out[3].role, out[3].origin) == ("user", "injected")
    assert out[5].role == "tool"


def test_the_task_is_the_users() -> None:
    assert [draft.origin for draft in drafts(said("x", "ls"))[:2]] == ["spoken", "spoken"]


def test_the_diff_at_the_end_is_the_last_calls_result() -> None:
    out = drafts(said("Done.", "submit"), {"role": "user", "content": "diff --git a/a b/a\n+x"})
    assert out[-1].role == "tool"
    assert out[-1].results[0].failed is None


def test_a_command_that_was_killed_failed() -> None:
    words = "The last command <command>sleep 9</command> timed out and has been killed.\nThe output was: …"
    assert drafts(said("x", "sleep 9"), {"role": "user", "content": words})[-1].results[0].failed is True


def test_newer_runs_name_their_calls_codes_and_times() -> None:
    function = {"name": "bash", "arguments": '{"command": "ls"}'}
    asked = {
        "role": "assistant",
        "content": None,
        "reasoning_content": "hm",
        "tool_calls": [{"id": "t1", "type": "function", "function": function}],
        "extra": {"actions": [{"command": "ls", "tool_call_id": "t1"}], "timestamp": 1_772_000_000.5},
    }
    answered = {"role": "tool", "tool_call_id": "t1", "content": "no", "extra": {"returncode": 1}}
    out = drafts(asked, answered, {"role": "exit", "content": "", "extra": {"exit_status": "LimitsExceeded"}})
    assert out[2].calls == (Call(id="t1", name="bash", arguments={"command": "ls"}),)
    assert out[2].at == datetime.fromtimestamp(1_772_000_000.5, UTC)
    assert out[3].results[0].call_id == "t1"
    assert out[3].results[0].failed is True
    assert (out[4].role, out[4].origin) == ("user", "injected")


def test_newer_runs_may_note_the_action_only() -> None:
    asked = {
        "role": "assistant",
        "content": "I look.\n```mswea_bash_command\nls\n```",
        "extra": {"actions": [{"command": "ls"}]},
    }
    out = drafts(asked, {"role": "user", "content": "a", "extra": {"returncode": 0}})
    assert out[2].parts == (Text(text="I look."), Call(id="call_1", name="bash", arguments={"command": "ls"}))
    assert out[3].results[0].failed is False


def test_nothing_is_lost() -> None:
    messages = [said("I look.", "ls", extra={"cost": 1}), printed(0, "a")]
    out = drafts(*messages)
    assert [draft.native for draft in out] == [
        Native(format="mini-swe-agent", payload=message) for message in [*TASK, *messages]
    ]
    assert out[0].record is not None
    assert out[0].record.payload == [
        {key: value for key, value in run(*messages).items() if key != "messages"},
    ]


def test_a_document_over_many_lines_is_one_run() -> None:
    lines = json.dumps(run(said("x", "ls"), printed(0, "a")), indent=2).encode().splitlines(keepends=True)
    sessions = list(MiniSweAgent().read(lines, "file"))
    assert [session.id for session in sessions] == ["a-1"]
    assert len(sessions[0].nodes) == 4


def test_runs_of_one_instance_have_names_of_their_own() -> None:
    info = {"config": {"model": {"model_name": "maker/model-x"}}}
    assert [session.id for session in read(run(), run(), run(info=info), run(info=info))] == [
        "a-1",
        "a-1-2",
        "a-1-model-x",
        "a-1-model-x-2",
    ]
    assert [session.id for session in read(run(instance_id=None))] == ["file"]


def test_a_broken_line_is_named_and_the_other_runs_are_kept() -> None:
    whole = json.dumps(run(said("x", "ls"))).encode()
    sessions = list(MiniSweAgent().read([whole, whole[:-30], b"{}", whole], "file"))
    assert [session.id for session in sessions] == ["a-1", "a-1-2"]
    assert [[fault.line for fault in session.faults] for session in sessions] == [[2, 3], []]


def test_runs_are_read_one_at_a_time() -> None:
    def lines() -> Iterator[bytes]:
        yield json.dumps(run()).encode()
        yield json.dumps(run()).encode()
        raise AssertionError("the first run was complete before this line was asked for")

    assert next(MiniSweAgent().read(lines(), "file")).id == "a-1"


def test_a_file_without_a_run_is_unreadable() -> None:
    with pytest.raises(UnreadableLog, match="Line 1 holds no run"):
        read({"messages": []})

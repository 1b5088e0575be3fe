"""ATIF documents, after the published specification."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from ireneo.errors import UnreadableLog
from ireneo.formats.chat.openai import OpenAIChat
from ireneo.formats.logs.format import LoggedSession
from ireneo.formats.logs.trajectories import Atif
from ireneo.log.message import Call, Draft, Opaque, Text, Thinking

Raw = dict[str, object]
AT = "2026-01-02T03:04:05Z"


def step(number: int, source: str, message: object, **more: object) -> Raw:
    return {"step_id": number, "timestamp": AT, "source": source, "message": message} | more


def call(name: str, **arguments: object) -> Raw:
    return {"tool_call_id": name, "function_name": "bash", "arguments": arguments}


def back(content: object, call_id: str | None = None, **more: object) -> Raw:
    return ({} if call_id is None else {"source_call_id": call_id}) | {"content": content} | more


def acted(number: int, calls: list[Raw], *results: Raw, **more: object) -> Raw:
    return step(number, "agent", "I act.", tool_calls=calls, observation={"results": list(results)}, **more)


def document(*steps: object, **more: object) -> Raw:
    agent = {"name": "a", "version": "1", "model_name": "m"}
    return {"schema_version": "ATIF-v1.6", "session_id": "s-1", "agent": agent, "steps": list(steps)} | more


def read(*values: object, name: str = "file") -> list[LoggedSession]:
    return list(Atif().read([json.dumps(value).encode() + b"\n" for value in values], name))


def drafts(*steps: object, **more: object) -> list[Draft]:
    (session,) = read(document(*steps, **more))
    return session.path


TASK = step(1, "user", "Mend it.")
WHOLE = document(
    step(1, "system", "You act."),
    step(2, "user", "Mend it."),
    acted(
        3,
        [call("a", command="make"), call("b", command="ls")],
        back("make: *** [all] Error 2", "a"),
        back([{"type": "text", "text": "a.py"}], "b"),
        reasoning_content="Hm.",
        metrics={"prompt_tokens": 5, "completion_tokens": 2},
    ),
    step(4, "agent", "Done."),
)


def test_a_run_is_read() -> None:
    (session,) = read(WHOLE)
    out = session.path
    assert session.id == "s-1"
    assert [(draft.role, draft.text) for draft in out] == [
        ("system", "You act."),
        ("user", "Mend it."),
        ("assistant", "I act."),
        ("tool", ""),
        ("assistant", "Done."),
    ]
    assert out[2].parts == (
        Thinking(text="Hm."),
        Text(text="I act."),
        Call(id="a", name="bash", arguments={"command": "make"}),
        Call(id="b", name="bash", arguments={"command": "ls"}),
    )
    assert [(result.call_id, result.text, result.failed) for result in out[3].results] == [
        ("a", "make: *** [all] Error 2", True),
        ("b", "a.py", None),
    ]
    assert {draft.at for draft in out} == {datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)}
    chat = OpenAIChat()
    assert chat.validate(chat.encode(out)) == []


def test_the_samples_of_this_test_are_valid() -> None:
    models = pytest.importorskip("atif", reason="the published models of the format are not installed")
    sub = document(TASK, session_id="t", trajectory_id="t-1", schema_version="ATIF-v1.7")
    for each in (WHOLE, document(TASK, subagent_trajectories=[sub], schema_version="ATIF-v1.7")):
        models.Trajectory.model_validate(each)


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        (back("Traceback (most recent call last):\n  File 'a'\nKeyError: 1", "a"), True),
        (back("exit code: 1", "a"), True),
        (back("3 passed in 1s", "a"), False),
        (back("fine", "a", extra={"exit_code": 1}), True),
        (back("error: no", "a", extra={"is_error": False}), False),
        (back("words", "a"), None),
        (back(None, "a"), None),
    ],
)
def test_failures_are_found(result: Raw, failed: bool | None) -> None:
    assert drafts(TASK, acted(2, [call("a", command="make")], result))[-1].results[0].failed is failed


def test_unnamed_results_belong_to_the_last_calls_and_what_is_left_to_the_harness() -> None:
    calls = [call("a"), call("b")]
    one = drafts(TASK, acted(2, calls, back("B")))
    assert [(result.call_id, result.text) for result in one[-1].results] == [("b", "B")]
    three = drafts(TASK, acted(2, calls, back("lost"), back("A", "nowhere"), back("B")))
    assert [(result.call_id, result.text) for result in three[2].results] == [("a", "A"), ("b", "B")]
    assert (three[3].role, three[3].origin, three[3].text) == ("user", "injected", "lost")


def test_what_the_harness_says_later_is_injected() -> None:
    out = drafts(TASK, step(2, "system", "Context reset.", observation={"results": [back("It was full.")]}))
    assert [(draft.role, draft.origin, draft.text) for draft in out] == [
        ("user", "spoken", "Mend it."),
        ("system", "injected", "Context reset."),
        ("user", "injected", "It was full."),
    ]


def test_ids_that_are_counted_anew_in_each_step_are_told_apart() -> None:
    out = drafts(TASK, *(acted(number, [call("1")], back(str(number), "1")) for number in (2, 3)))
    assert [(each.calls[0].id, after.results[0].text) for each, after in zip(out[1::2], out[2::2], strict=True)] == [
        ("1", "2"),
        ("1-2", "3"),
    ]


def test_pictures_are_kept_as_they_are() -> None:
    picture = {"type": "image", "source": {"media_type": "image/png", "path": "images/1.png"}}
    (draft,) = drafts(step(1, "user", [{"type": "text", "text": "Look."}, picture]))
    assert draft.parts == (Text(text="Look."), Opaque(format="atif", payload=picture))


def test_embedded_subagents_are_sessions_of_their_own() -> None:
    sub = document(TASK, session_id="s-1", trajectory_id="t-1", subagent_trajectories=[])
    sessions = read(document(TASK, subagent_trajectories=[sub, document(TASK, session_id=None, trajectory_id="t-2")]))
    assert [session.id for session in sessions] == ["s-1", "s-1-t-1", "t-2"]


def test_a_run_without_any_message_takes_no_name_from_others() -> None:
    assert [session.id for session in read(document(), document(TASK))] == ["s-1"]


def test_the_directory_stands_in_the_extras() -> None:
    out = drafts(TASK, step(2, "agent", "Hm.", extra={"cwd": "/b"}), extra={"cwd": "/a"})
    records = [draft.record.payload for draft in out if draft.record is not None]
    assert [record[0] for record in records if isinstance(record, list)] == [{"cwd": "/a"}, {"cwd": "/b"}]


def test_a_data_set_holds_a_document_a_line() -> None:
    bare = {key: value for key, value in document(TASK).items() if key != "session_id"}
    sessions = read({"source_path": "runs/a/one.json", "trajectory": bare}, {"id": "two", "run": bare}, bare)
    assert [session.id for session in sessions] == ["one", "two", "file"]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("sort_keys", [False, True])
def test_a_document_may_stand_on_one_line_or_on_many(indent: int | None, sort_keys: bool) -> None:
    text = json.dumps(WHOLE, indent=indent, sort_keys=sort_keys).encode()
    assert Atif().recognises(text)
    (session,) = Atif().read(text.splitlines(keepends=True), "name")
    assert len(session.nodes) == 5


def test_broken_lines_are_named_and_the_rest_is_kept() -> None:
    good = json.dumps(document(TASK, 7)).encode()
    first, second = Atif().read([b"rubbish\n", good + good, good[:-9]], "file")
    assert (first.id, second.id) == ("s-1", "s-1-2")
    assert [fault.line for fault in first.faults] == [1, 2, 2]
    assert [fault.line for fault in second.faults] == [2, 3]


@pytest.mark.parametrize("value", [{}, 7, document(), document({"step_id": 1, "source": "user"})])
def test_a_file_without_a_run_is_refused(value: object) -> None:
    with pytest.raises(UnreadableLog):
        read(value)

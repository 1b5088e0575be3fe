"""The logs of coding agents, in any shape: nothing but UnreadableLog is raised, and every result follows its call."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import times

from ireneo.errors import UnreadableLog
from ireneo.formats.logs.format import LOG_FORMATS, LogFormat, LoggedSession, log_format
from ireneo.formats.logs.openhands import ACTIONS, KINDS, OBSERVATIONS

FORMATS = ("codex", "openhands", "swe-agent", "atif")
ids = st.sampled_from(["a", "b", "", None, 7])
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
leaves |= st.sampled_from(["Exit code: 1\nno", {}, [], [7], {"a": 1}])
texts = st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": leaves}), max_size=2) | leaves
arguments = st.sampled_from(['{"command": "make"}', "{", '"\\ud800"', "7"]) | st.dictionaries(
    st.just("command"), leaves
)
calls = st.lists(
    st.fixed_dictionaries(
        {
            "id": ids,
            "tool_call_id": ids,
            "function_name": leaves,
            "arguments": arguments,
            "name": leaves,
            "function": st.fixed_dictionaries({"name": leaves, "arguments": arguments}) | leaves,
        }
    ),
    max_size=3,
)


def mostly(value: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """A value as it should be, and now and then anything."""
    return st.sampled_from([value] * 9 + [leaves]).flatmap(lambda chosen: chosen)


def shape(**fields: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """Objects with these fields: most as they should be, some missing, some anything."""
    whole = st.fixed_dictionaries({key: mostly(value) for key, value in fields.items()})
    missing = st.just(set()) | st.sets(st.sampled_from(sorted(fields)), max_size=2)
    return st.builds(lambda one, left: {key: value for key, value in one.items() if key not in left}, whole, missing)


blocks = shape(type=st.sampled_from(["input_text", "output_text", "input_image"]), text=leaves)
items = shape(
    type=st.sampled_from(
        [
            *("message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "ghost_snapshot"),
            *(
                "custom_tool_call_output",
                "local_shell_call",
                "web_search_call",
                "thread_rolled_back",
                "exec_command_end",
            ),
        ]
    ),
    role=st.sampled_from(["user", "assistant", "developer", "system", "wizard"]),
    content=st.lists(
        shape(type=st.sampled_from(["input_text", "output_text", "input_image"]), text=leaves), max_size=2
    ),
    summary=texts,
    call_id=ids,
    id=ids,
    name=leaves,
    arguments=arguments,
    input=leaves,
    output=texts | shape(content=leaves, success=leaves),
    action=shape(type=leaves, command=leaves),
    num_turns=st.integers(-1, 5),
    exit_code=st.integers(0, 1),
    cwd=leaves,
    message=leaves,
    base_instructions=shape(text=leaves),
)
rollout_lines = items | shape(
    timestamp=st.just("2026-01-02T03:04:05Z"),
    type=st.sampled_from(["session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"]),
    payload=items,
)
metadata = shape(exit_code=st.integers(-1, 2), working_dir=leaves)
classic = shape(
    id=st.integers(0, 1) | ids,
    source=st.sampled_from(["agent", "user", "environment"]),
    cause=st.integers(0, 1),
    action=st.sampled_from(sorted(ACTIONS)),
    args=shape(command=leaves, content=leaves, thought=leaves, summary=leaves, outputs=shape(content=leaves)),
    tool_call_metadata=shape(
        function_name=leaves,
        tool_call_id=ids,
        model_response=shape(choices=st.lists(shape(message=shape(tool_calls=calls, reasoning_content=leaves)))),
    ),
    content=leaves,
    message=leaves,
) | shape(
    id=st.integers(0, 1),
    observation=st.sampled_from(sorted(OBSERVATIONS)),
    cause=st.integers(0, 1),
    content=leaves,
    extras=shape(metadata=metadata, exit_code=leaves, microagent_knowledge=st.lists(shape(content=leaves), max_size=2)),
)
sdk = shape(
    kind=st.sampled_from(sorted(KINDS)),
    id=ids,
    parent_id=st.sampled_from(["a", "b", "__root__"]),
    source=st.sampled_from(["agent", "user", "environment"]),
    llm_message=shape(role=st.sampled_from(["user", "assistant", "tool"]), content=texts),
    thought=texts,
    thinking_blocks=st.lists(shape(thinking=leaves, signature=leaves, data=leaves), max_size=2),
    tool_call_id=ids,
    tool_call=shape(id=ids, name=leaves, arguments=arguments),
    llm_response_id=ids,
    observation=shape(content=texts, is_error=st.booleans(), exit_code=leaves, metadata=metadata),
    error=leaves,
    summary=leaves,
    system_prompt=shape(text=leaves),
)
events = st.lists(classic | sdk | st.lists(classic, max_size=2) | leaves, max_size=8)
traj_steps = shape(
    action=st.sampled_from(["ls", "open a", "", "edit 1:1"]),
    observation=leaves,
    thought=leaves,
    response=leaves,
    state=shape(working_dir=leaves) | st.just('{"working_dir": "/a"}'),
)
history = shape(
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    content=texts,
    action=st.sampled_from(["ls", "open a"]),
    thought=leaves,
    is_demo=st.booleans(),
    tool_calls=calls,
    thinking_blocks=st.lists(shape(thinking=leaves), max_size=1),
)
answers = shape(source_call_id=ids, content=texts, extra=shape(exit_code=leaves))
atif_steps = shape(
    step_id=st.integers(1, 4),
    source=st.sampled_from(["system", "user", "agent"]),
    message=texts,
    reasoning_content=leaves,
    tool_calls=calls,
    observation=shape(
        results=st.lists(shape(source_call_id=ids, content=texts, extra=shape(exit_code=leaves)), max_size=3)
    ),
    extra=shape(cwd=leaves),
)
below = shape(schema_version=st.just("ATIF-v1.7"), steps=st.lists(atif_steps, max_size=2))
RUNS: dict[str, st.SearchStrategy[object]] = {
    "codex": st.lists(rollout_lines, max_size=10) | shape(rollout=st.lists(rollout_lines, max_size=4), id=leaves),
    "openhands": events | shape(history=events, instance_id=leaves, issue=shape(number=leaves, repo=leaves)),
    "swe-agent": shape(trajectory=st.lists(traj_steps, max_size=5), history=st.lists(history, max_size=6), info=leaves),
    "atif": shape(
        schema_version=st.just("ATIF-v1.7"),
        session_id=leaves,
        trajectory_id=leaves,
        agent=shape(extra=shape(cwd=leaves)),
        steps=st.lists(atif_steps, max_size=5),
        subagent_trajectories=st.lists(
            shape(schema_version=st.just("ATIF-v1.7"), steps=st.lists(atif_steps, max_size=2))
        ),
    ),
}


def written(form: str, run: object, held: bool, indent: int | None) -> bytes:
    if isinstance(run, list) and not held:
        return b"\n".join(json.dumps(each).encode() for each in run)
    return json.dumps({"source_path": "a/b.traj", "run": run} if held else run, indent=indent).encode()


def read(form: str, text: bytes) -> list[LoggedSession]:
    """The sessions; none where the file is refused as one without messages."""
    try:
        return list(log_format(form).read(text.splitlines(keepends=True), "file"))
    except UnreadableLog:
        return []


def assert_sound(session: LoggedSession, *, apart: bool) -> None:
    """Each node stands behind its parent, and a result behind the call that it answers."""
    made: list[set[str]] = []
    for place, node in enumerate(session.nodes):
        assert node.draft.parts
        assert node.parent is None or node.parent < place
        before = made[node.parent] if node.parent is not None else set()
        assert not apart or all(result.call_id in before for result in node.draft.results)
        made.append(before | {call.id for call in node.draft.calls})
    assert 0 <= session.head < len(session.nodes)


@pytest.mark.parametrize("form", FORMATS)
@settings(deadline=None, max_examples=times(7))
@given(data=st.data(), held=st.booleans(), indent=st.sampled_from([None, 1]), cut=st.integers(0, 40))
def test_a_run_of_any_shape_is_read_or_named(
    form: str, data: st.DataObject, held: bool, indent: int | None, cut: int
) -> None:
    text = written(form, data.draw(RUNS[form]), held, indent)
    log_format(form).recognises(text)
    for lines in (text, text[: len(text) - cut]):
        sessions = read(form, lines)
        assert len({session.id for session in sessions}) == len(sessions)
        for session in sessions:
            # Codex's items and the SDK's branches are told as the log has them, answers without a call as well.
            assert_sound(session, apart=form in ("swe-agent", "atif"))


@pytest.mark.parametrize("form", LOG_FORMATS, ids=lambda form: form.name)
@given(sample=st.binary(max_size=60))
def test_any_sample_is_recognised_or_not(form: LogFormat, sample: bytes) -> None:
    assert form.recognises(sample) in (True, False)

"""Whatever stands between the runs of a file, no run that is whole is lost, and the reader does not fall over."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ireneo.errors import UnreadableLog
from ireneo.formats.logs.format import LOG_FORMATS, log_format

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from("role content messages traj extra tool_calls info type uuid actions system".split()),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)
roles = st.sampled_from(["system", "user", "assistant", "tool", "exit", "wizard", 7, None])
messages = st.fixed_dictionaries({"role": roles, "content": values}) | st.fixed_dictionaries({"role": roles}) | values
rubbish = st.binary(max_size=30).filter(lambda line: b"\n" not in line) | values.filter(
    lambda value: not isinstance(value, dict) or not {"role", "messages", "traj"} & set(value)
).map(lambda value: json.dumps(value).encode())


def run(name: str) -> dict[str, object]:
    said = [
        {"role": "user", "content": "Do it."},
        {"role": "assistant", "content": "I do.\n\n```bash\nmake\n```"},
        {"role": "user", "content": "<returncode>0</returncode>"},
    ]
    return {"instance_id": name, "info": {}, "messages": said}


@pytest.mark.parametrize("form", ["mini-swe-agent", "openai", "anthropic"])
@settings(deadline=None)
@given(between=st.lists(st.lists(rubbish, max_size=3), min_size=3, max_size=3))
def test_rubbish_between_runs_loses_none(form: str, between: list[list[bytes]]) -> None:
    names = ["first", "second"]
    lines = [*between[0]]
    for name, after in zip(names, between[1:], strict=True):
        lines += [json.dumps(run(name)).encode(), *after]
    sessions = {session.id: session for session in log_format(form).read(lines, "file")}
    assert sessions.keys() >= set(names)
    assert all(len(sessions[name].nodes) == 3 for name in names)


@pytest.mark.parametrize("form", [known.name for known in LOG_FORMATS])
@settings(deadline=None)
@given(said=st.lists(messages, max_size=6), besides=values, indent=st.sampled_from([None, 1]))
def test_messages_of_any_shape_are_read_or_named(
    form: str, said: list[object], besides: object, indent: int | None
) -> None:
    text = json.dumps({"info": besides, "instance_id": besides, "system": besides, "messages": said}, indent=indent)
    lines = text.encode().splitlines(keepends=True)
    sessions, told = [], ""
    try:
        sessions = list(log_format(form).read(lines, "file"))
    except UnreadableLog as error:
        told = str(error)
    assert all(session.nodes for session in sessions)
    assert sessions or told.startswith("The log holds no message that could be read.")

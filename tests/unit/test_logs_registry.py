"""Which format a file is in."""

from __future__ import annotations

import pytest

from ireneo.errors import UnknownFormat
from ireneo.formats.logs.registry import LOG_FORMATS, log_format, recognise

SAMPLES = {
    "claude-code": [
        b'{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"user","uuid":"u","message":{"role":"user"',
        b'{"type":"summary","summary":"A title","leafUuid":"x"}\n',
        b'{"type":"file-history-snapshot","messageId":"m","snapshot":{},"isSnapshotUpdate":false}\n',
        b'{"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": [{"type"',
    ],
    "mini-swe-agent": [
        b'{\n  "info": {\n    "model_stats": {\n      "instance_cost": 0.1',
        b'{"instance_id": "a", "trajectory_format": "mini-swe-agent-1", "info": {}, "messages": [{"role": "user"',
    ],
    "openai": [
        b'[{"role": "user", "content": "hi"}]',
        b'[\n  {\n    "role": "system",\n    "content": "You are',
        b'{"messages": [{"content": "hi", "role": "user"}, {"role": "assistant", "tool_calls": [{"id": "c"',
        b'{"task_id": 1, "trial": 0, "traj": [{"role": "system", "content": "x"}]}\n',
        b'{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "hello"}\n',
    ],
    "anthropic": [
        b'[{"role": "user", "content": "hi"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "c"',
        b'{"system": "You are", "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id"',
    ],
}


@pytest.mark.parametrize(("name", "sample"), [(name, sample) for name, all in SAMPLES.items() for sample in all])
def test_a_format_is_recognised_by_its_beginning(name: str, sample: bytes) -> None:
    assert recognise(sample, "log").name == name


@pytest.mark.parametrize(
    "sample",
    [
        b"",
        b"hello",
        b"<html>",
        b'{"a": 1}',
        b"[1, 2]",
        b'{"timestamp": "t", "type": "response_item", "payload": {"type": "message", "role": "user"}}\n',
        b'{"note": "a text that speaks of \\"parentUuid\\", \\"sessionId\\", \\"uuid\\" and \\"type\\""}',
    ],
)
def test_what_no_format_recognises_gets_one_sentence_that_names_them_all(sample: bytes) -> None:
    with pytest.raises(UnknownFormat) as caught:
        recognise(sample, "notes.txt")
    assert "notes.txt" in str(caught.value)
    assert all(known.name in str(caught.value) for known in LOG_FORMATS)
    assert "\n" not in str(caught.value)


def test_a_format_has_a_name() -> None:
    assert [log_format(known.name) for known in LOG_FORMATS] == list(LOG_FORMATS)


def test_an_unknown_name_gets_one_sentence_that_names_them_all() -> None:
    with pytest.raises(UnknownFormat) as caught:
        log_format("klingon")
    assert "klingon" in str(caught.value)
    assert all(known.name in str(caught.value) for known in LOG_FORMATS)

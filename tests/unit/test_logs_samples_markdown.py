"""The sample logs of pi, Gemini CLI, SpecStory and aider: a handful of each is read whole."""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from ireneo.formats.chat.anthropic import AnthropicMessages
from ireneo.formats.chat.gemini import GeminiContents
from ireneo.formats.chat.openai import OpenAIChat
from ireneo.formats.logs.format import LOG_FORMATS, LoggedSession, log_format

DATA = Path(__file__).parents[3] / "shared" / "data"
SPECSTORY = DATA / "specstory_history" / "specstory_sessions_dev.jsonl.xz"
AIDER = DATA / "aider_chats" / "aider_swebench_lite_dev.jsonl.xz"
PI = DATA / "pi_sessions" / "before-compaction.jsonl.xz"
GEMINI = sorted((DATA / "gemini_cli_samples").glob("*.json"))
HANDFUL = 8

pytestmark = [
    pytest.mark.samples,
    pytest.mark.skipif(not DATA.is_dir(), reason="the sample logs are not beside the project"),
]


def some(file: Path, many: int = HANDFUL) -> list[bytes]:
    with lzma.open(file) as lines:
        return list(islice(lines, many))


def beginnings() -> Iterator[tuple[str, bytes]]:
    for name, file in (("specstory", SPECSTORY), ("aider", AIDER), ("pi", PI)):
        with lzma.open(file) as lines:
            yield name, lines.read(65536)
    for name, file in (("specstory", SPECSTORY), ("aider", AIDER)):
        for line in some(file):
            yield name, json.loads(line)["markdown"].encode()[:65536]
    for path in GEMINI:
        yield "gemini-cli", path.read_bytes()[:65536]


def assert_whole(session: LoggedSession) -> None:
    assert session.faults == ()
    made = [call.id for draft in session.path for call in draft.calls]
    answered = [result.call_id for draft in session.path for result in draft.results]
    assert len(set(made)) == len(made)
    assert set(answered) <= set(made)
    for chat in (AnthropicMessages(), OpenAIChat(), GeminiContents()):
        assert chat.validate(chat.encode(session.path)) == []


def outcomes(sessions: list[LoggedSession]) -> Counter[tuple[str, bool | None]]:
    out: Counter[tuple[str, bool | None]] = Counter()
    for session in sessions:
        names = {call.id: call.name for draft in session.path for call in draft.calls}
        out.update((names[result.call_id], result.failed) for draft in session.path for result in draft.results)
    return out


def test_a_sample_is_recognised_by_the_one_format_that_reads_it_before_any_other() -> None:
    for name, sample in beginnings():
        assert next(known.name for known in LOG_FORMATS if known.recognises(sample)) == name


def test_specstorys_sessions_are_read() -> None:
    lines = some(SPECSTORY)
    sessions = list(log_format("specstory").read(lines, "file"))
    records = [json.loads(line) for line in lines]
    mains = [session for session in sessions if "-sidechain-" not in session.id]
    assert [session.id for session in mains] == [record["session_id"] for record in records]
    for session in sessions:
        assert_whole(session)
    for session, record in zip(mains, records, strict=True):
        beside = [each for each in sessions if each.id.startswith(session.id)]
        calls = sum(len(draft.calls) for each in beside for draft in each.path)
        # The sample's own count takes in the exports that its tools printed.
        assert 0.8 * record["tool_uses"] <= calls <= record["tool_uses"]
        spoken = re.findall(r"^_\*\*User \(", record["markdown"], re.M)
        assert sum(draft.role == "user" for draft in session.path) == len(spoken)
    assert outcomes(sessions)["Bash", True] > 0


def test_aiders_sessions_are_read() -> None:
    lines = some(AIDER)
    sessions = list(log_format("aider").read(lines, "file"))
    told = "\n".join(json.loads(line)["markdown"] for line in lines)
    assert len(sessions) == len({session.id for session in sessions}) == told.count("# aider chat started at")
    for session in sessions:
        assert_whole(session)
    found = outcomes(sessions)
    assert found["test", True] == told.count("> Attempt to fix test errors?")
    assert found["lint", True] == told.count("> Attempt to fix lint errors?")
    assert found["edit", True] >= told.count("> ## SearchReplaceNoExactMatch")


def test_pis_session_is_read() -> None:
    with lzma.open(PI) as lines:
        (session,) = log_format("pi").read(lines, "file")
    assert_whole(session)
    origins = Counter((draft.role, draft.origin) for draft in session.path)
    assert origins["user", "spoken"] == 55
    assert origins["user", "summary"] == 2
    assert sum(len(draft.calls) for draft in session.path) == 454
    assert sum(result.failed is True for draft in session.path for result in draft.results) == 12
    assert sum(len(draft.record.payload) for draft in session.path if draft.record) == 1003 + 54  # type: ignore[arg-type]


@pytest.mark.parametrize("file", GEMINI, ids=lambda file: file.stem)
def test_a_gemini_cli_chat_is_read(file: Path) -> None:
    with file.open("rb") as lines:
        (session,) = log_format("gemini-cli").read(lines, "file")
    assert_whole(session)
    raws = json.loads(file.read_bytes())["messages"]
    assert {draft.source_id for draft in session.path} == {raw["id"] for raw in raws}
    calls = [call["id"] for raw in raws for call in raw.get("toolCalls", [])]
    assert [result.call_id for draft in session.path for result in draft.results] == calls

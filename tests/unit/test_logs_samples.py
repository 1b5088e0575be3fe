"""The sample logs that lie beside the project: every file is read, and nothing in it is lost."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ireneo.formats.chat.anthropic.chat import AnthropicMessages
from ireneo.formats.chat.openai.chat import OpenAIChat
from ireneo.formats.logs.format import LoggedSession
from ireneo.formats.logs.registry import log_format, recognise
from ireneo.log.message import Draft

DATA = Path(__file__).parents[3] / "shared" / "data"

pytestmark = [
    pytest.mark.samples,
    pytest.mark.skipif(not DATA.is_dir(), reason="the sample logs are not beside the project"),
]


def files(folder: str) -> list[Path]:
    return sorted((DATA / folder).glob("*.jsonl.xz"))


def read(file: Path) -> tuple[str, list[LoggedSession]]:
    with lzma.open(file) as lines:
        form = recognise(lines.read(65536), file.name)
        lines.seek(0)
        return form.name, list(form.read(lines, file.name.removesuffix(".jsonl.xz")))


def raw_lines(file: Path) -> Iterator[dict[str, object]]:
    with lzma.open(file) as lines:
        for line in lines:
            text, at = line.decode(), 0
            while text[at:].strip():
                try:
                    value, at = json.JSONDecoder().raw_decode(text, at)
                except json.JSONDecodeError:
                    break
                yield value


def kept(sessions: Sequence[LoggedSession]) -> list[dict[str, object]]:
    return [
        raw
        for session in sessions
        for node in session.nodes
        if node.draft.record is not None and isinstance(node.draft.record.payload, list)
        for raw in node.draft.record.payload
    ]


def path(session: LoggedSession) -> list[Draft]:
    out: list[Draft] = []
    at: int | None = session.head
    while at is not None:
        out.append(session.nodes[at].draft)
        at = session.nodes[at].parent
    return out[::-1]


def said(lines: Sequence[dict[str, object]]) -> set[object]:
    return {raw["uuid"] for raw in lines if raw.get("type") in ("user", "assistant") and not raw.get("isSidechain")}


def test_each_turn_of_a_game_that_was_played_aloud_is_read_with_its_author() -> None:
    numbers = []
    for file in files("crd3"):
        with lzma.open(file) as lines:
            (session,) = log_format("chat").read(lines, file.name)
        turns = [(raw["episode"], turn) for raw in raw_lines(file) for turn in raw["turns"]]  # type: ignore[attr-defined]
        drafts = path(session)
        assert session.faults == ()
        assert len(drafts) == len(turns)
        for draft, (episode, turn) in zip(drafts, turns, strict=True):
            assert draft.author == " & ".join(turn["NAMES"])
            assert draft.text == " ".join(turn["UTTERANCES"])
            assert (draft.source_id or "").startswith(f"{episode}:{turn['NUMBER']}")
            numbers.append(draft.source_id)
    assert len(set(numbers)) == len(numbers)


def test_a_novel_is_read_word_for_word_and_nobody_is_taken_for_a_speaker() -> None:
    for file in sorted((DATA / "novels").glob("*.txt.xz")):
        with lzma.open(file) as lines:
            (session,) = log_format("chat").read(lines, file.name)
        with lzma.open(file, "rt", encoding="utf-8") as whole:
            words = whole.read().removeprefix("\ufeff").split()
        drafts = path(session)
        assert {draft.author for draft in drafts} == {None}
        assert [word for draft in drafts for word in draft.text.split()] == words, file.name


def assert_answers_follow(session: LoggedSession) -> None:
    answered = {result.call_id for node in session.nodes for result in node.draft.results}
    for index, node in enumerate(session.nodes):
        waiting = {call.id for call in node.draft.calls} & answered
        at = index
        while waiting:
            at = next(after for after in range(at + 1, len(session.nodes)) if session.nodes[after].parent == at)
            assert session.nodes[at].draft.role == "tool"
            waiting -= {result.call_id for result in session.nodes[at].draft.results}


def assert_valid(session: LoggedSession) -> None:
    for chat in (AnthropicMessages(), OpenAIChat()):
        assert chat.validate(chat.encode(path(session))) == []


@pytest.mark.parametrize(
    "file", [*files("claude_code_sessions"), *files("claude_code_malformed")], ids=lambda file: file.name[:19]
)
def test_a_claude_code_session_is_read_whole(file: Path) -> None:
    form, sessions = read(file)
    assert form == "claude-code"
    main = sessions[0]
    raws = list(raw_lines(file))
    assert main.id in file.name
    assert said(kept([main])) == said(raws)
    assert Counter(json.dumps(raw, sort_keys=True) for raw in kept(sessions)) == Counter(
        json.dumps(raw, sort_keys=True) for raw in raws
    )
    for session in sessions:
        assert_answers_follow(session)
        assert_valid(session)
    if "malformed" in file.parent.name:
        assert len(main.faults) == 1
        assert f"Line {main.faults[0].line} holds 2 JSON values" in main.faults[0].message
    else:
        assert main.faults == ()


def test_all_sessions_are_there() -> None:
    assert len(files("claude_code_sessions")) == 99
    assert len(files("claude_code_malformed")) == 4


def test_compactions_are_summaries() -> None:
    summaries = Counter(
        node.draft.origin
        for file in files("claude_code_sessions")[:60]
        for node in read(file)[1][0].nodes
        if node.draft.text.startswith("This session is being continued from a previous conversation")
    )
    assert summaries["summary"] > 0
    assert set(summaries) == {"summary"}


def test_mini_swe_agents_runs_are_read() -> None:
    form, sessions = read(DATA / "mini_swe_agent" / "gemini3pro_swebench_verified_dev.jsonl.xz")
    assert form == "mini-swe-agent"
    assert len(sessions) == len({session.id for session in sessions}) == 120
    outcomes = Counter(result.failed for session in sessions for node in session.nodes for result in node.draft.results)
    # 402 commands returned another code than 0, and 6 were killed; the last result of a run is its diff.
    assert outcomes == {True: 408, False: 4607, None: 120}
    for session in sessions:
        assert session.faults == ()
        assert_answers_follow(session)
        assert_valid(session)


def test_tau_benchs_runs_are_read() -> None:
    form, sessions = read(DATA / "tau_bench_airline" / "gpt-4o-airline_dev.jsonl.xz")
    assert form == "openai"
    assert len(sessions) == len({session.id for session in sessions}) == 100
    assert sessions[0].id == "task-0-trial-0"
    results = [result for session in sessions for node in session.nodes for result in node.draft.results]
    assert len(results) == 487
    assert [result.text for result in results if result.failed] == [
        result.text for result in results if result.text.startswith("Error:")
    ]
    for session in sessions:
        assert session.faults == ()
        assert_answers_follow(session)
        assert_valid(session)

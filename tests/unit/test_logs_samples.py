"""The sample logs that lie beside the project: every file is read, and nothing in it is lost."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest
from tests.examples import TIMES

from ireneo.formats.chat.anthropic import AnthropicMessages
from ireneo.formats.chat.openai import OpenAIChat
from ireneo.formats.logs.format import LoggedSession, log_format, recognise

DATA = Path(__file__).parents[3] / "shared" / "data"
EPISODES = 2
"""Of each file that holds games: the rest is more of the same."""

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


def said(lines: Sequence[dict[str, object]]) -> set[object]:
    return {raw["uuid"] for raw in lines if raw.get("type") in ("user", "assistant") and not raw.get("isSidechain")}


def test_each_turn_of_a_game_that_was_played_aloud_is_read_with_its_author() -> None:
    numbers = []
    for file in files("crd3"):
        with lzma.open(file) as lines:
            some = list(islice(lines, EPISODES))
        (session,) = log_format("chat").read(some, file.name)
        turns = [(raw["episode"], turn) for raw in map(json.loads, some) for turn in raw["turns"]]
        drafts = session.path
        assert session.faults == ()
        assert len(drafts) == len(turns)
        for draft, (episode, turn) in zip(drafts, turns, strict=True):
            assert draft.author == " & ".join(turn["NAMES"])
            assert draft.text == " ".join(turn["UTTERANCES"])
            assert (draft.source_id or "").startswith(f"{episode}:{turn['NUMBER']}")
            numbers.append(draft.source_id)
    assert len(set(numbers)) == len(numbers)


def test_a_novel_is_read_word_for_word_and_nobody_is_taken_for_a_speaker() -> None:
    for file in sorted((DATA / "novels").glob("*.txt.xz"))[:: 3 if TIMES == 1 else 1]:
        with lzma.open(file) as lines:
            (session,) = log_format("chat").read(lines, file.name)
        with lzma.open(file, "rt", encoding="utf-8") as whole:
            words = whole.read().removeprefix("\ufeff").split()
        drafts = session.path
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
        assert chat.validate(chat.encode(session.path)) == []


# Of those that are alike every sixth, or all where more is asked for.
@pytest.mark.parametrize(
    "file",
    [*files("claude_code_sessions")[:: 6 if TIMES == 1 else 1], *files("claude_code_malformed")],
    ids=lambda file: file.name[:19],
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
        for file in files("claude_code_sessions")[:: 8 if TIMES == 1 else 1]
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


CLAIMED = {"openhands": {"openhands"}, "swe_agent_demos": {"swe-agent"}}
ALL = [file for file in sorted(DATA.glob("*/*")) if file.name.endswith((".xz", ".json", ".jsonl"))]


@pytest.mark.parametrize("file", ALL, ids=lambda file: f"{file.parent.name}/{file.name[:19]}")
def test_no_format_of_agents_claims_the_file_of_another(file: Path) -> None:
    with lzma.open(file) if file.suffix == ".xz" else file.open("rb") as lines:
        sample = lines.read(65536)
    claimed = {name for name in ("codex", "atif", "swe-agent", "openhands") if log_format(name).recognises(sample)}
    assert claimed == CLAIMED.get(file.parent.name, set())


def outcomes_of(sessions: Sequence[LoggedSession]) -> Counter[bool | None]:
    return Counter(result.failed for session in sessions for node in session.nodes for result in node.draft.results)


def directories(session: LoggedSession) -> set[object]:
    raws = kept([session])
    return {raw["cwd"] for raw in raws if isinstance(raw.get("cwd"), str)}


def test_swe_agents_runs_are_read() -> None:
    file = DATA / "swe_agent_demos" / "swe_agent_demos.jsonl.xz"
    form, sessions = read(file)
    assert form == "swe-agent"
    assert len(sessions) == len({session.id for session in sessions}) == 21
    for session, raw in zip(sessions, raw_lines(file), strict=True):
        traj = raw["traj"]
        assert isinstance(traj, dict)
        steps = traj["trajectory"]
        results = [node.draft.results[0] for node in session.nodes if node.draft.results]
        assert [result.text for result in results] == [step["observation"] for step in steps if step["action"]]
        calls = [call for node in session.nodes for call in node.draft.calls]
        assert [call.id for call in calls] == [result.call_id for result in results]
        assert sum(node.draft.role == "user" and node.draft.origin == "spoken" for node in session.nodes) == 1
        assert len(directories(session)) == 1
        assert session.faults == ()
        assert_answers_follow(session)
        assert_valid(session)
    # The linter turned down 13 edits, 3 programs died with a traceback, and 2 ran out of time; 32 edits were made.
    assert outcomes_of(sessions) == {True: 18, False: 32, None: 177}


def test_openhands_histories_are_read() -> None:
    form, sessions = read(DATA / "openhands" / "multi_swe_bench_example_output.jsonl.xz")
    assert form == "openhands"
    assert [session.id for session in sessions] == [f"ponylang__ponyc-{number}" for number in (4595, 4593, 4588)]
    raws = raw_lines(DATA / "openhands" / "multi_swe_bench_example_output.jsonl.xz")
    for session, raw in zip(sessions, raws, strict=True):
        history = raw["history"]
        assert isinstance(history, list)
        assert {raw["id"] for raw in kept([session]) if isinstance(raw.get("id"), int)} == {
            raw["id"] for raw in history
        }
        codes = [raw["extras"]["metadata"]["exit_code"] for raw in history if raw.get("observation") == "run"]
        told = {node.draft.source_id: node.draft.results[0].failed for node in session.nodes if node.draft.results}
        ran = [told[str(raw["id"])] for raw in history if raw.get("observation") == "run"]
        assert ran == [code != 0 for code in codes]
        assert any(str(place).startswith("/workspace") for place in directories(session))


def test_the_oldest_openhands_histories_are_read() -> None:
    form, sessions = read(DATA / "openhands" / "resolver_mock_output.jsonl.xz")
    assert form == "openhands"
    assert [(session.id, len(session.nodes)) for session in sessions] == [("pr-viewer-5", 8), ("pr-viewer-1", 44)]
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

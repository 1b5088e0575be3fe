"""How a run came out, as its log says."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.agent_log import MADE, MOON, Ran, claude_log
from tests.progress import progress_of
from tests.whole import whole

import ireneo.sync
from ireneo import Memory
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.log_files import LogFile
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.engine.resources import Resources
from ireneo.formats.logs.format import log_format
from ireneo.lessons.run import outcome_of
from ireneo.log.message import Draft, Native, Text
from ireneo.testing.scripted import ManualClock


def noted(*entries: object) -> list[Draft]:
    record = Native(format="any", payload=list(entries))
    return [Draft(role="user", parts=(Text(text="Mend the crane."),), record=record)]


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        ({"resolved": True, "info": {"exit_status": "Submitted"}}, "good"),
        ({"resolved": False, "info": {"exit_status": "Submitted"}}, "bad"),
        ({"info": {"exit_status": "Submitted"}}, "unknown"),
        ({"info": {"exit_status": "submitted (exit_cost)"}}, "unknown"),
        ({"info": {"exit_status": "LimitsExceeded"}}, "bad"),
        ({"info": {"exit_status": None}}, "unknown"),
        ({"reward": 1.0}, "good"),
        ({"reward": 0}, "bad"),
        ({"reward": 0.4}, "unknown"),
        ({"verifier_result": {"rewards": {"reward": 1}}}, "good"),
        ({"test_result": {"report": {"resolved": False}}}, "bad"),
        ({"success": True, "error": None}, "good"),
        # One tool's success is not the run's, and what was asked for is no verdict.
        ({"type": "tool", "success": False}, "unknown"),
        ({"info": {"task": {"reward": 0}}}, "unknown"),
        ("reward: 0", "unknown"),
    ],
)
def test_a_verdict_counts_before_how_a_run_ended(entry: object, outcome: str) -> None:
    assert outcome_of(noted(entry)) == outcome
    assert outcome_of(noted({"cwd": "/home/ann/crane"}, entry)) == outcome


def test_logs_that_grade_their_runs_are_read_so() -> None:
    step = {"role": "assistant", "content": "THOUGHT: look\n\n```bash\nls\n```"}
    seen = {"role": "user", "content": "<returncode>0</returncode>\n<output>crane.py</output>"}
    run = {
        "trajectory_format": "mini-swe-agent-1",
        "instance_id": "pier__crane-7",
        "resolved": False,
        "info": {"exit_status": "Submitted", "model_stats": {"instance_cost": 0.1}},
        "messages": [{"role": "user", "content": "Mend the crane."}, step, seen],
    }
    graded = {"task_id": 3, "trial": 0, "reward": 1.0, "traj": [{"role": "user", "content": "Book a berth."}]}
    for form, document, outcome in (("mini-swe-agent", run, "bad"), ("openai", graded, "good")):
        (session,) = log_format(form).read([json.dumps(document).encode()], "log")
        assert outcome_of(session.path) == outcome


def test_a_run_is_stored_with_how_it_came_out() -> None:
    async def work() -> str:
        means = Resources(store=InMemoryStore(), count=EstimatedTokenizer().count, clock=ManualClock())
        memory = Memory(means, "mine")
        words = [Draft(role="user", parts=(Text(text=f"And crane {n}?"),)) for n in range(12)]
        await (await memory.session("graded")).append([*noted({"resolved": False}), *words])
        (learned,) = await progress_of(memory.learn)
        return learned.run.outcome

    assert asyncio.run(work()) == "bad"


SUMMARY = {
    "intent": "Mend the crane.",
    "learnings": {
        "repo": ["The crane is greased by the task called grease before it lifts anything heavy"],
        "code": [{"path": "src/crane.py", "finding": "lift() drops the load where the brake is not set"}],
        "workflow": ["Ghosts inspect src/ghosts.py on every full moon, and crane drivers have to wait for them"],
    },
    "friction": ["The brake of the crane was rusty, so that lift() failed twice before anybody looked at it"],
}


@pytest.mark.parametrize(
    "place", [{"summary": SUMMARY}, SUMMARY, {"type": "summary", "checkpoints": [{"summary": SUMMARY}]}]
)
def test_what_a_log_sums_up_of_its_run_becomes_lessons_in_its_words(place: dict[str, object]) -> None:
    async def work() -> list[tuple[str, str]]:
        means = Resources(store=InMemoryStore(), count=EstimatedTokenizer().count, clock=ManualClock())
        memory = Memory(means, "mine")
        said = (
            "The crane is greased by the task called grease; before that it lifts nothing heavy.",
            "In src/crane.py lift() drops the load, where the brake is not set.",
            "The brake of the crane was rusty: lift() failed twice before I looked at it.",
        )
        words = [Draft(role="assistant", parts=(Text(text=text),)) for text in said]
        await (await memory.session("summed-up")).append([*noted(place), *words])
        await memory.learn()
        # What code does and what went wrong once is remembered, and not listed.
        assert await memory.lessons() == []
        for tool, named in (("Read", "src/crane.py"), ("Bash", "sed -n 1,40p src/crane.py")):
            known = await memory.check(tool, {"command": named} if tool == "Bash" else {"file_path": named})
            assert known is not None
            assert known.remark
            assert known.text.startswith("known: `src/crane.py`: “lift() drops the load where the brake is not set”")
        assert await memory.check("Read", {"file_path": "src/winch.py"}) is None
        return sorted((each.category, each.lesson) for each in await memory.lessons(guarded=True))

    told = asyncio.run(work())
    assert [category for category, _ in told] == ["factual", "factual", "failure"]
    assert (
        "factual",
        "`src/crane.py`: “lift() drops the load where the brake is not set” (the log's own summary)",
    ) in told
    # What nothing in the run bears out is left aside.
    assert "ghosts" not in whole(told).lower()


TRAP = [Ran("make tide", "Exit code 2\nmake: tide table not found, the moon is missing", failed=True), MOON, MADE]
FIX = "run `make moon` first"


def learned_beside(folder: Path, beside: dict[str, object], *, log: str = "runs/tide.jsonl") -> tuple[str, list[str]]:
    """How the run in `log` came out, and the lessons, where these files lie beside it."""
    (folder / log).parent.mkdir(parents=True, exist_ok=True)
    (folder / log).write_text(claude_log("harbour-1", TRAP * 2), encoding="utf-8")
    for name, said in beside.items():
        text = "\n".join(map(json.dumps, said)) if isinstance(said, list) and name.endswith("l") else json.dumps(said)
        (folder / name).write_text(said if isinstance(said, str) else text, encoding="utf-8")
    with ireneo.sync.open(folder / "memory.db") as memory:
        (learned,) = memory.learn_from(folder / log).sessions
        return learned.run.outcome, [each.lesson for each in memory.lessons()]


@pytest.mark.parametrize(
    "beside",
    [
        {"runs/index.jsonl": [{"file": "other.jsonl", "resolved": True}, {"file": "tide.jsonl", "resolved": False}]},
        {"runs/index.json": [{"session_id": "harbour-1", "reward": 0}]},
        {"results.json": {"resolved_ids": ["harbour-2"], "unresolved_ids": ["harbour-1"]}},
        {"report.json": {"harbour-1": {"resolved": False}, "harbour-2": {"resolved": True}}},
        {"runs/metadata.json": {"session_id": "harbour-1", "success": False}},
    ],
)
def test_a_run_that_failed_by_what_stands_beside_its_log_teaches_no_remedy(
    tmp_path: Path, beside: dict[str, object]
) -> None:
    outcome, lessons = learned_beside(tmp_path, beside)
    assert outcome == "bad"
    assert not [each for each in lessons if FIX in each]


@pytest.mark.parametrize(
    ("beside", "outcome"),
    [
        ({"runs/index.jsonl": [{"file": "tide.jsonl", "resolved": True}]}, "good"),
        ({"runs/index.jsonl": [{"file": "ebb.jsonl", "resolved": False}]}, "unknown"),
        ({"runs/metadata.json": {"session_id": "harbour-2", "success": False}}, "unknown"),
        ({"runs/index.json": "{broken"}, "unknown"),
        ({}, "unknown"),
    ],
)
def test_what_stands_beside_other_logs_or_says_so_teaches_as_before(
    tmp_path: Path, beside: dict[str, object], outcome: str
) -> None:
    said, lessons = learned_beside(tmp_path, beside)
    assert said == outcome
    assert [each for each in lessons if FIX in each]


def test_a_harness_describes_a_run_in_the_folder_around_its_log(tmp_path: Path) -> None:
    graded = {"trial_name": "tide__1", "verifier_result": {"rewards": {"reward": 0.0}}}
    assert learned_beside(tmp_path, {"trial/result.json": graded}, log="trial/agent/tide.jsonl")[0] == "bad"


def test_learnings_beside_a_log_become_lessons_with_the_passages_that_bear_them_out(tmp_path: Path) -> None:
    said = "Write the moon table before the tide table"
    summary = {"learnings": {"repo": [said], "code": [], "workflow": []}, "friction": []}
    then = "We write the moon table before the tide table, as the Makefile says."
    log = tmp_path / "full.jsonl"
    log.write_text(claude_log("harbour-1", [Ran("ls", "Makefile")], then=then), encoding="utf-8")
    (tmp_path / "metadata.json").write_text(json.dumps({"session_id": "harbour-1", "summary": summary}))
    with ireneo.sync.open(tmp_path / "memory.db") as memory:
        memory.learn_from(log)
        (lesson,) = (each for each in memory.lessons() if "own summary" in each.lesson)
    assert said in lesson.lesson
    assert [each.quote for each in lesson.sources] == [then]


def test_workers_read_what_stands_beside_a_log_too(tmp_path: Path) -> None:
    (tmp_path / "tide.jsonl").write_text(claude_log("harbour-1", TRAP * 2), encoding="utf-8")
    (tmp_path / "index.json").write_text(json.dumps([{"file": "tide.jsonl", "resolved": False}]))
    log = LogFile(str(tmp_path / "tide.jsonl"))
    with log:
        assert log.is_labelled
        assert log.label_of("harbour-1") == {"file": "tide.jsonl", "resolved": False}
    with ireneo.sync.open(tmp_path / "memory.db") as memory:
        (learned,) = memory.learn_logs([tmp_path / "tide.jsonl"], on="local:1", project="quay").sessions
    assert learned.run.outcome == "bad"

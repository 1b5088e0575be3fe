"""How a run came out, as its log says."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.progress import progress_of
from tests.whole import whole

from ireneo import Memory
from ireneo.adapters.in_memory import InMemoryStore
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
        return sorted((each.category, each.lesson) for each in await memory.lessons())

    told = asyncio.run(work())
    assert [category for category, _ in told] == ["factual", "factual", "failure"]
    assert (
        "factual",
        "`src/crane.py`: “lift() drops the load where the brake is not set” (the log's own summary)",
    ) in told
    # What nothing in the run bears out is left aside.
    assert "ghosts" not in whole(told).lower()

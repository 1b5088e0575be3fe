"""The benchmark of the voices, with models that answer as the tests tell them to."""

from __future__ import annotations

import asyncio
import importlib.util
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ireneo.errors import BadReply, ModelUnavailable
from ireneo.log.message import Call, Draft, Result, Text
from ireneo.ports.models import Prompt
from ireneo.testing.scripted import Scripted, ScriptedLLM

BUDGET = 1_500
FAILED = "frobnicate --all src"
REPEAT: Scripted = {"tool": "bash", "arguments": {"command": FAILED}}
OTHER: Scripted = {"tool": "read", "arguments": {"path": "docs/new.md"}}
WHO = {"first": "I", "second": "You", "third": "The agent"}


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    place = Path(__file__).parents[2] / "benchmarks" / "perspective.py"
    before = list(sys.path)
    spec = importlib.util.spec_from_file_location("benchmark_perspective", place)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    sys.path[:] = before
    return loaded


def step(number: int, tool: str, output: str, *, failed: bool = False, **arguments: object) -> list[Draft]:
    call = Call(id=f"call-{number}", name=tool, arguments=arguments)
    result = Result(call_id=call.id, parts=(Text(text=output),), failed=failed)
    return [Draft(role="assistant", parts=(call,)), Draft(role="tool", parts=(result,))]


def session() -> list[Draft]:
    """An agent that tried a command which isn't there, did it otherwise, and went on for long."""
    drafts = [Draft(role="user", parts=(Text(text="Please rename the helpers of the billing module."),))]
    drafts += step(0, "bash", "bash: frobnicate: command not found", failed=True, command=FAILED)
    drafts += step(1, "bash", "renamed 12 helpers", command="python tools/rename.py src")
    for number in range(2, 40):
        text = "\n".join(f"line {line} of module {number} has handle_{line}" for line in range(12))
        drafts += step(number, "read", text, path=f"src/billing/part_{number}.py")
    return drafts


@pytest.fixture(scope="module")
def cuts(benchmark: ModuleType) -> list[Any]:
    found = list(benchmark.cuts_of("made up", session(), BUDGET, 3, random.Random(1)))
    assert len(found) == 3
    return found


def noted(voice: str) -> Scripted:
    who = WHO[voice]
    return {
        "notes": [
            f"failed 4 [1] {who} tried `frobnicate --all src`: command not found.",
            f"worked 3 [3] {who} read the parts of the billing module one after the other.",
        ]
    }


def voice_of(prompt: Prompt) -> str:
    return next(voice for voice in WHO if f"in the {voice} person" in prompt.system)


def measured(
    benchmark: ModuleType,
    cuts: list[Any],
    acts: Callable[[Prompt], Scripted],
    *,
    write: bool = False,
    most: int = 1_000,
) -> tuple[Any, Any, list[Prompt]]:
    model = ScriptedLLM(lambda prompt: acts(prompt) if prompt.task == "act" else noted(voice_of(prompt)))
    bill = benchmark.Bill(most=most)
    result = asyncio.run(benchmark.measure(cuts, model, BUDGET, write=write, bill=bill, tell=lambda line: None))
    return result, bill, [prompt for prompt in model.prompts if prompt.task == "act"]


@pytest.mark.parametrize(("act", "share", "write"), [(REPEAT, "100.0%", False), (OTHER, "0.0%", True)])
def test_what_the_model_repeats_is_counted(
    benchmark: ModuleType, cuts: list[Any], act: Scripted, share: str, write: bool
) -> None:
    result, bill, _ = measured(benchmark, cuts, lambda prompt: act, write=write)
    lines = list(benchmark.report(result, "scripted", bill))
    rows = {line.split()[0]: line.split() for line in reversed(lines)}
    assert [rows[voice][1:4] for voice in WHO] == [["3", "3" if act is REPEAT else "0", share]] * 3
    assert "scripted" in lines[0]
    assert f"{sum(bill.tokens.values()):,} tokens" in lines[0]
    assert result.really == 0
    assert any(line.startswith("notes:") for line in lines) == write
    assert not result.stopped


def test_the_model_is_shown_notes_in_the_voice_that_is_asked_for(benchmark: ModuleType, cuts: list[Any]) -> None:
    result, _, prompts = measured(benchmark, cuts[:1], lambda prompt: OTHER, write=True)
    assert len({prompt.user for prompt in prompts}) == 3
    assert len({prompt.system for prompt in prompts}) == 1
    for prompt, voice in zip(prompts, WHO, strict=True):
        notes = prompt.user[prompt.user.index("[SUMMARIZED]") :]
        assert f"{WHO[voice]} tried `{FAILED}`" in notes
        assert not any(f"{who} tried" in notes for other, who in WHO.items() if other != voice)
        assert f"{WHO[voice]} read the parts" in notes
    assert not any(name.endswith("offline") for name in result.written)


def test_a_cut_without_an_answer_in_one_voice_counts_in_none(benchmark: ModuleType, cuts: list[Any]) -> None:
    acts = lambda prompt: BadReply("no", calls=1, tokens=5) if "- You tried" in prompt.user else REPEAT  # noqa: E731
    result, bill, _ = measured(benchmark, cuts, acts)
    assert result.repeats == []
    assert result.unanswered == {"second": 3}
    assert bill.calls == 9
    assert list(benchmark.report(result, "scripted", bill))[-1] == "3 answers were none, the last: no"


def test_it_stops_at_the_last_call_and_where_there_is_no_server(benchmark: ModuleType, cuts: list[Any]) -> None:
    result, bill, _ = measured(benchmark, cuts, lambda prompt: REPEAT, most=4)
    assert (len(result.repeats), bill.calls) == (1, 4)
    assert "--calls" in result.stopped
    result, _, _ = measured(benchmark, cuts, lambda prompt: ModelUnavailable("nobody there", calls=1))
    assert result.stopped == "nobody there"


def test_the_same_act_on_the_same_thing_is_a_repeat(benchmark: ModuleType, cuts: list[Any]) -> None:
    ends = cuts[0].dead_ends
    assert [line.subject for line in ends] == ["run frobnicate --all src"]
    again = Call(id="x", name="shell", arguments={"cmd": f"cd lib && {FAILED}"})
    assert benchmark.repeated(again, ends) == list(ends)
    assert benchmark.repeated(Call(id="x", name="shell", arguments={"cmd": "ls"}), ends) == []


def test_the_statistics(benchmark: ModuleType) -> None:
    assert benchmark.wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-3)
    assert benchmark.wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-3)
    assert benchmark.sign_test(0, 6) == pytest.approx(0.03125)
    assert benchmark.sign_test(0, 0) == benchmark.sign_test(2, 2) == 1.0
    assert benchmark.needed(0.5) == pytest.approx(388, abs=2)
    assert benchmark.needed(0.0) < benchmark.needed(0.1) < benchmark.needed(0.3)


def test_only_who_is_spoken_of_is_changed(benchmark: ModuleType) -> None:
    revoiced = sys.modules["acting.voices"].revoiced
    block = (
        "[SUMMARIZED] 3 calls\n- my.py:\n  - I am what the file says\n## Dead ends\n"
        "- I tried `I am` — abandoned because “I said no”; I put my change back, and I'm sure.\n"
        "## Also named\nI my"
    )
    assert revoiced(block, "first") == block
    assert revoiced(block, "second").split("\n")[4] == (
        "- You tried `I am` — abandoned because “I said no”; you put your change back, and you're sure."
    )
    assert revoiced(block, "third").split("\n")[4] == (
        "- The agent tried `I am` — abandoned because “I said no”; "
        "the agent put its change back, and the agent is sure."
    )
    assert revoiced(block, "third").split("\n")[2] == "  - I am what the file says"

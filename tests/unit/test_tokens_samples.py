"""On no sample session that is looked at is the estimate under the exact count by more than 2 %, nor over by much."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from statistics import fmean
from types import ModuleType

import pytest

from ireneo.adapters.tokens import EstimatedTokenizer, ExactTokenizer

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
AGENTS = ("claude_code_sessions", "mini_swe_agent", "tau_bench_airline", "specstory_history", "aider_chats")
# Of these one in 120 is enough here, of the others one in 30; `benchmarks/token_estimate.py` takes them all.
PROSE = ("novels", "crd3", "longmemeval")


def benchmark() -> ModuleType:
    """The benchmark that knows where the texts stand in the samples."""
    spec = importlib.util.spec_from_file_location("token_estimate", ROOT / "benchmarks" / "token_estimate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.samples
@pytest.mark.parametrize("kind", [*AGENTS, "pi_sessions", *PROSE])
def test_the_estimate_is_safe_on_sessions(kind: str) -> None:
    pytest.importorskip("bpe_openai")
    if not (DATA / kind).is_dir():
        pytest.skip(f"the samples {kind} are not beside the project")
    estimate, exact = EstimatedTokenizer(), ExactTokenizer()
    biases = []
    for texts in benchmark().sessions(DATA, kind, every=120 if kind in PROSE else 30):
        guessed = sum(map(estimate.count, texts))
        biases.append(guessed / max(1, sum(map(exact.count, texts))) - 1)
    assert biases
    assert min(biases) >= -0.02
    assert fmean(biases) <= 0.03

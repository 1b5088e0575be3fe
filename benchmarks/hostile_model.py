"""Future-reference recall with a hostile model: whether a liar's summaries make contexts worse.

A scripted model answers half with lies and half with trifles. What of it is believed stands in the contexts: this
measures, with the measure that lies beside the project (`../shared/measure/frr.py`) and on the sample sessions there,
how much of what the agent goes on to use is then still there, against the offline summaries alone.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import logging
import statistics
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import ireneo
from ireneo.log.message import Draft
from ireneo.testing.scripted import ScriptedLLM

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
from tests.property.hostile.model import HostileModel

from future_reference_recall import BESIDE
from valid_cuts import path_of

RATIOS = (8, 25)


def measure(path: Path) -> ModuleType:
    """The measure, as a module."""
    spec = importlib.util.spec_from_file_location("frr", path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} can't be loaded.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drafts_of(lines: list[str]) -> list[Draft]:
    """The path of a log that ends with `lines`."""
    raw = [line.encode() for line in lines]
    logged = next(iter(ireneo.recognise(b"".join(raw[:40]), "cut.jsonl").read(raw, "cut.jsonl")))
    return path_of(logged)


async def cut(drafts: list[Draft], budget: int, model: ScriptedLLM | None, outcomes: Counter[str]) -> list[Any]:
    """The messages of a context, after that model wrote what it could."""
    async with ireneo.open(":memory:", model=model) as memory:
        session = await memory.session("cut")
        await session.append(drafts)
        if model is not None:
            for each in (await session.summarise(budget)).summaries:
                outcomes[each.did] += 1
        return (await session.context(budget, to="openai")).messages


def text_of(frr: ModuleType, messages: list[Any]) -> str:
    """What the measure reads of a context."""
    calls = [json.dumps(call, ensure_ascii=False) for each in messages for call in each.get("tool_calls") or []]
    return "\n".join([*(frr.text_of(each.get("content")) for each in messages), *calls])


def main() -> None:
    """Print the recall of both, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", type=Path, default=BESIDE / "measure" / "frr.py")
    parser.add_argument("--data", type=Path, default=BESIDE / "data" / "claude_code_sessions")
    parser.add_argument("--sessions", type=int, default=20, help="0 for all")
    parser.add_argument("--truth", type=float, default=0.5, help="the share of statements that are true")
    given = parser.parse_args()
    if not given.measure.exists() or not given.data.exists():
        sys.exit(f"{given.measure} and {given.data} are needed, and not both are there.")
    logging.getLogger("ireneo").setLevel(logging.ERROR)
    frr = measure(given.measure)
    found: dict[tuple[int, str], list[float]] = {}
    outcomes: Counter[str] = Counter()
    for seed, (_, _, lines, history, need, _) in enumerate(frr.cases(str(given.data), (0.5, 0.75), given.sessions)):
        drafts = drafts_of(lines)
        size = sum(frr.tokens(text) for _, text in history)
        for ratio in RATIOS:
            liar = ScriptedLLM(HostileModel(seed, truth=given.truth), name="hostile")
            for name, model in (("offline", None), ("hostile", liar)):
                messages = asyncio.run(cut(drafts, max(size // ratio, 256), model, outcomes))
                kept = frr.artifacts(text_of(frr, messages))
                found.setdefault((ratio, name), []).append(len(need & kept) / len(need))
        print(f"\r{seed + 1} cuts", end="", file=sys.stderr)
    print(file=sys.stderr)
    print("room    cuts  offline  hostile  ratio")
    for ratio in RATIOS:
        offline, hostile = (statistics.mean(found[ratio, name]) for name in ("offline", "hostile"))
        cuts = len(found[ratio, "offline"])
        print(f"1/{ratio:<4} {cuts:>5}  {offline:>7.3f}  {hostile:>7.3f}  {hostile / offline:>5.3f}")
    print("summaries:", ", ".join(f"{number} {outcome}" for outcome, number in outcomes.most_common()))


if __name__ == "__main__":
    main()

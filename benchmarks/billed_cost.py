"""What a run's prompts cost, call by call, with a provider that caches prefixes; and what each way to cut them forgets.

Real sessions are replayed: every message of the assistant is one call, whose prompt is the context before it. What a
prompt has in common with the prompt before, message by message as JSON, is read from the cache, the rest is written.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import takewhile
from math import inf
from pathlib import Path
from types import ModuleType

from msgspec import Struct
from msgspec.structs import replace

from billed_methods import COUNTED, METHODS, Method, Prompt, Run, Setting, weight
from ireneo.context.shorten import without_thinking
from ireneo.formats.chat.format import ChatFormat, chat_format
from ireneo.log.message import Draft, Result, count_parts
from ireneo.summaries.policy import prices_named
from valid_cuts import path_of, sessions

BESIDE = Path(__file__).resolve().parents[2] / "shared"
EVERY = 10
SUMMARISER = 0.2
"""The price of a token that a summariser reads: a smaller model of the same provider."""
"""Recall is measured before every tenth call, and at each rebuild."""
FEWEST = 5
"""Places where the agent goes on to use fewer names than this are not measured."""


class Bill(Struct, kw_only=True):
    """What a method came to in a session."""

    billed: float = 0
    summarised: float = 0
    """What a model that writes the blocks takes besides."""
    rebuilds: int = 0
    tokens: list[int] = []
    at_rebuilds: list[float] = []
    at_calls: list[float] = []


class Recall:
    """What the agent goes on to use, and how much of it stands in a prompt."""

    def __init__(self, run: Run, frr: ModuleType, generic: frozenset[str]) -> None:
        self._run = run
        self._frr = frr
        self._found = [frr.artifacts(_written(draft)) - generic for draft in run.drafts[: run.end]]

    def share(self, place: int, prompt: Prompt) -> float | None:
        """The share of the names needed from `place` on that stand in a prompt; None where too few are needed."""
        known = set().union(*self._found[:place])
        seen: set[str] = set()
        needed: set[str] = set()
        for draft, found in zip(self._run.drafts[place : self._run.end], self._found[place:], strict=True):
            if draft.role == "assistant":
                needed |= (found & known) - seen
            seen |= found
        if len(needed) < FEWEST:
            return None
        return len(needed & self._frr.artifacts(self._text(prompt))) / len(needed)

    def _text(self, prompt: Prompt) -> str:
        out: list[str] = []
        for message in map(json.loads, prompt.messages):
            out += [self._frr.text_of(message.get("content")), *map(json.dumps, message.get("tool_calls") or [])]
        return "\n".join(out)


def _written(draft: Draft) -> str:
    calls = [f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}" for call in draft.calls]
    results = [part.text for part in draft.parts if isinstance(part, Result)]
    return "\n".join([draft.text, *calls, *results])


async def bill(method: Method, run: Run, setting: Setting, recall: Recall, places: frozenset[int]) -> Bill:
    """Replay a session, and add up."""
    chat = chat_format(setting.format)
    weights: dict[str, int] = {}
    out = Bill()
    before: list[str] = []
    called = None
    index = 0
    async for prompt in method(run, setting):
        place = run.calls[index]
        now = run.drafts[place - 1].at
        gone = setting.prices.expired((now - called).total_seconds() if now and called else None)
        called = run.drafts[place].at
        common = shared(before, prompt.messages)
        costs = [_cost(message, weights, chat) for message in prompt.messages]
        out.tokens.append(sum(costs))
        read = 0 if gone else sum(costs[:common])
        out.billed += read * setting.prices.read + (sum(costs) - read) * setting.prices.write
        out.summarised += prompt.summarised * SUMMARISER
        # The last message may yet be joined by what follows it; that is no rebuild.
        rebuilt = common < len(before) - 1
        out.rebuilds += rebuilt
        if place < run.end and (rebuilt or index in places) and method is not METHODS["whole history"]:
            share = recall.share(place, prompt)
            if share is not None:
                out.at_rebuilds += [share] * rebuilt
                out.at_calls += [share] * (index in places)
        before = prompt.messages
        index += 1
    return out


def shared(before: Sequence[str], now: Sequence[str]) -> int:
    """How many messages two prompts have in common from the beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False)))


def _cost(message: str, weights: dict[str, int], chat: ChatFormat) -> int:
    if message not in weights:
        drafts = chat.decode([json.loads(message)]) if not message.endswith('"role": "system"}') else []
        words = json.loads(message)["content"] if not drafts else ""
        weights[message] = sum(map(weight, drafts)) or COUNTED.count(
            words if isinstance(words, str) else json.dumps(words)
        )
    return weights[message]


def load(file: str, setting: Setting) -> Iterator[Run]:
    """The sessions of a log; without what another tool's compaction wrote."""
    for number, logged in enumerate(sessions(file)):
        drafts: list[Draft] = []
        end = None
        for draft in path_of(logged):
            if draft.origin == "summary":
                end = len(drafts) if end is None else end
                continue
            kept = draft if setting.thinking else without_thinking(draft)
            drafts += [kept] if kept.parts else []
        calls = [place for place, draft in enumerate(drafts) if place and draft.role == "assistant"]
        yield Run(
            name=f"{Path(file).stem}-{number}", drafts=drafts, calls=calls, end=len(drafts) if end is None else end
        )


def chosen(data: str, least: int, most: int, setting: Setting) -> list[str]:
    """The first logs whose first session is longer than `least` tokens."""
    out: list[str] = []
    for file in sorted(map(str, Path(data).glob("*.jsonl.xz"))):
        run = next(load(file, setting), None)
        if run is not None and sum(count_parts(draft.parts, COUNTED.count)[0] for draft in run.drafts) > least:
            out.append(file)
        if len(out) == most:
            break
    return out


@cache
def recall_measure(path: str) -> ModuleType:
    """The measure of recall that lies beside the project."""
    spec = importlib.util.spec_from_file_location("frr", path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} is needed, and is not there.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names(file: str, path: str) -> set[str]:
    """The names in a log, as the measure at `path` finds them."""
    frr = recall_measure(path)
    return {name for _, _, text in frr.load(file) for name in frr.artifacts(text)}


def common_names(data: str, path: str, jobs: int) -> frozenset[str]:
    """Names that a fifth of all logs have, which say nothing."""
    files = sorted(map(str, Path(data).glob("*.jsonl.xz")))
    spread: Counter[str] = Counter()
    with ProcessPoolExecutor(jobs) as pool:
        for found in pool.map(names, files, [path] * len(files)):
            spread.update(found)
    return frozenset(name for name, times in spread.items() if times > 0.2 * len(files))


def measure(file: str, setting: Setting, generic: frozenset[str], methods: Sequence[str]) -> dict[str, Bill]:
    """The bills of a log's first session."""
    run = next(load(file, setting))
    recall = Recall(run, recall_measure(setting.measure), generic)
    sizes = [weight(draft) for draft in run.drafts]
    places = frozenset(
        index for index in range(0, len(run.calls), EVERY) if sum(sizes[: run.calls[index]]) > setting.budget
    )
    return {name: asyncio.run(bill(METHODS[name], run, setting, recall, places)) for name in methods}


def show(bills: list[dict[str, Bill]], methods: Sequence[str]) -> None:
    """Print a row a method."""
    print(f"{'':22} {'billed':>7} {'worst':>6} {'rebuilds':>8} {'tokens':>7} {'FRR there':>9} {'FRR':>6}")
    for name in methods:
        wholes = [each["whole history"].billed for each in bills]
        shares = [each[name].billed / whole for each, whole in zip(bills, wholes, strict=True)]
        rebuilds = statistics.mean(each[name].rebuilds for each in bills)
        tokens = statistics.mean(size for each in bills for size in each[name].tokens)
        there = _mean([share for each in bills for share in each[name].at_rebuilds])
        everywhere = _mean([share for each in bills for share in each[name].at_calls])
        row = f"{statistics.mean(shares):>7.2f} {max(shares):>6.2f} {rebuilds:>8.1f} {tokens:>7,.0f}"
        print(f"{name:22} {row} {there:>9} {everywhere:>6}")
        if any(each[name].summarised for each in bills):
            read = [each[name].summarised / whole for each, whole in zip(bills, wholes, strict=True)]
            shares = [sum(pair) for pair in zip(shares, read, strict=True)]
            print(f"{'  and with a model':22} {statistics.mean(shares):>7.2f} {max(shares):>6.2f}")


def _mean(shares: Sequence[float]) -> str:
    return f"{statistics.mean(shares):.3f}" if shares else "–"


def main() -> None:
    """Print a table for a cache that never forgets, and one for a cache that forgets when its time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=BESIDE / "data" / "claude_code_sessions")
    parser.add_argument("--measure", type=Path, default=BESIDE / "measure" / "frr.py")
    parser.add_argument("--sessions", type=int, default=12, help="the first so many that are long enough")
    parser.add_argument("--least", type=int, default=80_000, help="tokens that a session has to have")
    parser.add_argument("--budget", type=int, default=45_000)
    parser.add_argument("--low", type=int, default=22_000)
    parser.add_argument("--prices", default="anthropic")
    parser.add_argument("--format", default="anthropic")
    parser.add_argument("--thinking", action="store_true", help="leave the model's thinking in the sessions")
    parser.add_argument("--methods", help="names, separated by semicolons")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    if not given.measure.exists() or not given.data.exists():
        sys.exit(f"{given.measure} and {given.data} are needed, and not both are there.")
    setting = Setting(
        budget=given.budget,
        low=given.low,
        prices=prices_named(given.prices),
        format=given.format,
        thinking=given.thinking,
        measure=str(given.measure),
    )
    methods = ["whole history", *given.methods.split(";")] if given.methods else list(METHODS)
    started = time.perf_counter()
    files = chosen(str(given.data), given.least, given.sessions, setting)
    generic = common_names(str(given.data), setting.measure, given.jobs)
    named = setting.prices
    thinking = "with" if setting.thinking else "without"
    print(
        f"{len(files)} sessions of over {given.least:,} tokens, budget {setting.budget:,}, low mark {setting.low:,};"
        f" prices: a read {named.read}, a write {named.write}, a summariser {SUMMARISER};"
        f" format {setting.format}, {thinking} thinking; the model's output is not billed.\n"
        f"billed: share of the whole history's bill; FRR there: recall at each rebuild;"
        f" FRR: before every {EVERY}th call from where the path is over the budget"
    )
    for lifetime in (inf, named.cache_seconds):
        each = replace(setting, prices=replace(named, cache_seconds=lifetime))
        print("\nA cache that never forgets" if lifetime == inf else f"\nA cache that forgets after {lifetime:,.0f} s")
        with ProcessPoolExecutor(given.jobs) as pool:
            rows = len(files)
            show(list(pool.map(measure, files, [each] * rows, [generic] * rows, [methods] * rows)), methods)
    print(f"\n{time.perf_counter() - started:,.0f} s")


if __name__ == "__main__":
    main()

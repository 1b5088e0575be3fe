"""How much of a brief serves its task, over conversations with tasks set at their end.

    python benchmarks/brief_lines.py FOLDER [--embedder local] [--out FILE]

FOLDER holds `conversations.jsonl` (`id`, `user`, `turns` with `role`, `at` and `text`) and `tasks.jsonl`
(`conversation`, `task`, `should_know`: the numbers of the turns that help). Each conversation is told to a memory of
its own and worked on without a model; then the brief of each task is printed. "+" marks a line that rests on a turn
that helps: a proxy, since a reader may find that another line serves as well. With --out the briefs are written for
readers, a task with its lines each, without the marks.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import defaultdict
from datetime import datetime
from pathlib import Path

import ireneo
from ireneo import Draft, Memory
from ireneo.log.message import Text
from ireneo.types import Brief


def rows(path: Path) -> list[dict[str, object]]:
    """The values of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


async def told(memory: Memory, conversation: dict[str, object]) -> dict[str, int]:
    """Tell a conversation to a memory and work on it; gives the turns by the ids of their messages."""
    turns = conversation["turns"]
    assert isinstance(turns, list)
    session = await memory.session(str(conversation["id"]))
    drafts = [
        Draft(role=turn["role"], parts=(Text(text=turn["text"]),), at=datetime.fromisoformat(turn["at"]))
        for turn in turns
    ]
    appended = await session.append(drafts)
    await memory.embed()
    await memory.work(until_idle=True)
    await memory.embed()
    return {name: number for number, name in enumerate(appended.ids)}


async def turns_of(memory: Memory, brief: Brief, numbers: dict[str, int]) -> list[set[int]]:
    """The turns that each line of a brief rests on."""
    out = []
    for line in brief.lines:
        records = [] if line.kind == "message" else await memory.get([line.id])
        names = [line.id, *(name for record in records for name in record.sources)]
        out.append({numbers[name] for name in names if name in numbers})
    return out


async def measure(folder: Path, embedder: str | None) -> list[tuple[dict[str, object], Brief, list[set[int]]]]:
    """The brief of each task with the turns behind its lines."""
    tasks = defaultdict(list)
    for task in rows(folder / "tasks.jsonl"):
        tasks[task["conversation"]].append(task)
    out = []
    for conversation in rows(folder / "conversations.jsonl"):
        if conversation["id"] not in tasks:
            continue
        async with ireneo.open(":memory:", embedder=embedder) as memory:
            numbers = await told(memory, conversation)
            for task in tasks[conversation["id"]]:
                brief = await memory.brief(goal=str(task["task"]))
                out.append((task, brief, await turns_of(memory, brief, numbers)))
    return out


def main() -> None:
    """Print the briefs and the share of their lines that help."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--embedder")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = asyncio.run(measure(given.folder, given.embedder))
    lines = helping = wanted = covered = 0
    for task, brief, turns in found:
        helps = set(task["should_know"])
        marks = ["+" if each & helps else " " for each in turns]
        missed = sorted(helps - set().union(*turns)) if turns else sorted(helps)
        print(f"\n{task['conversation']}  {task['task']}    (not told: {missed or '-'})")
        for mark, line in zip(marks, brief.lines, strict=True):
            print(f"  {mark} {line.kind:<10} {line.text}   [{line.why}]")
        lines += len(marks)
        helping += marks.count("+")
        wanted += len(helps)
        covered += len(helps) - len(missed)
    print(f"\n{len(found)} tasks, {lines} lines, on a turn that helps {helping} ({helping / max(lines, 1):.2f});")
    print(f"of {wanted} turns that help {covered} told ({covered / max(wanted, 1):.2f})")
    if given.out:
        told = [{"task": task["task"], "lines": [line.text for line in brief.lines]} for task, brief, _ in found]
        given.out.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in told), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Whether a brief heeds its goal: how much of it stands in the briefs of other goals of the same project as well.

    python benchmarks/brief_goals.py [--data DATA] [--show]

DATA holds the sample logs (default: ../shared/data beside the project). Of each project with enough runs in the earlier
half of a source the runs with the last seven goals are left out, the others learned from, and those goals asked for.
"overlap" is the share of a brief's lines that the brief of another goal has as well, the mean over all pairs; "lines"
and "tokens" are those of one brief. With --show each brief is printed, to be read beside its goal.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import ireneo
from foresight_data import DATA, halves
from ireneo.lessons.shell import RunMaterial
from ireneo.memories.brief import Brief

GOALS = 7
LEAST_RUNS = 7
LONGEST_GOAL = 400


def goal_of(run: RunMaterial) -> str:
    """What a run was asked for first."""
    asked = (message.draft.text for message in run.messages if message.opens_turn)
    return " ".join(next(asked, "").split())[:LONGEST_GOAL]


async def briefs(before: Sequence[RunMaterial], goals: Sequence[str], project: str) -> list[Brief]:
    """The briefs of some goals, after some runs."""
    async with ireneo.open(":memory:") as memory:
        for run in before:
            session = await memory.session(run.session, project=project)
            await session.append([message.draft for message in run.messages])
        await memory.learn()
        return [await memory.brief(goal=goal, project=project) for goal in goals]


def overlap(made: Sequence[Brief]) -> float:
    """The share of a brief's lines that stand in another one."""
    lines = [{line.id for line in brief.lines} for brief in made]
    shares = [len(one & other) / len(one) for one, other in permutations(lines, 2) if one]
    return sum(shares) / len(shares) if shares else 0.0


def main() -> None:
    """Print a row for each project."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    print(f"{'source':<16}{'project':<24}{'runs':>6}{'overlap':>9}{'lines':>7}{'tokens':>8}")
    for half in halves(given.data, every=True):
        of_project: dict[str, list[RunMaterial]] = defaultdict(list)
        for run in half.earlier:
            of_project[run.project].append(run)
        for project, runs in sorted(of_project.items()):
            latest = dict.fromkeys(goal for run in reversed(runs) if (goal := goal_of(run)))
            asked = list(latest)[:GOALS]
            before = [run for run in runs if goal_of(run) not in asked]
            if not project or len(before) < LEAST_RUNS or len(asked) < GOALS:
                continue
            made = asyncio.run(briefs(before, asked, project))
            lines, tokens = (
                sum(each) / len(made) for each in zip(*((len(b.lines), b.tokens) for b in made), strict=True)
            )
            print(f"{half.name:<16}{project[:22]:<24}{len(before):>6}{overlap(made):>9.2f}{lines:>7.1f}{tokens:>8.0f}")
            if given.show:
                for goal, brief in zip(asked, made, strict=True):
                    print(f"\n== {goal}\n{brief.markdown}")


if __name__ == "__main__":
    main()

"""What the guard says before the calls of later runs, to be read: each alarm with what came before it and after it.

    python benchmarks/guard_alarms.py [--data DATA] [--later]

DATA holds the sample logs (default: ../shared/data beside the project). The earlier half of each source is parted once
more: what its first three quarters taught is told before the calls of its last. With --later all of it teaches, and the
later half is asked. A reader marks each alarm: useful, right but useless, or wrong.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from foresight_data import DATA, Half, halves, started
from ireneo.engine.check import session_so_far
from ireneo.lessons.guard import GuardAdvice, TrapIndex, advice
from ireneo.lessons.lessons import known_traps, lesson_drafts
from ireneo.lessons.run import Observation
from ireneo.lessons.shell import RunMaterial
from ireneo.lessons.study import READERS, sum_observations
from ireneo.memories.kinds import KINDS
from ireneo.memories.reconcile import reconcile
from ireneo.memories.record import Record
from ireneo.summaries.steps import Step, clip, steps

SHOWN = 3
"""Calls before and after an alarm that are shown."""


class Alarm(Struct, frozen=True, kw_only=True):
    """What was said before a call."""

    run: RunMaterial
    place: int
    """Of the call among those of its run."""
    said: GuardAdvice


def taught(runs: Sequence[RunMaterial]) -> TrapIndex:
    """The traps that runs teach."""
    seen: dict[str, list[Observation]] = {}
    for run in runs:
        for each in sum_observations(each for read in READERS for each in read(run)):
            seen.setdefault(each.cue, []).append(each)
    now = max((at for run in runs if (at := started(run))), default=datetime(2026, 1, 1, tzinfo=UTC))
    records: dict[str, Record] = {}
    for offer in (draft for each in seen.values() for draft in lesson_drafts(each, None, now).drafts):
        row = KINDS[offer.kind]
        beside = [each for each in records.values() if each.kind == row.name and each.key == row.key(offer)]
        done = reconcile(offer, beside)
        records.update({each.id: each for each in (done.record, *done.changed)})
    return known_traps(records.values(), seen)


def alarms(known: TrapIndex, run: RunMaterial) -> Iterator[Alarm]:
    """What would have been said before the calls of a run; what was said once is not said again."""
    told: set[str] = set()
    places = {message.id: number for number, message in enumerate(run.messages)}
    for place, step in enumerate(steps(run.messages)):
        so_far = session_so_far(run.messages[: places[step.source]], run.session)
        found = advice(
            known.traps, step.call.name, step.call.arguments, lambda so_far=so_far: so_far, project=run.project
        )
        if found is not None and found.lesson not in told:
            told.add(found.lesson)
            yield Alarm(run=run, place=place, said=found)


def parts(half: Half, *, later: bool) -> tuple[Sequence[RunMaterial], Sequence[RunMaterial]]:
    """The runs that teach, and those that are asked."""
    if later:
        return half.earlier, half.later
    cut = len(half.earlier) * 3 // 4
    return half.earlier[:cut], half.earlier[cut:]


def line(step: Step) -> str:
    """A call and what came of it."""
    came = "failed: " + clip(step.error, 160) if step.failed else "worked"
    return f"{step.call.name} {clip(str(step.call.arguments), 200)} → {came}"


def main() -> None:
    """Print the alarms."""
    parser = argparse.ArgumentParser(description="What the guard says before the calls of later runs.")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--later", action="store_true")
    given = parser.parse_args()
    for half in halves(given.data, every=True):
        teaching, asked = parts(half, later=given.later)
        known = taught(teaching)
        found = [each for run in asked for each in alarms(known, run)]
        calls = sum(len(steps(run.messages)) for run in asked)
        shown = f"{len(teaching)} runs teach {len(known.traps)} traps"
        print(f"== {half.name}: {shown}; {len(asked)} runs with {calls:,} calls")
        for each in found:
            made = steps(each.run.messages)
            print(f"\n-- {each.run.project or 'no project'}, {each.run.session}, call {each.place + 1} of {len(made)}")
            for step in made[max(0, each.place - SHOWN) : each.place]:
                print(f"   before: {line(step)}")
            for said in each.said.markdown.splitlines():
                print(f"   GUARD   {said}")
            print(f"   call:   {line(made[each.place])}")
            for step in made[each.place + 1 : each.place + 1 + SHOWN]:
                print(f"   after:  {line(step)}")
        print(
            f"\n{half.name}: {len(found)} alarms in {len({each.run.session for each in found})} of {len(asked)} runs\n"
        )


if __name__ == "__main__":
    main()

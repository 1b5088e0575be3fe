"""Fit what the guard expects before it has seen anything, on the earlier halves alone, and show its threshold there.

    python benchmarks/foresight_fit.py [DATA] [--write]

Each earlier half is judged in ten parts, each part by what its others and the sources of the defaults teach: of what
share of its alarms, and of how many of the failures, the guard is then right. With --write the table is put into
`src/ireneo/lessons/guard_defaults.py`. The later halves are never read.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from foresight_data import DATA, FITTED_ON, halves
from ireneo.lessons.cues import is_named
from ireneo.lessons.guard import GUARD, CallInSituation, calls_in_situations, estimate, guard_observations, tally
from ireneo.lessons.run import Observation
from ireneo.lessons.shell import RunMaterial

PARTS = 10
LEAST, LEAST_HELD = 4, 2
CAP = 12
"""A general cue counts for so many observations at the most, so that what a space sees itself soon weighs more."""
THRESHOLDS = (0.35, 0.4, 0.45, 0.5, 0.55, 0.6)
HOME = Path(__file__).parents[1] / "src" / "ireneo" / "lessons" / "guard_defaults.py"
Prior = dict[str, tuple[float, float]]


def prior_of(observations: Iterable[Observation]) -> Prior:
    """What is expected of each general cue: how often it held, of how often, scaled down to `CAP`."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for each in observations:
        if not is_named(each.cue.removeprefix(GUARD)):
            sums[each.cue.removeprefix(GUARD)][0] += each.held
            sums[each.cue.removeprefix(GUARD)][1] += each.held + each.broke
    return {
        cue: (round(held * min(1.0, CAP / total), 2), round(min(CAP, total), 2))
        for cue, (held, total) in sorted(sums.items())
        if (held >= LEAST_HELD and total >= LEAST) or cue.endswith(": any")
    }


def judged(
    calls: Iterable[CallInSituation], observations: Sequence[Observation], project: str, prior: Prior
) -> list[tuple[float, bool]]:
    """The chance that the guard gives each call, and whether it failed."""
    tallies = tally(observations, project, None)
    out = []
    for each in calls:
        found = estimate(each.chains, each.seen.kind, tallies, prior)
        out.append((found.chance if found else 0.0, each.failed))
    return out


def main() -> None:
    """Print the table, and write the defaults where that is asked for."""
    given = [each for each in sys.argv[1:] if not each.startswith("-")]
    sources: dict[str, list[tuple[RunMaterial, list[CallInSituation], list[Observation]]]] = {}
    for half in halves(Path(given[0]) if given else DATA, every=True):
        sources[half.name] = [
            (run, list(calls_in_situations(run.messages)), guard_observations(run)) for run in half.earlier
        ]
    for name, runs in sources.items():
        teaching = [theirs for other, theirs in sources.items() if other != name and other in FITTED_ON]
        others = [each for theirs in teaching for _, _, own in theirs for each in own]
        chance = random.Random(1)
        parts = [chance.randrange(PARTS) for _ in runs]
        told: list[tuple[float, bool]] = []
        for part in range(PARTS):
            taught = [each for (_, _, own), at in zip(runs, parts, strict=True) if at != part for each in own]
            prior = prior_of([*others, *(taught if name in FITTED_ON else ())])
            for (run, calls, _), at in zip(runs, parts, strict=True):
                if at == part:
                    told += judged(calls, taught, run.project, prior)
        failures = sum(failed for _, failed in told)
        print(f"{name}: {len(told):,} calls, {failures} failures")
        for threshold in THRESHOLDS:
            alarms = [failed for chance, failed in told if chance >= threshold]
            right = sum(alarms)
            share, caught = right / max(1, len(alarms)), right / max(1, failures)
            print(
                f"  from {threshold:.2f} on: {len(alarms):4} alarms, {right:3} right ({share:.2f}), caught {caught:.2f}"
            )
    if "--write" in sys.argv:
        write(
            prior_of(
                [each for name in FITTED_ON for runs in (sources.get(name, []),) for _, _, own in runs for each in own]
            )
        )


def write(prior: Prior) -> None:
    """Write the defaults as a module."""
    lines = [
        '"""What the guard expects of a situation before it has seen any: of how many calls how many failed.',
        "",
        "Fitted by `benchmarks/foresight_fit.py` on the earlier halves of 157 sessions of Claude Code and 120 runs of",
        "mini-SWE-agent; each counts for at most 12 calls, so that what a space sees itself soon weighs more.",
        '"""',
        "",
        "# fmt: off",
        "",
        "from __future__ import annotations",
        "",
        "PRIOR: dict[str, tuple[float, float]] = {",
        *(f'    "{cue}": ({held:g}, {total:g}),' for cue, (held, total) in prior.items()),
        "}",
        '"""By cue: failed, of so many."""',
    ]
    HOME.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

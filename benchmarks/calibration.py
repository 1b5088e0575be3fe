"""Whether what is told of a lesson's past ("seen in 5 of 6 runs") holds of the runs after it.

    python benchmarks/calibration.py [--data DATA] [--every]

DATA holds the sample logs (default: ../shared/data beside the project). Of each source the earlier half of the runs
teaches, and each later run that meets a lesson shows whether it comes again: a trap where its command is run, a way out
where it is tried, a fact where it is used. They stand apart, since a fact can hardly go wrong and a trap can; failures
that no lesson is made of, since nobody knows a way out, stand for themselves. "told" is
the share of the runs that the words tell of, "came again" that of the later runs that met it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from foresight_data import DATA, halves
from ireneo.lessons.lessons import cues_to_read, is_worth_a_lesson, seen_counts
from ireneo.lessons.observe import ANY, ENDS_IN, GOT_OVER
from ireneo.lessons.run import Observation, is_ruling
from ireneo.lessons.study import observations_of

SORTS = ("trap", "failure", "way out", "fact")
BANDS = ((0.0, 0.34), (0.34, 0.67), (0.67, 1.01))
Seen = Mapping[str, list[Observation]]


class Met(Struct, frozen=True, kw_only=True):
    """A lesson that a later run met."""

    sort: str
    told: float
    came: float


def by_cue(runs: Sequence[Sequence[Observation]]) -> dict[str, list[Observation]]:
    """What the runs show, by claim."""
    out: dict[str, list[Observation]] = {}
    for run in runs:
        for each in run:
            out.setdefault(each.cue, []).append(each)
    return out


def read(cue: str, seen: Seen) -> list[Observation]:
    """What is known of a claim and of its occasion."""
    return [each for name in cues_to_read(cue) for each in seen.get(name, ())]


def sorts_of(cue: str, seen: Sequence[Observation], known: Seen) -> str:
    """What can go wrong with a claim; empty where it is no claim that is told."""
    if is_ruling(cue) or cue.endswith(ANY):
        return ""
    if GOT_OVER in cue:
        return "way out" if is_worth_a_lesson(seen) else ""
    if ENDS_IN in cue:
        told = any(is_worth_a_lesson(each) for name, each in known.items() if name.startswith(f"{cue}{GOT_OVER}"))
        return "trap" if told else "failure"
    return "fact" if is_worth_a_lesson(seen) else ""


def met_later(earlier: Sequence[Sequence[Observation]], later: Sequence[Sequence[Observation]]) -> list[Met]:
    """Every time that a later run meets what the earlier ones teach."""
    known, out = by_cue(earlier), list[Met]()
    for cue, seen in known.items():
        sort = sorts_of(cue, seen, known)
        standing = seen_counts(seen if sort == "way out" else read(cue, known))
        if not sort or not standing.runs:
            continue
        for run in later:
            here = by_cue([run])
            there = here.get(cue, []) if sort == "way out" else read(cue, here)
            if seen_counts(there).met and standing.met:
                came = float(any(each.held for each in there if each.cue == cue))
                out.append(Met(sort=sort, told=standing.runs / standing.met, came=came))
    return out


def main() -> None:
    """Print the table of each source."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--every", action="store_true", help="all sources, not only the two largest")
    given = parser.parse_args()
    for half in halves(given.data, every=given.every):
        found = met_later([observations_of(run) for run in half.earlier], [observations_of(run) for run in half.later])
        print(f"{half.name}: {len(half.earlier)} earlier runs, {len(half.later)} later ones")
        print(f"  {'':<10}{'told':>12}{'times met':>12}{'told':>8}{'came again':>12}")
        for sort in SORTS:
            for low, high in BANDS:
                row = [each for each in found if each.sort == sort and low <= each.told < high]
                if row:
                    told, came = (sum(getattr(each, name) for each in row) / len(row) for name in ("told", "came"))
                    band = f"{low:.2f}–{min(high, 1.0):.2f}"
                    print(f"  {sort:<10}{band:>12}{len(row):>12,}{told:>8.2f}{came:>12.2f}")


if __name__ == "__main__":
    main()

"""How much of what fails later a brief at the session's beginning speaks of.

    python benchmarks/foresight_brief.py [--data DATA] [--budget 1500] [--show]

DATA holds the sample logs (default: ../shared/data beside the project). A failure's signature is the program or tool
that failed (``mise run lint``, ``Edit`` of a file that was not read) and the error without its accidents
(`ireneo.lessons.shell`). "before": its signature occurred in a run that was learned from; "or here": or earlier in its
own. "told": occurred before, and a brief of so many tokens, made before the run began, holds a lesson of the same
signature; "share" is told by before. "earlier half": only that half ever teaches; "going on": each later run does once
it is over, as a nightly `ireneo learn` has it. A user's refusal, and a call that fell with the one beside it, is no
failure. Tokens and minutes are what the calls cost of whose failing was told.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from msgspec import Struct

from foresight_data import DATA, Half, halves, started
from ireneo.lessons.faults import FOUND_NOTHING, TESTS_FAILED
from ireneo.lessons.observe import ENDS_IN, action_of, signature_of
from ireneo.lessons.shell import RunMaterial, tried_calls
from ireneo.lessons.study import observations_of
from lesson_books import Book


class Failure(Struct, frozen=True, kw_only=True):
    """A later failure: whether it could be foreseen, and whether it was."""

    signature: str
    before: bool
    here: bool
    """It occurred earlier in the same run."""
    told: bool
    tokens: int
    seconds: float


class Tally(Struct, kw_only=True):
    """Failures, and what their briefs cost."""

    failures: list[Failure] = []
    sizes: list[int] = []
    lines: list[int] = []
    lessons: int = 0
    most_new: int = 0
    last: str = ""


def failures_of(run: RunMaterial, before: set[str], told: set[str]) -> list[Failure]:
    """The failures of a run, beside what occurred before it and what its brief said."""
    out: list[Failure] = []
    here: set[str] = set()
    for each in tried_calls(run):
        if each.faults:
            name = f"{action_of(each)}{ENDS_IN}{each.faults[0]}"
            out.append(
                Failure(
                    signature=name,
                    before=name in before,
                    here=name in here,
                    told=name in told,
                    tokens=each.tokens,
                    seconds=each.seconds,
                )
            )
            here.add(name)
    return out


def judged(half: Half, budget: int, going_on: bool) -> Tally:
    """Teach the earlier half, and judge the later one."""
    book, before, out = Book(), set[str](), Tally(failures=[], sizes=[], lines=[])

    def teach(run: RunMaterial) -> None:
        found = observations_of(run)
        out.most_new = max(out.most_new, book.learn(found, started(run)))
        before.update(each.cue for each in found if each.held)

    for run in half.earlier:
        teach(run)
    for run in half.later:
        brief = book.brief(run.project, started(run), budget)
        told = {signature_of(book.records[line.id].cue) for line in brief.lines}
        out.failures += failures_of(run, before, told)
        out.sizes.append(brief.tokens)
        out.lines.append(len(brief.lines))
        out.last = brief.markdown
        if going_on:
            teach(run)
    out.lessons = len(book.records)
    return out


def row(name: str, found: list[Failure]) -> str:
    """A line of the table."""
    before = [each for each in found if each.before]
    within = [each for each in found if each.before or each.here]
    told = [each for each in before if each.told]
    share = f"{len(told) / len(before):.2f}" if before else "-"
    seconds = sum(each.seconds for each in told)
    return (
        f"  {name:<34}{len(found):>9}{len(before):>9}{len(within):>10}{len(told):>7}{share:>8}"
        f"{sum(each.tokens for each in told):>10,}{seconds / 60:>8.1f}"
    )


def main() -> None:
    """Print the table of each source."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--budget", type=int, default=1_500)
    parser.add_argument("--show", action="store_true", help="print the last brief, and what was missed most")
    given = parser.parse_args()
    for half in halves(given.data):
        print(f"{half.name}: {len(half.earlier)} earlier runs, {len(half.later)} later ones; {given.budget:,} tokens")
        print(
            f"  {'':<34}{'failures':>9}{'before':>9}{'or here':>10}{'told':>7}{'share':>8}{'tokens':>10}{'minutes':>8}"
        )
        for going_on in (False, True):
            tally = judged(half, given.budget, going_on)
            name = "going on" if going_on else "earlier half"
            kept = [each for each in tally.failures if not each.signature.endswith(TESTS_FAILED)]
            strict = [each for each in kept if not each.signature.endswith(FOUND_NOTHING)]
            print(row(name, tally.failures))
            print(row(f"{name}, no failing tests", kept))
            print(row(f"{name}, no empty search either", strict))
            count = max(1, len(tally.sizes))
            print(
                f"    {tally.lessons} lessons, at most {tally.most_new} new in a run; a brief: "
                f"{sum(tally.sizes) // count:,} tokens, {sum(tally.lines) / count:.0f} lessons, at most "
                f"{max(tally.sizes, default=0):,} tokens"
            )
            if given.show:
                missed = Counter(each.signature for each in tally.failures if each.before and not each.told)
                print(f"    missed: {missed.most_common(12)}")
                print(tally.last)


if __name__ == "__main__":
    main()

"""How much of what fails later was to be foreseen: the guard before each call, beside a hash of its arguments.

    python benchmarks/foresight.py [DATA]

DATA holds the sample logs (default: ../shared/data beside the project). The earlier half of the runs teaches, the later
half is only judged, each call by what the earlier runs and its own run so far show. A user's refusal, and a call that
fell with the one beside it, is no failure. "hash, last" alarms where exactly these arguments failed when they were last
used; "hash, ever" where they ever failed. "going on" learns from each later run once it is over, as a nightly
`ireneo learn` does. A search that found nothing is a failure with exit status 1 and no output. Tokens and minutes are
those of the foreseen calls and their results. A tool that a log tells of only where it fails (aider's linter and tests)
is left out, and so is a call whose arguments the log leaves out (SpecStory shows an edit's only where it went well): of
both a hash would be right without foreseeing anything.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from foresight_data import DATA, Half, halves, started
from ireneo.engine.check import MOST_SIGHTINGS
from ireneo.lessons.guard import CallInSituation, calls_in_situations, guard_observations, judge, stored
from ireneo.lessons.run import Observation, costs_of
from ireneo.lessons.shell import RunMaterial
from ireneo.summaries.steps import exit_status

SECONDS = 60
OFTEN = 20
"""A tool that was told of so often, and failed each time, is told of only where it fails."""


class Call(Struct, frozen=True, kw_only=True):
    """A later call, and what it cost."""

    run: RunMaterial
    stood: CallInSituation
    tokens: int
    seconds: float


class Row(Struct, kw_only=True):
    """One way to foresee failures, and how it did."""

    name: str
    alarms: int = 0
    right: int = 0
    failures: int = 0
    tokens: int = 0
    seconds: float = 0.0

    def add(self, call: Call, alarm: bool) -> None:
        """Count a call."""
        self.failures += call.stood.failed
        self.alarms += alarm
        if alarm and call.stood.failed:
            self.right += 1
            self.tokens += call.tokens
            self.seconds += call.seconds

    def line(self) -> str:
        """The row as it is printed."""
        share = f"{self.right / self.alarms:.2f}" if self.alarms else "-"
        caught = f"{self.right / self.failures:.3f}" if self.failures else "-"
        minutes = f"{self.seconds / SECONDS:.0f}" if self.seconds else "-"
        return (
            f"  {self.name:<34}{self.alarms:>7}{self.right:>7}{share:>9}{self.failures:>10}{caught:>8}"
            f"{self.tokens:>10,}{minutes:>9}"
        )


Alarm = Callable[[Call], bool]


class Hash:
    """Alarms where exactly these arguments failed: last, or ever."""

    def __init__(self, taught: Iterable[CallInSituation], *, ever: bool) -> None:
        """Learn from the earlier half."""
        self._ever = ever
        self._taught: dict[str, bool] = {}
        for each in taught:
            self._note(self._taught, each)
        self._run, self._here = "", dict(self._taught)

    def __call__(self, call: Call) -> bool:
        """Alarm, and only then look at the outcome."""
        if call.run.session != self._run:
            self._run, self._here = call.run.session, dict(self._taught)
        alarm = self._here.get(call.stood.seen.exact, False)
        self._note(self._here, call.stood)
        return alarm

    def _note(self, table: dict[str, bool], each: CallInSituation) -> None:
        exact = each.seen.exact
        table[exact] = each.failed or (self._ever and table.get(exact, False))


class Guard:
    """The guard, as `Memory.check` asks it."""

    def __init__(self, taught: Iterable[Observation], *, goes_on: bool) -> None:
        """Learn from the earlier half; with `goes_on` from each later run as well, once it is over."""
        self._goes_on = goes_on
        self._observations: dict[str, list[Observation]] = defaultdict(list)
        self._learn(taught)
        self._run: RunMaterial | None = None

    def __call__(self, call: Call) -> bool:
        """Whether it speaks."""
        if self._goes_on and self._run is not None and self._run.session != call.run.session:
            self._learn(guard_observations(self._run))
        self._run = call.run
        past = [each for cue in call.stood.cues for each in self._newest(stored(cue))]
        made = call.stood.step.call
        said = judge(call.stood.situation, made, past, project=call.run.project, now=call.stood.at)
        return said is not None

    def _newest(self, cue: str) -> list[Observation]:
        return self._observations.get(cue, [])[: -MOST_SIGHTINGS - 1 : -1]

    def _learn(self, observations: Iterable[Observation]) -> None:
        for each in observations:
            self._observations[each.cue].append(each)


def later_calls(half: Half) -> Iterator[Call]:
    """The later half, call by call, in order, each as things stood when it was made."""
    for run in half.later:
        costs = costs_of(run.messages)
        for each in calls_in_situations(run.messages):
            spent = [costs[source] for source in each.step.sources if source in costs]
            tokens, seconds = sum(cost.tokens for cost in spent), sum(cost.seconds for cost in spent)
            yield Call(run=run, stood=each, tokens=tokens, seconds=seconds)


def found_nothing(call: Call) -> bool:
    """Whether a call is a search that found nothing: it failed with status 1, and said nothing."""
    output = call.stood.step.output
    said = "".join(line for line in output.splitlines() if "returncode" not in line and "xit" not in line)
    bare = said.replace("<output>", "").replace("</output>", "").strip()
    return call.stood.failed and call.stood.seen.kind in ("search", "read") and exit_status(output) == 1 and not bare


def told_when_failed(taught: Iterable[CallInSituation]) -> set[str]:
    """The tools that a log tells of only where they failed, as aider's does of its linter and the tests."""
    failed: dict[str, list[bool]] = defaultdict(list)
    for each in taught:
        failed[each.seen.tool].append(each.failed)
    return {tool for tool, ended in failed.items() if len(ended) >= OFTEN and all(ended)}


def table(half: Half) -> None:
    """Print the rows of one source."""
    began = time.perf_counter()
    taught = [each for run in half.earlier for each in calls_in_situations(run.messages)]
    left_out = told_when_failed(taught)
    observations = [each for run in half.earlier for each in guard_observations(run)]
    ways: dict[str, Alarm] = {
        "hash, last": Hash(taught, ever=False),
        "hash, ever": Hash(taught, ever=True),
        "guard": Guard(observations, goes_on=False),
        "guard, going on": Guard(observations, goes_on=True),
    }
    rows = {name: (Row(name=name), Row(name=f"{name}, no empty searches")) for name in ways}
    calls = empty = 0
    for call in later_calls(half):
        if call.stood.seen.tool in left_out:
            continue
        calls += 1
        nothing = found_nothing(call)
        empty += nothing
        for name, alarm in ways.items():
            every, telling = rows[name]
            speaks = alarm(call)
            every.add(call, speaks)
            if not nothing:
                telling.add(call, speaks)
    times = [at for run in half.later if (at := started(run))]
    since = f" (from {min(times):%Y-%m-%d} on)" if times else ""
    print(f"{half.name}: {len(half.earlier)} runs teach, {len(half.later)} are judged{since}, {calls:,} calls")
    if left_out:
        print(f"  left out, since they are told of only where they fail: {', '.join(sorted(left_out))}")
    print(f"  {'':<34}{'alarms':>7}{'right':>7}{'of them':>9}{'failures':>10}{'caught':>8}{'tokens':>10}{'minutes':>9}")
    for every, telling in rows.values():
        print(every.line())
        if empty:
            print(telling.line())
    print(f"  ({time.perf_counter() - began:.0f} s)")


def main() -> None:
    """Print a table for each source that is there."""
    for half in halves(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA, every=True):
        table(half)


if __name__ == "__main__":
    main()

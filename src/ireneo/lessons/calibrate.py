"""Confidence held against the truth: earlier runs foretell, later ones show how often it came true.

What is fitted is a curve that never falls, from what is reckoned of a claim's observations to how often claims of which
as much was reckoned held later (pool adjacent violators: M. Ayer and others, An empirical distribution function for
sampling with incomplete information, Annals of Mathematical Statistics 26, 1955), and from it where *high* and
*medium* begin. All of it is a function of the observations in the order of their runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.lessons.confidence import DEFAULT, Calibration, ConfidenceLevel, confidence_of, cues_to_read, tallies
from ireneo.lessons.lessons import worth_telling
from ireneo.lessons.run import Category, Observation

Runs = Sequence[Sequence[Observation]]
"""What runs show, a sequence for each, the one that was first standing first."""

LEAST = 300
"""Foretold outcomes that a curve of a space's own needs; with fewer the shipped one serves."""
ADDED = 5
"""Outcomes that are added to each step of the curve as if they had come as they were reckoned."""
BINS = 5
_Step: TypeAlias = tuple[float, float, int]
"""Of outcomes next to each other: what was reckoned, the share that came true, and how many they are."""


class Forecast(Struct, frozen=True, kw_only=True):
    """A claim that was met in a later run: what was foretold, and what came of it."""

    cue: str
    category: Category
    reckoned: float
    chance: float
    level: ConfidenceLevel
    true: float
    """The share of the times that it was met there in which it held."""


class CalibrationRow(Struct, frozen=True, kw_only=True):
    """Of outcomes of which about as much was foretold: how many, what was foretold, and what came of them."""

    name: str
    count: int
    foretold: float
    true: float


class CalibrationReport(Struct, frozen=True, kw_only=True):
    """How good confidence is."""

    count: int
    brier: float
    """The mean square of what was foretold less what came: 0 is perfect."""
    base_brier: float
    """That of foretelling for every claim how often claims come true: the base rate."""
    category_brier: float
    """That of foretelling how often claims of its category do, which nobody knows beforehand."""
    bins: tuple[CalibrationRow, ...]
    levels: tuple[CalibrationRow, ...]


def calibrate(runs: Runs, base: Calibration = DEFAULT) -> Calibration:
    """The curve and the levels that these runs bear out; `base` where they are too few to tell."""
    half = len(runs) // 2
    outcomes = forecasts(runs[:half], runs[half:], base)
    return fit_calibration(outcomes, base) if len(outcomes) >= LEAST else base


def forecasts(earlier: Runs, later: Runs, calibration: Calibration = DEFAULT) -> list[Forecast]:
    """What the earlier runs foretell of each later one for the claims worth telling that are met there."""
    known = by_cue(earlier)
    claims = [cue for cue, seen in sorted(known.items()) if worth_telling(seen)]
    out: list[Forecast] = []
    for run in later:
        now = max((each.at for each in run if each.at is not None), default=datetime.min.replace(tzinfo=UTC))
        here = by_cue([run])
        for cue in claims:
            met = tallies([each for name in cues_to_read(cue) for each in here.get(name, ())])
            held, broke = sum(each[1] for each in met), sum(each[2] for each in met)
            if held + broke <= 0:
                continue
            sure = confidence_of([each for name in cues_to_read(cue) for each in known.get(name, ())], now, calibration)
            out.append(
                Forecast(
                    cue=cue,
                    category=known[cue][0].category,
                    reckoned=sure.reckoned,
                    chance=sure.chance,
                    level=sure.level,
                    true=held / (held + broke),
                )
            )
    return out


def fit_calibration(outcomes: Sequence[Forecast], base: Calibration = DEFAULT) -> Calibration:
    """`base` with the curve and the levels that these outcomes bear out."""
    steps = _drawn_in(_pooled([(each.reckoned, each.true) for each in outcomes]))
    if not steps:
        return base
    curve = replace(base, reckoned=tuple(each[0] for each in steps), chance=tuple(each[1] for each in steps))
    medium, high = _levels(steps)
    return replace(curve, medium_from=medium, high_from=high)


def _drawn_in(steps: Sequence[_Step]) -> list[_Step]:
    """The steps with some outcomes as they were reckoned added to each, so that few outcomes change little."""
    out: list[_Step] = []
    for reckoned, true, count in steps:
        share = (true * count + reckoned * ADDED) / (count + ADDED)
        out.append((reckoned, max(share, out[-1][1] if out else 0.0), count))
    return out


def _levels(steps: Sequence[_Step]) -> tuple[float, float]:
    """Where *medium* and *high* begin: where three words for the whole curve lose least of what it tells.

    That is, the cuts between which the steps differ least, by the squares of the differences (W. D. Fisher, On grouping
    for maximum homogeneity, Journal of the American Statistical Association 53, 1958).
    """
    if len(steps) < 3:
        return DEFAULT.medium_from, DEFAULT.high_from
    cuts = [(one, other) for one in range(1, len(steps) - 1) for other in range(one + 1, len(steps))]
    one, other = min(cuts, key=lambda cut: (_spread(steps[: cut[0]], steps[cut[0] : cut[1]], steps[cut[1] :]), cut))
    return ((steps[one - 1][1] + steps[one][1]) / 2, (steps[other - 1][1] + steps[other][1]) / 2)


def _spread(*groups: Sequence[_Step]) -> float:
    out = 0.0
    for group in groups:
        mean = sum(chance * count for _, chance, count in group) / sum(count for _, _, count in group)
        out += sum(count * (chance - mean) ** 2 for _, chance, count in group)
    return out


def calibration_report(outcomes: Sequence[Forecast]) -> CalibrationReport:
    """How good what was foretold is: Brier's score beside the base rate's, by bin and by level."""
    if not outcomes:
        return CalibrationReport(count=0, brier=0.0, base_brier=0.0, category_brier=0.0, bins=(), levels=())
    by_category: dict[Category, list[float]] = {}
    for each in outcomes:
        by_category.setdefault(each.category, []).append(each.true)
    base = sum(each.true for each in outcomes) / len(outcomes)
    rates = {name: sum(true) / len(true) for name, true in by_category.items()}
    bins: dict[str, list[Forecast]] = {}
    levels: dict[str, list[Forecast]] = {}
    for each in sorted(outcomes, key=lambda one: one.chance):
        place = min(int(each.chance * BINS), BINS - 1)
        bins.setdefault(f"{place / BINS:.1f}–{(place + 1) / BINS:.1f}", []).append(each)
        levels.setdefault(each.level, []).append(each)
    return CalibrationReport(
        count=len(outcomes),
        brier=sum((each.chance - each.true) ** 2 for each in outcomes) / len(outcomes),
        base_brier=sum((base - each.true) ** 2 for each in outcomes) / len(outcomes),
        category_brier=sum((rates[each.category] - each.true) ** 2 for each in outcomes) / len(outcomes),
        bins=tuple(_row(name, group) for name, group in bins.items()),
        levels=tuple(_row(name, levels[name]) for name in ("high", "medium", "low") if name in levels),
    )


def by_cue(runs: Runs) -> Mapping[str, list[Observation]]:
    """The observations of each claim, in the order of the runs."""
    out: dict[str, list[Observation]] = {}
    for run in runs:
        for each in run:
            out.setdefault(each.cue, []).append(each)
    return out


def _row(name: str, group: Sequence[Forecast]) -> CalibrationRow:
    return CalibrationRow(
        name=name,
        count=len(group),
        foretold=sum(each.chance for each in group) / len(group),
        true=sum(each.true for each in group) / len(group),
    )


def _pooled(pairs: Sequence[tuple[float, float]]) -> list[_Step]:
    """Steps of what was reckoned and what came true, pooled until none is below the one before it."""
    alike: dict[float, list[float]] = {}
    for reckoned, true in pairs:
        alike.setdefault(round(reckoned, 2), []).append(true)
    steps: list[_Step] = []
    for reckoned, came in sorted(alike.items()):
        steps.append((reckoned, sum(came) / len(came), len(came)))
        while len(steps) > 1 and steps[-1][1] <= steps[-2][1]:
            steps[-2:] = [_joined(steps[-2], steps[-1])]
    return steps


def _joined(one: _Step, other: _Step) -> _Step:
    count = one[2] + other[2]
    reckoned, true = ((one[at] * one[2] + other[at] * other[2]) / count for at in (0, 1))
    return reckoned, true, count

"""How sure a claim is: the chance that it holds the next time that its cue is met, told from its observations."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from ireneo.lessons.observe import occasion_of
from ireneo.lessons.run import Category, Observation

# Observations of one run depend on each other, so that many of them count for little more than a few; what was seen
# long ago counts for less; and little evidence is drawn towards what claims of its category come to. What is left over
# between that and the truth is put right by a curve fitted on runs by time (`ireneo.lessons.calibrate`).


ConfidenceLevel = Literal["high", "medium", "low"]

HALF_LIFE_DAYS: Mapping[Category, float] = {"failure": 60.0, "procedural": 120.0, "factual": 365.0}
"""When it counts half: failures end with what caused them, ways of working last, facts hold until they end."""
WITHIN_A_RUN = 0.3
"""How much observations of one run depend on each other, from 0 (not at all) to 1 (they are one)."""
_DAY = 86_400.0


class Prior(Struct, frozen=True, kw_only=True):
    """What claims of a category come to, and how many runs' worth of evidence that counts for."""

    share: float
    strength: float


class Calibration(Struct, frozen=True, kw_only=True):
    """What is fitted on runs: the priors, the curve from what is reckoned to what is so, and the levels."""

    priors: Mapping[Category, Prior]
    reckoned: tuple[float, ...]
    """Where the curve bends, rising."""
    chance: tuple[float, ...]
    """What is so from there on; never falling."""
    medium_from: float
    high_from: float


class Confidence(Struct, frozen=True, kw_only=True):
    """How sure a claim is."""

    chance: float
    """That it holds the next time that its cue is met, from 0 to 1."""
    level: ConfidenceLevel
    reckoned: float
    """The same before the fitted curve."""


DEFAULT = Calibration(
    priors={
        "failure": Prior(share=0.1, strength=2.0),
        "procedural": Prior(share=0.65, strength=2.0),
        "factual": Prior(share=0.9, strength=2.0),
    },
    reckoned=(0.0, 0.014, 0.03, 0.047, 0.07, 0.161, 0.301, 0.36, 0.64, 0.76, 0.991),
    chance=(0.031, 0.082, 0.082, 0.084, 0.127, 0.381, 0.411, 0.483, 0.616, 0.68, 0.999),
    medium_from=0.254,
    high_from=0.84,
)
"""What serves where a space has too few runs of its own: fitted on 141 runs (docs/decisions/0037-confidence.md)."""


def confidence_of(observations: Sequence[Observation], now: datetime, calibration: Calibration = DEFAULT) -> Confidence:
    """How sure a claim is at `now`, from its observations and, where they are given too, those of its occasion.

    The occasion's tell of runs in which the claim could have shown and did not. Their order makes no difference.
    """
    reckoned = reckon(observations, now, calibration)
    chance = calibrated(reckoned, calibration)
    return Confidence(chance=chance, level=level_of(chance, calibration), reckoned=reckoned)


def cues_to_read(cue: str) -> tuple[str, ...]:
    """The cues whose observations tell how sure the claim `cue` is: its own, and its occasion's."""
    return tuple(dict.fromkeys((cue, occasion_of(cue))))


def tallies(observations: Sequence[Observation]) -> list[tuple[Observation, float, float]]:
    """Of each run how often a claim held and how often not; those of its occasion count where it was not seen."""
    if not observations:
        return []
    cue = max((each.cue for each in observations), key=lambda name: (occasion_of(name) != name, len(name), name))
    own = {each.session: each for each in observations if each.cue == cue}
    met = occasion_of(cue)
    missed = {each.session: each for each in observations if met == each.cue != cue and each.session not in own}
    out = [(each, float(each.held), float(each.broke)) for each in own.values()]
    out += [(each, 0.0, float(each.held + each.broke)) for each in missed.values()]
    return sorted(out, key=lambda each: each[0].session)


def reckon(observations: Sequence[Observation], now: datetime, calibration: Calibration = DEFAULT) -> float:
    """The share of times that it held, weighed by run and by age and drawn towards its category's."""
    seen = tallies(observations)
    category: Category = max((each.category for each, _, _ in seen), default="failure")
    prior = calibration.priors[category]
    held, all_ = prior.share * prior.strength, prior.strength
    for each, good, bad in seen:
        times = good + bad
        if times <= 0:
            continue
        # Of n that depend on each other so many are worth as much as if they did not (Kish's design effect).
        counts = times / (1 + (times - 1) * WITHIN_A_RUN) * age_weight(each.at, now, category)
        held += counts * good / times
        all_ += counts
    return held / all_


def age_weight(at: datetime | None, now: datetime, category: Category) -> float:
    """What an observation still counts, from 0 to 1; one of no known time counts whole."""
    if at is None:
        return 1.0
    days = max(0.0, (now - at).total_seconds() / _DAY)
    return float(0.5 ** (days / HALF_LIFE_DAYS[category]))


def calibrated(reckoned: float, calibration: Calibration) -> float:
    """What is so where `reckoned` was reckoned: the fitted curve, straight between its bends."""
    known, so = calibration.reckoned, calibration.chance
    place = bisect_right(known, reckoned)
    if place == 0:
        return so[0]
    if place == len(known):
        return so[-1]
    left, right = known[place - 1], known[place]
    part = (reckoned - left) / (right - left) if right > left else 0.0
    return so[place - 1] + part * (so[place] - so[place - 1])


def level_of(chance: float, calibration: Calibration = DEFAULT) -> ConfidenceLevel:
    """The word for a chance."""
    if chance >= calibration.high_from:
        return "high"
    return "medium" if chance >= calibration.medium_from else "low"

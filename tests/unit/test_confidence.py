"""How sure a claim is, and how that is held against what came true."""

from __future__ import annotations

import pytest
from tests.unit.lesson_runs import NOW, observed

from ireneo.lessons.calibrate import LEAST, calibrate, calibration_report, fit_calibration, forecasts
from ireneo.lessons.confidence import DEFAULT, calibrated, confidence_of, cues_to_read, level_of
from ireneo.lessons.run import Observation

CUE = "bin/test ⇒ no such table"
OCCASION = "bin/test ⇒ <any>"


def test_more_that_held_makes_surer_and_more_that_broke_less() -> None:
    chances = [confidence_of([observed(held, 4)], NOW).chance for held in (0, 1, 4, 20)]
    assert chances == sorted(chances)
    assert chances[0] < chances[-1]
    several = confidence_of([observed(3, session=f"run {number}") for number in range(12)], NOW)
    assert several.level == "high"
    assert several.chance > confidence_of([observed(18)], NOW).chance


def test_recent_outweighs_stale() -> None:
    held_lately = [observed(3, session="one", days=1), observed(0, 3, session="two", days=400)]
    held_once = [observed(3, session="one", days=400), observed(0, 3, session="two", days=1)]
    assert confidence_of(held_lately, NOW).chance > confidence_of(held_once, NOW).chance


def test_runs_that_met_the_occasion_and_showed_nothing_count_against() -> None:
    seen = [observed(2, 1, session="one")]
    quiet = [observed(0, 8, cue=OCCASION, session=f"quiet {number}", text="") for number in range(4)]
    same_run = observed(2, 1, cue=OCCASION, session="one", text="")
    assert cues_to_read(CUE) == (CUE, OCCASION)
    assert confidence_of([*seen, *quiet], NOW).chance < confidence_of(seen, NOW).chance
    assert confidence_of([*seen, same_run], NOW) == confidence_of(seen, NOW)
    assert confidence_of([*quiet, *seen], NOW) == confidence_of([*seen, *quiet], NOW)


def test_nothing_seen_is_its_prior() -> None:
    sure = confidence_of([], NOW)
    assert sure.reckoned == DEFAULT.priors["failure"].share
    assert 0 < sure.chance < 1


def test_the_curve_never_falls_and_the_levels_follow_it() -> None:
    known = [calibrated(place / 100, DEFAULT) for place in range(101)]
    assert known == sorted(known)
    order = {"low": 0, "medium": 1, "high": 2}
    levels = [order[level_of(chance)] for chance in known]
    assert levels == sorted(levels)
    assert set(levels) == {0, 1, 2}


def spaces(often: int) -> list[list[Observation]]:
    """Forty runs with three claims: one that always holds, one that holds half the time, and one in `often`."""
    return [
        [
            observed(2, 0, cue="a ⇒ x", session=f"run {number}", days=40 - number, text="`a` fails with “x”: do `b`."),
            observed(2, 2, cue="b ⇒ y", session=f"run {number}", days=40 - number, text="`b` fails with “y”: do `c`."),
            *[
                observed(
                    int(number % often == 0),
                    3,
                    cue=f"c{each} ⇒ z",
                    session=f"run {number}",
                    days=40 - number,
                    text="`c` fails with “z”: do `d`.",
                )
                for each in range(30)
            ],
        ]
        for number in range(40)
    ]


def test_earlier_runs_foretell_and_later_ones_tell() -> None:
    runs = spaces(5)
    told = forecasts(runs[:20], runs[20:])
    assert len(told) == 20 * 32
    true = {each.cue: each.true for each in told}
    assert (true["a ⇒ x"], true["b ⇒ y"]) == (1.0, 0.5)
    result = calibration_report(told)
    assert result.count == len(told)
    assert result.brier < result.base_brier
    assert sum(row.count for row in result.bins) == sum(row.count for row in result.levels) == len(told)


def test_what_is_fitted_is_better_and_its_levels_keep_apart() -> None:
    runs = spaces(4)
    own = calibrate(runs[:20])
    assert own != DEFAULT
    assert own == calibrate(runs[:20])
    told = forecasts(runs[:20], runs[20:], own)
    assert calibration_report(told).brier <= calibration_report(forecasts(runs[:20], runs[20:])).brier
    rates = [row.true for row in calibration_report(told).levels]
    assert rates == sorted(rates, reverse=True)
    assert own.medium_from <= own.high_from


@pytest.mark.parametrize("runs", [[], [[]], [[observed(2)]] * 3])
def test_with_too_few_runs_the_shipped_curve_serves(runs: list[list[Observation]]) -> None:
    assert calibrate(runs) == DEFAULT
    assert fit_calibration([], DEFAULT) == DEFAULT
    assert calibration_report([]).count == 0
    assert LEAST > 3

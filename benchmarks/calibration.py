"""How good the confidence of lessons is: earlier runs foretell, later ones show what came true.

    python benchmarks/calibration.py [--data DATA] [--fit]

DATA holds the sample logs (default: ../shared/data beside the project). A claim worth telling that the earlier half
showed is foretold of each later run in which it is met; what is true is the share of the times that it held there. The
base rate foretells for every claim how often all of them came true, the category's how often those of its category did:
both are known only afterwards. "shipped" is what serves a space with few runs; "own" is fitted on the earlier half
alone. With --fit the curve that the first halves of all sources bear out is printed: what is shipped.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from foresight_data import DATA, halves
from ireneo.lessons.calibrate import (
    CalibrationReport,
    Forecast,
    Runs,
    calibrate,
    calibration_report,
    fit_calibration,
    forecasts,
)
from ireneo.lessons.confidence import DEFAULT, Calibration
from ireneo.lessons.study import observations_of

CATEGORIES = ("failure", "procedural", "factual")


def show(name: str, told: Sequence[Forecast]) -> None:
    """Print what was foretold beside what came of it."""
    result: CalibrationReport = calibration_report(told)
    print(
        f"  {name}: {result.count:,} outcomes, Brier {result.brier:.4f}; base rate {result.base_brier:.4f}, "
        f"by category {result.category_brier:.4f}"
    )
    for row in (*result.bins, *result.levels):
        print(f"    {row.name:<10}{row.count:>7,}   foretold {row.foretold:.3f}   came true {row.true:.3f}")


def compare(name: str, earlier: Runs, later: Runs) -> None:
    """Print the shipped curve and the space's own, and each category under the shipped one."""
    print(f"{name}: {len(earlier)} earlier runs, {len(later)} later ones")
    kinds: list[tuple[str, Calibration]] = [("shipped", DEFAULT), ("own", calibrate(earlier))]
    for label, calibration in kinds:
        show(label, forecasts(earlier, later, calibration))
    told = forecasts(earlier, later)
    for category in CATEGORIES:
        each = [one for one in told if one.category == category]
        if each:
            result = calibration_report(each)
            said, came = (sum(getattr(one, name) for one in each) / len(each) for name in ("chance", "true"))
            print(
                f"    {category:<12}{result.count:>6,} outcomes   foretold {said:.3f}   came true {came:.3f}   "
                f"Brier {result.brier:.4f}, base {result.base_brier:.4f}"
            )


def main() -> None:
    """Print the tables of each source, or the curve that is shipped."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args()
    inner: list[Forecast] = []
    for half in halves(given.data):
        earlier = [observations_of(run) for run in half.earlier]
        if given.fit:
            middle = len(earlier) // 2
            inner += forecasts(earlier[:middle], earlier[middle:])
        else:
            compare(half.name, earlier, [observations_of(run) for run in half.later])
    if given.fit:
        made = fit_calibration(inner)
        print(f"{len(inner):,} outcomes")
        for reckoned, chance in zip(made.reckoned, made.chance, strict=True):
            print(f"  reckoned {reckoned:.3f}   came true {chance:.3f}")
        print(f"  medium from {made.medium_from:.3f}, high from {made.high_from:.3f}")


if __name__ == "__main__":
    main()

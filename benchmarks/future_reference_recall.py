"""Measure future-reference recall: whether a context still holds what the agent goes on to use.

Runs the measure that lies beside the project (`../shared/measure/frr.py`) on the sample sessions there: its baselines,
and `ireneo context` as the command that it gives each log to.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

BESIDE = Path(__file__).resolve().parents[2] / "shared"


def main() -> None:
    """Print the measure's two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", type=Path, default=BESIDE / "measure" / "frr.py")
    parser.add_argument("--data", type=Path, default=BESIDE / "data" / "claude_code_sessions")
    parser.add_argument("--preset", default="coding")
    given, others = parser.parse_known_args()
    if not given.measure.exists() or not given.data.exists():
        sys.exit(f"{given.measure} and {given.data} are needed, and not both are there.")
    ireneo = Path(sys.executable).with_name("ireneo")
    command = f"{ireneo} context {{file}} --budget {{budget}} --preset {given.preset} --json"
    for extra in ([], ["--command", command]):
        subprocess.run([sys.executable, given.measure, given.data, *extra, *others], check=True)


if __name__ == "__main__":
    main()

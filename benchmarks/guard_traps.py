"""Twenty traps that runs fell into and eight that were told, met again in other words, and harmless calls beside them.

    python benchmarks/guard_traps.py

Each trap is learned from one to three small runs, written as Claude Code logs them (`tests/twenty_traps.py`). What a
hook answers is shown; "caught" has the way out in it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.twenty_traps import SCENES, TOLD, caught, learn, stopped


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        db = learn(Path(folder))
        for scenes, shown in ((SCENES, "runs showed"), (TOLD, "were remembered")):
            right = 0
            for scene, found, is_right in caught(db, scenes):
                right += is_right
                print(f"{'caught' if is_right else 'told' if found else 'silent':<7} {scene.name}")
                for line in found.text.splitlines() if found else ():
                    print(f"          {line}")
            harmless = list(stopped(db, scenes))
            wrong = [(scene, call, found) for scene, call, found in harmless if found is not None]
            for scene, call, found in wrong:
                print(f"stopped {scene.name}: {call}\n          {found.text}")
            print(f"\n{right} of {len(scenes)} that {shown} caught with the way out;", end=" ")
            print(f"{len(wrong)} of {len(harmless)} harmless calls stopped\n")


if __name__ == "__main__":
    main()

"""Every pattern of the package against every hostile text: which of them take more than time linear in it.

    python benchmarks/pattern_growth.py [PART OF A PATH]

It compares the CPU time of texts of 20,000 and 200,000 characters (2,000 and 20,000 where that is slow already), and
takes minutes. Nothing but the count of patterns should be printed.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.pattern_growth import collect, compiled, grown, may_grow


def main() -> None:
    """Print a line for each pattern and text that are slow together."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    found = [each for each in collect() if wanted in each.place]
    start, slow = time.process_time(), 0
    for each, method, text in grown(found, every=True):
        slow += 1
        print(f"{each.place}  {method}  {text!r}  {str(each.source)[:80]}", flush=True)
    unbounded = sum(may_grow(compiled(each)) for each in found)
    print(
        f"{len(found)} patterns, {unbounded} without a bound; {slow} slow; {time.process_time() - start:.0f} s of CPU"
    )


if __name__ == "__main__":
    main()

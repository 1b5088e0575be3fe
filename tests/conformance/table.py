"""Run every check on every store, and print a row for each: how many checks, how many passed, and in what time."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.conformance.test_stores import STORES, Places

from ireneo.testing.conformance import check_store


def main() -> int:
    """Print the table; 1 where a store doesn't conform."""
    print(f"{'store':<16}{'checks':>8}{'passed':>8}{'skipped':>9}{'seconds':>9}")
    conform = True
    for name, opener in STORES.items():
        with tempfile.TemporaryDirectory() as folder:
            places = Places(Path(folder), opener)
            began = time.monotonic()
            report = asyncio.run(check_store(places.fresh, again=places.again))
        verdicts = [result.verdict for result in report.results]
        passed, skipped = verdicts.count("met"), verdicts.count("skipped")
        print(f"{name:<16}{len(verdicts):>8}{passed:>8}{skipped:>9}{time.monotonic() - began:>9.1f}")
        for result in report.unmet:
            print(f"  unmet: {result.check}")
        conform = conform and report.conforms
    return 0 if conform else 1


if __name__ == "__main__":
    sys.exit(main())

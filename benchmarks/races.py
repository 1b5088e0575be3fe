"""Let processes race for one story in one database, kill them, jump their clock, and count what must never be.

    python benchmarks/races.py [--postgres] [--processes 8] [--operations 2000] [--seed 1] [--small] [--json]

Each process does one thing after the other: it appends, looks at a context, writes what is due with a model that takes
its time, rewinds, forks, and prunes now and then. Some hold leases that are shorter than a slow answer. They are killed
with signal 9 at random moments and started again, while the machine's clock jumps by up to an hour. At the end two
processes write what is still due, one of which is killed. All of it is done twice: with leases, and without.

They share a SQLite file; with `--postgres` a database of a PostgreSQL server, through a proxy that cuts connections at
random moments, and hides from clients that a commit was done.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import to_builtins

sys.path.insert(0, str(Path(__file__).parent.parent))
from racing.result import Result, counted, show
from racing.run import Run

if TYPE_CHECKING:
    from tests.cutting_proxy import CuttingProxy

MOST_WASTED = 0.05
"""With leases: the share of calls whose answer may turn out to have been written by another."""
FEWEST_CALLS = 400
"""With fewer calls than this the share is left to chance, and not judged."""


def race(given: argparse.Namespace, *, leases: bool) -> Result:
    """One run."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, cutting(given.postgres) as proxy:
        run = Run(
            Path(folder),
            proxy,
            processes=given.processes,
            operations=given.operations,
            seed=given.seed,
            leases=leases,
            small=given.small,
            quiet=given.json,
        )
        try:
            run.race()
            run.finish()
        finally:
            run.stop()
        return asyncio.run(counted(run, began))


@contextmanager
def cutting(wanted: bool) -> Iterator[CuttingProxy | None]:
    """The way to an empty database on a server, where one is wanted."""
    if not wanted:
        yield None
        return
    # A file needs no server.
    from tests.cutting_proxy import CuttingProxy
    from tests.postgres_server import empty_database

    with CuttingProxy(empty_database()) as proxy:
        yield proxy


def is_sound(result: Result) -> bool:
    """Whether nothing happened that must never happen."""
    if result.leases and result.calls >= FEWEST_CALLS and result.wasted > MOST_WASTED * result.calls:
        return False
    return not any(result.zeros.values()) and result.integrity == "ok"


def parse(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Let processes race for one story, and count what must never be.")
    parser.add_argument("--postgres", action="store_true", help="on a server, through a proxy that cuts connections")
    parser.add_argument("--processes", type=int)
    parser.add_argument("--operations", type=int, help="of each process")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    parser.add_argument("--small", action="store_true", help="4 processes and 120 operations, for a test")
    parser.add_argument("--json", action="store_true")
    read = parser.parse_args(given)
    read.processes = read.processes or (4 if read.small else 8)
    read.operations = read.operations or (120 if read.small else 2_000)
    return read


def main() -> None:
    given = parse()
    if not given.json:
        print(f"seed {given.seed}: {given.processes} processes × {given.operations} operations", flush=True)
    results = [race(given, leases=leases) for leases in (True, False)]
    print(json.dumps(to_builtins(results)) if given.json else show(results))
    if not all(map(is_sound, results)):
        raise SystemExit("something happened that must never happen")


if __name__ == "__main__":
    main()

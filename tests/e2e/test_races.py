"""Processes that race for one story, are killed, cut off, and have their clock set, break nothing; leases or not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.postgres_server import server_url

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "races.py"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no signal 9")
@pytest.mark.parametrize("where", ["a file", "a server"])
def test_a_race_for_one_story_breaks_nothing(where: str) -> None:
    command = [sys.executable, str(BENCHMARK), "--small", "--operations", "40", "--seed", "4", "--json"]
    environment = dict(os.environ)
    if where == "a server":
        command.append("--postgres")
        # To begin a server of its own takes longer than the race.
        environment["IRENEO_TEST_POSTGRES"] = server_url()
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    runs = json.loads(done.stdout)
    assert [run["leases"] for run in runs] == [True, False]
    for run in runs:
        assert not any(run["zeros"].values()), run["faults"]
        assert run["integrity"] == "ok"
        assert run["operations"] == 160
        assert (run["cuts"] > 10) == (where == "a server")
    # Where the kills fall decides whether one run gets as far as each of these.
    for what in ("kills", "acknowledged", "contexts", "texts", "calls"):
        assert sum(run[what] for run in runs) > 0, (what, runs)

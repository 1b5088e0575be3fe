"""Processes that append to one file and are killed with signal 9 lose nothing that they acknowledged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "kill_nine.py"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no signal 9")
def test_what_was_acknowledged_survives_kill_nine() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--rounds", "3", "--json"], capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rounds = json.loads(done.stdout)
    assert len(rounds) == 3
    assert [(each["lost"], each["integrity"], each["goes_on"]) for each in rounds] == [(0, "ok", True)] * 3
    assert sum(each["acknowledged"] for each in rounds) > 0

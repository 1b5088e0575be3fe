"""Workers tell all that became of their tests, also where one dies of a test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.folders import OF_RUN

ROOT = Path(__file__).parents[2]
TESTS = """
import os, signal, subprocess, sys, warnings
import pytest

@pytest.mark.parametrize("number", range(20))
def test_passes(number): pass

def test_fails(tmp_path):
    print("said on the way")
    assert tmp_path.exists() and 1 == 2

def test_dies(): os.kill(os.getpid(), signal.SIGKILL)

@pytest.fixture(scope="module")
def shared():
    yield os.getpid()
    raise ValueError("the end of what is shared")

def test_takes(shared): assert shared == os.getpid()

@pytest.mark.filterwarnings("default")
def test_warns(): warnings.warn("heard of")

def test_captures(capfd):
    os.system("echo of its own")
    assert capfd.readouterr().out == "of its own\\n"

STDERR = sys.stderr

def test_writes_where_modules_write_that_keep_the_stream(capfd):
    print("kept", file=STDERR)
    assert subprocess.run([sys.executable, "-c", ""], stderr=STDERR).returncode == 0

def test_is_skipped(): pytest.skip("no reason")
"""


def test_all_that_becomes_of_tests_is_told(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-c", "pyproject.toml", "-p", "tests.conftest", "-v", "-n", "2", "-rs"]
    environment = {name: value for name, value in os.environ.items() if name not in (OF_RUN, "PYTEST_DEBUG_TEMPROOT")}
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'base'}", str(tmp_path / "test_some.py")],
        cwd=ROOT,
        env=environment | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    said = done.stdout
    assert done.returncode == 1, done
    assert " 2 failed, 24 passed, 1 skipped, 1 warning, 1 error in " in said, done
    for each in ("Its process ended with SIGKILL.", "said on the way", "heard of", "no reason", "the end of what is"):
        assert each in said, done

"""A run of the tests leaves nothing in the folder for temporary files, also when it is broken off."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.folders import MAY_STAY, OF_RUN, left_behind

ROOT = Path(__file__).parents[2]
WITH_A_SERVER = "tests/unit/test_postgres_migrate.py"
PATIENCE_SECONDS = 120.0


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder with a short name, since sockets lie in it."""
    with tempfile.TemporaryDirectory(prefix="t") as folder:
        yield Path(folder)


def begin(place: Path, basetemp: Path) -> subprocess.Popen[str]:
    """A run of its own, with one worker, which puts what is temporary into `place`."""
    environment = {name: value for name, value in os.environ.items() if name not in (OF_RUN, "PYTEST_DEBUG_TEMPROOT")}
    command = [sys.executable, "-m", "pytest", "-n", "1", "-p", "no:cacheprovider", WITH_A_SERVER]
    return subprocess.Popen(
        [*command, f"--basetemp={basetemp}"],
        cwd=ROOT,
        env=environment | {"TMPDIR": str(place)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A shell that runs in the background has its commands ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
@pytest.mark.skipif("IRENEO_TEST_POSTGRES" in os.environ, reason="no server is started then")
@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_of_a_run_that_is_broken_off(place: Path, tmp_path: Path, told: signal.Signals) -> None:
    running = begin(place, tmp_path / "base")
    until = time.monotonic() + PATIENCE_SECONDS
    while not any(place.glob("ireneo-tests-*/ireneo-postgres-*/data/postmaster.pid")):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)
    running.send_signal(told)
    out, _ = running.communicate(timeout=PATIENCE_SECONDS)
    assert running.returncode == pytest.ExitCode.INTERRUPTED, out
    assert list(place.iterdir()) == []


def test_what_a_test_forgets_is_named(tmp_path: Path) -> None:
    for name in (*MAY_STAY, "tmp0123456"):
        (tmp_path / name).mkdir()
    assert left_behind(tmp_path) == ["tmp0123456"]

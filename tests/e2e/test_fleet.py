"""`ireneo learn --on`: whoever analyses the logs, and whoever dies of it, the same is stored to the byte."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import apsw
import pytest
from tests.e2e.test_cli_command import run
from tests.e2e.test_kill_learn import runs_in, write_logs

from ireneo.engine.resources import SystemClock

needs_dask = pytest.mark.skipif(find_spec("distributed") is None, reason="needs the extra dask: distributed")
needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="there is no signal 9")
COMMAND = """
import sys
from datetime import UTC, datetime
from ireneo.engine.resources import SystemClock
from ireneo.faces.cli.main import run
SystemClock.now = lambda clock: datetime(2026, 11, 1, tzinfo=UTC)
sys.argv[0] = "ireneo"
run()
"""
"""The command at one moment, so that what is stored has the same times."""
RUNS = 12


@contextmanager
def process(*arguments: str, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, *arguments], cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as running:
        try:
            yield running
        finally:
            running.kill()


@contextmanager
def cluster(cwd: Path, workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and workers that each have a process of their own, on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    host, _, port = address.partition(":")
    place = [f"--host={host}", "--no-dashboard"]
    begun: list[subprocess.Popen[bytes]] = []
    with process("-m", "distributed.cli.dask_scheduler", f"--port={port}", *place, cwd=cwd):
        worker = ("-m", "distributed.cli.dask_worker", address, "--nthreads=1", "--no-nanny", *place)
        try:
            for _ in range(workers):
                begun.append(
                    subprocess.Popen(
                        [sys.executable, *worker], cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                    )
                )
            yield f"dask://{address}", begun
        finally:
            for each in begun:
                each.kill()
                each.wait()


def start(cwd: Path, db: str, on: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", COMMAND, "learn", "logs", "--db", db, *(["--on", on] if on else [])]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(learning: subprocess.Popen[str], code: int = 0) -> str:
    out, err = learning.communicate(timeout=200)
    assert learning.returncode == code, err
    return out + err


def learn(cwd: Path, db: str, on: str = "") -> str:
    """The same in this process, where nobody kills it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SystemClock, "now", lambda _: datetime(2026, 11, 1, tzinfo=UTC))
        done = run("learn", "logs", "--db", db, *(["--on", on] if on else []), cwd=cwd)
    return done.stdout + done.stderr


def stored(path: Path) -> dict[str, list[str]]:
    """All that is in a database but when its tables were made."""
    database = apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)
    try:
        tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'")
        names = {str(name) for (name,) in tables} - {"migrations"}
        return {name: sorted(map(repr, database.execute(f'SELECT * FROM "{name}"'))) for name in names}
    finally:
        database.close()


def files_in(path: Path) -> int:
    return len(stored(path)["ledger"])


def wait_for_runs(db: Path, learning: subprocess.Popen[str], runs: int) -> None:
    deadline = time.monotonic() + 150
    while runs_in(db) < runs and learning.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    write_logs(folder / "logs", RUNS)
    learn(folder, "here.db")
    return folder


def test_processes_of_this_machine_learn_the_same(logs: Path) -> None:
    said = learn(logs, "two.db", "local:2")
    assert stored(logs / "two.db") == stored(logs / "here.db")
    assert f"{RUNS} runs" in said


@needs_signals
def test_who_is_killed_goes_on_where_it_was(logs: Path) -> None:
    learning = start(logs, "killed.db", "local:2")
    wait_for_runs(logs / "killed.db", learning, 1)
    learning.kill()
    learning.communicate()
    left = RUNS - files_in(logs / "killed.db")
    said = learn(logs, "killed.db", "local:1")
    assert stored(logs / "killed.db") == stored(logs / "here.db")
    assert left < RUNS
    known = RUNS - left
    assert f"{known} file{'s' * (known != 1)} learned from before" in said


@needs_dask
@needs_signals
def test_a_cluster_learns_the_same_where_a_worker_is_killed(logs: Path) -> None:
    with cluster(logs, 2) as (address, workers):
        learning = start(logs, "cluster.db", address)
        wait_for_runs(logs / "cluster.db", learning, 1)
        assert learning.poll() is None, "it was through before anybody could be killed"
        workers[0].send_signal(signal.SIGKILL)
        ended(learning)
        assert stored(logs / "cluster.db") == stored(logs / "here.db")


@needs_dask
def test_where_no_cluster_is_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ireneo.adapters import fleet

    monkeypatch.setattr(fleet, "CONNECT_SECONDS", 0.5)
    write_logs(tmp_path / "logs", 1)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    done = run("learn", "logs", "--on", f"dask://127.0.0.1:{port}", cwd=tmp_path, ends=2)
    assert f"There is no Dask scheduler at dask://127.0.0.1:{port}" in done.stderr


@pytest.mark.parametrize("address", ["local:0", "local:many", "dask://", "tcp://127.0.0.1:8786"])
def test_an_address_that_means_nobody_is_refused(address: str, tmp_path: Path) -> None:
    write_logs(tmp_path / "logs", 1)
    done = run("learn", "logs", "--on", address, cwd=tmp_path, ends=2)
    assert address in done.stderr


def test_what_is_stored_is_learned_from_here(tmp_path: Path) -> None:
    assert "name some" in run("learn", "--on", "local:2", cwd=tmp_path, ends=2).stderr


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_logs(tmp_path / "logs", 1)
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = run("learn", "logs", "--on", "dask://127.0.0.1:8786", cwd=tmp_path, ends=2)
    assert "pip install 'ireneo[dask]'" in done.stderr

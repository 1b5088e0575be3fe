"""`ireneo learn` that is killed with signal 9, wherever it is, ends like one that never was; so do two at once."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest
from tests.e2e.logs_for_learning import claude_code, codex, mini_swe, transcript
from tests.e2e.test_cli_command import run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no signal 9")
COMMAND = "import sys; from ireneo.faces.cli.main import run; sys.argv[0] = 'ireneo'; run()"
RUNS = 12
KILLS = 4


def start(*arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", COMMAND, *arguments]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def said(*arguments: str, cwd: Path) -> str:
    """What the command says in this process, where nobody kills it."""
    return run(*arguments, cwd=cwd).stdout


def write_logs(folder: Path, runs: int) -> None:
    folder.mkdir()
    makers = (claude_code, codex, mini_swe, transcript)
    for at in range(runs):
        ending = "json" if makers[at % 4] is mini_swe else "jsonl"
        (folder / f"{at:02d}.{ending}").write_bytes(makers[at % 4](at))


def learned(path: Path) -> list[object]:
    """What was learned, without when: the lessons, their evidence, and the claims that they follow from."""
    told = json.loads(run("lessons", "--json", cwd=path.parent, db=path).stdout)
    database = apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)
    try:
        records = database.execute("SELECT id, cue, state, record FROM memories ORDER BY id").fetchall()
        observations = database.execute("SELECT cue, session, held, broke FROM sightings ORDER BY 1, 2").fetchall()
        runs = database.execute("SELECT session FROM runs ORDER BY 1").fetchall()
    finally:
        database.close()
    assert len({cue for _, cue, *_ in records}) == len(records) > 0
    evidence = [
        sorted((piece["session"], piece["messages"], piece.get("against", False)) for piece in evidence_of(record))
        for *_, record in records
    ]
    shown = sorted((each["id"], each["lesson"], each["category"], each["project"], each["seen"]) for each in told)
    return [shown, [each[:3] for each in records], evidence, observations, runs]


def evidence_of(record: str) -> list[dict[str, object]]:
    found = json.loads(record)["evidence"]
    assert isinstance(found, list)
    assert found
    return found


def runs_in(path: Path) -> int:
    if not path.exists():
        return 0
    database = apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)
    try:
        return int(database.execute("SELECT count(*) FROM runs").fetchall()[0][0])
    except apsw.Error:
        return 0  # The file is not laid out yet.
    finally:
        database.close()


def test_killed_again_and_again_it_learns_the_same_and_nothing_twice(tmp_path: Path) -> None:
    write_logs(tmp_path / "logs", RUNS)
    said("learn", "logs", "--db", "whole.db", cwd=tmp_path)
    chance = random.Random(11)
    killed = 0
    for at in range(KILLS):
        process = start("learn", "logs", "--db", "killed.db", cwd=tmp_path)
        before, deadline = runs_in(tmp_path / "killed.db"), time.monotonic() + 150
        # Some die before they have done anything, the others a moment after a run or two.
        more = at % 3
        while (
            process.poll() is None and runs_in(tmp_path / "killed.db") < before + more and time.monotonic() < deadline
        ):
            time.sleep(0.002)
        time.sleep(chance.random() * (0.03 if more else 0.8))
        killed += process.poll() is None
        process.kill()
        process.communicate()
    assert killed >= KILLS - 1
    assert runs_in(tmp_path / "killed.db") < RUNS
    said("learn", "logs", "--db", "killed.db", cwd=tmp_path)
    assert learned(tmp_path / "killed.db") == learned(tmp_path / "whole.db")
    again = said("learn", "logs", "--db", "killed.db", cwd=tmp_path)
    assert f"{RUNS} files learned from before" in again
    assert "run," not in again


def test_two_that_learn_at_once_learn_what_one_does(tmp_path: Path) -> None:
    write_logs(tmp_path / "logs", 4)
    said("learn", "logs", "--db", "one.db", cwd=tmp_path)
    both = [start("learn", "logs", "--db", "two.db", cwd=tmp_path) for _ in range(2)]
    for process in both:
        _, err = process.communicate(timeout=200)
        assert process.returncode == 0, err.decode()
    assert learned(tmp_path / "two.db") == learned(tmp_path / "one.db")

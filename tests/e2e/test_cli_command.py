"""The command as a whole: how it is called, how it ends, and what it leaves in a pipe."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import pytest

import ireneo
from ireneo.faces.cli.main import run as entry

SAMPLES = Path(str(files("ireneo.faces.cli.demo")))
AGENT = SAMPLES / "kestrel-drift.jsonl"
"""One session of a coding agent."""
DESK = SAMPLES / "reed-valve.jsonl"
"""Two sessions in one file, a line each."""
COMMAND = [sys.executable, "-m", "ireneo"]
COMMANDS = (
    "import",
    "sessions",
    "context",
    "expand",
    "tree",
    "compact",
    "snapshot",
    "rewind",
    "fork",
    "pin",
    "pins",
    "release",
    "dispute",
    "summarise",
    "work",
    "remember",
    "recall",
    "brief",
    "reflect",
    "pad",
    "history",
    "fading",
    "restore",
    "forget",
    "export",
    "doctor",
    "prune",
    "learn",
    "lessons",
    "check",
    "report",
    "mcp",
    "formats",
    "demo",
    "path",
)


class Done(NamedTuple):
    """What became of a call."""

    code: object
    stdout: str
    stderr: str


def run(
    *arguments: object,
    cwd: Path | None = None,
    given: bytes = b"",
    ends: int = 0,
    db: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Done:
    """Run the command in this process, which takes a tenth of the time, and check how it ends."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["ireneo", *map(str, arguments)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setenv("COLUMNS", "100")
        # Each test has its own, beside what else it writes; `test_cli_place.py` looks at what is found without it.
        for name, value in {"IRENEO_DB": str(db or "memory.db"), **(env or {})}.items():
            patch.setenv(name, value)
        patch.chdir(cwd or Path.cwd())
        with pytest.raises(SystemExit) as end:
            entry()
    out.seek(0)
    done = Done(end.value.code, out.read(), err.getvalue())
    assert done.code == ends, done
    return done


def spawn(
    *arguments: object,
    cwd: Path | None = None,
    given: bytes = b"",
    ends: int = 0,
    env: Mapping[str, str] | None = None,
) -> Done:
    """Run the command in a process of its own: it never ends in a traceback."""
    ended = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=given,
        cwd=cwd,
        env={"IRENEO_DB": "memory.db", **os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100", **(env or {})},
        capture_output=True,
        timeout=120,
    )
    done = Done(ended.returncode, ended.stdout.decode(), ended.stderr.decode())
    assert done.code == ends, done
    assert "Traceback" not in done.stderr
    return done


def answer(*arguments: object, cwd: Path | None = None) -> object:
    """The JSON that a command answers with."""
    return json.loads(run(*arguments, "--json", cwd=cwd).stdout)


def test_without_arguments_it_says_what_there_is() -> None:
    shown = run().stdout
    for name in COMMANDS:
        assert f"  {name} " in shown
    assert "─" not in shown, "boxes are for terminals"


def test_the_version() -> None:
    assert spawn("--version").stdout == f"ireneo {ireneo.__version__}\n"


def test_a_process_of_its_own_says_the_same(tmp_path: Path) -> None:
    for arguments, ends in (
        (("import", AGENT, DESK), 0),
        (("import", AGENT, tmp_path / "gone.jsonl"), 1),
        (("sessions", "--json"), 0),
        (("context", "7c1e", "--budget", 20), 2),
    ):
        spawned = spawn(*arguments, cwd=tmp_path, ends=ends)
        if arguments[0] != "import":
            assert spawned == run(*arguments, cwd=tmp_path, ends=ends)
    piped = spawn("context", "-", "--budget", 2000, "--json", given=AGENT.read_bytes())
    assert piped == run("context", AGENT, "--budget", 2000, "--json")


def test_formats_are_listed() -> None:
    listed = run("formats").stdout
    for name in [*ireneo.CHAT_FORMATS, *(log.name for log in ireneo.LOG_FORMATS)]:
        assert name in listed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("dream",), "No such command 'dream'"),
        (("context", "x"), "Missing option '--budget'"),
        (("context", "x", "--budget", "many"), "Invalid value for '--budget'"),
        (("import",), "Missing argument 'LOG…'"),
    ],
)
def test_a_wrong_call_gets_one_sentence(arguments: tuple[str, ...], said: str) -> None:
    done = run(*arguments, ends=2)
    assert done.stdout == ""
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_pipe_that_closes_early_is_no_fault(tmp_path: Path) -> None:
    # More than a pipe holds, so that the writer meets the closed end.
    messages = [{"role": "user", "content": "word " * 50_000}]
    (tmp_path / "long.json").write_text(json.dumps(messages))
    writer = subprocess.Popen(
        [*COMMAND, "compact", str(tmp_path / "long.json"), "--budget", "200000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert writer.stdout is not None
    assert writer.stderr is not None
    with writer.stdout, writer.stderr:
        writer.stdout.read(10)
        writer.stdout.close()
        assert writer.stderr.read() == b""
    # 0 where the end of the pipe was not noticed.
    assert writer.wait(60) in (0, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_an_interrupted_import_leaves_whole_sessions(tmp_path: Path) -> None:
    lines = DESK.read_text().splitlines()
    runs = [json.loads(lines[1]) | {"id": f"run-{number:04}"} for number in range(800)]
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(each) + "\n" for each in runs))
    importing = subprocess.Popen(
        [*COMMAND, "import", "many.jsonl", "--db", "memory.db"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell that runs the tests in the background has them ignore the signal, and so all that they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert importing.stdout is not None
    assert importing.stderr is not None
    with importing.stdout, importing.stderr:
        deadline = time.monotonic() + 60
        while not (tmp_path / "memory.db").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.2)
        importing.send_signal(signal.SIGINT)
        said = importing.stderr.read()
    assert importing.wait(60) == 130
    assert said == b""
    stored = answer("sessions", cwd=tmp_path)
    assert isinstance(stored, list)
    assert {each["messages"] for each in stored} <= {11}
    assert "800 sessions" in run("import", "many.jsonl", cwd=tmp_path).stdout

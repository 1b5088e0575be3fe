"""The command as a whole: how it is called, how it ends, and what it leaves in a pipe."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import shlex
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
from ireneo.faces.cli.files import log_on_stderr
from ireneo.faces.cli.main import run as entry

SAMPLES = Path(str(files("ireneo.faces.cli.demo")))
AGENT = SAMPLES / "kestrel-drift.jsonl"
"""One session of a coding agent."""
DESK = SAMPLES / "reed-valve.jsonl"
"""Two sessions in one file, a line each."""
COMMAND = [sys.executable, "-m", "ireneo"]
COMMANDS = tuple(
    (
        "import sessions context expand tree compact snapshot rewind fork pin pins release dispute edit notes "
        "summarise work remember recall brief reflect pad history fading restore memories update merge delete "
        "forget export doctor copy migrate prune learn lessons review check hook report mcp proxy formats "
        "demo path"
    ).split()
)


class Done(NamedTuple):
    """What became of a call."""

    code: object
    stdout: str
    stderr: str


class Terminal(io.TextIOWrapper):
    """What someone types."""

    def isatty(self) -> bool:
        return True


def run(
    *arguments: object,
    cwd: Path | None = None,
    given: bytes = b"",
    typed: bool = False,
    ends: int = 0,
    db: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Done:
    """Run the command in this process, which takes a tenth of the time, and check how it ends.

    What is `given` comes out of a pipe, or, where it is `typed`, from someone at a terminal.
    """
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["ireneo", *map(str, arguments)])
        patch.setattr(sys, "stdin", (Terminal if typed else io.TextIOWrapper)(io.BytesIO(given)))
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
    spawn("import", AGENT, tmp_path / "gone.jsonl", cwd=tmp_path, ends=1)
    for arguments, ends in ((("sessions", "--json"), 0), (("context", "7c1e", "--budget", 20), 2)):
        assert spawn(*arguments, cwd=tmp_path, ends=ends) == run(*arguments, cwd=tmp_path, ends=ends)
    piped = spawn("context", "-", "--budget", 2000, "--json", given=AGENT.read_bytes())
    assert piped == run("context", AGENT, "--budget", 2000, "--json")


def test_formats_are_listed() -> None:
    listed = run("formats").stdout
    for name in [*ireneo.CHAT_FORMATS, *(log.name for log in ireneo.LOG_FORMATS)]:
        assert name in listed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("zzz",), "No such command 'zzz'; try `ireneo --help`."),
        (("contxt", "x"), "No such command 'contxt'. Did you mean 'context'? Try `ireneo --help`."),
        (("lessons", "review"), "(review). Did you mean `ireneo review`? Try `ireneo lessons --help`."),
        (("--db", "x.db", "memories"), "--db: options stand behind the command, as in `ireneo memories --db`."),
        (("--bogus",), "No such option: --bogus; try `ireneo --help`."),
        (("context", "x"), "Missing option '--budget' / '-b'; try `ireneo context --help`."),
        (("context", "x", "--budget", "many"), "'many' is not a number of tokens; give one such as 32000 or 32k"),
        (("context", "x", "--budget", "nan"), "'nan' is not a number of tokens"),
        (("context", "no-such", "--budget", "2k"), "There is no"),
        (("recall", "x", "--limit", "many"), "is not a valid int; try `ireneo recall --help`."),
        (("context", "x", "--budgt", "1"), "(Possible options: --budget, --rebuild); try `ireneo context --help`."),
        (("import",), "Missing argument 'LOG…'; try `ireneo import --help`."),
    ],
)
def test_a_wrong_call_gets_one_sentence_that_says_whose_help_to_read(arguments: tuple[str, ...], said: str) -> None:
    done = run(*arguments, ends=2)
    assert done.stdout == ""
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_every_help_has_an_example_of_its_command() -> None:
    for name in COMMANDS:
        shown = run(name, "--help").stdout
        (example,) = re.findall(r"^  Example: (.*)$", shown, flags=re.MULTILINE)
        words = shlex.split(example.replace('"$(ireneo path)"', "ireneo path"))
        ours = words[words.index("ireneo") + 1 :]
        assert ours[0] == name
        # What is wrong with the words would be said before anything is looked for.
        assert run(*ours, "--help").stdout == shown


def test_the_commands_stand_in_sections_and_each_in_one() -> None:
    shown = run().stdout
    sections = re.findall(r"^(\S[^\n]*):\n((?:  .*\n)+)", shown, flags=re.MULTILINE)
    listed = [line.split()[0] for title, rows in sections if title != "Options" for line in rows.splitlines()]
    assert len(sections) > 4
    # One that has commands of its own beside the others.
    assert sorted(listed) == sorted([*COMMANDS, "thread"])
    assert all("..." not in rows for _, rows in sections), "each says in its first line what it does"


WITHOUT_JSON = {"demo", "mcp", "proxy", "compact", "hook"}
"""A show, a protocol of its own, and those that write JSON anyway."""


def test_every_command_answers_in_json_and_writes_nothing_else(tmp_path: Path) -> None:
    assert {name for name in COMMANDS if "--json" not in run(name, "--help").stdout} == WITHOUT_JSON
    (tmp_path / "messages.json").write_text(json.dumps([{"role": "user", "content": "Look."}]))
    words: dict[str, tuple[object, ...]] = {
        "import": (AGENT, DESK),
        "learn": (AGENT,),
        "context": ("7c1e", "-b", 2000),
        "sessions": (),
        "remember": ("Anna lives in Porto.",),
        "recall": ("Where does Anna live?",),
        "tree": ("7c1e",),
        "snapshot": ("7c1e",),
        "fork": ("7c1e", "other"),
        "rewind": ("7c1e@other", "root"),
        "pin": ("7c1e", "Never push."),
        "pins": ("7c1e",),
        "release": ("7c1e", "Never push."),
        "notes": ("7c1e",),
        "summarise": ("7c1e", "-b", 2000, "--model", "ollama:none", "--base-url", "http://127.0.0.1:9/v1"),
        "work": ("--until-idle",),
        "migrate": ("--dry-run",),
        "brief": ("--goal", "post Anna a letter"),
        "reflect": (),
        "pad": ("letter", "--goal", "post it"),
        "history": ("Anna",),
        "fading": (),
        "memories": (),
        "export": ("out",),
        "lessons": (),
        "review": (),
        "check": ("Bash", "ls"),
        "report": (),
        "path": (),
        "formats": (),
        "doctor": (),
        "copy": ("memory.db", "copy.db"),
        "prune": ("7c1e", "--yes"),
    }
    ends = {"summarise": 1}
    for name, arguments in words.items():
        lines = run(name, *arguments, "--json", cwd=tmp_path, ends=ends.get(name, 0)).stdout.splitlines()
        # What goes on for long tells each piece on a line of its own.
        told = [json.loads(line) for line in lines] if name == "work" else json.loads("".join(lines))
        if name == "context":
            block = next(row["id"] for row in told["view"] if row["what"] == "summary")
        elif name == "remember":
            fact = told["id"]
    other = json.loads(run("remember", "Anna has her home in Porto.", "--json", cwd=tmp_path).stdout)["id"]
    tale = [
        json.dumps({"author": "Vera", "text": f"Vera walked {number} miles along the dyke."}) for number in range(400)
    ]
    (tmp_path / "tale.jsonl").write_text("\n".join(tale))
    run("import", "tale.jsonl", "--session", "tale", cwd=tmp_path)
    view = json.loads(run("context", "tale", "-b", 1500, "--json", cwd=tmp_path).stdout)["view"]
    rest: dict[str, tuple[object, ...]] = {
        "expand": (block,),
        "edit": ("tale", next(row["id"] for row in view if row["what"] == "summary"), "Vera walked on."),
        "dispute": ("7c1e", block, "It is not so."),
        "restore": (fact,),
        "update": (fact, "--label", "people"),
        "merge": (fact, other),
        "forget": ("--memory", fact, "--yes"),
        "delete": (other, "--yes"),
    }
    for name, arguments in rest.items():
        json.loads(run(name, *arguments, "--json", cwd=tmp_path).stdout)
    assert {*words, *rest} == set(COMMANDS) - WITHOUT_JSON
    done = run("context", "nobody", "-b", 2000, "--json", cwd=tmp_path, ends=2)
    assert done.stdout == "", "what can't be done is said on standard error, with --json as well"


def completed(words: str, cwd: Path) -> list[str]:
    """What bash is told when someone presses the key at the end of `words`."""
    given = words.split(" ")
    env = {"COMP_WORDS": words, "COMP_CWORD": str(len(given) - 1), "_IRENEO_COMPLETE": "complete_bash"}
    return run(cwd=cwd, env=env).stdout.split()


def test_a_shell_completes_commands_and_ids(tmp_path: Path) -> None:
    run("import", AGENT, DESK, cwd=tmp_path)
    fact = json.loads(run("remember", "Anna lives in Porto.", "--json", cwd=tmp_path).stdout)["id"]
    assert completed("ireneo rec", tmp_path) == ["recall"]
    assert completed("ireneo tree 7c", tmp_path) == ["7c1e4f52-2b8d-4d0a-9f3e-61b5a0c9d2e8"]
    assert completed("ireneo context ree", tmp_path) == ["reed-valve-0413", "reed-valve-0412"]
    assert completed("ireneo forget --session 7c", tmp_path) == ["7c1e4f52-2b8d-4d0a-9f3e-61b5a0c9d2e8"]
    assert completed(f"ireneo restore {fact[:6]}", tmp_path) == [fact]
    assert completed("ireneo expand m_", tmp_path) == [fact]
    assert completed("ireneo tree --space other 7c", tmp_path) == []
    assert completed("ireneo tree --db gone.db 7c", tmp_path) == []
    assert not (tmp_path / "gone.db").exists()
    (tmp_path / "notes.db").write_text("These are notes.")
    assert completed("ireneo tree --db notes.db 7c", tmp_path) == [], "a key that is pressed fails for nobody"


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
    runs = [json.loads(lines[1]) | {"id": f"run-{number:04}"} for number in range(200)]
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
        deadline = time.monotonic() + 150
        while not (tmp_path / "memory.db").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.2)
        importing.send_signal(signal.SIGINT)
        said = importing.stderr.read()
    assert importing.wait(60) == 130
    assert b"Stored so far: " in said
    assert b"the same command goes on from there" in said
    stored = answer("sessions", cwd=tmp_path)
    assert isinstance(stored, list)
    assert {each["messages"] for each in stored} <= {11}
    assert "200 sessions" in run("import", "many.jsonl", cwd=tmp_path).stdout


def test_a_warning_is_written_once(capsys: pytest.CaptureFixture[str]) -> None:
    with log_on_stderr():
        for said in ("The model is away.", "The model is away.", "It is back."):
            logging.getLogger("ireneo.engine").warning(said)
    assert capsys.readouterr().err == "warning: The model is away.\nwarning: It is back.\n"

"""The guard as a hook of Claude Code, and asked by hand: what it answers, and that it never stands in the way."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_cli_command import run
from tests.unit.guarded import Made, runs
from tests.unit.test_engine_check import keep

import ireneo
from ireneo.faces.cli.hook import answer
from ireneo.faces.entry import hook_asked

TEST = "go test ./pkg -run TestOne"
FELL: Made = ("Bash", TEST, "--- FAIL: TestOne (0.1s)\n    one.go:12: wrong\nFAIL", True)
MISSING: Made = ("Bash", "pytest -q", "bash: line 1: pytest: command not found", True)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A database in which eight runs failed."""

    async def filled() -> None:
        async with ireneo.open(tmp_path / "memory.db", durability="normal") as memory:
            await keep(memory, [*runs([MISSING, FELL, FELL, FELL], 8)])

    asyncio.run(filled())
    return tmp_path / "memory.db"


def transcript(folder: Path, *blocks: tuple[str, Any]) -> Path:
    """A transcript as Claude Code writes it."""
    lines, parent = [], None
    for number, (role, content) in enumerate(blocks):
        id = f"00000000-0000-0000-0000-{number:012}"
        lines.append(
            {
                "type": role,
                "uuid": id,
                "parentUuid": parent,
                "sessionId": "s1",
                "isSidechain": False,
                "timestamp": f"2026-03-01T10:00:{number:02}.000Z",
                "cwd": "/home/ann/work/cli",
                "message": {"role": role, "content": content},
            }
        )
        parent = id
    path = folder / "s1.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


FAILED_ONCE = (
    ("user", "Please fix it."),
    ("assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": TEST}}]),
    ("user", [{"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": FELL[2]}]),
)


def asked(tool: str, given: object, **about: object) -> bytes:
    told = {
        "session_id": "s1",
        "cwd": "/home/ann/work/cli",
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
    }
    return json.dumps({**told, "tool_name": tool, "tool_input": given, **about}).encode()


def test_the_hook_warns_with_context_and_never_denies(db: Path) -> None:
    done = run("check", "--hook", "--db", db, given=asked("Bash", {"command": "pytest -q"}))
    told = json.loads(done.stdout)
    assert set(told) == {"systemMessage", "hookSpecificOutput"}
    assert set(told["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert told["hookSpecificOutput"]["hookEventName"] == "PreToolUse"
    assert "command not found" in told["hookSpecificOutput"]["additionalContext"]
    assert done.stderr == ""


def test_the_hook_says_nothing_of_what_it_does_not_know(db: Path) -> None:
    done = run("check", "--hook", "--db", db, given=asked("Bash", {"command": "cargo bench"}))
    assert (done.stdout, done.stderr) == ("", "")


def test_the_session_so_far_is_read_from_its_transcript(db: Path, tmp_path: Path) -> None:
    path = transcript(tmp_path, *FAILED_ONCE)
    done = run("check", "--hook", "--db", db, given=asked("Bash", {"command": TEST}, transcript_path=str(path)))
    said = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert "failed in the call before" in said
    assert "this session" in said


def test_only_the_end_of_a_long_transcript_is_read(db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ireneo.faces.cli.hook.TRANSCRIPT_BYTES", 900)
    path = transcript(tmp_path, *[("user", f"Word {number}. " * 20) for number in range(40)], *FAILED_ONCE)
    done = run("check", "--hook", "--db", db, given=asked("Bash", {"command": TEST}, transcript_path=str(path)))
    assert "failed in the call before" in done.stdout


@pytest.mark.parametrize("given", [b"", b"[1]", b'{"tool_input": {}}', b"\xff"])
def test_the_hook_never_fails_for_what_it_is_told(db: Path, given: bytes) -> None:
    done = run("check", "--hook", "--db", db, given=given)
    assert done.stdout == ""
    assert "holds no call" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_hook_never_fails_for_a_database_that_is_not_there(tmp_path: Path) -> None:
    done = run("check", "--hook", "--db", tmp_path / "none.db", given=asked("Bash", {"command": "ls"}))
    assert done.stdout == ""
    assert "There is no database" in done.stderr
    assert not (tmp_path / "none.db").exists()


def test_the_hook_never_fails_for_what_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "no.db").write_bytes(b"no database at all" * 100)
    done = run("check", "--hook", "--db", tmp_path / "no.db", given=asked("Bash", {"command": "ls"}))
    assert done.stdout == ""
    assert "was not checked" in done.stderr


def test_the_hook_reads_while_another_writes(db: Path) -> None:
    other = sqlite3.connect(db, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        done = run("check", "--hook", "--db", db, given=asked("Bash", {"command": "pytest -q"}))
        assert "command not found" in done.stdout
    finally:
        other.close()


def test_a_transcript_that_is_broken_or_missing_is_passed_over(db: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(b"{\n\xff\n[]\n")
    for path in (broken, tmp_path / "none.jsonl"):
        given = asked("Bash", {"command": "pytest -q"}, transcript_path=str(path))
        done = run("check", "--hook", "--db", db, given=given)
        assert "command not found" in done.stdout
        assert ("no message that could be read" in done.stderr) == path.exists()


def test_it_is_asked_by_hand(db: Path) -> None:
    said = run("check", "Bash", "pytest -q", "--project", "cli", "--db", db).stdout
    assert said.startswith("Likely to fail (")
    assert "command not found" in said
    told = json.loads(run("check", "Bash", '{"command": "pytest -q"}', "-p", "cli", "--json", "--db", db).stdout)
    assert told["failed"] == 8
    assert told["evidence"][0]["quote"]
    assert run("check", "Bash", "cargo bench", "--db", db).stdout == "Nothing speaks against it.\n"
    assert json.loads(run("check", "Bash", "cargo bench", "--json", "--db", db).stdout) is None
    assert "Name the tool" in run("check", "--db", db, ends=2).stderr


@pytest.mark.parametrize(
    "given",
    [
        b'{"tool_name": "Bash", "tool_input": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
        b'{"tool_name": "\xff\xfe", "tool_input": {}}',
        b'{"tool_name": "Bash", "tool_input": {"command": "ls"}, "transcript_path": "~nobody-is-called-so/x.jsonl"}',
    ],
)
def test_whatever_it_is_told_it_does_not_fail(db: Path, given: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(given, db, "default") == ""
    assert capsys.readouterr().err.startswith("ireneo: ")


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["check", "--hook"], (None, "default")),
        (["check", "--db", "a.db", "--hook", "--space", "ann"], (Path("a.db"), "ann")),
        (["check", "--hook", "--db=a.db"], (Path("a.db"), "default")),
        (["check", "--hook", "--db"], None),
        (["check", "--hook", "--db", "--space"], None),
        (["check", "--hook", "--json"], None),
        (["check", "Bash", "--hook"], None),
        (["check", "Bash", "ls"], None),
        (["--help"], None),
        ([], None),
    ],
)
def test_only_a_plain_call_of_the_hook_goes_without_the_command_line(
    arguments: list[str], meant: tuple[Path | None, str] | None
) -> None:
    assert hook_asked(arguments) == meant


def test_the_hook_is_answered_alike_by_the_command_line(db: Path) -> None:
    given = asked("Bash", {"command": "pytest -q"})
    plain = run("check", "--hook", "--db", db, given=given).stdout
    assert plain
    assert run("check", "--hook", "--json", "--db", db, given=given).stdout == plain

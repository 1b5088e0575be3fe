"""The guard as a hook of Claude Code, and asked by hand: what it answers, and that it never stands in the way."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from tests.e2e.test_cli_command import run
from tests.unit.guarded import shown_by, teach

import ireneo
from ireneo.faces.entry import answer_hook, hook_options, shortened

TEST = "cd /srv/cli && make integration"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A database in which three runs showed a trap."""

    async def filled() -> None:
        async with ireneo.open(tmp_path / "memory.db", durability="normal") as memory:
            await teach(memory, shown_by(3))

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


def made(command: str, said: str, *, failed: bool) -> tuple[tuple[str, Any], ...]:
    """A call and its result."""
    used = {"type": "tool_use", "id": f"t {command}", "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": f"t {command}", "is_error": failed, "content": said}
    return (("assistant", [used]), ("user", [result]))


FAILED_ONCE = (("user", "Please fix it."), *made(TEST, "connection refused", failed=True))
DATABASE_UP = (("user", "Please fix it."), *made("make db", "up", failed=False))
ELSEWHERE = (("user", "Please fix it."), *made("make lint", "wrong", failed=True))


def asked(tool: str, given: object, **about: object) -> bytes:
    told = {
        "session_id": "s1",
        "cwd": "/home/ann/work/cli",
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
    }
    return json.dumps({**told, "tool_name": tool, "tool_input": given, **about}).encode()


def said_of(done: CompletedProcess[str]) -> str:
    """What the hook tells the model; empty where it says nothing at all."""
    assert done.stderr == ""
    return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]) if done.stdout else ""


def test_the_hook_says_trap_and_way_out_and_never_denies(db: Path) -> None:
    done = run("hook", "--db", db, given=asked("Bash", {"command": TEST}))
    told = json.loads(done.stdout)
    assert set(told) == {"systemMessage", "hookSpecificOutput"}
    assert set(told["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert told["hookSpecificOutput"]["hookEventName"] == "PreToolUse"
    first, trap, why = told["hookSpecificOutput"]["additionalContext"].splitlines()
    assert first == "Ireneo, from earlier runs:"
    assert trap == "trap: `make integration` fails with “connection refused”; instead: run `make db` first"
    assert why.startswith("why: “It needs a database” · seen in 3 of 3 runs; last in March 2026 · lesson m_")
    assert told["systemMessage"] == f"ireneo: {trap}"
    assert done.stderr == ""


def test_the_hook_says_nothing_of_what_it_does_not_know(db: Path) -> None:
    assert said_of(run("hook", "--db", db, given=asked("Bash", {"command": "cargo bench"}))) == ""
    assert said_of(run("hook", "--db", db, given=asked("Bash", {"command": TEST}, cwd="/home/ann/work/osprey"))) == ""


@pytest.mark.parametrize(("blocks", "speaks"), [(FAILED_ONCE, False), (DATABASE_UP, False), (ELSEWHERE, True)])
def test_the_session_so_far_is_read_from_its_transcript(
    db: Path, tmp_path: Path, blocks: tuple[tuple[str, Any], ...], *, speaks: bool
) -> None:
    path = transcript(tmp_path, *blocks)
    given = asked("Bash", {"command": TEST}, transcript_path=str(path))
    assert bool(said_of(run("hook", "--db", db, given=given))) == speaks


def test_only_the_end_of_a_long_transcript_is_read(db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ireneo.guard.TRANSCRIPT_BYTES", 900)
    words = [("user", f"Word {number}. " * 20) for number in range(40)]
    path = transcript(tmp_path, *words, *FAILED_ONCE)
    given = asked("Bash", {"command": TEST}, transcript_path=str(path))
    assert run("hook", "--db", db, given=given).stdout == ""
    path = transcript(tmp_path, *FAILED_ONCE, *words)
    assert run("hook", "--db", db, given=given).stdout != ""


def test_what_the_transcript_shows_as_told_is_not_told_again(db: Path, tmp_path: Path) -> None:
    said = said_of(run("hook", "--db", db, given=asked("Bash", {"command": TEST})))
    path = transcript(tmp_path, ("user", f"<system-reminder>{said}</system-reminder>"))
    given = asked("Bash", {"command": TEST}, transcript_path=str(path))
    assert said_of(run("hook", "--db", db, given=given)) == ""


@pytest.mark.parametrize("given", [b"", b"[1]", b'{"tool_input": {}}', b"\xff"])
def test_the_hook_never_fails_for_what_it_is_told(db: Path, given: bytes) -> None:
    done = run("hook", "--db", db, given=given)
    assert done.stdout == ""
    assert "standard input is not a" in done.stderr
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
    assert "Nothing was looked up" in done.stderr


def test_the_hook_reads_while_another_writes(db: Path) -> None:
    other = sqlite3.connect(db, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        assert "make db" in run("hook", "--db", db, given=asked("Bash", {"command": TEST})).stdout
    finally:
        other.close()


def test_a_transcript_that_is_broken_or_missing_is_passed_over(db: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(b"{\n\xff\n[]\n")
    for path in (broken, tmp_path / "none.jsonl", tmp_path):
        given = asked("Bash", {"command": TEST}, transcript_path=str(path))
        assert "make db" in said_of(run("hook", "--db", db, given=given))


def test_it_is_asked_by_hand(db: Path) -> None:
    said = run("check", "Bash", TEST, "--project", "cli", "--db", db).stdout
    assert said.startswith("trap: `make integration` fails with “connection refused”; instead: run `make db` first\n")
    told = json.loads(run("check", "Bash", json.dumps({"command": TEST}), "-p", "cli", "--json", "--db", db).stdout)
    assert told["way_out"] == "run `make db` first"
    assert (told["runs"], told["of"], told["last"]) == (3, 3, "2026-03-01")
    assert run("check", "Bash", "cargo bench", "--db", db).stdout == "Nothing is known about it.\n"
    assert json.loads(run("check", "Bash", "cargo bench", "--json", "--db", db).stdout) is None
    assert "Name the tool" in run("check", "--db", db, ends=2).stderr


@pytest.mark.parametrize(
    "given",
    [
        b'{"tool_name": "Bash", "tool_input": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
        b'{"tool_name": "\xff\xfe", "tool_input": {}}',
        b'{"tool_input": {"command": "ls"}, "cwd": 3}',
    ],
)
def test_whatever_it_is_told_it_does_not_fail(db: Path, given: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer_hook(given, db, "default") == ""
    assert capsys.readouterr().err.startswith("ireneo: ")


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["hook"], (None, "default")),
        (["hook", "--db", "a.db", "--space=ann"], ("a.db", "ann")),
        (["hook", "--help"], None),
        (["hook", "--db"], None),
        (["check", "--hook"], (None, "default")),
        (["check", "--db", "a.db", "--hook", "--space", "ann"], ("a.db", "ann")),
        (["check", "--hook", "--db=a.db"], ("a.db", "default")),
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
    assert hook_options(arguments) == meant


def test_the_hook_is_answered_alike_by_the_command_line(db: Path) -> None:
    given = asked("Bash", {"command": TEST})
    plain = run("hook", "--db", db, given=given).stdout
    assert plain
    assert run("check", "--hook", "--db", db, given=given).stdout == plain
    assert run("check", "--hook", "--json", "--db", db, given=given).stdout == plain
    assert run("hook", "--space", "default", f"--db={db}", given=given).stdout == plain


def start(**about: object) -> bytes:
    told = {"session_id": "s1", "cwd": "/home/ann/work/cli", "hook_event_name": "SessionStart", "source": "startup"}
    return json.dumps({**told, **about}).encode()


@pytest.mark.parametrize("source", ["startup", "resume", "compact", "clear"])
def test_a_session_begins_with_what_earlier_runs_taught(db: Path, source: str) -> None:
    done = run("hook", "--db", db, given=start(source=source))
    told = json.loads(done.stdout)
    assert set(told) == {"hookSpecificOutput"}
    assert told["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    said = told["hookSpecificOutput"]["additionalContext"]
    assert "run `make db` first" in said
    assert len(said.splitlines()) <= 20


def test_damaged_kept_traps_cost_the_hook_a_line_and_no_session_its_brief(db: Path) -> None:
    given = asked("Bash", {"command": TEST})
    assert said_of(run("hook", "--db", db, given=given))
    brief = run("hook", "--db", db, given=start()).stdout
    with closing(sqlite3.connect(db)) as connection:
        connection.execute("UPDATE traps SET record = '{'")
        connection.commit()
    done = run("hook", "--db", db, given=given)
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
    assert "`ireneo doctor` lists what" in done.stderr
    assert run("hook", "--db", db, given=start()).stdout == brief != ""


def test_a_session_begins_with_fifteen_lessons_at_most() -> None:
    brief = "\n".join(("[BRIEF] Recalled", "## Lessons", *(f"- lesson {number}" for number in range(20)), "[/BRIEF]"))
    shown = shortened(brief).splitlines()
    assert shown[:3] == ["[BRIEF] Recalled", "## Lessons", "- lesson 0"]
    assert shown[-2:] == ["- lesson 14", "[/BRIEF]"]
    assert shortened("") == ""


def test_a_session_begins_without_a_word_where_there_is_none(db: Path, tmp_path: Path) -> None:
    for given in (start(cwd="/home/ann/work/osprey"), start(cwd="")):
        done = run("hook", "--db", db, given=given)
        assert (done.stdout, done.stderr) == ("", "")
    done = run("hook", given=start(), cwd=tmp_path / "..")
    assert done.stderr == ""

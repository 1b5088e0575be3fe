"""What someone meets in the first hour: ids that open what they name, empty places that say so, and clear refusals."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.agent_log import LOST, MADE, MOON, claude_log
from tests.e2e.pages import ROOT
from tests.e2e.test_cli_command import AGENT, DESK, run

import ireneo


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database of the demo's logs, lessons from them, and a fact that was replaced."""
    folder = tmp_path_factory.mktemp("filled")
    run("learn", AGENT.parent, cwd=folder)
    run("remember", "Anna lives in Porto.", "--at", "2026-03-01", cwd=folder)
    run("remember", "Anna lives in Lisbon.", "--at", "2026-09-01", cwd=folder)
    return folder


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Path:
    """One of its own."""
    shutil.copy(filled / "memory.db", tmp_path)
    return tmp_path


def test_a_memory_opens_with_its_state_its_evidence_and_where_that_comes_from(filled: Path) -> None:
    fact = next(each for each in json.loads(run("history", "Anna", "--json", cwd=filled).stdout))
    shown = run("expand", fact["id"][:9], cwd=filled).stdout
    for said in ("Anna lives in Porto.", "superseded: Since", "from 2026-03-01 to 2026-09-01", "evidence, 1 piece\n"):
        assert said in shown
    instead = re.search(r"instead  (m_\w+)", shown)
    assert instead
    assert "Anna lives in Lisbon." in run("expand", instead[1], cwd=filled).stdout
    lesson = json.loads(run("lessons", "--kind", "failure", "--json", cwd=filled).stdout)[0]
    shown = run("expand", lesson["id"], cwd=filled).stdout
    assert "failure memory" in shown
    sources = re.search(r"open with ((?:m_\w+ ?)+)", shown)
    assert sources
    for source in sources[1].split():
        assert "turn" in run("expand", source, cwd=filled).stdout
    told = json.loads(run("expand", lesson["id"], "--json", cwd=filled).stdout)
    assert told["memory"]["id"] == lesson["id"]
    assert (told["summary"], told["messages"]) == (None, [])


def test_a_pin_and_a_session_open_as_well(folder: Path) -> None:
    pin = json.loads(run("pin", "7c1e", "Never push.", "--json", cwd=folder).stdout)["id"]
    shown = run("expand", pin[:9], cwd=folder).stdout
    assert "Never push." in shown
    assert "pin p_" in shown
    assert "make integration" in run("expand", "a94d", cwd=folder).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("expand", "m_"),
        ("expand", "m_", "--session", "7c1e"),
        ("expand", "s_"),
        ("rewind", "7c1e", "m_"),
        ("fork", "7c1e", "x", "--at", "m_"),
        ("dispute", "7c1e", "s_", "No."),
        ("restore", "m_"),
        ("forget", "--memory", "m_", "--yes"),
        ("forget", "--message", "m_", "--yes"),
    ],
)
def test_what_might_be_several_is_refused_and_some_are_listed(arguments: tuple[str, ...], filled: Path) -> None:
    run("context", "7c1e", "-b", 2000, cwd=filled)
    said = run(*arguments, cwd=filled, ends=2).stderr
    assert "is too short for the id of one" in said
    assert re.search(r": [ms]_\w{7}, [ms]_\w{7}", said)
    assert said.count("\n") == 1


def test_a_session_is_forgotten_by_the_beginning_of_its_id(folder: Path) -> None:
    refused = run("forget", "--session", "7c1e", cwd=folder, ends=2).stderr
    assert "session 7c1e4f52-2b8d-4d0a-9f3e-61b5a0c9d2e8" in refused
    run("forget", "--session", "7c1e", "--yes", cwd=folder)
    assert "7c1e4f52" not in run("sessions", cwd=folder).stdout


def test_a_pin_that_was_released_may_be_released_again(folder: Path) -> None:
    run("pin", "7c1e", "Never push.", cwd=folder)
    first = run("release", "7c1e", "Never pu", cwd=folder).stdout
    assert run("release", "7c1e", "Never pu", cwd=folder).stdout == first
    assert "There is no pin called" in run("release", "7c1e", "Never slee", cwd=folder, ends=2).stderr


async def test_a_session_that_was_only_pinned_is_shown_by_every_command(tmp_path: Path) -> None:
    async with ireneo.open(tmp_path / "memory.db") as memory:
        await (await memory.session("monday")).pin("Never push.")
    assert "by hand, at the start  Never push." in run("pins", "monday", cwd=tmp_path).stdout
    for arguments in (("tree", "monday"), ("context", "monday", "-b", 1000)):
        assert "There is no message here yet." in run(*arguments, cwd=tmp_path).stdout
    assert "before its first message" in run("expand", "p_ne", cwd=tmp_path).stdout
    assert "sound; 1 session with 0 messages was checked." in run("doctor", cwd=tmp_path).stdout
    assert "monday  " in run("sessions", cwd=tmp_path).stdout


def test_empty_places_say_so(tmp_path: Path) -> None:
    run("import", DESK, cwd=tmp_path)
    assert "Say what the task is: --goal" in run("brief", cwd=tmp_path).stdout
    assert "There is no memory to write yet" in run("export", "out", cwd=tmp_path).stdout
    assert "no run yet" in run("report", cwd=tmp_path).stdout
    assert "There are no lessons yet" in run("lessons", cwd=tmp_path).stdout
    done = run("forget", "--subject", "Nobody", "--yes", cwd=tmp_path)
    assert "Nothing is stored of subject Nobody; nothing was deleted." in done.stdout
    checked = run("check", "Bash", "ls", cwd=tmp_path)
    assert checked.stdout == "Nothing is known about it.\n"
    assert "No run was learned from yet" in checked.stderr
    run("remember", "`make deploy` hangs without the VPN.", "--kind", "failure", cwd=tmp_path)
    assert not run("check", "Bash", "ls", cwd=tmp_path).stderr


def test_arguments_that_begin_like_json_and_are_none_are_refused(filled: Path) -> None:
    for damaged in ('{"file_path": "x"', "{bad"):
        assert "look like JSON" in run("check", "Edit", damaged, cwd=filled, ends=2).stderr
    assert run("check", "Bash", "{ ls; }", cwd=filled).stdout


def test_numbers_say_what_they_are_of(tmp_path: Path) -> None:
    for day in range(3):
        told = claude_log(f"harbour-{day}", [LOST, LOST, MOON, MADE], day=day, cwd="/srv/kestrel")
        (tmp_path / f"{day}.jsonl").write_text(told, encoding="utf-8")
    first = run("learn", "0.jsonl", cwd=tmp_path).stdout
    assert "0 new lessons → memory.db" in first, "its error says what to do, and of none seen again nothing is said"
    again = run("learn", ".", cwd=tmp_path).stdout
    assert re.search(r"1 new lesson, and \d times a known one seen again → memory.db", again)
    call = ("check", "Bash", "make tide", "--project", "kestrel")
    said = run(*call, cwd=tmp_path).stdout
    told = json.loads(run(*call, "--json", cwd=tmp_path).stdout)
    assert (told["runs"], told["of"]) == (3, 3)
    assert "seen in 3 of 3 runs; last in February 2026" in said
    # A command alone is one for the shell.
    assert run("check", "make tide", "--project", "kestrel", cwd=tmp_path).stdout == said


def test_one_is_told_as_one_and_a_name_that_is_empty_names_nothing(tmp_path: Path) -> None:
    async def told() -> str:
        async with ireneo.open(tmp_path / "memory.db") as memory:
            session = await memory.session("monday")
            first, _ = (await session.append([{"role": "user", "content": f"Look {n}."} for n in range(2)])).ids
            await session.rewind(first)
            return first

    asyncio.run(told())
    done = run("prune", "monday", "--yes", cwd=tmp_path)
    assert re.search(r"  1 message \(\d+ tokens\) was deleted from monday\.", done.stdout)
    run("remember", "Anna lives in Porto.", cwd=tmp_path)
    for name in ("", "@main"):
        assert "The name of the session is empty" in run("tree", name, cwd=tmp_path, ends=2).stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_demo_of_a_new_clone_waits_for_nothing_that_only_tests_need(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)

    def done_by(target: str) -> str:
        told = subprocess.run(["make", "-n", target], cwd=tmp_path, capture_output=True, text=True, check=True)
        return told.stdout

    shown = done_by("demo")
    assert "Installing the package" in shown
    assert "--group dev" not in shown
    assert "--group dev" in done_by("tests")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "ready").touch()
    assert done_by("demo").split() == [".venv/bin/ireneo", "demo"]

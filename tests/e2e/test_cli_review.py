"""`ireneo review` at a real pseudo-terminal, and by options; and what an export makes of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from time import monotonic

import pytest
from tests.agent_log import MADE, Ran, claude_log
from tests.e2e.test_cli_command import run

GALE = Ran("make sail", "Exit code 1\nmake: no table of the air", failed=True)
WIND, SAILED = Ran("make wind", "wind table written"), Ran("make sail", "sail set")
OAR = Ran("make row", "Exit code 1\nmake: nothing to pull with", failed=True)
OARS, ROWED = Ran("make oar", "oar table written"), Ran("make row", "rowed")
LOST = Ran("make tide", "Exit code 2\nmake: tide table not found, the moon is missing", failed=True)
MOON = Ran("make moon", "moon table written")
OWN = "Set the sail only after make wind."


@pytest.fixture
def taught(tmp_path: Path) -> Path:
    """A database in which runs have taught several lessons."""
    logs = tmp_path / "logs"
    logs.mkdir()
    for day in range(3):
        steps = [LOST, MOON, MADE, GALE, WIND, SAILED, OAR, OARS, ROWED]
        (logs / f"{day}.jsonl").write_text(claude_log(f"harbour-{day}", steps, day=day), encoding="utf-8")
    run("learn", logs, db=tmp_path / "memory.db")
    return tmp_path / "memory.db"


def lessons_of(db: Path) -> dict[str, str]:
    return {each["id"]: each["lesson"] for each in json.loads(run("lessons", "--json", db=db).stdout)}


def states_of(db: Path) -> list[str]:
    return sorted(each["reviewed"] for each in json.loads(run("lessons", "--json", db=db).stdout))


class Terminal:
    """A command at a pseudo-terminal: what it shows, and keys for it."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self.shown = ""

    def wait(self, for_: str) -> str:
        """Read until `for_` is shown; gives what came since the last time."""
        begin, until = len(self.shown), monotonic() + 20
        while for_ not in self.shown[begin:]:
            ready, _, _ = select([self._handle], [], [], max(until - monotonic(), 0))
            assert ready, f"{for_!r} does not come; there is\n{self.shown[begin:]}"
            try:
                self.shown += os.read(self._handle, 4096).decode(errors="replace")
            except OSError:
                break
        assert for_ in self.shown[begin:]
        return self.shown[begin:]

    def press(self, keys: str) -> None:
        os.write(self._handle, keys.encode())


@contextmanager
def at_terminal(*given: object) -> Iterator[Terminal]:
    import pty

    handle, end = pty.openpty()
    command = [sys.executable, "-m", "ireneo", *map(str, given)]
    with subprocess.Popen(command, stdin=end, stdout=end, stderr=end, env={**os.environ, "COLUMNS": "200"}) as process:
        os.close(end)
        try:
            yield Terminal(handle)
        finally:
            process.terminate()
    os.close(handle)


unix = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


@unix
def test_one_key_each_keeps_drops_and_leaves_for_later(taught: Path) -> None:
    before = lessons_of(taught)
    assert len(before) >= 3
    with at_terminal("review", "--db", taught) as terminal:
        first = terminal.wait("q quit")
        (count,) = re.findall(r"1 of (\d+)", first)
        assert "harbour" in first
        assert "seen in 3 of 3 runs; last in February 2026" in first
        assert "table" in first, "the passages that show it"
        terminal.press("x\x1b[D")
        terminal.press("k")
        assert "→ kept" in terminal.wait("q quit")
        terminal.press("d")
        assert "→ dropped" in terminal.wait("q quit")
        terminal.press("q")
        terminal.wait("1 kept, 1 dropped")
    after = lessons_of(taught)
    states = states_of(taught)
    assert states.count("kept") == 1
    assert states.count("dropped") >= 1, "with what says the same in other words"
    assert after.keys() == before.keys(), "dropped ones are listed as such"
    assert len(json.loads(run("review", "--keep", next(iter(after)), "--json", db=taught).stdout)) == 1
    with at_terminal("review", "--db", taught) as terminal:
        assert f"1 of {int(count) - 2}" in terminal.wait("q quit"), "what was said is not asked again"
        terminal.press("s" * int(count))
        assert "→ later" in terminal.wait("Nothing was reviewed")


@unix
def test_the_words_stand_there_to_be_changed(taught: Path) -> None:
    with at_terminal("review", "--db", taught) as terminal:
        terminal.wait("q quit")
        terminal.press("e")
        terminal.wait("new words: ")
        terminal.press("\x15" + OWN + "\r")
        terminal.wait("→ kept in your words")
        terminal.press("q")
        terminal.wait("1 reworded")
    assert OWN in lessons_of(taught).values()
    listed = run("lessons", db=taught).stdout
    assert "in your words" in listed
    assert "seen in 3 of 3 runs" in listed, "its evidence stays"


def test_without_a_terminal_options_say_it(taught: Path, tmp_path: Path) -> None:
    first, second, *_ = lessons_of(taught)
    assert "nobody to ask" in run("review", ends=2, db=taught).stderr
    assert "stays" in run("review", "--edit", first, "--text", OWN, db=taught).stdout
    assert "no longer shown" in run("review", "--drop", second, "--reason", "We row by hand.", db=taught).stdout
    assert "There is no lesson" in run("review", "--drop", "m_nothing", ends=2, db=taught).stderr
    assert "new words" in run("review", "--edit", first, ends=2, db=taught).stderr
    log = claude_log("harbour-9", [LOST, MOON, MADE, GALE, WIND, SAILED, OAR, OARS, ROWED], day=9)
    (tmp_path / "later.jsonl").write_text(log, encoding="utf-8")
    run("learn", tmp_path / "later.jsonl", db=taught)
    agents = tmp_path / "AGENTS.md"
    run("lessons", "--export", agents, db=taught)
    text = agents.read_text(encoding="utf-8")
    assert OWN.rstrip(".") in text
    listed = {each["id"]: each for each in json.loads(run("lessons", "--json", db=taught).stdout)}
    assert (listed[first]["lesson"], listed[first]["seen"], listed[first]["reviewed"]) == (OWN, 4, "edited")
    assert listed[second]["reviewed"] == "dropped"
    assert listed[second]["lesson"].rstrip(".") not in text
    assert "We row by hand" in listed[second]["against"][0]
    assert "We row by hand" not in run("lessons", db=taught).stdout
    assert "We row by hand" in run("lessons", "--all", db=taught).stdout


def test_a_difference_is_shown_and_nothing_written(taught: Path, tmp_path: Path) -> None:
    agents = tmp_path / "AGENTS.md"
    agents.write_text("# Ours\n", encoding="utf-8")
    shown = run("lessons", "--export", agents, "--diff", db=taught)
    assert shown.stdout.startswith(f"--- {agents}")
    assert "\n+### Traps\n" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert "would put" in shown.stderr
    assert agents.read_text(encoding="utf-8") == "# Ours\n"
    assert "name the file" in run("lessons", "--diff", ends=2, db=taught).stderr
    (tmp_path / "CLAUDE.md").write_text("\n".join(lessons_of(taught).values()), encoding="utf-8")
    assert "0 lessons" in run("lessons", "--export", agents, db=taught).stderr, "all of it stands in CLAUDE.md"
    assert "No lesson matches that" in run("lessons", "--since", "2026-03-01", db=taught).stdout


@unix
def test_a_difference_has_colours_at_a_terminal(taught: Path, tmp_path: Path) -> None:
    with at_terminal("lessons", "--export", tmp_path / "AGENTS.md", "--diff", "--db", taught) as terminal:
        assert "\x1b[" in terminal.wait("would put")

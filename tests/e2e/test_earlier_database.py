"""A database that an earlier version wrote is opened, shows what it showed, and is sound afterwards.

The file holds a desk assistant's sessions, an agent's run that was learned from, a story with its summaries, memories
of which one took another's place, a pin, a scratchpad and a second branch. It was written before claims were known by
codes; `expected` beside it is what that version answered.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest
from tests.e2e.test_cli_command import run

DATA = Path(__file__).parents[1] / "data"
EXPECTED: dict[str, list[str]] = json.loads((DATA / "before_codes.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("earlier")
    (folder / "memory.db").write_bytes(lzma.decompress((DATA / "before_codes.db.xz").read_bytes()))
    return folder


def test_it_is_brought_up_to_date(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    file.write_bytes(lzma.decompress((DATA / "before_codes.db.xz").read_bytes()))
    before = file.read_bytes()
    looked = json.loads(run("migrate", "--dry-run", "--json", cwd=tmp_path).stdout)
    assert looked["before"] < looked["after"]
    assert len(looked["applied"]) == looked["after"] - looked["before"]
    assert "would go from" in run("migrate", "--dry-run", cwd=tmp_path).stdout
    assert file.read_bytes() == before
    told = run("migrate", cwd=tmp_path).stdout.lstrip()
    assert told == f"memory.db went from {looked['before']} to {looked['after']}: {', '.join(looked['applied'])}.\n"
    assert run("migrate", cwd=tmp_path).stdout.lstrip() == f"memory.db is up to date at {looked['after']}.\n"


@pytest.mark.parametrize("command", EXPECTED)
def test_it_shows_what_it_showed(folder: Path, command: str) -> None:
    shown = run(*command.split(), cwd=folder).stdout
    assert shown.splitlines() == EXPECTED[command]


def test_what_runs_taught_is_learned_on_from(folder: Path) -> None:
    before = run("lessons", "--json", cwd=folder).stdout
    assert "make db" in before
    run("learn", cwd=folder)
    now = [each["lesson"] for each in json.loads(run("lessons", "--json", cwd=folder).stdout)]
    assert [each for each in now if each.startswith("When `make integration` fails with")]
    assert not [each for each in now if "; then it passed" in each], "what older rules told is taken back"
    run("learn", cwd=folder)
    assert [each["lesson"] for each in json.loads(run("lessons", "--json", cwd=folder).stdout)] == now


def test_it_is_sound(folder: Path) -> None:
    assert "sound; 4 sessions with 112 messages were checked." in run("doctor", cwd=folder).stdout

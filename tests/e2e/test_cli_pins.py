"""What is noted by hand: pins stand in every context until they are released, and a wrong block is marked."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_cli_command import AGENT, DESK, answer, run

RULE = "Never bump the version by yourself."


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("imported")
    run("import", AGENT, DESK, cwd=folder)
    return folder


@pytest.fixture
def folder(imported: Path, tmp_path: Path) -> Path:
    """A folder with a database of its own."""
    shutil.copy(imported / "memory.db", tmp_path)
    return tmp_path


def context(folder: Path, budget: int, session: str = "7c1e") -> dict[str, Any]:
    cut = answer("context", session, "-b", budget, cwd=folder)
    assert isinstance(cut, dict)
    assert cut["tokens"] <= budget
    return cut


def pins(folder: Path, session: str = "7c1e") -> list[dict[str, Any]]:
    listed = answer("pins", session, cwd=folder)
    assert isinstance(listed, list)
    return listed


def words(text: str) -> str:
    """A screen without its line breaks."""
    return " ".join(text.split())


def test_a_pin_stands_until_it_is_released(folder: Path) -> None:
    said = run("pin", "7c1e", f"  {RULE}\n", cwd=folder).stdout
    found = re.search(r"as (p_\w{7}): (.*)\n", said)
    assert found
    assert found[2] == RULE
    for budget in (500, 2000, 50_000):
        cut = context(folder, budget)
        assert RULE in json.dumps(cut["messages"])
        assert sum(row["covers"] for row in cut["view"]) == 59
    assert RULE in run("context", "7c1e", "-b", 2000, cwd=folder).stdout
    (mine,) = [pin for pin in pins(folder) if pin["by_hand"]]
    assert mine["id"].startswith(found[1])
    assert mine["text"] == RULE
    assert RULE in run("release", "7c1e", found[1], cwd=folder).stdout
    assert not any(pin["by_hand"] for pin in pins(folder))
    for budget in (500, 2000, 50_000):
        assert RULE not in json.dumps(context(folder, budget)["messages"])


def test_pins_are_listed_with_where_they_come_from(folder: Path) -> None:
    run("pin", "7c1e", RULE, cwd=folder)
    listed = pins(folder)
    assert all(set(pin) == {"id", "text", "source", "by_hand", "role", "turn"} for pin in listed)
    shown = run("pins", "7c1e", cwd=folder).stdout
    assert shown.splitlines()[0].split()[:3] == ["id", "set", "by"]
    for pin in listed:
        assert pin["id"][:9] in shown
    assert words(listed[0]["text"])[:40] in words(shown)
    assert re.search(rf"p_\w{{7}} +by hand, turn 5 +{RULE}", shown)
    assert "user, turn 1" in shown
    assert "system, turn 0" in run("pins", "reed-valve-0413", cwd=folder).stdout


def test_no_id_releases_more_than_was_meant(tmp_path: Path) -> None:
    rules = "Never touch the migrations. Keep the public names stable. What is still open?"
    (tmp_path / "rules.json").write_text(json.dumps([{"role": "user", "content": rules}]))
    run("import", "rules.json", cwd=tmp_path)
    listed = pins(tmp_path, "rules")
    shared = listed[0]["id"]
    assert [pin["id"] for pin in listed] == [shared, shared]
    said = run("release", "rules", shared, cwd=tmp_path, ends=2).stderr
    assert "2 pins are called" in said
    assert "give the words of one" in said
    assert pins(tmp_path, "rules") == listed
    run("release", "rules", listed[0]["text"][:20], cwd=tmp_path)
    assert pins(tmp_path, "rules") == listed[1:]


def test_a_pin_belongs_to_its_branch(folder: Path) -> None:
    place = context(folder, 50_000)["view"][14]["id"]
    run("fork", "7c1e", "other", "--at", place, cwd=folder)
    run("pin", "7c1e", RULE, cwd=folder)
    assert RULE in json.dumps(context(folder, 2000)["messages"])
    assert RULE not in json.dumps(context(folder, 2000, "7c1e@other")["messages"])
    assert not any(pin["by_hand"] for pin in pins(folder, "7c1e@other"))


def test_a_session_without_pins_says_so(tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_text(json.dumps([{"role": "user", "content": "Hello"}]))
    run("import", "chat.json", cwd=tmp_path)
    assert run("pins", "chat", cwd=tmp_path).stdout == "There is no pin in chat.\n"
    assert answer("pins", "chat", cwd=tmp_path) == []


def test_a_disputed_block_is_marked(folder: Path) -> None:
    block = max((row for row in context(folder, 2000)["view"] if row["what"] == "summary"), key=lambda r: r["covers"])
    said = run("dispute", "7c1e", block["id"][:9], "The table was never changed.", cwd=folder).stdout
    assert "(`ireneo summarise SESSION --budget TOKENS --model NAME`)." in said
    assert "is shown as disputed" in said
    doubted = [row for row in context(folder, 2000)["view"] if row["disputed"]]
    assert [row["disputed"] for row in doubted] == ["The table was never changed."]
    shown = run("context", "7c1e", "-b", 2000, cwd=folder).stdout
    assert "goal batch, disputed" in shown
    assert "d disputed blocks" in shown
    bar = next(line for line in shown.splitlines() if line.startswith("  session"))
    assert "ddd" in bar


def test_one_claim_may_be_disputed(folder: Path) -> None:
    block = next(row for row in context(folder, 2000)["view"] if row["what"] == "summary" and row["level"] == "turn")
    shown = next(line for line in block["text"].splitlines() if line.startswith("- ") and line[-1] != ":")
    claim = shown.removeprefix("- ")
    done = run("dispute", "7c1e", block["id"], "It failed.", "--claim", shown, cwd=folder)
    assert f"“{shown}” in {block['id'][:9]}" in done.stdout
    assert f"{claim} (disputed)" in json.dumps(context(folder, 2000)["messages"], ensure_ascii=False)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("pin", "7c1e", "  "), "There is nothing to pin"),
        (("pin", "gone", RULE), "There is no session 'gone'"),
        (("pins", "gone"), "There is no session 'gone'"),
        (("pins", "7c1e", "--db", "gone.db"), "There is no database gone.db"),
        (("release", "7c1e", "p_2345678"), "There is no pin called 'p_2345678' in session 7c1e4f52"),
        (("release", "7c1e", ""), "There is no pin called ''"),
        (("dispute", "7c1e", "s_2345678", "It is wrong."), "There is no summary s_2345678 in session 7c1e4f52"),
    ],
)
def test_bad_input_gets_one_sentence(arguments: tuple[str, ...], sentence: str, folder: Path) -> None:
    done = run(*arguments, cwd=folder, ends=2)
    assert done.stdout == ""
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_dispute_needs_a_reason_and_words_that_stand_there(folder: Path) -> None:
    block = next(row for row in context(folder, 2000)["view"] if row["what"] == "summary")
    assert "Say why the summary is disputed" in run("dispute", "7c1e", block["id"], " ", cwd=folder, ends=2).stderr
    claimed = run("dispute", "7c1e", block["id"], "No.", "--claim", "pigs fly", cwd=folder, ends=2)
    assert "doesn't say “pigs fly”" in claimed.stderr

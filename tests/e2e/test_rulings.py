"""What a user rules in several sessions is one lesson, and the first; what is taken back is no longer shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.agent_log import LOST, MADE, Ran, claude_log
from tests.e2e.test_cli_command import run

WORK = [Ran("ls tides", "tide.py")]
FAILS = [LOST, MADE, Ran("bin/tide", "high water 10:12")] * 3
SAID = [
    "Follow-up issues go to Linear, project Troy.",
    "No, follow-ups always belong in Linear, in project Troy.",
    "I told you: follow-up issues go into the Troy project in Linear.",
    "Please never open GitHub issues for follow-ups, put follow-up issues into Linear (project Troy).",
    "Follow-ups go to Linear, please use the project Troy.",
]
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def lessons_of(tmp_path: Path, logs: list[str], *more: str, turned: bool = False) -> list[dict[str, object]]:
    """The lessons that these sessions teach, learned one after the other."""
    place = tmp_path / ("turned.db" if turned else "told.db")
    for number, log in enumerate(reversed(logs) if turned else logs):
        path = tmp_path / f"{turned}{number}.jsonl"
        path.write_text(log, encoding="utf-8")
        run("learn", str(path), "--db", str(place), cwd=tmp_path)
    shown = json.loads(run("lessons", "--db", str(place), "--json", *more, cwd=tmp_path).stdout)
    return list(shown["lessons"] if isinstance(shown, dict) else shown)


@pytest.mark.parametrize("turned", [False, True])
def test_one_ruling_told_five_times_in_other_words_is_one_lesson_and_the_first(tmp_path: Path, turned: bool) -> None:
    logs = [claude_log(f"s{day}", FAILS, day=day, then=words) for day, words in enumerate(SAID)]
    first, *others = lessons_of(tmp_path, logs, turned=turned)
    assert "Linear" in str(first["lesson"])
    assert first["seen"] == len(SAID)
    assert not [each for each in others if "Linear" in str(each["lesson"])]


def test_a_ruling_that_a_later_session_takes_back_is_told_no_more(tmp_path: Path) -> None:
    rule = claude_log("one", WORK, then="Never push without asking me.")
    lifted = claude_log("two", WORK, day=3, then="You may push without asking again from now on.")
    assert [each["lesson"] for each in lessons_of(tmp_path, [rule])] == ["Never push without asking me."]
    for turned in (False, True):
        assert lessons_of(tmp_path, [rule, lifted], turned=turned) == []


def test_what_was_said_once_and_may_be_of_its_task_is_kept_for_a_review_and_told_once_it_is_said_again(
    tmp_path: Path,
) -> None:
    rule = "I think we should never draw the buoys on harbour pages."
    once, again = claude_log("one", WORK, then=rule), claude_log("two", WORK, day=3, then=f"As I said: {rule}")
    assert lessons_of(tmp_path, [once]) == []
    (kept,) = lessons_of(tmp_path, [once], "--all")
    assert (kept["lesson"], kept["standing"]) == (rule, "said once, in February 2026")
    place = ("--db", str(tmp_path / "told.db"))
    assert str(kept["id"]) in run("review", "--json", *place, cwd=tmp_path).stdout
    goal = ("brief", "--project", str(kept["project"]), "--goal", "Draw the buoys of the harbour")
    assert rule.rstrip(".") not in run(*goal, *place, cwd=tmp_path).stdout
    (told,) = lessons_of(tmp_path, [once, again])
    assert told["seen"] == 2
    assert rule.rstrip(".") in run(*goal, *place, cwd=tmp_path).stdout


def test_a_ruling_gives_way_to_its_contrary_of_a_later_session(tmp_path: Path) -> None:
    old = claude_log("one", WORK, then="Always use npm instead of yarn.")
    new = claude_log("two", WORK, day=3, then="From now on use yarn instead of npm.")
    for turned in (False, True):
        assert [each["lesson"] for each in lessons_of(tmp_path, [old, new], turned=turned)] == [
            "From now on use yarn instead of npm."
        ]


def test_a_refusal_is_no_lesson_of_a_failure(tmp_path: Path) -> None:
    refused = [Ran("bin/release --all", REFUSED, failed=True)] * 3
    (lesson,) = lessons_of(tmp_path, [claude_log(f"r{day}", refused, day=day) for day in range(3)])
    assert lesson["lesson"] == "Ask the user before you run `release`."

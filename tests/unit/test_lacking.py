"""Which tests of a project take too long, and what a commit runs there."""

from __future__ import annotations

from tests.golden.material import run
from tests.unit.lesson_runs import a_run, observations

from ireneo.lessons.lessons import is_worth_a_lesson
from ireneo.lessons.run import Observation
from ireneo.log.message import Draft

LATE = "ran for 60 seconds\nCommand timed out after 60 seconds"


def facts(sort: str, *drafts: list[Draft], runs: int = 2) -> list[Observation]:
    seen = observations(*(a_run(*drafts, session=f"run{number}") for number in range(runs)))
    return next((each for cue, each in seen.items() if f"<{sort}>" in cue), [])


def test_tests_that_run_into_the_time_limit_are_told_with_their_file() -> None:
    seen = facts("slow", run("pytest tests/test_rows.py", LATE, failed=True))
    assert is_worth_a_lesson(seen)
    said = "`pytest` on `tests/test_rows.py` ends with “Command timed out after 60 seconds”"
    assert seen[0].text == f"{said}: run single tests there."
    assert not facts("slow", run("pytest tests/test_rows.py", "12 passed"))


HOOK = "$ runner check src\n12 rows\n$ typer --strict\nrows.ts: wrong type"


def test_what_a_commit_runs_is_told_where_it_refused_one() -> None:
    refused = run(
        "git add . && git commit -m a", f"Exit code 1\n{HOOK}\nhusky - pre-commit script failed (code 2)", failed=True
    )
    seen = facts("hook", refused)
    assert seen[0].text == (
        "A commit here runs `runner check src` and `typer --strict`, and fails where one of them does: run them before."
    )
    assert is_worth_a_lesson(seen)
    assert not is_worth_a_lesson(seen[:1])
    staged = "Exit code 1\n[STARTED] Running tasks...\n[STARTED] rows --strict\n[FAILED] rows --strict [FAILED]"
    (one, _) = facts("hook", run("git commit -m a", staged, failed=True))
    assert one.text == "A commit here runs `rows --strict`, and fails where it does: run it before."
    mending = run("git commit -m a", staged.replace("--strict", "--fix"), failed=True)
    assert not facts("hook", mending)
    assert not facts("hook", run("git commit -m a", f"{HOOK}\n[main 1a2b3c] a"))
    assert not facts("hook", run("git commit -m a", "Exit code 1\nnothing to commit", failed=True))

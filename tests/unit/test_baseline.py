"""What fails without a run's changes too is told, as far as the run showed it."""

from __future__ import annotations

import pytest
from tests.unit.lesson_runs import a_run, edit_of, observations, run

from ireneo.lessons.baseline import BASELINE
from ireneo.log.message import Draft

FAILS = "FAILED tests/test_rows.py::test_names - UnicodeError: no such code\n1 failed, 11 passed"
OTHERS = "FAILED tests/test_pages.py::test_turns\n1 failed, 11 passed"
OK = "12 passed"


def edit(path: str) -> list[Draft]:
    return edit_of(path, f"{path} was updated.")


def told(*drafts: list[Draft]) -> list[str]:
    seen = observations(a_run(*drafts))
    return [each[0].text for cue, each in seen.items() if BASELINE in cue]


def fails(command: str = "pytest tests", output: str = FAILS) -> list[Draft]:
    return run(command, output, failed=True)


@pytest.mark.parametrize(
    ("aside", "back"),
    [
        (run("git stash", "Saved"), run("git stash pop", "Dropped")),
        (run("git checkout src/rows.py", "Updated"), edit("src/rows.py")),
        (run("git restore .", ""), edit("src/rows.py")),
        (run("mv src/rows.py.bak src/rows.py", ""), edit("src/rows.py")),
    ],
)
def test_a_test_that_fails_with_the_changes_put_aside_too_is_told(aside: list[Draft], back: list[Draft]) -> None:
    (text,) = told(edit("src/rows.py"), fails(), aside, fails(), back)
    assert text.startswith("`pytest` fails without any change too, in `tests/test_rows.py::test_names`")
    assert "don't look for the cause in your change" in text


def test_the_changes_may_be_put_aside_in_the_same_call() -> None:
    assert told(edit("src/rows.py"), fails(), fails("git stash && pytest tests; git stash pop"))


@pytest.mark.parametrize(
    "drafts",
    [
        [edit("src/rows.py"), fails(), fails()],
        [edit("src/rows.py"), fails(), run("git stash", "Saved"), fails(output=OTHERS)],
        [edit("src/rows.py"), fails(), run("git stash", "Saved"), run("git stash pop", "Dropped"), fails()],
        [edit("src/rows.py"), edit("src/pages.py"), fails(), run("git checkout src/rows.py", ""), fails()],
        [edit("src/rows.py"), fails(), run("git stash", ""), run("python mend.py", "done"), fails()],
        [
            edit("src/rows.py"),
            fails(),
            run("git stash", ""),
            fails(),
            run("git stash pop", ""),
            run("pytest tests", OK),
        ],
        [run("git stash", "Saved"), fails(), run("git stash pop", "Dropped")],
    ],
    ids=["not aside", "another test", "back already", "partly", "a script ran", "mended", "only without"],
)
def test_else_it_is_not(drafts: list[list[Draft]]) -> None:
    assert not told(*drafts)

"""What a failure says itself warns whoever is about to run into it, and is told to nobody else."""

from __future__ import annotations

import pytest
from tests.golden.material import run, user
from tests.unit.lesson_runs import a_run, no_pytest, observations

from ireneo.lessons.lessons import is_obvious, is_worth_a_lesson
from ireneo.lessons.run import Observation
from ireneo.log.message import Draft

OK = "12 passed"
USAGE = "unknown flag: --stat\n\nUsage: gh pr diff [flags]\n  --name-only  Display only names"


def way_out(*drafts: list[Draft], runs: int = 2) -> list[Observation]:
    seen = observations(
        *(a_run(user(f"Mend row {number}."), *drafts, session=f"run{number}") for number in range(runs))
    )
    (claim,) = (each for cue, each in seen.items() if each[0].text)
    return claim


@pytest.mark.parametrize(
    "drafts",
    [
        (run("gh pr diff 7 --stat", USAGE, failed=True), run("gh pr diff 7 --name-only", "rows.py")),
        (run("lint rows", "rows.py:4: not formatted (rowfmt)", failed=True), run("rowfmt -w rows.py && lint rows", OK)),
        (run("cat -A rows.txt", "cat: illegal option -- A", failed=True), run("cat -v rows.txt", "rows")),
    ],
)
def test_what_the_failure_names_is_known_and_not_told(drafts: tuple[list[Draft], ...]) -> None:
    seen = way_out(*drafts)
    assert is_worth_a_lesson(seen)
    assert is_obvious(seen)


def test_what_the_failure_does_not_name_is_told() -> None:
    seen = observations(*(a_run(no_pytest(), session=name) for name in ("one", "two")))
    assert not is_obvious(seen["pytest ⇒ <any> → use:bin/test"])


def test_what_run_after_run_falls_into_is_told_although_it_says_so_itself() -> None:
    drafts = run("gh pr diff 7 --stat", USAGE, failed=True), run("gh pr diff 7 --name-only", "rows.py")
    assert is_obvious(way_out(*drafts, runs=4))
    assert not is_obvious(way_out(*drafts, runs=5))


def test_a_variable_that_has_to_be_set_is_told() -> None:
    drafts = run("pack", "error: LEDGER_KEY is not set", failed=True), run("LEDGER_KEY=rows pack", OK)
    assert not is_obvious(way_out(*drafts))


def test_a_file_with_another_ending_is_left_to_the_guard() -> None:
    lost = run("cat .ship.yml", "cat: .ship.yml: No such file or directory", failed=True)
    found = run("cat .ship.yaml", "formats: [tar]")
    assert is_obvious(way_out(lost, found, runs=1))
    named = run("cat .ship.yml", "No such file: .ship.yml. Did you mean .ship.yaml?", failed=True)
    assert not [each for each in observations(a_run(named, found)).values() if each[0].text]

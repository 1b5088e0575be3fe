"""Programs that were started another way, and flags that they refuse."""

from __future__ import annotations

from tests.golden.material import run, user
from tests.unit.lesson_runs import a_run
from tests.unit.test_claims_of_runs import told

from ireneo.lessons.shell import RunMaterial

LINT = "[lint] $ linter\nledger/{}:7:3: error is not nil (line 5) but it returns nil (nilerr)"
OK = "0 issues."


def test_a_flag_that_the_program_refuses_is_told_once_however_often_it_was_met() -> None:
    def unknown(session: str) -> RunMaterial:
        lost = run("git show HEAD --no-stat", "Exit code 128\nfatal: unrecognized argument: --no-stat", failed=True)
        return a_run([*user("Show it."), *lost, *run("git show HEAD", "commit 1")], session=session)

    (once,) = told(unknown("a"))
    assert told(unknown("a"), unknown("b")) == [once]

"""Programs that were started another way, and flags that they refuse."""

from __future__ import annotations

from tests.golden.material import run, user
from tests.unit.lesson_runs import a_run
from tests.unit.test_claims_of_runs import told

from ireneo.lessons.shell import RunMaterial

LINT = "[lint] $ linter\nledger/{}:7:3: error is not nil (line 5) but it returns nil (nilerr)"
OK = "0 issues."


def test_a_program_that_could_not_be_started_was_started_another_way() -> None:
    def missing(session: str) -> RunMaterial:
        lost = run("python3 -m pytest tests/a.py", "/usr/bin/python3: No module named pytest", failed=True)
        return a_run([*user("Mend it."), *lost, *run("pytest tests/a.py", "3 passed in 0.1s")], session=session)

    assert told(missing("a"), missing("b")) == [
        "When `python3 -m pytest` fails with “No module named pytest”, use `pytest`."
    ]


def test_a_flag_that_the_program_refuses_is_told_once_however_often_it_was_met() -> None:
    def unknown(session: str) -> RunMaterial:
        lost = run("git show HEAD --no-stat", "Exit code 128\nfatal: unrecognized argument: --no-stat", failed=True)
        return a_run([*user("Show it."), *lost, *run("git show HEAD", "commit 1")], session=session)

    (once,) = told(unknown("a"))
    assert told(unknown("a"), unknown("b")) == [once]


def test_a_step_of_a_line_that_was_written_otherwise() -> None:
    def shown(session: str, *flags: str) -> RunMaterial:
        line, said = "sed -n '3,5p' src/rows.py | cat {}", "cat: illegal option -- A\nusage: cat [-belnstuv] [file ...]"
        lost = run(line.format("-A"), f"Exit code 1\n{said}", failed=True)
        return a_run([*user("Mend it."), *lost, *run(line.format(" ".join(flags)), "^Ia = 1$")], session=session)

    (lesson,) = told(shown("a", "-vet"), shown("b", "-e", "-t", "-v"))
    assert lesson.startswith("When `cat` fails with “")
    assert lesson.endswith(" in place of `-A`.")

"""What was written in run after run to get over the same failure, and programs that were started another way."""

from __future__ import annotations

import pytest
from tests.golden.material import edit, run, user
from tests.unit.lesson_runs import NOW, a_run, observations
from tests.unit.test_claims_of_runs import told

from ireneo.lessons.lessons import lesson_drafts
from ireneo.lessons.shell import RunMaterial

LINT = "[lint] $ linter\nledger/{}:7:3: error is not nil (line 5) but it returns nil (nilerr)"
OK = "0 issues."


def linted(name: str, *written: str, goal: str = "Mend the import.") -> RunMaterial:
    drafts = user(goal)
    drafts += run("make lint", f"Exit code 1\n{LINT.format(name)}\nmake: *** [lint] Error 1", failed=True)
    for line in written:
        drafts += edit(f"ledger/{name}", "return nil", line)
    return a_run([*drafts, *run("make lint", OK)], session=name)


def test_what_most_runs_wrote_to_get_over_a_finding_is_told() -> None:
    joined = "return errors.Join(err)"
    first, second = linted("rows.go", joined, 'rows.Close("a")'), linted("days.go", joined, 'days.Flush("b")')
    assert told(first) == []
    assert len(told(first, second)) == 1
    (cue,) = (each for each in observations(first) if each.endswith("write"))
    lesson = lesson_drafts(observations(first, second)[cue], None, NOW).drafts[0].text
    assert lesson.startswith("When `make lint` fails with “error is not nil")
    assert lesson.endswith("(nilerr)”, write `errors.Join`.")
    others = [linted(f"{name}.go", f"{name}.Report(err)") for name in ("sums", "years", "accounts")]
    # Most got over it in other ways.
    assert not any("write `errors.Join`" in each for each in told(first, second, *others))


@pytest.mark.parametrize(
    "written",
    [
        ("return nil //nolint:nilerr // reported above", "a comment that silences the rule"),
        ("return nil # noqa: nilerr", "the same in another language"),
        ("return self.close(err)", "a name of the code at hand"),
        ("return store.Report(err)", "what the task names"),
    ],
    ids=lambda each: each[1],
)
def test_what_is_of_one_task_or_of_another_rule_is_not_told(written: tuple[str, str]) -> None:
    runs = [linted(name, written[0], goal="Let the store report it.") for name in ("rows.go", "days.go")]
    assert told(*runs) == []


def test_what_stood_in_the_file_before_was_not_written_for_it() -> None:
    same = edit("ledger/rows.go", "store.Report(err)", "store.Report(err) // twice")
    failing = run("make lint", f"Exit code 1\n{LINT.format('rows.go')}\nmake: *** [lint] Error 1", failed=True)
    runs = [a_run([*user("Mend it."), *failing, *same, *run("make lint", OK)], session=name) for name in "ab"]
    assert told(*runs) == []


def test_a_program_that_could_not_be_started_was_started_another_way() -> None:
    def missing(session: str) -> RunMaterial:
        lost = run("python3 -m pytest tests/a.py", "/usr/bin/python3: No module named pytest", failed=True)
        return a_run([*user("Mend it."), *lost, *run("pytest tests/a.py", "3 passed in 0.1s")], session=session)

    assert told(missing("a"), missing("b")) == [
        "When `python3 -m pytest` fails with “No module named pytest”, use `pytest`."
    ]


def test_a_step_of_a_line_that_was_written_otherwise() -> None:
    def shown(session: str, *flags: str) -> RunMaterial:
        line, said = "sed -n '3,5p' src/rows.py | cat {}", "cat: illegal option -- A\nusage: cat [-belnstuv] [file ...]"
        lost = run(line.format("-A"), f"Exit code 1\n{said}", failed=True)
        return a_run([*user("Mend it."), *lost, *run(line.format(" ".join(flags)), "^Ia = 1$")], session=session)

    (lesson,) = told(shown("a", "-vet"), shown("b", "-e", "-t", "-v"))
    assert lesson.startswith("When `cat` fails with “")
    assert lesson.endswith(" in place of `-A`.")


def test_a_flag_that_the_program_refuses_is_told_once_however_often_it_was_met() -> None:
    def unknown(session: str) -> RunMaterial:
        lost = run("git show HEAD --no-stat", "Exit code 128\nfatal: unrecognized argument: --no-stat", failed=True)
        return a_run([*user("Show it."), *lost, *run("git show HEAD", "commit 1")], session=session)

    (once,) = told(unknown("a"))
    assert told(unknown("a"), unknown("b")) == [once]

"""Ways out that errors tell themselves, that a narrower call hides, and that one check alone doesn't show."""

from __future__ import annotations

from tests.golden.material import run, said, user
from tests.unit.lesson_runs import a_run, edit_of, observations
from tests.unit.test_lessons import learned

from ireneo.lessons.lessons import is_worth_a_lesson, told_together
from ireneo.lessons.run import Observation
from ireneo.log.message import Draft

TASK = user("The ledger drops its last row. Find out why.")
LINT = "make lint"
FORBIDDEN = (
    "Exit code 1\nledger/rows.go:7:3: use of `os.Exit` forbidden because "
    '"it skips what was deferred - use ledger.Quit() instead" (forbidigo)\n1 issues:\n* forbidigo: 1\n'
)
UNUSED = "Exit code 1\nrows.go:7:5: var lastRow is unused (unused)\n1 issues:\n* unused: 1\n"


def only(prefix: str, *drafts: list[Draft], session: str = "run") -> list[Observation]:
    found = observations(a_run(TASK, *drafts, session=session))
    return [one for cue, seen in found.items() if prefix in cue for one in seen]


def mended(new: str, then: str = "0 issues.") -> list[list[Draft]]:
    return [
        run(LINT, FORBIDDEN, failed=True),
        edit_of("ledger/rows.go", "ledger/rows.go was updated.", "os.Exit(1)", new),
        run(LINT, then, failed=then != "0 issues."),
    ]


def test_a_guess_of_a_compiler_is_no_advice() -> None:
    error = "Exit code 1\nledger/rows.go:7:3: undefined: rowCuont; did you mean to use rowCount?\n"
    assert (
        only(
            "→ write:",
            run("make build", error, failed=True),
            edit_of("ledger/rows.go", "ledger/rows.go was updated.", "rowCuont", "rowCount"),
            run("make build", "built"),
        )
        == []
    )


def test_where_the_code_was_changed_in_between_the_whole_tells_nothing() -> None:
    changed = edit_of("rows.go", "rows.go was updated.")
    assert (
        only(
            "→ whole",
            run("golangci-lint run rows.go", UNUSED, failed=True),
            changed,
            run("golangci-lint run", "0 issues."),
        )
        == []
    )


PASSED = [run("make test", "ok")]


def test_a_check_that_fails_on_what_the_tests_passed_is_told_after_one_run() -> None:
    calls = [run("make test", "ok"), run(LINT, UNUSED, failed=True)]
    seen = [one for n in range(2) for one in only("<passes>", *calls, session=f"run{n}")]
    assert [each.text for each in seen] == ["Before it is done, run `make lint` too, not only `make test`."] * 2
    assert is_worth_a_lesson(seen[:1])


def test_checks_that_fail_where_the_same_tests_pass_are_one_lesson() -> None:
    lint, other = run(LINT, UNUSED, failed=True), run("golangci-lint run ./...", UNUSED, failed=True)
    linted = [one for n in range(3) for one in only("<passes>", *PASSED, lint, session=f"run{n}")]
    checked = [one for n in range(2) for one in only("<passes>", *PASSED, other, session=f"run{n}")]
    told = [learned(linted), learned(checked)]
    (merged,) = told_together([each for each in told if each is not None])
    assert merged.text == ("Before it is done, run `make lint` and `golangci-lint` too, not only `make test`.")


def test_a_check_that_fails_after_a_change_tells_nothing_of_the_tests_before_it() -> None:
    changed = edit_of("ledger/rows.go", "ledger/rows.go was updated.")
    assert only("<passes>", run("make test", "ok"), changed, run(LINT, UNUSED, failed=True)) == []
    moved = run("git checkout main", "Switched to branch 'main'")
    assert only("<passes>", run("make test", "ok"), moved, run(LINT, UNUSED, failed=True)) == []
    assert only("<passes>", run(LINT, UNUSED, failed=True), said("The linter complains.")) == []


def test_a_task_that_is_missing_is_replaced_by_no_sibling_with_another_purpose() -> None:
    def tried(missing: str, other: str) -> list[Observation]:
        unknown = f'Exit code 1\nnpm error Missing script: "{missing}"'
        return only(
            "use:npm run", run(f"npm run {missing}", unknown, failed=True), run(f"npm run {other}", "12 passed")
        )

    assert [each.way_out for each in tried("type:check", "check")] == ["use `npm run check`"]
    assert tried("test:integration:all", "test:e2e") == []


def test_what_turns_a_check_of_safety_off_is_no_way_out() -> None:
    def tried(variable: str) -> list[Observation]:
        refused = "Exit code 1\nError: self-signed certificate in certificate chain"
        return only("fetch", run("fetch rates", refused, failed=True), run(f"{variable} fetch rates", "rates: 41 rows"))

    assert any("FETCH_CACHE" in each.way_out for each in tried("FETCH_CACHE=var/rates"))
    assert not any("REJECT" in each.way_out for each in tried("NODE_TLS_REJECT_UNAUTHORIZED=0"))


def test_a_look_at_the_clock_prepares_nothing() -> None:
    late = "Exit code 1\nrows ERROR no snapshot of that day"
    seen = only("first:date", run("rows load", late, failed=True), run("date -u", "Mon"), run("rows load", "ok"))
    assert seen == []


def test_another_program_that_asks_the_same_machine_does_not_replace_it() -> None:
    missing = "Exit code 127\nbash: line 1: rows-cli: command not found"
    asked = run("rows-cli -h 10.0.0.7 ping", missing, failed=True)
    assert only("use:", asked, run("probe 10.0.0.7 6379", "open")) == []


def test_the_code_of_a_rule_alone_tells_nobody_what_to_write() -> None:
    coded = run("ruff check rows.py", "Exit code 1\nrows.py:7:1: UP035\nFound 1 error.", failed=True)
    assert only("<breaks>", coded) == []


def test_what_mends_a_check_is_its_way_out() -> None:
    late = 'Exit code 1\nerror: script "lint" exited with code 1'
    drafts = (
        run("bun run lint", late, failed=True),
        run("bun run lint:fix", "Fixed 2 files."),
        run("bun run lint", "ok"),
    )
    (seen,) = only("first:bun run lint:fix", *drafts)
    assert seen.text == "When `bun run lint` fails, run `bun run lint:fix` first."

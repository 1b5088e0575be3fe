"""A run as goals, attempts and outcomes."""

from __future__ import annotations

import pytest
from tests.golden.material import edit, read, run, said, session, step, user
from tests.unit.runs import material, timed

from ireneo.lessons.attempts import Attempt, Task, read_tasks
from ireneo.lessons.shell import run_steps
from ireneo.log.message import Draft

FAILS = "Exit code 1\nE   AssertionError: 41 != 42"
PASSES = "===== 12 passed in 0.31s ====="


def tasks(*drafts: list[Draft]) -> tuple[Task, ...]:
    return read_tasks(material([draft for each in drafts for draft in each]))


def attempts(*drafts: list[Draft]) -> tuple[Attempt, ...]:
    (task,) = tasks(user("Fix the importer, it drops a row."), *drafts)
    return task.attempts


def outcomes(*drafts: list[Draft]) -> list[str]:
    return [attempt.outcome for attempt in attempts(*drafts)]


def test_a_run_is_read_as_its_goals() -> None:
    first, second, third = read_tasks(material(session()))[:3]
    assert first.goal == "The nightly import drops the last row"
    assert [attempt.outcome for attempt in first.attempts] == ["replaced", "failed", "worked"]
    assert first.passing_check is not None
    assert first.passing_check.command == "pytest tests/test_importer.py"
    assert "undone" in [attempt.outcome for attempt in second.attempts]
    assert not [attempt for attempt in second.attempts if attempt.step.was_rejected]
    assert third.opening != second.opening


@pytest.mark.parametrize("more", ["yes", "Please continue.", "ok, go ahead", "[Request interrupted by user]", "👍"])
def test_whoever_only_says_go_on_asks_for_nothing_new(more: str) -> None:
    assert len(tasks(user("Add a flag to the exporter."), said("Shall I?"), user(more), run("make", "ok"))) == 1


def test_a_short_answer_to_a_question_belongs_to_the_goal_before() -> None:
    asked = [user("Add a flag."), said("Shall it be called --strict or --exact?")]
    assert len(tasks(*asked, user("I'd call it --strict"), run("make", "ok"))) == 1
    assert len(tasks(*asked, user("Rename the exporter first"), run("make", "ok"))) == 2
    assert len(tasks(user("Add a flag."), said("It is there."), user("I want the docs to say so"))) == 2


def test_what_stands_before_the_first_wish_belongs_to_it() -> None:
    (task,) = tasks(said("I am ready."), user("Count the lines of the ledger."), run("wc -l ledger.csv", "12"))
    assert task.goal == "Count the lines of the ledger"


def test_a_change_goes_with_what_checks_it() -> None:
    bad, good = attempts(
        edit("src/rows.py", "a = 1", "a = 2"),
        run("pytest tests", FAILS, failed=True),
        edit("src/rows.py", "a = 2", "a = 3"),
        edit("src/cells.py", "b = 1", "b = 2"),
        run("pytest tests", PASSES),
    )
    assert [step.action.subject for step in bad.changed] == ["src/rows.py"]
    assert (bad.outcome, bad.error) == ("failed", "exit 1: AssertionError: 41 != 42")
    assert bad.over is good.step
    assert [step.action.subject for step in bad.by] == ["src/rows.py", "src/cells.py"]
    assert [step.action.subject for step in good.changed] == ["src/rows.py", "src/cells.py"]
    assert good.outcome == "worked"


def test_a_call_that_is_misspelt_is_replaced_by_the_right_one() -> None:
    wrong, right = attempts(
        run("pytst tests/test_rows.py", "bash: pytst: command not found", failed=True),
        run("pytest tests/test_rows.py", PASSES),
    )
    assert (wrong.outcome, wrong.instead) == ("replaced", right.step)


def test_a_command_much_unlike_it_is_no_replacement() -> None:
    assert outcomes(
        run("cargo nextest run", "error: no such command: `nextest`", failed=True), run("ls src", "rows.py")
    ) == ["abandoned"]


def test_a_test_that_fails_is_not_given_up() -> None:
    assert outcomes(run("pytest tests", FAILS, failed=True), read("src/rows.py", "a = 1")) == ["failed"]


def test_the_same_call_again_is_one_attempt() -> None:
    (attempt,) = attempts(*[run("pytest tests", FAILS, failed=True)] * 3, read("a.py", "a"))
    assert (attempt.times, attempt.outcome) == (3, "failed")


def test_a_file_that_had_to_be_read_first_is_got_over_by_reading() -> None:
    unread = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
    arguments: dict[str, object] = {"file_path": "src/rows.py", "old_string": "a = 1", "new_string": "a = 2"}
    first, *_ = attempts(
        step("", "Edit", arguments, unread, failed=True),
        read("src/other.py", "b = 1"),
        read("src/rows.py", "a = 1"),
        edit("src/rows.py", "a = 1", "a = 2"),
        run("pytest tests", PASSES),
    )
    assert first.outcome == "failed"
    assert [step.call.name for step in first.by] == ["Read"]


def test_what_version_control_takes_back_was_undone() -> None:
    undone, _ = attempts(
        edit("src/rows.py", "a = 1", "a = 2"),
        run("pytest tests", FAILS, failed=True),
        run("git checkout src/rows.py", "Updated 1 path"),
    )
    assert (undone.outcome, undone.error) == ("undone", "exit 1: AssertionError: 41 != 42")
    assert undone.instead is not None
    assert undone.instead.command == "git checkout src/rows.py"


def test_what_was_put_aside_to_see_whether_a_failure_is_older_was_not_undone() -> None:
    edited = edit("src/rows.py", "a = 1", "a = 2")
    aside = run("git stash && pytest tests", "Saved working directory\n3 passed in 0.2s")
    back = run("git stash pop", "Dropped refs/stash@{0}")
    assert "undone" in outcomes(edited, aside)
    assert "undone" not in outcomes(edited, aside, back)


def test_a_file_that_is_tidied_away_was_not_undone() -> None:
    made = step("", "Write", {"file_path": "repro.py", "content": "import rows"}, "written")
    assert outcomes(made, run("python repro.py", "41"), run("rm repro.py", "")) == ["worked"]


def test_a_search_that_finds_nothing_tried_nothing() -> None:
    assert outcomes(run("grep -rn keep_row src", "<returncode>1</returncode>\n<output></output>", failed=True)) == []


def test_a_change_that_nothing_checked_is_open() -> None:
    assert outcomes(edit("src/rows.py", "a = 1", "a = 2"), said("Done.")) == ["open"]


@pytest.mark.parametrize(
    "output",
    [
        "The user doesn't want to proceed with this tool use. The tool use was rejected",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "[Request interrupted by user for tool use]",
        "Permission to use Bash with command make deploy has been denied.",
        "Command was aborted by the user",
        "building 3 of 12\nCommand aborted\n",
    ],
)
def test_a_refusal_an_interruption_and_a_sibling_are_no_failures(output: str) -> None:
    (stopped,) = run_steps(material(run("make deploy", output, failed=True)))
    assert stopped.failed
    assert not stopped.failed_itself


def test_a_program_that_prints_such_words_failed_all_the_same() -> None:
    (failed,) = run_steps(material(run("make deploy", "x" * 500 + " interrupted by user", failed=True)))
    assert failed.failed_itself


def test_a_call_without_a_result_is_no_failure() -> None:
    (open_call,) = run_steps(material(run("make", "never seen")[:1]))
    assert not open_call.failed_itself


def test_silence_and_a_users_pause_cost_no_time() -> None:
    drafts = [*user("Fix it, please, the build is red."), *run("make", "boom", failed=True), *run("make", "ok")]
    (task,) = read_tasks(material(timed(drafts, [0, 5, 20, 3_600, 7])))
    assert task.cost.seconds == 32
    assert task.cost.tokens == sum(message.tokens for message in material(drafts).messages)


def test_calls_beside_each_other_share_what_their_messages_cost() -> None:
    (a, answer_a), (b, answer_b) = run("make a", "boom " * 200, failed=True), run("make b", "ok")
    both = Draft(role="assistant", parts=(*a.parts, *b.parts))
    answers = Draft(role="tool", parts=(*answer_a.parts, *answer_b.parts))
    done = material([*user("Make a and b."), both, answers])
    (task,) = read_tasks(done)
    calls = sum(message.tokens for message in done.messages[1:])
    failed = next(attempt for attempt in task.attempts if attempt.outcome != "worked")
    assert calls * 0.8 < failed.cost.tokens < calls

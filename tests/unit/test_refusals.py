"""What a program itself refuses is known after one run, in whatever project, where the run got over it."""

from __future__ import annotations

import pytest
from tests.golden.material import run, step
from tests.unit.guarded import lesson_of
from tests.unit.lesson_runs import a_run, observations

from ireneo.lessons.guard import SessionSoFar, advice
from ireneo.lessons.lessons import is_worth_a_lesson, trap_of
from ireneo.lessons.refusals import (
    line_naming,
    refuses_flag,
    refuses_value,
    rejects_usage,
    reports_extra_arguments,
    reports_unknown_task,
)
from ireneo.lessons.run import Observation, Trigger


def trap_in(failing: str, error: str, then: str, *, project: str = "ledger") -> Observation | None:
    """What one run shows in which a command is refused, and called otherwise."""
    seen = observations(a_run(run(failing, error, failed=True), run(then, "ok"), project=project))
    return next((each for (each,) in seen.values() if each.text and each.trigger), None)


@pytest.mark.parametrize(
    ("failing", "error", "then", "way", "trigger"),
    [
        (
            "git show a1b2 --no-stat",
            "fatal: unrecognized argument: --no-stat",
            "git show a1b2",
            "leave `--no-stat` out",
            Trigger(command="git show", words=("--no-stat",)),
        ),
        (
            "rows list --kind lease --all",
            "error: unexpected argument '--all' found",
            "rows list --kind lease",
            "leave `--all` out",
            Trigger(command="rows list", words=("--all",)),
        ),
        (
            "short make lint --all",
            "error: unrecognized subcommand 'make'",
            "cd /srv/ledger && make lint --all",
            "leave `short` out",
            Trigger(command="short make"),
        ),
    ],
)
def test_a_refusal_is_proof_enough(failing: str, error: str, then: str, way: str, trigger: Trigger) -> None:
    seen = trap_in(failing, error, then)
    assert seen is not None
    assert (seen.way_out, seen.trigger) == (way, trigger)
    assert is_worth_a_lesson([seen])


@pytest.mark.parametrize(
    ("failing", "error", "then"),
    [
        ("rows load --fast a.csv", "rows: 3 of 90 rows are broken", "rows load a.csv"),
        ("rows load --kind a", "error: invalid value 'b' for the lease", "rows load --kind c"),
        ("rows load --kind a,b", "error: invalid value 'a' for --kind", "rows load --kind c,d,e"),
        ("short make lint", "error: unrecognized subcommand 'make'", "short git status"),
        ("short make lint", "error: unrecognized subcommand 'make'", "make clean"),
    ],
    ids=["another error", "the value is not named", "several others instead", "another purpose", "another task"],
)
def test_what_the_program_did_not_refuse_needs_more(failing: str, error: str, then: str) -> None:
    seen = trap_in(failing, error, then)
    assert seen is None or not is_worth_a_lesson([seen])


def test_it_is_told_where_the_project_is_unknown() -> None:
    refused = trap_in("cat -A rows.txt", "cat: illegal option -- A", "cat -v rows.txt", project="")
    assert refused is not None
    found = trap_of(lesson_of(refused), {refused.cue: [refused]})
    assert found is not None
    told = advice([found], "Bash", {"command": "sed -n 3p a.py | cat -A"}, SessionSoFar, project="")
    assert told is not None
    assert told.way_out == "give it `-v` in place of `-A`"
    lost = trap_in("rows", "rows: command not found", "uv run rows", project="")
    assert lost is not None
    assert trap_of(lesson_of(lost), {lost.cue: [lost]}) is None


def test_that_the_program_works_without_it_is_no_objection() -> None:
    refused = trap_in("cat -A rows.txt", "cat: illegal option -- A", "cat -v rows.txt")
    assert refused is not None
    worked = [
        Observation(cue="cat ⇒ <any>", category="failure", session=f"run-{at}", project="ledger", broke=4)
        for at in range(9)
    ]
    found = trap_of(lesson_of(refused), {refused.cue: [refused], "cat ⇒ <any>": worked})
    assert found is not None
    assert (found.runs, found.of) == (1, 1)


def test_each_kind_of_refusal_is_told_apart() -> None:
    assert refuses_flag("flag provided but not defined: -e")
    assert refuses_value("argument --kind: invalid choice: 'rows' (choose from 'days')")
    assert reports_extra_arguments("accepts at most 1 arg(s), received 2")
    assert reports_unknown_task("git: 'swich' is not a git command. See 'git --help'.")
    assert not rejects_usage("rows.go:3:1: undefined: lease")


def test_the_line_that_refuses_comes_before_one_that_only_names_it() -> None:
    lines = ["usage: rows [--all]", "rows: unknown option --alll", "see --alll"]
    assert line_naming(lines, ("--alll",)) == "rows: unknown option --alll"
    assert line_naming(lines, ("--all",)) == "usage: rows [--all]"
    assert line_naming(lines, ("--kind",)) == ""


def test_a_name_that_a_tool_does_not_know_is_done_without() -> None:
    lost = step("", "Skill", {"skill": "ship"}, "<tool_use_error>Unknown skill: ship</tool_use_error>", True)
    runs = [a_run(lost, run("git status", "clean"), session=name) for name in ("one", "two")]
    (cue,) = [cue for cue in observations(*runs) if "<unknown>" in cue]
    seen = observations(*runs)[cue]
    assert is_worth_a_lesson(seen)
    assert not is_worth_a_lesson(seen[:1])
    assert seen[0].text == "`Skill` knows no `ship` here: do it without."
    found = trap_of(lesson_of(seen[0]), {cue: seen})
    assert found is not None
    assert advice([found], "Skill", {"skill": "ship"}, SessionSoFar, project="ledger") is not None
    assert advice([found], "Skill", {"skill": "review"}, SessionSoFar, project="ledger") is None


def test_a_name_that_came_to_be_known_is_no_missing_one() -> None:
    lost = step("", "Skill", {"skill": "ship"}, "<tool_use_error>Unknown skill: ship</tool_use_error>", True)
    made = step("", "Skill", {"skill": "ship"}, "Launching skill: ship")
    assert not [cue for cue in observations(a_run(lost, made)) if "<unknown>" in cue]

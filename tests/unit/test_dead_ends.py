"""What was tried and did not hold is told only where the structure of the run proves it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.golden.material import edit, run, said, step
from tests.unit.runs import material

from ireneo.log.message import Draft
from ireneo.summaries.outcomes import (
    dead_ends,
    is_overturned,
    split_resolved_failures,
)
from ireneo.summaries.steps import Step, steps
from ireneo.summaries.summary import Line
from ireneo.summaries.tell_work import write_leaf

REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. "
    "To tell you how to proceed, the user said:\nNever push from here, the server does it."
)


def done(*drafts: list[Draft]) -> list[Step]:
    return steps(material([draft for each in drafts for draft in each]).messages)


def told(*drafts: list[Draft]) -> list[str]:
    return [line.text for line in dead_ends(done(*drafts))]


def got_over(*drafts: list[Draft]) -> list[str]:
    sections = write_leaf(material([draft for each in drafts for draft in each]).messages, ends_turn=False)
    return [line.text for each in sections if each.name == "worked" for line in each.lines]


LOST = run("orderz --week 3", "sh: orderz: command not found", failed=True)
AFTER = run("ls", "a b")


def test_a_call_that_failed_is_told_with_what_it_said() -> None:
    assert told(LOST, AFTER) == ["I tried `orderz --week 3` — it failed: sh: orderz: command not found."]


def test_a_failure_whose_output_gives_no_reason_is_told_without_one() -> None:
    silent = "I tried `ship rows` — it failed, and its output doesn't say why."
    for output in ("Exit code 1", "Exit code 1\n==> Shipping rows", "Exit code 3\nInstalled 6 rows"):
        assert told(run("ship rows", output, failed=True), AFTER) == [silent]
    assert told(run("ship rows", "Exit code 1\nquota used up", failed=True), AFTER) == [
        "I tried `ship rows` — it failed: exit 1: quota used up."
    ]
    # What looks for something and finds nothing has not failed.
    for looks in ("grep -rn rows src", "ls src | grep rows", "which rows"):
        assert told(run(looks, "Exit code 1", failed=True), AFTER) == []


def test_a_call_that_is_no_command_is_a_slip_and_no_dead_end() -> None:
    arguments = {"file_path": "src/rows.py", "old_string": "a", "new_string": "b"}
    failed = step("", "Edit", arguments, "String to replace not found in file.", failed=True)
    missing = step("", "Read", {"file_path": "/srv/rows.py"}, "<error>File does not exist.</error>", failed=True)
    taken = step("", "move_booking", {"order": "R-5518", "slot": "15:30"}, "Error: the slot was taken", failed=True)
    for slip, so in (
        (failed, "edit src/rows.py failed: String to replace not found in file"),
        (missing, "read /srv/rows.py failed: File does not exist"),
        (taken, "`move_booking R-5518 15:30` failed: Error: the slot was taken"),
    ):
        assert told(slip, AFTER) == []
        sections = write_leaf(material([*slip, *AFTER]).messages, ends_turn=False)
        assert so in [line.text for each in sections if each.name == "operations" for line in each.lines]


def test_what_failed_last_is_where_the_work_stands_and_was_not_given_up() -> None:
    assert told(AFTER, LOST) == []


def test_what_succeeded_later_is_no_dead_end() -> None:
    again = run("orderz --week 3", "12 orders")
    assert told(LOST, AFTER, again, AFTER) == []
    assert got_over(LOST, AFTER, again) == ["`orderz --week 3` failed: sh: orderz: command not found; passed later."]


def test_what_was_changed_between_is_told_with_what_was_got_over() -> None:
    fixed = edit("src/orders.py", "a = 1", "a = 2")
    assert got_over(LOST, fixed, run("orderz --week 3", "12 orders")) == [
        "`orderz --week 3` failed: sh: orderz: command not found; passed after I changed orders.py."
    ]


@pytest.mark.parametrize(
    "after",
    [
        [],
        run("orderz --week 4", "9 orders"),
        run("orderz --week 3", "sh: orderz: command not found", failed=True),
        run("orders --week 3", "12 orders"),
        said("It passed when I tried it again."),
    ],
)
def test_nothing_is_said_to_have_passed_without_the_same_call_again(after: list[Draft]) -> None:
    assert got_over(LOST, after) == []
    assert not any("passed" in text for text in told(LOST, after, AFTER))


@pytest.mark.parametrize(
    ("failed", "instead", "worked_instead"),
    [
        ("git push origin main", "git push origin main --no-verify", True),
        ("pip install numpy==1.26 --user", "pip install numpy==1.26 --no-cache", True),
        ("orderz --week 3", "orders --week 3", False),
        ("stat src/a.py", "stat src/b.py", False),
        ("docker stop rows", "docker rm rows", False),
        ("git push origin main", "git status origin main", False),
    ],
)
def test_only_the_same_program_with_other_flags_worked_instead(failed: str, instead: str, worked_instead: bool) -> None:
    (text,) = told(run(failed, "fatal: it is not there", failed=True), run(instead, "done"), AFTER)
    assert text.startswith(f"I tried `{failed}` — it failed: fatal: it is not there")
    assert text.endswith(f"; `{instead}` worked.") == worked_instead
    assert ("worked" in text) == worked_instead


def test_another_way_that_failed_too_or_came_much_later_did_not_work_instead() -> None:
    failed = run("git push origin main", "fatal: it is not there", failed=True)
    forced = run("git push origin main --force", "fatal: it is not there", failed=True)
    assert not any("worked" in text for text in told(failed, forced, AFTER))
    good = run("git push origin main --force", "done")
    assert not any("worked" in text for text in told(failed, AFTER, AFTER, AFTER, AFTER, good, AFTER))


def test_a_test_that_fails_is_no_dead_end() -> None:
    assert told(run("pytest -q", "Exit code 1\nE   assert 41 == 42", failed=True), AFTER) == []


def test_a_refusal_is_no_dead_end_and_its_words_are_the_users() -> None:
    refused = run("git push origin main", REFUSAL, failed=True)
    assert dead_ends(done(refused, AFTER)) == []
    bare = run("git push", "The user doesn't want to proceed with this tool use. The tool use was rejected.", True)
    assert dead_ends(done(bare, AFTER)) == []
    messages = material([*refused, *AFTER]).messages
    directed = [
        line for each in write_leaf(messages, ends_turn=False) if each.name == "direction" for line in each.lines
    ]
    assert [line.text for line in directed] == ["Never push from here, the server does it."]


def test_a_change_that_was_put_back_is_told_with_the_agents_reason() -> None:
    there = edit("src/rows.py", "commit_now()", "commit_later()")
    back = edit(
        "src/rows.py", "commit_later()", "commit_now()", "Deferring loses batches because the process ends before it."
    )
    assert told(there, back) == [
        "I tried `commit_later()` in src/rows.py — abandoned, and put back: Deferring loses batches because the "
        "process ends before it."
    ]
    silent = edit("src/rows.py", "commit_later()", "commit_now()")
    assert told(there, silent) == [], "it was a trial"
    assert told(there, edit("src/rows.py", "commit_later()", "commit_soon()")) == []
    assert told(there, edit("src/other.py", "commit_later()", "commit_now()")) == []


def test_what_was_taken_out_after_it_had_served_was_not_given_up() -> None:
    shows = ("rows = load()", "rows = load()\nprint(rows)")
    kept = ("lease = 3", "lease = 5")
    assert (
        told(edit("a.py", *shows), run("make run", "3 rows"), edit("a.py", *reversed(shows), "Now it takes 3 s.")) == []
    )
    assert told(edit("a.py", *kept), run("make run", "3 rows"), edit("a.py", *reversed(kept), "It takes 3 s.")) == []


def test_the_failure_of_another_call_is_no_reason_to_put_a_change_back() -> None:
    kept = ("lease = 3", "lease_of_rows = 5")
    other = run("time ./rows", "(eval):1: parse error near time", failed=True)
    assert not any("put back" in each for each in told(edit("a.py", *kept), other, edit("a.py", *reversed(kept))))
    same = run("python a.py", "NameError: lease_of_rows", failed=True)
    assert told(edit("a.py", *kept), same, edit("a.py", *reversed(kept)))[0].startswith(
        "I tried `lease_of_rows = 5` in a.py — abandoned, and put back: NameError: lease_of_rows"
    )


def test_a_change_that_version_control_threw_away_is_told() -> None:
    there = edit("src/rows.py", "a = 1", "a = 2")
    assert told(there, run("git checkout -- src/rows.py", "")) == [
        "I tried changing src/rows.py — abandoned, and taken back with `git checkout -- src/rows.py`."
    ]
    assert told(there, run("git checkout -b rows", "Switched to a new branch 'rows'")) == []
    assert told(there, run("rm -rf out && ./src/rows.py | tail -3", "3 rows")) == []
    assert told(there, run("git checkout -- src/other.py", "")) == []
    assert told(run("git checkout -- src/rows.py", "")) == []


PUT_ASIDE = run("git stash && make check", "Saved working directory and index state WIP on rows: 4f2a91c Keep")
BROUGHT_BACK = run("git stash pop", "Dropped refs/stash@{0} (9bb01d2)")


@pytest.mark.parametrize(
    "then",
    [
        [PUT_ASIDE, AFTER, BROUGHT_BACK],
        [run("git stash -q && make check; git stash pop -q", "3 passed")],
        [PUT_ASIDE, run("git stash apply", ""), run("git stash drop", "")],
        [PUT_ASIDE, run("git stash", "Saved working directory"), BROUGHT_BACK, BROUGHT_BACK],
        [PUT_ASIDE, run("git stash", "Saved working directory"), run("git stash pop stash@{1}", ""), BROUGHT_BACK],
        [PUT_ASIDE, run("git stash", "No local changes to save"), BROUGHT_BACK],
    ],
)
def test_changes_that_were_put_aside_and_brought_back_are_no_dead_end(then: list[list[Draft]]) -> None:
    there = edit("src/rows.py", "a = 1", "a = 2")
    assert told(there, *then) == []
    assert told(there, *then, run("git checkout -- src/rows.py", "")) != []


@pytest.mark.parametrize(
    "then",
    [
        [PUT_ASIDE],
        [PUT_ASIDE, run("git stash clear", "")],
        [PUT_ASIDE, run("git stash pop", "error: Your local changes would be overwritten by merge", failed=True)],
        [PUT_ASIDE, run("git stash list", "stash@{0}: WIP"), run("git stash show -p", "+a = 2")],
    ],
)
def test_changes_that_were_put_aside_for_good_were_taken_back(then: list[list[Draft]]) -> None:
    (text,) = told(edit("src/rows.py", "a = 1", "a = 2"), *then)[:1]
    assert text == "I tried changing src/rows.py — abandoned, and taken back with `git stash && make check`."


def test_changes_are_brought_back_across_blocks_too() -> None:
    (line,) = dead_ends(done(edit("src/rows.py", "a = 1", "a = 2"), PUT_ASIDE))
    assert is_overturned(line, {"save git stash pop": line.position + 9})
    assert not is_overturned(line, {"save git stash list": line.position + 9})
    assert not is_overturned(line, {"save git stash pop": line.position - 1})


@pytest.mark.parametrize(
    "command",
    [
        "cat > notes.md <<'EOF'\nTo undo it: git checkout -- src/rows.py\nor git reset --hard\nEOF",
        "cat <<EOF >> HELP\ngit restore src/rows.py\nEOF",
        "git commit -F - <<'EOF'\nDon't git reset --hard src/rows.py\nEOF",
    ],
)
def test_a_here_document_that_speaks_of_version_control_takes_nothing_back(command: str) -> None:
    assert told(edit("src/rows.py", "a = 1", "a = 2"), run(command, "")) == []


@pytest.mark.parametrize(
    "command",
    [
        'git commit -m "Say how to git restore src/rows.py"',
        "echo 'git reset --hard'",
        'grep -rn "git checkout -- src/rows.py" docs',
        "git stash list",
        "git stash pop",
    ],
)
def test_a_command_that_only_speaks_of_an_undo_takes_nothing_back(command: str) -> None:
    assert told(edit("src/rows.py", "a = 1", "a = 2"), run(command, "")) == []


def test_the_same_approach_given_up_again_stands_once_and_counts() -> None:
    (line,) = dead_ends(done(LOST, run("orderz --week 4", "sh: orderz: command not found", failed=True), AFTER))
    assert dict(line.verbs) == {"tried": 2}


@pytest.mark.parametrize("answer", [REFUSAL, "[Request interrupted by user for tool use]"])
def test_what_was_refused_or_broken_off_has_no_outcome(answer: str) -> None:
    for command in ("pytest -q", "git push origin main", "orders --week 3"):
        sections = write_leaf(material([*run(command, answer, failed=True), *AFTER]).messages, ends_turn=False)
        told = [line.text for each in sections if each.name in ("operations", "state") for line in each.lines]
        assert not any("passed" in text or "→" in text or "failed" in text for text in told)


def test_what_is_told_as_given_up_is_no_operation_as_well() -> None:
    sections = write_leaf(material([*LOST, *run("orders --week 3", "12 orders")]).messages, ends_turn=False)
    texts = [line.text for section in sections for line in section.lines]
    assert sum("orderz" in text for text in texts) == 1


def test_a_command_that_was_gone_on_with_is_no_dead_end() -> None:
    stopped = run("git rebase main", "CONFLICT (content): Merge conflict in src/rows.py", failed=True)
    fixed = edit("src/rows.py", "a = 1", "a = 2")
    assert (
        told(stopped, fixed, run("git add -A && GIT_EDITOR=true git rebase --continue", "Successfully rebased")) == []
    )
    assert len(told(stopped, fixed, run("git rebase --abort", ""), AFTER)) == 1


def test_a_long_change_that_was_put_back_is_told_by_its_most_telling_lines() -> None:
    imports = "\n".join(f"import package_{number}" for number in range(20))
    telling = "def flush_late(rows):\n    if len(rows) < 3:\n        return later(rows)"
    there, back = f"{imports}\n\n{telling}", "import package_0"
    (text,) = told(
        edit("src/rows.py", back, there), edit("src/rows.py", there, back, "It loses rows because it waits.")
    )
    assert text.startswith("I tried `def flush_late(rows)")
    assert "import" not in text


def test_failures_of_one_command_are_told_with_what_was_changed_after_each() -> None:
    def failed(wrong: str) -> list[Draft]:
        return run("./load.sh", f"error: {wrong}", failed=True)

    fixed = edit("src/orders.py", "a = 1", "def week_of(day):\n    return day // 7")
    other = edit("src/rows.py", "b = 1", "b = 2")
    assert got_over(failed("week_of is missing"), fixed, failed("no rows"), other, run("./load.sh", "12 orders")) == [
        "`./load.sh` failed: error: week_of is missing; passed after I changed orders.py, rows.py.",
        "`./load.sh` failed: error: no rows; passed after I changed rows.py.",
    ]


def test_a_failed_check_is_told_with_what_was_changed_before_it_passed_in_another_block() -> None:
    def of(*drafts: list[Draft]) -> list[Line]:
        sections = write_leaf(material([each for part in drafts for each in part]).messages, ends_turn=False)
        return [replace(line, position=line.position + 10 * len(blocks)) for each in sections for line in each.lines]

    blocks: list[list[Line]] = []
    lint = "src/rows.py:3:1: line too long\n1 issues:\n* pycodestyle: 1"
    blocks.append(of(run("make fmt && make lint 2>&1 | tail -5", lint)))
    blocks.append(of(edit("src/rows.py", "a = 1", "def keep(row):\n    return row"), run("make lint", "0 issues")))
    lines = [line for block in blocks for line in block]
    operations = [line for line in lines if line.verbs]
    left, told = split_resolved_failures(operations, [line for line in lines if line.subject == "src/rows.py"])
    assert [line.text for line in told] == [
        "`make fmt && make lint` failed: rows.py:3:1: line too long; after I changed rows.py `make lint` passed."
    ]
    assert not any(line.failed for line in left)
    alone = [line for line in operations if line.failed]
    assert split_resolved_failures(alone, []) == (alone, []), "it never passed"

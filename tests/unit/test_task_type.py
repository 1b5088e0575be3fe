"""What sort of task a goal is."""

from __future__ import annotations

import pytest
from tests.golden.material import edit, read, run, said, user
from tests.unit.runs import material

from ireneo.lessons.attempts import WorkDone, read_tasks, task_type, type_of

NOTHING = WorkDone(changed=False, tests=False, documents=False, calls=False, files=False)
LOOKED = WorkDone(changed=False, tests=False, documents=False, calls=True, files=True)
CHANGED = WorkDone(changed=True, tests=False, documents=False, calls=True, files=True)
TESTS = WorkDone(changed=True, tests=True, documents=False, calls=True, files=True)


@pytest.mark.parametrize(
    ("goal", "done", "kind"),
    [
        ("The lint job is failing, can you take a look?", CHANGED, "fix a failing test"),
        ("can you fix the tests please", CHANGED, "fix a failing test"),
        ("Totals are wrong when a month has no rows", CHANGED, "fix a bug"),
        ("please fix the parser", CHANGED, "fix a bug"),
        ("Let's add a flag for dry runs", CHANGED, "add a feature"),
        ("add a check for empty rows", TESTS, "write tests"),
        ("write a test for the empty month", TESTS, "write tests"),
        ("ok, rename Row to Line everywhere", CHANGED, "refactor"),
        ("can you review the last two commits", LOOKED, "review"),
        ("commit this", CHANGED, "commit"),
        ("update the README", CHANGED, "write documents"),
        ("set up the database locally", CHANGED, "set up"),
        ("release 2.1 to the registry", CHANGED, "release"),
        ("where do we read the ledger?", LOOKED, "explore"),
        ("what does a ledger hold?", NOTHING, "answer a question"),
        ("write a plan for the migration", LOOKED, "plan"),
        # Nothing was found that tells: better none than a wrong one.
        ("the second one", LOOKED, ""),
        ("Initialized an empty folder", LOOKED, ""),
        ("I questioned that commit yesterday", CHANGED, ""),
        ("", CHANGED, ""),
    ],
)
def test_a_goal_is_of_a_type(goal: str, done: WorkDone, kind: str) -> None:
    assert type_of(goal, done) == kind


def test_what_was_done_is_read_off_the_task() -> None:
    drafts = [*user("Where is the row dropped?"), *read("src/rows.py", "a"), *said("There.")]
    assert task_type(read_tasks(material(drafts))[0]) == "explore"
    drafts = [*user("Add what March needs."), *edit("tests/test_march.py", "a", "b"), *run("pytest", "ok")]
    assert task_type(read_tasks(material(drafts))[0]) == "write tests"

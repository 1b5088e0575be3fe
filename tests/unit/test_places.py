"""Paths that are not there: a folder too many or too few, a name beside, a folder that nothing lies in."""

from __future__ import annotations

import pytest
from tests.golden.material import read, run, step
from tests.unit.guarded import lesson_of
from tests.unit.lesson_runs import a_run, observations

from ireneo.lessons.guard import MISSING, SessionSoFar, Trap, advice
from ireneo.lessons.lessons import is_obvious, is_worth_a_lesson, trap_of
from ireneo.lessons.run import Observation
from ireneo.log.message import Draft

GONE = "<tool_use_error>File does not exist.</tool_use_error>"


def lost(path: str) -> list[Draft]:
    return step("", "Read", {"file_path": path}, GONE, True)


def grep(path: str, *, missing: bool = False) -> list[Draft]:
    output = f"<tool_use_error>Path does not exist: {path}</tool_use_error>" if missing else f"{path}/rows.py:3: lease"
    return step("", "Grep", {"pattern": "lease", "path": path}, output, missing)


def places(*drafts: list[Draft], session: str = "run") -> dict[str, Observation]:
    seen = observations(a_run(*drafts, session=session))
    return {cue.partition("<place> ")[2]: each for cue, (each,) in seen.items() if "<place>" in cue}


def trap_from(seen: Observation) -> Trap:
    found = trap_of(lesson_of(seen), {seen.cue: [seen]})
    assert found is not None
    return found


def test_a_folder_too_few_is_known_after_one_run_and_told_to_who_steps_into_it() -> None:
    found = places(lost("/srv/ledger/core/test_rows.py"), read("/srv/ledger/core/tests/test_rows.py", "a = 1"))
    (seen,) = found.values()
    assert seen.text == "`core/test_rows.py` is not there: use `core/tests/test_rows.py`."
    assert is_worth_a_lesson([seen])
    assert is_obvious([seen])
    assert not is_obvious([seen, lesson_two(seen)])


def test_a_path_is_told_as_it_stands_in_its_project() -> None:
    for home, shown in (("/srv/ledger/src/core/deep", "src/core/deep"), ("/opt/core/deep", "deep")):
        (seen,) = places(lost(f"{home}/test_rows.py"), read(f"{home}/tests/test_rows.py", "a")).values()
        assert seen.text == f"`{shown}/test_rows.py` is not there: use `{shown}/tests/test_rows.py`."


def lesson_two(seen: Observation) -> Observation:
    return Observation(cue=seen.cue, category="factual", session="two", held=1, text=seen.text, trigger=seen.trigger)


def test_a_name_like_the_one_that_was_sought() -> None:
    found = places(
        lost("/srv/ledger/log/logging.py"), run("ls log", "logger.py"), read("/srv/ledger/log/logger.py", "a")
    )
    assert list(found) == ["log/logging.py: log/logger.py"]
    assert is_worth_a_lesson(list(found.values()))


@pytest.mark.parametrize(
    ("sought", "then"),
    [
        ("/srv/ledger/log/lease.py", "/srv/ledger/log/rows.py"),
        ("/srv/ledger/log/rows_test.go", "/srv/ledger/log/rows.go"),
        ("/srv/ledger/settings.local.json", "/srv/ledger/settings.json"),
        ("/srv/ledger/log/rows.py", "/srv/ledger/core/rowsets.py"),
    ],
    ids=["another name", "a test and what it tests", "one beside another", "another folder"],
)
def test_what_was_read_next_need_not_be_what_was_sought(sought: str, then: str) -> None:
    assert not places(lost(sought), read(then, "a = 1"))


def test_what_the_run_makes_is_not_missing() -> None:
    made = step("", "Write", {"file_path": "/srv/ledger/log/logging.py", "content": "import rows"}, "Created.")
    assert not places(lost("/srv/ledger/log/logging.py"), read("/srv/ledger/log/logger.py", "a"), made)


def test_a_path_from_another_root_is_not_judged_by_its_tail() -> None:
    found = places(
        lost("/srv/ledger/src/core/test_rows.py"),
        read("/srv/ledger/src/core/tests/test_rows.py", "a = 1"),
        read("b", "b"),
    )
    (seen,) = found.values()
    trap = trap_from(seen)

    def told(path: str) -> bool:
        return advice([trap], "Read", {"file_path": path}, SessionSoFar, project="ledger") is not None

    assert told("/home/me/ledger/src/core/test_rows.py"), "another clone"
    assert told("core/test_rows.py")
    assert not told("/srv/tide/core/test_rows.py")


def test_a_file_that_is_not_there_is_told_before_the_folder_around_it() -> None:
    folder = Trap(lesson="m_1", said="`core/old` is not there", way_out="look in `core`", path="core/old/", runs=9)
    file = Trap(lesson="m_2", said="`old/rows.py` is not there", way_out="use `core/lines.py`", path="old/rows.py")
    told = advice([folder, file], "Read", {"file_path": "core/old/rows.py"}, SessionSoFar, project=None)
    assert told is not None
    assert told.lesson == "m_2"


@pytest.mark.parametrize(
    ("tool", "given", "so"),
    [
        ("Read", {"file_path": ".rowslint.yml"}, True),
        ("Bash", {"command": "rowslint -c .rowslint.yml"}, True),
        ("Write", {"file_path": ".rowslint.yml", "content": "version: 2"}, False),
        ("Write", {"command": ".rowslint.yml"}, False),
        ("Bash", {"command": "touch .rowslint.yml"}, False),
        ("Read", {"file_path": "sub/other/.rowslint.yml"}, False),
    ],
)
def test_what_is_missing_may_be_made_and_a_file_of_another_folder_is_another(
    tool: str, given: dict[str, object], *, so: bool
) -> None:
    trap = Trap(
        lesson="m_one", said="it is not there", way_out="use `.rowslint.yaml`", path=".rowslint.yml", given=MISSING
    )
    assert (advice([trap], tool, given, SessionSoFar, project=None) is not None) == so

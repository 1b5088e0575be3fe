"""Searches of a whole project that one folder floods, or that print more than is shown."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.golden.material import read, run, step
from tests.unit.guarded import lesson_of
from tests.unit.lesson_runs import a_run, observations

from ireneo.lessons.commands import is_whole_project, search_folders, shell_steps, tool_search_folder
from ireneo.lessons.guard import SessionSoFar, Trap, advice
from ireneo.lessons.lessons import is_worth_a_lesson, trap_of
from ireneo.lessons.observe import occasion_of
from ireneo.lessons.run import Observation
from ireneo.log.message import Draft

FLOOD = "\n".join(
    f"./node_modules/tide/lib/rows{at}.js:{at}: function lease() {{ return {'x' * 60} }}" for at in range(30)
)
FEW = "\n".join(f"src/rows{at}.py:{at}: def lease()" for at in range(5))
CUE = "<flood> grep: node_modules"


def grep(given: Mapping[str, object], output: str) -> list[Draft]:
    return step("", "Grep", dict(given), output, False)


def flood_in(*drafts: list[Draft], session: str = "run") -> list[Observation]:
    return observations(a_run(*drafts, session=session)).get(CUE, [])


def trap_from(seen: Observation) -> Trap:
    found = trap_of(lesson_of(seen), {seen.cue: [seen]})
    assert found is not None
    return found


def test_a_folder_that_floods_a_search_is_told_with_the_way_out() -> None:
    (seen,) = flood_in(run("grep -rn lease .", FLOOD), run("grep -rn lease src", FEW))
    assert seen.text == (
        "`grep` over the whole project can be flooded by `node_modules`: "
        "name a folder or a kind of file, or leave `node_modules` out."
    )
    assert is_worth_a_lesson([seen])


def test_one_run_is_too_little_where_nothing_was_sought_again() -> None:
    (seen,) = flood_in(run("grep -rn lease .", FLOOD), run("make test", "12 passed"))
    assert not is_worth_a_lesson([seen])
    (other,) = flood_in(run("grep -rn lease .", FLOOD), session="two")
    assert is_worth_a_lesson([seen, other])


@pytest.mark.parametrize(
    "drafts",
    [
        (run("grep -rn lease .", FEW),),
        (run("grep -rn lease . | head -30", FLOOD),),
        (run("grep -rn lease node_modules", FLOOD),),
        (run("grep -rn --include=*.py lease .", FLOOD),),
        (run("grep -rn lease .", FLOOD), read("node_modules/tide/lib/rows1.js", "function lease()\n" * 9)),
        (run("grep -rn lease .", FLOOD.replace("node_modules", "handlers")),),
    ],
    ids=[
        "few lines",
        "cut by a pipe",
        "that folder was meant",
        "one kind of file",
        "it is read",
        "code of the project",
    ],
)
def test_what_is_no_flood(drafts: tuple[list[Draft], ...]) -> None:
    assert not [cue for cue in observations(a_run(*drafts)) if cue.startswith("<flood>")]


def test_a_long_list_of_files_is_no_trap() -> None:
    cut = "<warning>\nThe output of your last command was too long.\n</warning>\n./src:\nrows.py\n"
    seen = observations(a_run(run("ls -R", cut), run("ls src", "rows.py\ndays.py"), read("src/rows.py", "a = 1\n" * 9)))
    assert not [cue for cue in seen if cue.startswith("<flood>")]


def test_the_guard_warns_before_the_whole_is_searched() -> None:
    shown = FLOOD.replace("./node_modules/tide", ".records")
    drafts = [*grep({"pattern": "lease", "path": "./"}, shown), *grep({"pattern": "lease", "path": "./src"}, FEW)]
    (seen,) = observations(a_run(drafts))["<flood> Grep: .records"]
    found = trap_from(seen)

    def told(given: Mapping[str, object]) -> bool:
        return advice([found], "Grep", given, SessionSoFar, project="ledger") is not None

    assert told({"pattern": "row", "path": "./"})
    assert told({"pattern": "row"})
    assert told({"pattern": "row", "path": "/srv/ledger"})
    assert not told({"pattern": "row", "path": "/srv/ledger/src"})
    assert not told({"pattern": "row", "glob": "*.py"})


def test_where_most_searches_go_well_nobody_is_warned() -> None:
    (seen,) = flood_in(run("grep -rn lease .", FLOOD), run("grep -rn lease src", FEW))
    others = [
        Observation(cue="<searched> grep", category="failure", session=f"run-{at}", project="ledger", broke=2)
        for at in range(3)
    ]
    assert trap_of(lesson_of(seen), {CUE: [seen], "<searched> grep": others[:1]}) is not None
    assert trap_of(lesson_of(seen), {CUE: [seen], "<searched> grep": others}) is None


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("grep -rn lease", ""),
        ("grep -rn -A 3 lease .", "."),
        ("grep -n lease a.py", None),
        ("rg lease", ""),
        ("rg -g '*.py' lease", None),
        ("git grep lease", ""),
        ("find . -name rows.py", "."),
        ("find . -not -path './x/*' -name rows.py", None),
        ("find src docs -name rows.py", None),
        ("ls -R", None),
    ],
)
def test_where_a_command_searches(command: str, place: str | None) -> None:
    assert next((found for _, found in search_folders(shell_steps(command))), None) == place


def test_how_often_a_program_searches_is_counted_by_its_name() -> None:
    assert occasion_of("<flood> git grep: node_modules") == "<searched> git grep"
    (seen,) = observations(a_run(run("git grep lease", FEW)))["<searched> git grep"]
    assert (seen.held, seen.broke, seen.text) == (0, 1, "")


def test_where_a_tool_searches() -> None:
    assert tool_search_folder("Grep", {"pattern": "lease"}) == ""
    assert tool_search_folder("search_files", {"path": "/srv/ledger", "regex": "lease"}) == "/srv/ledger"
    assert tool_search_folder("WebSearch", {"query": "lease"}) is None
    assert tool_search_folder("Grep", {"pattern": "lease", "type": "py"}) is None
    assert is_whole_project("/srv/work/cli/", ("work/cli",))
    assert not is_whole_project("/srv/work/cli/src", ("work/cli",))
    assert not is_whole_project(None, ("work/cli",))

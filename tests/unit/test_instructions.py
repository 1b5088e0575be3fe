"""The page of lessons that a maintainer would commit: what stands on it, in which order, and what is left out."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from ireneo.engine.lessons import MOST_LINES, instructions, page_section, without_repeats
from ireneo.faces.cli.files import write_file
from ireneo.faces.cli.review import (
    BEGINS,
    commands_of,
    difference,
    plan_update,
    render_block,
    repository_of,
    texts_of,
    without_block,
)
from ireneo.lessons.relevance import FileStatements, content_of, say_the_same
from ireneo.memories.record import MemoryId
from ireneo.types import Lesson

TRAP = (
    "When `make integration` fails with “connection refused”, run `make db` first (2 of 2 times it then passed). "
    "“the tests need a database on 5432” (the agent)"
)
TRAP_LINE = (
    "`make integration`: run `make db` first (2 of 2 times it then passed), or it fails with “connection refused”."
)
OTHERWISE = "When `make integration` fails with “dial tcp 127.0.0.1:5432”, run `make db` first."
RULING = "“Follow-up issues go to Linear, project Troy, not GitHub.”"
AGAIN = "“Please: follow-up issues go to Linear, in project Troy.”"
COMMAND = "This project runs its linter with `mise run lint`."
FINDING = "`.golangci.yaml` is the linter's config; `.golangci.yml` is not read."


def a_lesson(text: str, sort: str = "trap", *, seen: int = 2, number: int = 0, **told: str) -> Lesson:
    cues = {
        "trap": f"make {number} ⇒ refused",
        "ruling": f"<ruling> {number}",
        "command": f"kestrel <command:linter> {number}",
        "finding": f"model: {number}",
    }
    return Lesson(
        id=MemoryId(f"m_{sort}{number}"),
        project=told.get("project", "kestrel"),
        task_type="",
        lesson=text,
        cue=cues[sort],
        category="failure" if sort == "trap" else "factual" if sort == "command" else "procedural",
        conditions={},
        standing=f"seen in {seen} of 9 runs; last in May 2026",
        seen=seen,
        met=9,
        last_seen=datetime(2026, 5, 3, tzinfo=UTC),
        sources=(),
        is_ruling=sort == "ruling",
        way_out=told.get("way_out", "run it"),
    )


ALL = [
    a_lesson(FINDING, "finding"),
    a_lesson(TRAP),
    a_lesson(COMMAND, "command"),
    a_lesson(RULING, "ruling"),
]


def as_line(lesson: Lesson) -> str:
    (line,) = lines(lesson)
    return line


def lines(*lessons: Lesson, **told: object) -> list[str]:
    pages = instructions(lessons, **told)  # type: ignore[arg-type]
    return [each.lesson for page in pages for _, part in page.parts for each in part]


def test_rulings_stand_first_then_commands_traps_and_findings_and_no_part_is_empty() -> None:
    assert lines(*ALL) == [RULING, COMMAND, TRAP_LINE, FINDING]
    (page,) = instructions(ALL[1:])
    assert [name for name, _ in page.parts] == ["Rules", "Commands", "Traps"]
    assert {page_section(each) for each in ALL} == {"Rules", "Commands", "Traps", "Findings"}
    text = render_block([page])
    assert "### Findings" not in text
    assert f"- {RULING}" in text
    assert text.count("\n- ") == 3


def test_a_page_has_at_most_fifteen_lines_a_project_and_no_part_takes_them_all() -> None:
    sorts = ("ruling", "command", "trap", "finding")
    many = [
        a_lesson(
            f"Word{number}{sort} is kept in place{number}{sort}, by `tool{number}`.", sort, number=number, way_out="x"
        )
        for sort in sorts
        for number in range(12)
    ]
    (page,) = instructions(many)
    taken = {name: len(part) for name, part in page.parts}
    assert sum(taken.values()) == MOST_LINES
    assert taken["Rules"] == 8
    assert min(taken.values()) >= 1
    (only,) = instructions([each for each in many if each.is_ruling] * 2)
    assert [(name, len(part)) for name, part in only.parts] == [("Rules", 12)]


def test_what_most_runs_would_have_needed_stands_first_and_what_was_kept_before_it() -> None:
    rare = a_lesson("When `go vet` fails with “x”, use `go vet ./...`.", number=1, seen=1)
    often = a_lesson("When `npm ci` fails with “y”, use `npm install`.", number=2, seen=6)
    assert lines(rare, often) == [as_line(often), as_line(rare)]
    assert lines(replace(rare, reviewed="kept"), often) == [rare.lesson, as_line(often)]


def test_a_trap_without_a_way_out_is_left_out_unless_it_was_kept() -> None:
    bare = a_lesson("`make integration` fails with “connection refused”.", way_out="")
    assert lines(bare) == []
    assert lines(replace(bare, reviewed="kept")) == [bare.lesson]
    assert lines(replace(bare, why="the tests need a database")) == [bare.lesson]


@pytest.mark.parametrize(("one", "other"), [(TRAP, OTHERWISE), (RULING, AGAIN)])
def test_the_same_in_other_words_is_told_once(one: str, other: str) -> None:
    assert say_the_same(content_of(one), content_of(other))
    pair = [a_lesson(one, number=1), a_lesson(other, number=2)]
    assert without_repeats(pair) == pair[:1]
    assert without_repeats(pair[::-1]) == pair[1:]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (TRAP, "When `make integration` fails with “no such tag”, run `make tags` first."),
        (RULING, "“Follow-up issues need a label and an owner.”"),
        (COMMAND, "This project runs its tests with `mise run test`."),
        ("“Never push to main.”", "“Never push to a fork.”"),
    ],
)
def test_what_says_something_else_stays(one: str, other: str) -> None:
    assert not say_the_same(content_of(one), content_of(other))


def test_what_stands_in_a_file_already_is_not_said_again_in_whatever_words() -> None:
    file = "# Working here\n\n- Issues that follow up on a task go into Linear\n  (project Troy), not on GitHub.\n"
    assert lines(*ALL, said=[file]) == [COMMAND, TRAP_LINE, FINDING]
    tests = "The database: `make db`. Before `make integration` it has to run,\nelse the connection is refused."
    assert FileStatements([tests]).has_statement(content_of(TRAP))
    assert not FileStatements(["Run `make integration`; a connection may be refused."]).has_statement(content_of(TRAP))
    assert not FileStatements([tests]).has_statement(content_of(""))


def test_a_command_in_plain_sight_is_not_said_again_and_a_trap_of_it_is() -> None:
    assert lines(*ALL, offered={"mise run lint", "make integration", "make db"}) == [RULING, TRAP_LINE, FINDING]


def test_since_a_day_and_by_project() -> None:
    later = datetime(2026, 6, 1, tzinfo=UTC)
    undated = replace(ALL[3], last_seen=None)
    assert lines(*ALL, since=later) == lines(undated, since=datetime(2026, 1, 1, tzinfo=UTC)) == []
    elsewhere = a_lesson("When `cargo test` fails with “z”, use `cargo nextest`.", number=7, project="reed")
    pages = instructions([*ALL, elsewhere, replace(elsewhere, lesson="“Ask first.”", is_ruling=True, project="")])
    assert [page.project for page in pages] == ["kestrel", "reed", ""]
    assert "### reed: traps" in render_block(pages)
    assert "### several projects: rules" in render_block(pages)
    (page,) = instructions([*ALL, elsewhere], project="kestrel")
    assert sum(len(part) for _, part in page.parts) == 5


FILES = {
    "Makefile": "CC := gcc\n.PHONY: all\nall lint: deps\n\tgolint\n# old: no\ntest::\n\tgo test\n",
    "justfile": "set shell := ['sh']\n@fmt arg='x':\n  fmt\n",
    "mise.toml": '[tasks.check]\nrun = "x"\n[tasks]\nbuild = "y"\n',
    "package.json": '{"scripts": {"start": "node ."}}',
    "pyproject.toml": '[tool.poe.tasks]\ndocs = "mkdocs"\n',
    "Taskfile.yml": "version: 3\ntasks:\n  gen:\n    cmds: [x]\nvars:\n  nope: 1\n",
    "composer.json": "{broken",
}


def test_the_commands_of_a_repository_are_read_from_its_own_files(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = commands_of(tmp_path)
    there = {"make all", "make lint", "make test", "just fmt", "mise run check", "mise build", "npm run start"}
    assert there | {"pnpm start", "poe docs", "task gen"} <= found
    assert not {"make CC", "make .PHONY", "make old", "just set", "task nope"} & found
    assert commands_of(tmp_path / "nowhere") == frozenset()
    (tmp_path / ".git").mkdir()
    (tmp_path / "docs").mkdir()
    assert repository_of(tmp_path / "docs" / "AGENTS.md") == tmp_path
    assert list(texts_of([tmp_path / "nothing", tmp_path])) == []


def test_a_file_is_changed_in_its_block_alone_and_only_when_asked(tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    assert plan_update(file, []).is_same
    assert not file.exists()
    file.write_text("# Ours\n", encoding="utf-8")
    update = plan_update(file, instructions(ALL))
    assert [each for each in difference(update) if each.startswith("-")] == [f"--- {file}"]
    assert file.read_text(encoding="utf-8") == "# Ours\n"
    assert not update.is_same
    write_file(file, update.after.encode())
    made = file.read_text(encoding="utf-8")
    assert made.startswith("# Ours\n")
    assert BEGINS in made
    assert without_block(made).strip() == "# Ours"
    again = plan_update(file, instructions(ALL))
    assert difference(again) == []
    write_file(file, plan_update(file, []).after.encode())
    assert "None that does not stand elsewhere." in file.read_text(encoding="utf-8")


def test_checkouts_of_one_project_have_one_page() -> None:
    told = [a_lesson(RULING, "ruling", number=1), a_lesson(FINDING, "finding", number=2, project="work/kestrel")]
    assert [page.project for page in instructions(told)] == ["kestrel"]
    anywhere = a_lesson(COMMAND, "command", number=3, project="")
    assert [page.project for page in instructions([*told, anywhere])] == ["kestrel"]
    other = a_lesson(OTHERWISE, number=4, project="osprey")
    assert [page.project for page in instructions([*told, anywhere, other])] == ["kestrel", "osprey", ""]


def test_a_check_that_fails_where_the_tests_pass_stands_among_the_commands() -> None:
    check = "Before it is done, run `make lint` too, not only `make test`."
    told = replace(a_lesson(check, way_out=""), cue="<passes> make lint")
    assert page_section(told) == "Commands"
    assert [name for name, _ in instructions([told])[0].parts] == ["Commands"]


@pytest.mark.parametrize("cue", ["<asked> tests", "<refused> ledger sync"])
def test_what_users_ask_for_and_refuse_again_and_again_is_a_rule(cue: str) -> None:
    assert page_section(replace(a_lesson("Add tests with the change."), cue=cue)) == "Rules"

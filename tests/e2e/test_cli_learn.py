"""`ireneo learn`, `lessons` and `report`: what they take in, what they say of it, and what they leave alone."""

from __future__ import annotations

import json
import lzma
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

import pytest
from msgspec.structs import replace
from tests.agent_log import LOST, MADE, MOON, Ran, claude_log
from tests.e2e.test_cli_command import run

import ireneo
from ireneo.faces.cli.screens.lists import show_lessons
from ireneo.grounding.claims import claims
from ireneo.grounding.evidence import SourceIndex
from ireneo.log.message import MessageId
from ireneo.memories.record import MemoryId
from ireneo.types import Cited, Lesson

GOLDEN = Path(__file__).parent.parent / "golden"
FIX = "run `make moon` first"
KEYS = (
    "id project projects task_type lesson category is_ruling conditions standing seen met last_seen sources "
    "reviewed guard_only state against"
).split()


class Source(TypedDict):
    session: str
    message: str
    quote: str


class Shown(TypedDict):
    id: str
    project: str
    projects: list[str]
    lesson: str
    category: str
    standing: str
    seen: int
    met: int
    last_seen: str
    sources: list[Source]


def runs_in(folder: Path, *, runs: int = 3, cwd: str = "/srv/harbour", name: str = "harbour") -> Path:
    """A folder of runs, one a day, that all meet the same fault and get over it."""
    folder.mkdir(parents=True, exist_ok=True)
    for day in range(runs):
        log = claude_log(f"{name}-{day}", [LOST, MOON, MADE], day=day, cwd=cwd)
        (folder / f"{name}-{day}.jsonl").write_text(log, encoding="utf-8")
    return folder


def lessons_of(db: Path, *given: object) -> list[Shown]:
    found: list[Shown] = json.loads(run("lessons", "--json", *given, db=db).stdout)
    return found


def test_runs_teach_a_lesson_and_the_next_night_costs_nothing(tmp_path: Path) -> None:
    logs, db = runs_in(tmp_path / "logs"), tmp_path / "memory.db"
    first = run("learn", logs, db=db).stdout
    assert "3 runs: 3 of 9 calls failed" in first
    assert first.count("    + ") == len(lessons_of(db)), "each new lesson is told once"
    taught = lessons_of(db)
    assert any(FIX in each["lesson"] for each in taught)
    second = run("learn", logs, db=db).stdout
    assert second.splitlines() == ["  3 files learned from before", "  nothing new to learn from"]
    (logs / "new.jsonl").write_text(claude_log("harbour-9", [LOST, MOON, MADE], day=9), encoding="utf-8")
    third = run("learn", logs, db=db).stdout
    assert "1 run: 1 of 3 calls failed" in third
    assert "0 new lessons" in third
    again = lessons_of(db)
    assert {each["id"] for each in again} == {each["id"] for each in taught}, "a lesson seen again is the same one"
    assert {each["seen"] for each in again} == {4}
    assert {each["last_seen"][:10] for each in again} == {"2026-02-12"}
    assert {each["standing"] for each in again} == {"seen in 4 of 4 runs; last in February 2026"}


def test_a_run_that_has_gone_on_is_learned_from_again_and_counts_once(tmp_path: Path) -> None:
    logs, db = runs_in(tmp_path / "logs", runs=2), tmp_path / "memory.db"
    run("learn", logs, db=db)
    before = {each["id"]: each["seen"] for each in lessons_of(db)}
    longer = claude_log("harbour-1", [LOST, MOON, MADE, Ran("git status", "clean")], day=1)
    (logs / "harbour-1.jsonl").write_text(longer, encoding="utf-8")
    assert "1 run: " in run("learn", logs, db=db).stdout
    assert {each["id"]: each["seen"] for each in lessons_of(db)} == before


def test_one_bad_file_stops_nothing_and_is_named(tmp_path: Path) -> None:
    logs, db = runs_in(tmp_path / "logs"), tmp_path / "memory.db"
    (logs / "noise.jsonl").write_bytes(bytes(range(256)) * 20)
    (logs / "harbour-3.jsonl.xz").write_bytes(lzma.compress(claude_log("harbour-3", [LOST, MOON] * 40).encode())[:-20])
    (logs / "talk.jsonl").write_text('{"author": "Vera", "text": "The tide is late."}\n' * 3, encoding="utf-8")
    done = run("learn", logs, ends=1, db=db)
    assert "harbour-3.jsonl.xz: the archive breaks off" in done.stderr
    assert "2 files without a run skipped" in done.stdout, "neither noise nor a story is a run"
    assert any(FIX in each["lesson"] for each in lessons_of(db))
    named = run("learn", logs / "noise.jsonl", logs / "harbour-0.jsonl", "--json", ends=1, db=db)
    assert "noise.jsonl is in no log format that is known here" in named.stderr
    tally = json.loads(named.stdout)
    assert (tally["unread"], tally["known"], tally["sessions"]) == (1, 1, 0)


def test_where_there_is_nothing_it_says_so_and_makes_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "noise.jsonl").write_bytes(bytes(range(256)))
    assert "No runs were found in empty" in run("learn", "empty", cwd=tmp_path, ends=2).stderr
    assert "There is no database memory.db to learn from" in run("learn", cwd=tmp_path, ends=2).stderr
    assert "noise.jsonl is in no log format" in run("learn", "noise.jsonl", cwd=tmp_path, ends=2).stderr
    assert not list(tmp_path.glob("*.db"))


def test_a_run_that_teaches_nothing_says_what_to_do_next(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(claude_log("harbour-1", [LOST]), encoding="utf-8")
    *_, counted, next_step = run("learn", "one.jsonl", cwd=tmp_path, db=tmp_path / "memory.db").stdout.splitlines()
    assert counted.strip().startswith("0 new lessons → ")
    assert "`ireneo report` draws what was tried" in next_step


def test_what_was_imported_before_is_learned_from_without_naming_it(tmp_path: Path) -> None:
    logs, db = runs_in(tmp_path / "logs"), tmp_path / "memory.db"
    run("import", logs, db=db)
    assert "3 runs: " in run("learn", db=db).stdout
    assert run("learn", db=db).stdout == "  nothing new to learn from\n"


def test_a_story_among_the_sessions_is_no_run(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    story = tmp_path / "story.jsonl"
    story.write_text('{"author": "Vera", "text": "The tide is late."}\n' * 3, encoding="utf-8")
    run("import", story, db=db)
    assert "1 session without a call" in run("learn", runs_in(tmp_path / "logs"), db=db).stdout
    assert "3 runs" in run("report", "--out", tmp_path / "page.html", db=db).stdout


def test_a_secret_in_a_log_is_in_nothing_that_is_kept(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    told = replace(LOST, said=f"Exit code 2\nmake: tide table not found for {secret}")
    logs, db = tmp_path / "logs", tmp_path / "memory.db"
    logs.mkdir()
    for day in range(3):
        (logs / f"{day}.jsonl").write_text(claude_log(f"harbour-{day}", [told, MOON, MADE], day=day), encoding="utf-8")
    done = run("learn", logs, db=db)
    assert "3 secrets redacted: github-token 3" in done.stdout
    page, agents = tmp_path / "page.html", tmp_path / "AGENTS.md"
    run("report", "--out", page, db=db)
    run("lessons", "--export", agents, db=db)
    kept = [page, agents, *tmp_path.glob("memory.db*")]
    assert not [file for file in kept if secret.encode() in file.read_bytes()]
    assert FIX in agents.read_text(encoding="utf-8")


def test_every_quote_is_word_for_word_and_together_they_show_the_lesson(tmp_path: Path) -> None:
    logs, db = runs_in(tmp_path / "logs"), tmp_path / "memory.db"
    run("learn", logs, db=db)
    said = {f"harbour-{day}": (logs / f"harbour-{day}.jsonl").read_text(encoding="utf-8") for day in range(3)}
    found = lessons_of(db)
    assert found
    for lesson in found:
        assert list(lesson) == KEYS
        assert lesson["sources"]
        for source in lesson["sources"]:
            assert list(source) == ["session", "message", "quote"]
            assert json.dumps(source["quote"])[1:-1] in said[source["session"]]
        evidence = SourceIndex([source["quote"] for source in lesson["sources"]])
        assert all(evidence.supports(claim) for claim in claims(lesson["lesson"]))


def test_what_tells_no_folder_is_of_the_project_that_is_named(tmp_path: Path) -> None:
    log, db = tmp_path / "talk.md", tmp_path / "memory.db"
    said = "Mend the tide page.", "Never edit the tide tables by hand, always run the generator."
    turns = (f"_**User**_\n\n{each}\n\n---\n\n_**Assistant**_\n\nDone.\n\n---\n\n" for each in said)
    used = "_**Assistant**_\n\nTool use: **read_file**\n\nRead file: tide.js\n\n---\n\n"
    log.write_text("<!-- Generated by SpecStory -->\n\n" + used.join(turns), encoding="utf-8")
    run("learn", log, "--project", "quay", db=db)
    (lesson,) = lessons_of(db)
    assert (lesson["project"], lesson["lesson"]) == ("quay", said[1])
    opened = run("expand", lesson["id"], db=db).stdout
    assert f"“{said[1]}” m_" in opened, "it is shown with what was said"
    assert "gener tabl" not in opened, "and not with the stems of its words"


def test_lessons_are_chosen_by_project_and_kind(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    run("learn", runs_in(tmp_path / "a"), runs_in(tmp_path / "b", cwd="/srv/reed", name="reed"), db=db)
    torn = Ran("make sail", "Exit code 1\nno such sail: jib", failed=True, minutes=3)
    failed = [torn, Ran("make jib", "sewn"), Ran("make sail", "set")] * 2
    (tmp_path / "sail.jsonl").write_text(claude_log("sail", failed, cwd="/srv/reed"), encoding="utf-8")
    run("learn", tmp_path / "sail.jsonl", db=db)
    of_reed = lessons_of(db, "--project", "reed")
    assert {each["project"] for each in of_reed} == {"reed"}
    assert lessons_of(db, "--project", "mill") == []
    assert {each["category"] for each in lessons_of(db, "--kind", "failure")} == {"failure"}
    assert "give one of factual, procedural, failure" in run("lessons", "--kind", "advice", ends=2, db=db).stderr
    assert "No lesson matches that" in run("lessons", "--kind", "factual", "--project", "none", db=db).stdout


def test_a_lesson_of_several_projects_is_told_in_these_until_it_is_made_general(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    run("learn", runs_in(tmp_path / "a"), runs_in(tmp_path / "b", cwd="/srv/reed", name="reed"), db=db)
    (lesson,) = lessons_of(db)
    assert lesson["projects"] == ["harbour", "reed"]
    assert "\n  harbour, reed\n" in run("lessons", db=db).stdout
    run("update", lesson["id"], "--general", db=db)
    assert "\n  every project\n" in run("lessons", db=db).stdout


def test_nothing_is_exported_to_a_folder_that_is_none_of_several_projects(tmp_path: Path) -> None:
    db, quay = tmp_path / "memory.db", tmp_path / "quay"
    quay.mkdir()
    run("learn", runs_in(tmp_path / "a"), runs_in(tmp_path / "b", cwd="/srv/reed", name="reed"), db=db)
    refused = run("lessons", "--export", quay / "AGENTS.md", ends=2, db=db).stderr
    assert "name one of harbour, reed with --project" in refused
    assert not list(quay.iterdir())
    assert run("lessons", "--export", quay / "AGENTS.md", "--project", "reed", db=db).stderr.startswith("Made")


def test_the_count_of_what_was_learned_is_that_of_the_list(tmp_path: Path) -> None:
    db, logs = tmp_path / "memory.db", tmp_path / "logs"
    logs.mkdir()
    wordings = "Never edit the tide tables by hand.", "Please don't edit tide tables by hand, always run the generator."
    used = "_**Assistant**_\n\nTool use: **read_file**\n\nRead file: tide.js\n\n---\n\n"
    for words in wordings:
        turns = f"{used}_**User**_\n\n{words}\n\n---\n\n{used}"
        (logs / f"{len(words)}.md").write_text(f"<!-- Generated by SpecStory -->\n\n{turns}", encoding="utf-8")
    done = run("learn", logs, "--project", "quay", db=db).stdout
    assert done.count("    + ") == len(wordings)
    assert "1 new lesson (1 more joined to another that says the same) → " in done
    assert run("lessons", db=db).stdout.count("  ruling · ") == 1


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", "SKILL.md"])
def test_an_export_is_made_updated_and_left_alone(tmp_path: Path, name: str) -> None:
    logs, db, file = runs_in(tmp_path / "logs"), tmp_path / "memory.db", tmp_path / name
    run("learn", logs, db=db)
    if name != "SKILL.md":
        file.write_text("# Ours\r\nNever touch the quay.\r\n", encoding="utf-8", newline="")
    told = run("lessons", "--export", file, db=db).stderr
    assert told.startswith("Made" if name == "SKILL.md" else "Updated")
    made = file.read_bytes()
    assert FIX.encode() in made
    assert name == "SKILL.md" or made.startswith(b"# Ours\r\nNever touch the quay.\r\n")
    assert run("lessons", "--export", file, db=db).stderr.startswith("Nothing new for")
    assert file.read_bytes() == made


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_on_a_terminal_a_bar_is_drawn_and_taken_away_again(tmp_path: Path) -> None:
    logs, db = runs_in(tmp_path / "logs"), tmp_path / "memory.db"
    terminal, end = pty.openpty()
    command = [sys.executable, "-m", "ireneo", "learn", str(logs), "--db", str(db)]
    with subprocess.Popen(command, stdin=end, stdout=end, stderr=end) as process:
        os.close(end)
        text = "".join(_read(terminal)).replace("\r\n", "\n")
    os.close(terminal)
    assert process.returncode == 0
    assert "━" in text
    assert "\x1b[?25h" in text, "the cursor is shown again"
    assert text.rstrip().endswith("`ireneo report` draws a page")


def _read(terminal: int) -> Iterator[str]:
    """What is written to a terminal, until its other end is closed."""
    while True:
        try:
            yield os.read(terminal, 4096).decode(errors="replace")
        except OSError:
            return


def test_without_a_terminal_nothing_is_drawn(tmp_path: Path) -> None:
    done = run("learn", runs_in(tmp_path / "logs"), "--db", tmp_path / "memory.db")
    assert done.stderr == ""
    assert "\x1b" not in done.stdout


def test_the_table_of_lessons_reads_as_it_did(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    seen = datetime(2026, 2, 5, 12, tzinfo=UTC)
    lesson = Lesson(
        id=MemoryId("m_1234567aaa"),
        project="harbour",
        task_type="",
        lesson="When `make tide` fails with “tide table not found”, run `make moon` first; then it passed. " * 2,
        cue="make tide",
        category="procedural",
        conditions={},
        standing="seen in 12 of 14 runs; last in February 2026",
        seen=12,
        met=14,
        last_seen=seen,
        sources=(Cited(session="one", message=MessageId("m_b"), quote="make moon"),),
    )
    hostile = "`make sail`\n\x1b[31mfails\x07 \u202ewith\u202c “no jib”."
    show_lessons(
        [
            lesson,
            replace(
                lesson,
                project="",
                projects=("anchor", "harbour"),
                category="failure",
                standing="seen once",
                seen=1,
                met=1,
                lesson=hostile,
            ),
            replace(lesson, project="anchor", category="factual", lesson="`make` builds it."),
            replace(lesson, is_ruling=True, standing="said in 3 runs", lesson="Never push on a Friday."),
            replace(lesson, project="", projects=("*",), category="factual", lesson="Tides are in UTC."),
        ]
    )
    show_lessons([])
    show_lessons([], chosen=True)
    show_lessons([], chosen=True, more=2)
    show_lessons([replace(lesson, guard_only=True, lesson="`sail` is not there: look in `jib`.")], more=1)
    text = capsys.readouterr().out
    if os.environ.get("REGENERATE"):
        (GOLDEN / "cli_lessons.txt").write_text(text, encoding="utf-8")
    assert text == (GOLDEN / "cli_lessons.txt").read_text(encoding="utf-8")


def test_a_brief_holds_the_ruling_on_what_its_goal_is_about(tmp_path: Path) -> None:
    run("learn", Path(ireneo.__file__).parent / "faces/cli/demo", cwd=tmp_path)
    ruling = "Never touch the migrations"
    for goal in ("change the migrations", "Add a column to the jobs table with a new migration"):
        assert ruling in run("brief", "--project", "kestrel", "--goal", goal, cwd=tmp_path).stdout
    for goal in ("Run the integration tests", "Write a changelog entry"):
        assert ruling not in run("brief", "--project", "kestrel", "--goal", goal, cwd=tmp_path).stdout


def test_what_is_told_only_where_it_applies_is_counted_listed_and_told_to_a_goal_that_names_it(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    lost = Ran("cat mast/sails.py", "cat: mast/sails.py: No such file or directory", failed=True)
    log = claude_log("harbour-1", [lost, Ran("ls mast", "sail.py"), Ran("cat mast/sail.py", "jib = 1")])
    (tmp_path / "one.jsonl").write_text(log, encoding="utf-8")
    *_, counted, next_step = run("learn", "one.jsonl", cwd=tmp_path, db=db).stdout.splitlines()
    assert counted.startswith("  0 new lessons and 1 told only where they apply → ")
    assert "with --all also those" in next_step
    assert lessons_of(db) == []
    assert "1 lesson is told only where it applies" in run("lessons", db=db).stdout
    assert " · told where it applies\n" in run("lessons", "--all", db=db).stdout
    (only,) = lessons_of(db, "--all")
    assert "`mast/sails.py`" in only["lesson"]
    asked = ("brief", "--project", only["project"], "--goal")
    assert only["lesson"].rstrip(".") in run(*asked, "Read mast/sails.py and explain it", db=db).stdout
    assert run(*asked, "Explain the sails", db=db).stdout.startswith("  No memory matches that.")


def test_a_folder_lists_the_lessons_of_its_project(tmp_path: Path) -> None:
    db, reed = tmp_path / "memory.db", tmp_path / "reed"
    reed.mkdir()
    run("learn", runs_in(tmp_path / "a"), db=db)
    none = "  None of project reed; these are of harbour.\n"
    listed = run("lessons", cwd=reed, db=db).stdout
    assert listed.startswith(none), "no run of this folder was learned from"
    assert "\n  harbour\n" in listed
    (tmp_path / "calm.jsonl").write_text(claude_log("calm", [Ran("make jib", "sewn")], cwd=str(reed)), encoding="utf-8")
    run("learn", tmp_path / "calm.jsonl", db=db)
    assert run("lessons", cwd=reed, db=db).stdout == listed, "a run of this folder taught nothing"
    assert run("lessons", "--project", "reed", db=db).stdout == (
        "  No lesson matches that; `ireneo lessons --all-projects` shows all.\n"
    )
    run("learn", one_with_a_rule(tmp_path / "b.md"), "--project", "reed", db=db)
    here, everywhere = (run("lessons", *given, cwd=reed, db=db).stdout for given in ((), ("--all-projects",)))
    assert "None of project" not in here
    assert "\n  harbour\n" not in here
    assert "1 lesson of other projects: `ireneo lessons --all-projects`." in here
    assert "\n  harbour\n" in everywhere
    assert "\n  reed\n" in everywhere
    refused = run("lessons", "--all-projects", "--project", "reed", ends=2, cwd=reed, db=db).stderr
    assert "give one of them" in refused


def one_with_a_rule(path: Path) -> Path:
    """A run in which the user sets a rule."""
    used = "_**Assistant**_\n\nTool use: **read_file**\n\nRead file: tide.js\n\n---\n\n"
    ruled = f"{used}_**User**_\n\nNever edit the tide tables by hand, always run the generator.\n\n---\n\n{used}"
    path.write_text(f"<!-- Generated by SpecStory -->\n\n{ruled}", encoding="utf-8")
    return path


def test_what_a_user_ruled_in_one_run_is_offered_for_a_review(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    log = claude_log("harbour-1", [Ran("ls mast", "sail.py")], then="yes do not touch the rigging")
    (tmp_path / "one.jsonl").write_text(log, encoding="utf-8")
    told = run("learn", "one.jsonl", cwd=tmp_path, db=db).stdout
    assert "1 ruling said in one run: `ireneo review` asks which to keep" in told
    assert "no lesson here" not in told
    assert " · told once another run says it, or you keep it\n" in run("lessons", "--all", db=db).stdout

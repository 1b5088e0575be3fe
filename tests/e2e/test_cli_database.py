"""The commands that work on a database: import, sessions, context, expand, rewind, fork, snapshot."""

from __future__ import annotations

import json
import lzma
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_cli_command import AGENT, DESK, answer, run

ID = "7c1e4f52-2b8d-4d0a-9f3e-61b5a0c9d2e8"


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database that holds the samples; it is only copied."""
    folder = tmp_path_factory.mktemp("imported")
    done = run("import", AGENT, DESK, cwd=folder)
    assert "3 sessions, 99 new messages → memory.db" in done.stdout
    assert done.stderr == ""
    return folder


@pytest.fixture
def folder(imported: Path, tmp_path: Path) -> Path:
    """A copy of the database for one test."""
    shutil.copy(imported / "memory.db", tmp_path)
    return tmp_path


def context(folder: Path, *arguments: object) -> dict[str, Any]:
    found = answer("context", *arguments, cwd=folder)
    assert isinstance(found, dict)
    return found


def test_sessions_are_listed(imported: Path) -> None:
    listed = answer("sessions", cwd=imported)
    assert isinstance(listed, list)
    assert all(set(each) == {"id", "project", "source", "messages", "tokens", "first_at", "last_at"} for each in listed)
    assert {each["id"]: each["messages"] for each in listed} == {ID: 59, "reed-valve-0412": 29, "reed-valve-0413": 11}
    agent = next(each for each in listed if each["id"] == ID)
    assert agent["source"] == "claude-code:kestrel-drift"
    assert agent["first_at"] < agent["last_at"]
    shown = run("sessions", cwd=imported).stdout
    assert re.search(rf"{ID} +59 +[\d,]+ +2026-03-02 +kestrel +claude-code", shown)


def test_the_database_may_be_named_in_the_environment(imported: Path, tmp_path: Path) -> None:
    shown = run("sessions", cwd=tmp_path, db=imported / "memory.db").stdout
    assert ID in shown
    assert list(tmp_path.iterdir()) == []


def test_importing_again_stores_nothing_twice(folder: Path) -> None:
    done = run("import", AGENT, DESK, cwd=folder)
    assert "3 sessions, 0 new messages → memory.db" in done.stdout


def test_an_import_says_to_which_project_sessions_went_and_what_reads_them(tmp_path: Path) -> None:
    here = tmp_path / "harbour"
    here.mkdir()
    done = run("import", AGENT, DESK, cwd=here)
    assert "of projects harbour, kestrel\n" in done.stdout
    assert "`ireneo work` reads what users say" in done.stdout
    assert "`ireneo work` reads what users say" in run("memories", cwd=here).stdout
    other = tmp_path / "other"
    other.mkdir()
    assert "of projects desk, kestrel\n" in run("import", AGENT, DESK, "--project", "desk", cwd=other).stdout
    listed = answer("sessions", cwd=other)
    assert isinstance(listed, list)
    assert {each["id"]: each["project"] for each in listed} == {
        ID: "kestrel",
        "reed-valve-0412": "desk",
        "reed-valve-0413": "desk",
    }
    assert "`ireneo work`" not in run("import", DESK, cwd=other).stdout, "nothing is new"
    scene = {"name": "Vera", "is_user": False, "mes": "I lied about the letter.", "send_date": 1}
    (other / "scene.jsonl").write_text(json.dumps(scene) + "\n", encoding="utf-8")
    read = "`ireneo work` summarises more than 250 messages, and remembers what one person tells an assistant"
    assert read in run("import", "scene.jsonl", cwd=other).stdout
    (other / "chat.jsonl").write_bytes(AGENT.read_bytes())
    again = run("import", "chat.jsonl", "--session", "again", cwd=other).stdout
    assert "`ireneo learn` what its runs teach" in again, "whatever the file is called"


def test_spaces_are_apart(folder: Path) -> None:
    assert answer("sessions", "--space", "other", cwd=folder) == []
    run("import", DESK, "--space", "other", cwd=folder)
    listed = answer("sessions", "--space", "other", cwd=folder)
    assert isinstance(listed, list)
    assert len(listed) == 2
    run("context", ID, "--budget", 2000, "--space", "other", cwd=folder, ends=2)


def test_a_folder_is_searched_and_what_is_no_log_is_passed_over(tmp_path: Path) -> None:
    logs = tmp_path / "logs" / "deep"
    logs.mkdir(parents=True)
    (logs / "agent.jsonl.xz").write_bytes(lzma.compress(AGENT.read_bytes()))
    (logs / "settings.json").write_text('{"theme": "dark"}')
    (logs / "notes.txt").write_text("not a log")
    done = run("import", tmp_path / "logs", cwd=tmp_path)
    assert "1 session, 59 new messages" in done.stdout
    assert "1 file without a session skipped" in done.stdout
    assert done.stderr == ""


def test_a_folder_is_searched_for_logs_in_markdown_and_its_pages_are_passed_over_in_silence(tmp_path: Path) -> None:
    talk = "".join(f"{name}: Is the kiln cold, or warm?\n\n" for name in ("Ada", "Bea") * 4)
    pages = {
        "README.md": "# Kiln\n\nNote: fire it.\n\nNote: with coal.\n",
        "talk.md": talk,
        "notes/run.traj": "to be written",
        ".specstory/history/a.md": "<!-- Generated by SpecStory -->\n\n_**User**_\n\nFire it.\n\n_**Agent**_\n\nNo.\n",
        ".aider.chat.history.md": "# aider chat started at 2026-01-05 08:30:00\n\n#### Fire it.  \n\nNo.\n",
    }
    for name, text in pages.items():
        (tmp_path / "logs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "logs" / name).write_text(text)
    done = run("import", "logs", cwd=tmp_path)
    assert done.stderr == ""
    assert "skipped" not in done.stdout
    assert "2 sessions, 4 new messages" in done.stdout
    told = run("import", "logs", "--format", "chat", "--space", "talks", cwd=tmp_path)
    assert "1 session, 8 new messages" in told.stdout
    named = run("import", "logs/talk.md", "--space", "named", cwd=tmp_path)
    assert "1 session, 8 new messages" in named.stdout


def test_files_of_one_name_in_two_folders_are_two_sessions(tmp_path: Path) -> None:
    for name, words in (("first", "Hello"), ("second", "Good evening")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "chat.json").write_text(json.dumps([{"role": "user", "content": words}]))
    run("import", "first", "second", cwd=tmp_path)
    listed = answer("sessions", cwd=tmp_path)
    assert isinstance(listed, list)
    assert {each["id"] for each in listed} == {"chat", "second/chat"}


def test_one_bad_file_does_not_stop_the_rest(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("once upon a time")
    done = run("import", "bad.txt", "gone.jsonl", AGENT, cwd=tmp_path, ends=1)
    assert "1 session, 59 new messages" in done.stdout
    assert "bad.txt is in no log format" in done.stderr
    assert "There is no file gone.jsonl." in done.stderr


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    lines = AGENT.read_bytes().splitlines(keepends=True)
    lines[40] = lines[40][:200] + b"\n"
    (tmp_path / "log.jsonl").write_bytes(b"".join(lines))
    done = run("import", "log.jsonl", cwd=tmp_path)
    assert done.stderr.startswith("warning: log.jsonl:41: ")
    assert "1 session" in done.stdout


def test_a_session_is_found_by_the_beginning_or_the_end_of_its_id(folder: Path) -> None:
    cut = context(folder, "7c1e", "--budget", 2000)
    assert cut["tokens"] <= 2000
    assert cut["violations"] == []
    assert sum(row["covers"] for row in cut["view"]) == 59
    done = run("context", "reed", "--budget", 2000, cwd=folder, ends=2)
    assert done.stderr == "ireneo: 2 sessions begin with reed: reed-valve-0412, reed-valve-0413; give more of its id.\n"
    assert context(folder, ID[-6:], "--budget", 2000) == cut


def test_a_stored_session_and_its_file_give_the_same_context(folder: Path) -> None:
    stored = context(folder, ID, "--budget", 2000)
    assert stored["messages"] == context(folder, AGENT, "--budget", 2000)["messages"]


def test_a_block_opens_without_its_session_being_named(folder: Path) -> None:
    cut = context(folder, ID, "--budget", 2000)
    block = next(row for row in cut["view"] if row["what"] == "summary")
    opened = answer("expand", block["id"][:9], cwd=folder)
    assert isinstance(opened, dict)
    assert opened["session"] == ID
    assert opened["summary"]["id"] == block["id"]
    assert len(opened["messages"]) == block["covers"]
    assert opened == {**opened, **json.loads(run("expand", block["id"], "-s", "7c1e", "--json", cwd=folder).stdout)} | {
        "id": block["id"][:9]
    }
    shown = run("expand", block["id"][:9], cwd=folder).stdout
    assert "kestrel/schedule.py" in shown


def test_a_rewind_hides_what_came_after_and_a_fork_keeps_it(folder: Path) -> None:
    whole = context(folder, ID, "--budget", 50_000)
    assert "anchor.py" in json.dumps(whole["messages"])
    place = whole["view"][14]["id"]
    assert "@all is at" in run("fork", ID, "all", cwd=folder).stdout
    assert "message 15, in turn 1" in run("rewind", ID, place[:9], cwd=folder).stdout
    after = context(folder, ID, "--budget", 50_000)
    assert "anchor.py" not in json.dumps(after["messages"])
    assert len(after["view"]) == 15
    assert context(folder, f"{ID}@all", "--budget", 50_000)["messages"] == whole["messages"]
    assert "is before its first message" in run("rewind", ID, "root", cwd=folder).stdout
    assert context(folder, ID, "--budget", 2000)["messages"] == []
    assert "no message here yet" in run("context", ID, "--budget", 2000, cwd=folder).stdout


def test_a_message_may_be_called_as_its_log_called_it(folder: Path) -> None:
    told = json.loads(AGENT.read_text().splitlines()[1])
    assert "message 1, in turn 1" in run("rewind", ID, told["uuid"], cwd=folder).stdout


def test_a_fork_begins_where_it_is_told_to(folder: Path) -> None:
    whole = context(folder, ID, "--budget", 50_000)
    run("fork", ID, "early", "--at", whole["view"][2]["id"], cwd=folder)
    assert len(context(folder, f"{ID}@early", "--budget", 50_000)["view"]) == 3
    done = run("fork", ID, "early", cwd=folder, ends=2)
    assert "has a branch 'early' already" in done.stderr


def test_a_snapshot_is_the_payload_and_never_overwrites(folder: Path) -> None:
    names = [run("snapshot", ID, "--budget", 2000, cwd=folder).stdout.strip() for _ in range(2)]
    assert len(set(names)) == 2
    for name in names:
        assert re.fullmatch(rf"{ID}-\d{{4}}-\d\d-\d\dT\d{{6}}Z(-2)?\.json", name)
        payload = json.loads((folder / name).read_text())
        assert payload == {"messages": context(folder, ID, "--budget", 2000)["messages"]}
    (folder / "out").mkdir()
    written = run("snapshot", "reed-valve-0412", "--to", "anthropic", "-o", "out", cwd=folder).stdout.strip()
    payload = json.loads((folder / written).read_text())
    assert set(payload) == {"system", "messages"}
    assert "trumpet" not in json.dumps(payload)

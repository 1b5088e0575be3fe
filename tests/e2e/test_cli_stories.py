"""Stories and talks of many voices on the command line: taken in, put together, cut and opened."""

from __future__ import annotations

import json
import lzma
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_cli_command import COMMAND, answer, run

import ireneo.sync
from ireneo.engine.imports import BATCH

PEOPLE = ("Vera", "Tom", "the Guard")


def story(path: Path, size: int, word: str = "night") -> Path:
    lines = [
        json.dumps({"author": PEOPLE[n % 3], "text": f"I tell of {word} {n}, which was long.", "id": n})
        for n in range(size)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def session_in(folder: Path) -> dict[str, Any]:
    listed = answer("sessions", cwd=folder)
    assert isinstance(listed, list)
    (only,) = listed
    return dict(only)


def test_a_story_is_imported_once(tmp_path: Path) -> None:
    story(tmp_path / "gate.jsonl", 30)
    assert "1 session, 30 new messages" in run("import", "gate.jsonl", cwd=tmp_path).stdout
    assert "1 session, 0 new messages" in run("import", "gate.jsonl", "--format", "chat", cwd=tmp_path).stdout
    found = session_in(tmp_path)
    assert (found["id"], found["source"], found["messages"]) == ("gate", "chat:gate", 30)
    assert "formats" not in run("formats", cwd=tmp_path).stderr
    assert "chat" in run("formats", cwd=tmp_path).stdout


def test_several_files_are_one_session_and_one_more_is_added(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        story(tmp_path / f"{name}.jsonl", 10, name)
    packed = tmp_path / "two.jsonl.xz"
    packed.write_bytes(lzma.compress((tmp_path / "two.jsonl").read_bytes()))
    given = ("one.jsonl", packed.name)
    done = run("import", *given, "--format", "chat", "--session", "tale", cwd=tmp_path)
    assert "tale ← one\n" in done.stdout
    assert "1 session, 20 new messages" in done.stdout
    assert "1 session, 0 new" in run("import", *given, "--format", "chat", "-s", "tale", cwd=tmp_path).stdout
    more = run("import", *given, "three.jsonl", "--format", "chat", "--session", "tale", cwd=tmp_path)
    assert "1 session, 10 new messages" in more.stdout
    assert session_in(tmp_path)["messages"] == 30
    shown = answer("context", "tale", "--budget", "9000", cwd=tmp_path)
    assert isinstance(shown, dict)
    assert [message["content"] for message in shown["messages"]] == [
        f"{PEOPLE[n % 3]}: I tell of {name} {n}, which was long." for name in ("one", "two", "three") for n in range(10)
    ]
    refused = run("import", "three.jsonl", "--format", "chat", "--session", "tale", cwd=tmp_path, ends=2)
    assert "name all of its logs in their order" in refused.stderr
    assert session_in(tmp_path)["messages"] == 30


def test_what_is_new_of_a_story_is_one_row(tmp_path: Path) -> None:
    story(tmp_path / "gate.jsonl", 300)
    run("import", "gate.jsonl", cwd=tmp_path)
    lines = run("context", "gate", "--budget", "2000", cwd=tmp_path).stdout.splitlines()
    rows = [
        line.split() for line in lines[lines.index("") + 1 :] if line.startswith(("  story ", "  live ", "  user "))
    ]
    shown = [message for message in rows if message[0] == "live"]
    assert len(shown) == 1, lines
    assert shown[0][1].endswith("–300")
    assert not [row for row in rows if row[0] == "user"]


def test_it_is_told_where_words_said_here_are_kept(tmp_path: Path) -> None:
    path = story(tmp_path / "gate.jsonl", 3)
    run("import", "gate.jsonl", cwd=tmp_path)
    with ireneo.sync.open(tmp_path / "memory.db") as memory:
        memory.session("gate").append("Said here.")
    path.write_text(path.read_text().replace("night 2", "night 3"))
    assert "What was said here since is on the branch gate@main-2." in run("import", "gate.jsonl", cwd=tmp_path).stdout
    again = answer("import", "gate.jsonl", cwd=tmp_path)
    assert isinstance(again, dict)
    assert again["kept"] == []


def test_what_can_not_be_read_keeps_what_stands_behind_it_out(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        story(tmp_path / f"{name}.jsonl", 200, name)
    whole = lzma.compress((tmp_path / "two.jsonl").read_bytes())
    (tmp_path / "cut.jsonl.xz").write_bytes(whole[: len(whole) // 2])
    named = ("--format", "chat", "--session", "tale")
    gone = run("import", "one.jsonl", "gone.jsonl", "three.jsonl", *named, cwd=tmp_path, ends=2)
    assert "Nothing was stored" in gone.stderr
    cut = run("import", "one.jsonl", "cut.jsonl.xz", "three.jsonl", *named, cwd=tmp_path, ends=1)
    assert "the archive breaks off" in cut.stderr
    assert "The logs after it were left out" in cut.stderr
    assert "three" not in cut.stdout


def test_bad_lines_are_named_and_the_rest_is_taken(tmp_path: Path) -> None:
    path = story(tmp_path / "gate.jsonl", 5)
    path.write_text(path.read_text() + '{"author": "Vera", "te\n' + '{"author": "Vera"}\n')
    done = run("import", path.name, "--format", "chat", cwd=tmp_path)
    assert "5 new messages" in done.stdout
    assert "gate.jsonl:6: " in done.stderr
    assert "gate.jsonl:7: " in done.stderr


def test_a_novel_needs_its_format_to_be_named(tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text("CHAPTER I.\n\nIt rained.\n\nHe said: no.\n")
    assert "name its `--format`: " in run("import", "book.txt", cwd=tmp_path, ends=2).stderr
    assert "3 new messages" in run("import", "book.txt", "--format", "chat", cwd=tmp_path).stdout
    assert session_in(tmp_path)["id"] == "book"


def test_every_command_shows_who_speaks(tmp_path: Path) -> None:
    path = story(tmp_path / "gate.jsonl", 120)
    with path.open("a") as file:
        file.write(json.dumps({"author": "Tom", "text": "Keep it to yourself.", "present": ["Vera"]}) + "\n")
    run("import", path.name, cwd=tmp_path)
    shown = answer("context", "gate", "--budget", "900", cwd=tmp_path)
    assert isinstance(shown, dict)
    assert shown["tokens"] <= 900
    assert shown["view"][-1]["text"] == "Tom: Keep it to yourself."
    assert ": I tell of night" in run("context", "gate", "--budget", "900", cwd=tmp_path).stdout
    of_file = answer("context", path.name, "--format", "chat", "--budget", "900", cwd=tmp_path)
    assert isinstance(of_file, dict)
    assert of_file["view"] == shown["view"]
    last = shown["view"][-1]["id"]
    for where in ((), ("--file", path.name, "--format", "chat", "--budget", "900")):
        opened = run("expand", last, *where, cwd=tmp_path).stdout
        assert "  Tom  m_" in opened
        assert "heard by Vera" in opened
    block = next(row["id"] for row in shown["view"] if row["what"] == "summary")
    for where in ((), ("--file", path.name, "--format", "chat", "--budget", "900")):
        assert "  Vera  m_" in run("expand", block, *where, cwd=tmp_path).stdout
    written = run("snapshot", "gate", "--to", "anthropic", cwd=tmp_path).stdout.strip()
    assert "the Guard: I tell of night 2, which was long." in (tmp_path / written).read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no signal 9")
def test_an_import_that_is_killed_keeps_whole_batches_and_goes_on(tmp_path: Path) -> None:
    size = 6 * BATCH
    story(tmp_path / "gate.jsonl", size)
    command = [*COMMAND, "import", "gate.jsonl", "--format", "chat", "--db", "memory.db"]
    importing = subprocess.Popen(command, cwd=tmp_path, env=dict(os.environ), stdout=subprocess.PIPE)
    until = time.monotonic() + 150
    while time.monotonic() < until and importing.poll() is None:
        if (tmp_path / "memory.db").exists() and answer("sessions", cwd=tmp_path):
            break
        time.sleep(0.02)
    importing.send_signal(signal.SIGKILL)
    importing.communicate()
    kept = session_in(tmp_path)["messages"]
    assert kept > 0
    assert kept % BATCH == 0
    done = run("import", "gate.jsonl", "--format", "chat", cwd=tmp_path)
    assert f"1 session, {size - kept:,} new messages" in done.stdout
    assert session_in(tmp_path)["messages"] == size


def test_prose_is_found_as_it_stands_and_teaches_no_episode(tmp_path: Path) -> None:
    told = "On day {day} the keeper walked to the gate, and lit a lamp for whoever came late over the moor."
    (tmp_path / "tale.txt").write_text("\n\n".join(told.format(day=day) for day in range(400)))
    (tmp_path / "play.txt").write_text("\n\n".join(f"{'VT'[day % 2]}era: {told.format(day=day)}" for day in range(400)))
    for name in ("tale", "play"):
        db = tmp_path / f"{name}.db"
        run("import", tmp_path / f"{name}.txt", "--format", "chat", db=db)
        run("work", "--until-idle", db=db)
        assert "episodic" not in run("memories", "-a", db=db).stdout
        assert "On day 17 " in run("recall", "What did the keeper do on day 17?", "-a", db=db).stdout


def test_a_rewind_says_which_notes_by_hand_it_undoes(tmp_path: Path) -> None:
    story(tmp_path / "gate.jsonl", 30)
    run("import", "gate.jsonl", cwd=tmp_path)
    rows = answer("context", "gate", "--budget", 8_000, cwd=tmp_path)["view"]  # type: ignore[call-overload]
    run("thread", "canon", "gate", "The Guard is called Odo.", cwd=tmp_path)
    run("fork", "gate", "kept", cwd=tmp_path)
    undone = run("rewind", "gate", rows[4]["id"], cwd=tmp_path).stderr
    assert "No longer shown: “The Guard is called Odo.”; `--keep-notes` keeps" in undone
    assert "Odo" not in run("thread", "list", "gate", cwd=tmp_path).stdout
    assert "No longer" not in run("rewind", "gate@kept", rows[4]["id"], "--keep-notes", cwd=tmp_path).stderr
    assert "Odo" in run("thread", "list", "gate@kept", cwd=tmp_path).stdout


def test_whose_a_thread_is_knows_of_it_and_who_knows_can_be_changed(tmp_path: Path) -> None:
    story(tmp_path / "gate.jsonl", 30)
    run("import", "gate.jsonl", cwd=tmp_path)
    made = answer(
        "thread", "add", "gate", "secret", "Vera sold the key.", "--who", "Vera", "--known-to", "Tom", cwd=tmp_path
    )

    def known(name: str) -> bool:
        return "Vera sold the key." in run("thread", "list", "gate", "--as", name, cwd=tmp_path).stdout

    assert [known(name) for name in PEOPLE] == [True, True, False]
    assert (
        "No thread that the Guard knows of is open"
        in run("thread", "list", "gate", "--as", "the Guard", cwd=tmp_path).stdout
    )
    assert isinstance(made, dict)
    run("thread", "edit", "gate", made["id"], "--known-to", "the Guard", cwd=tmp_path)
    assert [known(name) for name in PEOPLE] == [True, False, True]

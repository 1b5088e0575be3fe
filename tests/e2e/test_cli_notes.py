"""Notes by the agent itself, from the command line: the request is printed, and the answer is checked and kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.test_cli_command import AGENT, answer, run

NOTES = """failed 4: Counting from `job.next_run_at` made `test_worker_asleep_for_three_hours` fail.
found 3: The schedule is in kestrel/schedule.py.
found 3: The schedule is in kestrel/made_up.py.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    run("import", AGENT, cwd=tmp_path)
    (tmp_path / "answer.txt").write_text(NOTES, encoding="utf-8")
    return tmp_path


def test_the_request_is_printed_and_nothing_else(folder: Path) -> None:
    printed = run("notes", "7c1e", cwd=folder).stdout
    assert printed.startswith("Your earlier messages will soon leave your view")
    told = answer("notes", "7c1e", cwd=folder)
    assert isinstance(told, dict)
    assert str(told["request"]).strip() == printed.strip()


def test_what_the_messages_show_of_an_answer_is_kept(folder: Path) -> None:
    said = run("notes", "7c1e", "--take", "answer.txt", cwd=folder).stdout
    assert "2 notes kept on messages 1 to 59" in said
    assert "1 statement struck" in said
    assert "made_up.py" in said
    shown = run("context", "7c1e", "-b", 1_000, "--json", cwd=folder).stdout
    assert "test_worker_asleep_for_three_hours" in shown
    assert "made_up.py" not in shown
    assert "has notes already" in run("notes", "7c1e", "--take", "answer.txt", cwd=folder).stdout


def test_an_answer_comes_through_a_pipe(folder: Path) -> None:
    told = answer("notes", "7c1e", "--take", "answer.txt", cwd=folder)
    assert isinstance(told, dict)
    assert (told["notes"], told["struck"], told["first_position"], told["last_position"]) == (2, 1, 0, 58)
    again = run("notes", "7c1e", "--take", "-", cwd=folder, given=NOTES.encode())
    assert "has notes already" in again.stdout


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [(b"I am done.", "holds no notes, and nothing was stored"), (b"", "holds no notes"), (b"\xff\xfe", "UTF-8")],
)
def test_an_answer_that_holds_none_changes_nothing(folder: Path, reply: bytes, sentence: str) -> None:
    done = run("notes", "7c1e", "--take", "-", cwd=folder, given=reply, ends=2)
    assert sentence in done.stderr
    assert done.stdout == ""
    assert "all that was said and done so far" in run("notes", "7c1e", cwd=folder).stdout


def test_a_missing_file_or_session_is_said(folder: Path) -> None:
    assert "no-such.txt" in run("notes", "7c1e", "--take", "no-such.txt", cwd=folder, ends=2).stderr
    assert "no session '0000'" in run("notes", "0000", cwd=folder, ends=2).stderr

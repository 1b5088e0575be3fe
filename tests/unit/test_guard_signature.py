"""What a call is called: by the program that does the work, or by its tool."""

from __future__ import annotations

import pytest
from tests.golden.material import run
from tests.unit.lesson_runs import a_run, edit_of

from ireneo.lessons.commands import command_in, read_command
from ireneo.lessons.shell import tried_calls


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("cd pkg && go test ./...", "go test"),
        ("mise run test:integration -- -run TestOne", "mise run test:integration"),
        ("mise tool-stub node", "mise tool-stub"),
        ("GOFLAGS=-mod=mod timeout 60 go build ./...", "go build"),
        ("python3 -m pytest -q tests", "pytest"),
        ("python3 reproduce.py", "reproduce.py"),
        ("python -c 'print(1)'", "python"),
        ("cat log.txt | grep -n error", "cat"),
        ("git checkout main", "git checkout"),
        ("gh pr view 12", "gh pr view"),
        ("grep foo src/a.py", "grep"),
        ("./scripts/check.sh --all", "check.sh"),
        ("cat <<'EOF' > b.py\nimport os\nEOF\npython a.py", "a.py"),
        ("cat <<'EOF' > a.py\nimport os\nEOF\npython a.py", "python"),
    ],
)
def test_a_command_is_called_by_the_program_that_does_the_work(command: str, program: str) -> None:
    (tried,) = tried_calls(a_run(run(command, "ok")))
    assert (tried.program, tried.shell, tried.path) == (program, True, "")


def test_the_last_program_of_a_pipe_decides_how_it_ends() -> None:
    read = read_command("make test 2>&1 | grep -c ok")
    assert [read.steps[place].name for place in read.deciding] == ["grep"]
    assert read_command("make test 2>&1 | tail -5").deciding == ()


def test_a_tool_for_files_is_called_by_its_name_and_tells_its_file() -> None:
    (tried,) = tried_calls(a_run(edit_of("/w/a.go", "done")))
    assert (tried.program, tried.tool, tried.shell, tried.path, tried.unread) == (
        "Edit",
        "Edit",
        False,
        "/w/a.go",
        True,
    )


def test_what_is_written_by_redirection_and_where_it_is_run_is_told() -> None:
    assert read_command("echo hi > notes.txt").steps[0].writes == ("notes.txt",)
    assert read_command("cd sub && ls").steps[1].folder == "sub"


def test_arguments_that_are_no_object_hold_no_command() -> None:
    assert command_in("{broken") == ""

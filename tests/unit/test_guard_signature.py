"""The shape of a call: its program, what its outcome hangs on, and what it names."""

from __future__ import annotations

import pytest
from tests.unit.guarded import call

from ireneo.lessons.shell import shape


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("cd pkg && go test ./...", "go test"),
        ("mise run test:integration -- -run TestOne", "mise run test:integration"),
        ("GOFLAGS=-mod=mod timeout 60 go build ./...", "go build"),
        ("python3 -m pytest -q tests", "pytest"),
        ("python3 reproduce.py", "reproduce.py"),
        ("python -c 'print(1)'", "python"),
        ("cat log.txt | grep -n error", "cat"),
        ("git checkout main", "git checkout"),
        ("gh pr view 12", "gh pr view"),
        ("grep foo src/a.py", "grep"),
        ("./scripts/check.sh --all", "check.sh"),
        ("cat <<'EOF' > a.py\nimport os\nEOF\npython a.py", "a.py"),
    ],
)
def test_a_command_is_called_by_the_program_that_does_the_work(command: str, program: str) -> None:
    assert shape(call("Bash", command)).program == program


def test_the_last_program_of_a_pipe_decides_how_it_ends() -> None:
    assert shape(call("Bash", "make test 2>&1 | grep -c ok")).decider == "grep"
    assert shape(call("Bash", "make test 2>&1 | tail -5")).decider == ""


def test_a_tool_for_files_is_called_by_its_name_and_tells_its_file() -> None:
    seen = shape(call("Edit", {"file_path": "/w/a.go", "old_string": "x", "new_string": "y", "replace_all": True}))
    assert (seen.program, seen.path, seen.removed, seen.added, seen.everywhere) == ("Edit", "/w/a.go", "x", "y", True)
    assert seen.action == "edit: a.go"


def test_what_is_searched_for_and_what_is_written_is_told() -> None:
    assert shape(call("Bash", 'grep -rn "def foo" src/')).pattern == "def foo"
    assert shape(call("Bash", "echo hi > notes.txt")).writes == ("notes.txt",)
    assert shape(call("Bash", "cd sub && ls")).folder == "sub"


def test_equal_arguments_are_equal_in_whatever_order() -> None:
    one = shape(call("Read", {"file_path": "/a", "limit": 3}))
    other = shape(call("Read", {"limit": 3, "file_path": "/a"}))
    assert one.exact == other.exact
    assert not one.whole


def test_arguments_that_are_no_object_have_a_shape() -> None:
    from ireneo.log.message import Call

    assert shape(Call(id="a", name="Bash", arguments="{broken")).program == "Bash"


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("bash reproduce_issue.sh", "check"),
        ("python3 -m pylint --rcfile=rc a.py", "check"),
        ("bin/test sympy/core", "check"),
        ("python3 apply_fix.py", "run"),
        ("./scripts/test-harness.sh start", "check"),
        ("scripts/test-harness.sh start", "run"),
    ],
)
def test_what_is_run_to_see_whether_something_holds_is_a_check(command: str, kind: str) -> None:
    assert shape(call("Bash", command)).kind == kind

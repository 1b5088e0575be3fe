"""What the signatures of actions and errors keep and what they forget."""

from __future__ import annotations

import pytest

from ireneo.memories.signature import action_of, action_signature, error_signature, signature


def test_the_same_command_elsewhere_has_the_same_signature() -> None:
    here = action_signature(
        "Bash", {"command": "cd /srv/app && pytest -x tests/unit/test_a.py -k 'one' 2>&1 | tail -5"}
    )
    there = action_signature("bash", {"command": "timeout 60 pytest -x other/test_a.py -k 'two words' > out.txt"})
    assert here == there == "bash: pytest -x test_a.py -k '…'"


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ('bash -lc "make test"', "make test"),
        ("FOO=1 sudo make test", "make test"),
        (
            "python -m venv .venv && .venv/bin/pip install numpy==1.26.4",
            "python -m venv .venv && pip install numpy==<n>",
        ),
        ("cat > x.py <<'EOF'\nprint(1)\nEOF\npython x.py", "cat && python x.py"),
        ("curl -s https://example.org/a?b=1 -o out.json", "curl -s <url> -o out.json"),
        ("git commit -m \"fix 'it'\"", "git commit -m '…'"),
        ("cd build", "cd build"),
    ],
)
def test_a_command_is_its_programs_and_options(command: str, kept: str) -> None:
    assert action_signature("bash", {"command": command}) == f"bash: {kept}"
    assert action_signature("bash", command) == f"bash: {kept}"


def test_other_commands_have_other_signatures() -> None:
    commands = ["make test", "make lint", "pytest -x", "pytest", "pip install numpy", "pip install pandas"]
    assert len({action_signature("bash", {"command": each}) for each in commands}) == len(commands)


def test_arguments_stand_in_a_fixed_order() -> None:
    one = action_signature("Edit", {"path": "/a/b/c.py", "line": 3, "force": True, "note": None})
    other = action_signature("Edit", {"line": 99, "note": "", "force": True, "path": "D:\\x\\c.py"})
    assert one == other == "edit: force=true, line=<n>, path=c.py"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in <module>\n    import numpy\n'
            "ModuleNotFoundError: No module named 'numpy'",
            "ModuleNotFoundError: No module named '…'",
        ),
        ("src/pkg/a.go:88:12: undefined: retain", "a.go:<n>: undefined: retain"),
        (
            "2031-05-01T10:00:03Z worker 7f3a9c21bb timed out after 30s at 0x7ffde0",
            "<time> worker <hash> timed out after <time> at <address>",
        ),
        ("connect to 10.0.0.3:5432 refused", "connect to <address> refused"),
        ("it just hung", "it just hung"),
        ("", ""),
    ],
)
def test_an_error_is_what_stays_of_it(text: str, kept: str) -> None:
    assert error_signature(text) == kept


def test_the_same_error_another_time_has_the_same_signature() -> None:
    before = "E   AssertionError: assert 3 == 4\nFAILED tests/unit/test_a.py::test_b\n1 failed, 3 passed in 0.12s"
    after = "E   AssertionError: assert 7 == 8\nFAILED /srv/tests/test_a.py::test_b\n2 failed, 30 passed in 4.70s"
    assert error_signature(before) == error_signature(after) != ""
    assert error_signature(before) != error_signature(before.replace("AssertionError", "KeyError"))


def test_a_key_has_both() -> None:
    action = action_signature("bash", {"command": "make test"})
    key = signature(action, error_signature("exit code 2: missing separator"))
    assert key == "bash: make test ⇒ exit code <n>: missing separator"
    assert action_of(key) == action
    assert action_of(signature("", "it broke")) == ""
    assert signature("", "") == ""

"""What sort of cause an error names."""

from __future__ import annotations

import pytest

from ireneo.lessons.situation import OTHER, cause


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("exit 2: error: unrecognized arguments: --fast", "a wrong option"),
        ("Error: unknown flag: --colour", "a wrong option"),
        ("bash: line 1: pytest: command not found", "something not installed"),
        ("ModuleNotFoundError: No module named 'yaml'", "something not installed"),
        ("cat: a.txt: No such file or directory", "something not there"),
        ("./a.go:3:2: undefined: thing", "code that does not build"),
        ("Permission denied (publickey)", "a refusal"),
        ("Command timed out after 2m", "a time limit"),
        ("--- FAIL: TestOne (0.1s)", "a test"),
        ("KeyError: 'name'", "another error"),
        ("", OTHER),
    ],
)
def test_an_error_names_its_cause(error: str, said: str) -> None:
    assert cause(error) == said

"""What sort of cause an error names."""

from __future__ import annotations

import pytest

from ireneo.lessons.situation import OTHER, cause


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("exit 2: error: unrecognized arguments: --fast", "option"),
        ("Error: unknown flag: --colour", "option"),
        ("bash: line 1: pytest: command not found", "not-installed"),
        ("ModuleNotFoundError: No module named 'yaml'", "not-installed"),
        ("cat: a.txt: No such file or directory", "not-there"),
        ("./a.go:3:2: undefined: thing", "not-built"),
        ("Permission denied (publickey)", "refused"),
        ("Command timed out after 2m", "time-limit"),
        ("--- FAIL: TestOne (0.1s)", "test"),
        ("KeyError: 'name'", "other"),
        ("", OTHER),
    ],
)
def test_an_error_names_its_cause(error: str, said: str) -> None:
    assert cause(error) == said

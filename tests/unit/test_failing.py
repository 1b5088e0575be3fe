"""Which step of a command failed, and by which error, from what programs print."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.golden.material import run
from tests.unit.runs import material

from ireneo.lessons.faults import read_faults, strip_prefixes
from ireneo.lessons.shell import StepFailure, command_of, failure_of, run_steps

TABLE = Path(__file__).parent / "data" / "failing_outputs.txt"
"""Behind `===` a command, then what it printed, then behind `---` the step that failed and the name of the error."""


def rows() -> list[tuple[str, str, str, str]]:
    out = []
    for block in TABLE.read_text(encoding="utf-8").removeprefix("=== ").split("\n=== "):
        command, _, rest = block.partition("\n")
        output, _, told = f"\n{rest}".rpartition("\n--- ")
        step, _, name = told.strip("\n").partition(" | ")
        out.append((command, output.strip("\n"), step.strip(), name.strip()))
    return out


ROWS = rows()


def failed(command: str, output: str) -> StepFailure:
    (done,) = run_steps(material(run(command, output or "Exit code 1", failed=True)))
    return failure_of(done, command_of(done.call))


@pytest.mark.parametrize(("command", "output", "step", "name"), ROWS, ids=[f"{row[0]}: {row[3]}" for row in ROWS])
def test_the_step_and_the_error(command: str, output: str, step: str, name: str) -> None:
    failure = failed(command, output)
    assert (failure.program, failure.names[0]) == (step, name)


def test_the_table_is_long() -> None:
    assert len(ROWS) >= 175


@pytest.mark.parametrize(
    ("line", "said", "task"),
    [
        ("[lint:go] rows.go:3:1: missing return", "rows.go:3:1: missing return", "lint:go"),
        ("2026-02-01T10:00:00.123Z ERROR no rows", "ERROR no rows", ""),
        ("web-1  | panic: no rows", "panic: no rows", ""),
        ("#12 0.345 E: Unable to locate package jqq", "E: Unable to locate package jqq", ""),
        ("\x1b[31merror\x1b[0m: no rows", "error: no rows", ""),
        ("  10%\r  55%\rerror: no rows", "error: no rows", ""),
        ("│ No such option: --formt                       │", "No such option: --formt", ""),
        ("##[error]no rows", "no rows", ""),
    ],
)
def test_a_line_loses_what_runners_put_before_it(line: str, said: str, task: str) -> None:
    assert strip_prefixes(line) == (said, task)


def test_what_the_line_says_is_kept_word_for_word() -> None:
    (fault,) = failed("make lint", "[lint] rows.go:3:1: `err` is unused (unused)\n[lint] ERROR task failed").faults
    assert fault.line == "rows.go:3:1: `err` is unused (unused)"


def test_what_a_file_says_of_errors_is_no_error_of_the_one_that_shows_it() -> None:
    shown = "src/a.py:3: raise ValueError('bad')\nTraceback (most recent call last):\nValueError: bad"
    assert failed("cat log.txt && grep -q total rows.txt", shown).names == ("<nothing>",)
    assert failed("cat log.txt && grep -q total rows.txt", shown).program == "grep"


def test_where_two_steps_may_have_failed_none_is_blamed() -> None:
    assert failed("build-it && ship-it", "Exit code 1\nquota used up").program == ""


@pytest.mark.parametrize(
    ("output", "name"),
    [
        ("Error: user mia_li_3668 not found", "user … not found"),
        ("Error: passenger Anna Berg has no bag on flight HAT045", "passenger … has no bag on flight"),
        ("Error: card 4242 4242 4242 4242 was refused, paid 120.50", "card … was refused, paid"),
        ("Error: mail to anna.berg@example.org could not be sent", "mail to … could not be sent"),
    ],
)
def test_nothing_of_a_person_enters_the_name_of_a_tools_error(output: str, name: str) -> None:
    assert [fault.name for fault in read_faults(output, shell=False)] == [name]

"""Whatever a command or an output is, it is read, soon, and to the same names again."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ireneo.lessons.commands import command_names, main_step, read_command
from ireneo.lessons.faults import CODES, normalized_error, read_faults

PARTS = st.sampled_from(
    [
        *"ab \"'$(){}|&;<>\n\\`[]!=-#*~/.",
        *("if ", "then ", "fi\n", "do ", "done ", "<<E\n", "\nE\n", "bash -c ", "$(", "&&", "||", "2>&1", "cd ", "x="),
        *"sudo ¦env ¦xargs ¦uv run ¦docker exec -it ¦python -m ¦--¦-c ¦git -C ¦make ¦eval ".split("¦"),
        *("npm run ", "é", "\u2028", "\x00", "f() {", "case x in ", "esac", "set -e\n", "timeout 3 ", "mise x -- "),
    ]
)
COMMANDS = st.lists(PARTS, max_size=40).map("".join)
HOSTILE = '(¦{ ¦$(¦`¦"¦\'¦((¦[[ ¦if ¦a | ¦a && ¦a;¦<<E\n¦${¦bash -c "¦! ¦eval ¦f() { '.split("¦")
SECONDS = 5.0
"""Far more than it takes: some tenths at most."""


@given(COMMANDS)
def test_any_text_is_read_as_a_command(command: str) -> None:
    read = read_command(command)
    assert all(0 <= place < len(read.steps) for place in read.deciding)
    assert read.main is None or 0 <= read.main < len(read.steps)
    assert all(step.name.isprintable() for step in read.steps)


@given(COMMANDS)
def test_the_name_of_a_name_is_that_name(command: str) -> None:
    for name in command_names(command):
        again = main_step(name)
        if again is not None and again.words == tuple(name.split()):
            assert again.name == name


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("length", [300, 20_000, 1_000_000])
def test_a_hostile_command_is_read_soon(unit: str, length: int) -> None:
    began = time.process_time()
    read_command(unit * (length // len(unit)))
    assert time.process_time() - began < SECONDS


OUTPUT = st.lists(
    st.sampled_from(
        [
            *"error: ¦Error: ¦fatal: ¦a.go:1:2: ¦(gosec)¦FAILED ¦E   ¦\n¦ ¦x¦'¦\"¦`".split("¦"),
            *"Traceback (most recent call last):\n¦npm ERR! ¦command not found¦[lint] ¦\u001b[31m¦\r¦│".split("¦"),
            *"make: *** ¦TS2304: ¦panic: ¦No such file or directory¦4242¦/srv/x¦sh: ¦…¦".split("¦"),
        ]
    ),
    max_size=40,
).map("".join)


@given(OUTPUT)
def test_any_output_is_read_and_its_errors_keep_their_names(output: str) -> None:
    for fault in (*read_faults(output), *read_faults(output, shell=False)):
        assert fault.name in CODES or fault.name.isprintable()
        assert len(fault.name) <= 80


@given(OUTPUT)
def test_a_name_without_accidents_has_none(line: str) -> None:
    once = normalized_error(line.replace("\n", " "))
    assert normalized_error(once) == once


@pytest.mark.parametrize("unit", ["error: ", "a.go:1:1: x (y)\n", "(", "[a] ", " ", "E   ", "\x1b[", "| ", "x: "])
def test_a_long_output_is_read_soon(unit: str) -> None:
    began = time.process_time()
    read_faults(unit * (1_000_000 // len(unit)))
    assert time.process_time() - began < SECONDS

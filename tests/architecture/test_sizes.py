"""A file, a function and a list of parameters stay small enough to be read together; nobody is let off."""

from __future__ import annotations

from tests.architecture.source import sources

LINES_OF_A_FILE = 800
LINES_OF_A_FUNCTION = 80
PARAMETERS = 12


def test_files_are_not_halls() -> None:
    lengths = {source.name: len(source.text.splitlines()) for source in sources()}
    long = {name: lines for name, lines in lengths.items() if lines > LINES_OF_A_FILE}
    assert not long, long


def test_functions_fit_a_screen_and_take_few_parameters() -> None:
    long, greedy = {}, {}
    for source in sources():
        for function in source.functions:
            name = f"{source.name}:{function.lineno} {function.name}"
            given = function.args
            if (lines := (function.end_lineno or function.lineno) - function.lineno + 1) > LINES_OF_A_FUNCTION:
                long[name] = lines
            if (count := len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)) > PARAMETERS:
                greedy[name] = count
    assert not long, long
    assert not greedy, greedy

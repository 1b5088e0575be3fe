"""A file, a function and a list of parameters stay small enough to be read together; nobody is let off."""

from __future__ import annotations

from tests.architecture.source import functions, sources

LINES_OF_A_FILE = 800
LINES_OF_A_FUNCTION = 80
PARAMETERS = 12


def test_files_are_not_halls() -> None:
    lengths = {source.name: len(source.text.splitlines()) for source in sources()}
    long = {name: lines for name, lines in lengths.items() if lines > LINES_OF_A_FILE}
    assert not long, long


def test_functions_fit_a_screen() -> None:
    long = {}
    for source in sources():
        for function in functions(source.tree):
            lines = (function.end_lineno or function.lineno) - function.lineno + 1
            if lines > LINES_OF_A_FUNCTION:
                long[f"{source.name}:{function.lineno} {function.name}"] = lines
    assert not long, long


def test_functions_take_few_parameters() -> None:
    greedy = {}
    for source in sources():
        for function in functions(source.tree):
            given = function.args
            count = len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)
            if count > PARAMETERS:
                greedy[f"{source.name}:{function.lineno} {function.name}"] = count
    assert not greedy, greedy

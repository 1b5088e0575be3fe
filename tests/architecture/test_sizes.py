"""One idea a file, a screen a function; nobody is let off."""

from __future__ import annotations

from tests.architecture.source import functions, sources

LINES_OF_A_FILE = 300
LINES_OF_A_FUNCTION = 60
PARAMETERS = 8


def test_files_are_short() -> None:
    lengths = {source.name: len(source.text.splitlines()) for source in sources()}
    long = {name: lines for name, lines in lengths.items() if lines > LINES_OF_A_FILE}
    assert not long, long


def test_functions_are_short() -> None:
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

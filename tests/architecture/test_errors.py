"""Errors are sentences, drawn as a tree, and never caught wholesale or dropped."""

from __future__ import annotations

import ast
import inspect
import re

from tests.architecture.source import PACKAGE, Source, sources

from ireneo import errors

EVERYTHING = frozenset({"Exception", "BaseException"})


def classes() -> dict[str, type[errors.IreneoError]]:
    return {
        name: each
        for name, each in vars(errors).items()
        if inspect.isclass(each) and issubclass(each, errors.IreneoError)
    }


def caught(handler: ast.ExceptHandler) -> set[str]:
    """The names of what a handler catches; "" for a bare one."""
    if handler.type is None:
        return {""}
    return {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}


def raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether the handler ends in a bare `raise`: it tidies up, and lets the error pass."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_nothing_outside_the_faces_catches_everything() -> None:
    wholesale = [
        f"{source.name}:{node.lineno}"
        for source in sources()
        if source.room != "faces"
        for node in source.nodes
        if isinstance(node, ast.ExceptHandler) and caught(node) & (EVERYTHING | {""}) and not raises_again(node)
    ]
    assert not wholesale, "\n".join(wholesale)


def test_nothing_is_caught_and_dropped() -> None:
    dropped = [
        f"{source.name}:{node.lineno}"
        for source in sources()
        for node in source.nodes
        if isinstance(node, ast.ExceptHandler) and all(isinstance(each, ast.Pass) for each in node.body)
    ]
    assert not dropped, "\n".join(dropped)


def test_the_drawing_is_the_tree() -> None:
    drawn: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"^([ │├└─]*)([A-Z]\w+)", line)
        if not match or match[2] not in classes():
            continue
        depth = len(match[1])
        while above and above[-1][0] >= depth:
            above.pop()
        drawn[match[2]] = above[-1][1] if above else "Exception"
        above.append((depth, match[2]))
    # One that has two parents is drawn under the first.
    assert drawn == {name: each.__bases__[0].__name__ for name, each in classes().items()}


def test_every_error_is_declared_with_the_others() -> None:
    known = set(classes())
    stray = [
        f"{source.name}:{node.lineno} {node.name}"
        for source in sources()
        # A check of the conformance suite may stop a transaction with an error of its own.
        if source.path != PACKAGE / "errors.py" and source.room != "testing"
        for node in source.nodes
        if isinstance(node, ast.ClassDef)
        and {ast.unparse(base).split(".")[-1] for base in node.bases} & (known | EVERYTHING)
    ]
    assert not stray, "\n".join(stray)


def test_the_docstring_is_the_message() -> None:
    for name, each in classes().items():
        sentence = " ".join((each.__doc__ or "").split())
        assert sentence, name
        assert str(each()) == sentence
        assert str(each("another.")) == "another."


def test_the_tests_see_a_handler_that_drops() -> None:
    tree = ast.parse("try:\n    x\nexcept Exception:\n    pass\n")
    handler = next(node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler))
    assert caught(handler) == {"Exception"}
    assert not raises_again(handler)
    assert Source(PACKAGE / "errors.py").room == "errors"

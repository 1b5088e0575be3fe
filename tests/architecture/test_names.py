"""Names say something, and what is public says what it is for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.source import PACKAGE, sources

SAYS_NOTHING = frozenset({"utils", "util", "helpers", "helper", "common", "misc", "manager", "base"})


def test_no_module_or_folder_has_a_name_that_says_nothing() -> None:
    names = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*") if path.stem in SAYS_NOTHING}
    assert names == set()


def undocumented(tree: ast.Module | ast.ClassDef, where: str) -> Iterator[str]:
    """Everything public in `tree`, and inside its public classes, that has no docstring."""
    if not ast.get_docstring(tree):
        yield where
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from undocumented(node, f"{where}:{node.lineno} {node.name}")
        elif (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and not node.name.startswith("_")
            and not ast.get_docstring(node)
            and not is_variant(node)
            and not fills_port(tree)
        ):
            yield f"{where}:{node.lineno} {node.name}"


def is_variant(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether `function` only types or sets another of the same name, which has the docstring."""
    marks = {ast.unparse(decorator).split(".")[-1] for decorator in function.decorator_list}
    return bool(marks & {"overload", "override", "setter", "deleter"})


def fills_port(where: ast.Module | ast.ClassDef) -> bool:
    """Whether a class fills a port of the store, whose methods have the docstrings."""
    bases = [ast.unparse(base) for base in where.bases] if isinstance(where, ast.ClassDef) else []
    return any(base.endswith("Port") and base != "Port" for base in bases)


def test_everything_public_has_a_docstring() -> None:
    missing = [each for source in sources() for each in undocumented(source.tree, source.name)]
    assert not missing, "\n".join(missing)

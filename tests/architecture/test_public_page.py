"""The public page can be held in one's head: sorted, at most 80 names, and nothing else to be found on it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import ireneo
import ireneo.types
from ireneo import errors
from ireneo.errors import IreneoError


def test_the_page_is_sorted_and_short() -> None:
    # Constants, then classes, then functions: the order that ruff keeps.
    def order(name: str) -> tuple[int, str]:
        return (0 if name.isupper() else 1 if name[0].isupper() else 2), name

    assert list(ireneo.__all__) == sorted(ireneo.__all__, key=order)
    assert len(set(ireneo.__all__)) == len(ireneo.__all__) <= 80


def test_the_page_lists_what_it_has() -> None:
    loaded = {name: getattr(ireneo, name) for name in ireneo.__all__}
    public = {name for name, value in vars(ireneo).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert public - {"TYPE_CHECKING"} == set(loaded) - {"sync"}
    assert set(dir(ireneo)) == {*loaded, "__version__"}


def test_a_name_that_is_not_on_the_page_is_not_there() -> None:
    assert not hasattr(ireneo, "summarize")


def test_what_is_on_the_page_says_what_it_is_for() -> None:
    speechless = [
        name
        for name in ireneo.__all__
        if (inspect.isclass(getattr(ireneo, name)) or inspect.isroutine(getattr(ireneo, name)))
        and not inspect.getdoc(getattr(ireneo, name))
    ]
    assert not speechless, "\n".join(speechless)


def test_the_names_for_annotations_are_beside_the_page() -> None:
    assert ireneo.types.__all__ == sorted(ireneo.types.__all__)
    assert not set(ireneo.types.__all__) & set(ireneo.__all__)
    assert all(hasattr(ireneo.types, name) for name in ireneo.types.__all__)


def test_every_error_is_on_the_page() -> None:
    kinds = {name for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, IreneoError)}
    assert kinds - {"Overtaken"} <= set(ireneo.__all__), "but for the one that never leaves the engine"


def test_what_a_signature_names_can_be_imported() -> None:
    page = [
        *((ireneo._HOMES[name], name) for name in ireneo.__all__ if name in ireneo._HOMES),
        ("ireneo.wiring", "open"),
    ]
    known = {found for place in page if (found := defined(*place))}
    known |= {found for name in ireneo.types.__all__ if (found := defined("ireneo.types", name))}
    seen, todo, missing = set(known), list(known), set()
    while todo:
        module, name = todo.pop()
        for named in names_in(module, name):
            place = defined(module, named)
            if place is None or place in seen or named.startswith("_"):
                continue
            seen.add(place)
            todo.append(place)
            # What gives results their repr is nothing that a program annotates.
            if not _is_type_variable(*place) and place != ("ireneo.short_repr", "ShortRepr"):
                missing.add(f"{place[0]}.{place[1]}, named by {module}.{name}")
    assert not missing, "\n".join(sorted(missing))


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(Path(str(import_module(module).__file__)).read_text("utf-8"))


def _node(module: str, name: str) -> ast.stmt | None:
    """What defines a name at the top of a module."""
    for node in _tree(module).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return node
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return node
    return None


def _is_type_variable(module: str, name: str) -> bool:
    node = _node(module, name)
    return isinstance(node, ast.Assign) and "TypeVar(" in ast.unparse(node.value)


@cache
def defined(module: str, name: str) -> tuple[str, str] | None:
    """Where one of our names is defined that a module uses; None for what is not ours, and for a module."""
    if _node(module, name) is not None:
        return module, name
    place, found = _imported(module).get(name, ("", ""))
    return None if not place or find_spec_of(f"{place}.{found}") else defined(place, found)


@cache
def _imported(module: str) -> dict[str, tuple[str, str]]:
    """Of our names that a module imports, by what it calls them: the module that has it, and its name there."""
    found = [
        (alias.asname or alias.name, (node.module, alias.name))
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("ireneo")
        for alias in node.names
    ]
    # The first import of a name counts.
    return dict(reversed(found))


def find_spec_of(module: str) -> bool:
    """Whether there is such a module."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def names_in(module: str, name: str) -> Iterator[str]:
    """What the signatures, fields and bases of a public name are annotated with."""
    node = _node(module, name)
    for annotation in annotations(node) if node is not None else ():
        yield from _names(annotation)


def annotations(node: ast.AST) -> Iterator[ast.expr]:
    """The annotations of a function, of a class with its public methods and fields, or of an alias."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        yield from (each.annotation for each in every if each is not None and each.annotation is not None)
        yield from [node.returns] if node.returns else []
    elif isinstance(node, ast.ClassDef):
        yield from node.bases
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and not inner.name.startswith("_"):
                yield from annotations(inner)
            elif isinstance(inner, ast.AnnAssign) and not ast.unparse(inner.target).startswith("_"):
                yield inner.annotation
    elif isinstance(node, ast.AnnAssign):
        yield node.annotation
        yield from [node.value] if node.value is not None and "TypeAlias" in ast.unparse(node.annotation) else []


def _names(annotation: ast.expr) -> Iterator[str]:
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Literal":
        return
    if isinstance(annotation, ast.Name):
        yield annotation.id
    elif isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        yield from _names(ast.parse(annotation.value, mode="eval").body)
    for inner in ast.iter_child_nodes(annotation):
        if isinstance(inner, ast.expr):
            yield from _names(inner)

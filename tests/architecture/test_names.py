"""Names say something, and what is public says what it is for."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.architecture.source import PACKAGE, ROOT, Source, sources

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ENTRY_POINTS = [PROJECT["scripts"], *PROJECT["entry-points"].values()]
DOTTED = re.compile(r"[A-Za-z_][\w.:]*")
SAYS_NOTHING = frozenset({"utils", "util", "helpers", "helper", "common", "misc", "manager", "base"})


def test_no_module_or_folder_has_a_name_that_says_nothing() -> None:
    names = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*") if path.stem in SAYS_NOTHING}
    assert names == set()


def test_no_two_classes_have_one_name() -> None:
    """But for the synchronous face, whose classes are called as those that they are the twins of."""
    where = defaultdict(list)
    for source in sources():
        for node in source.nodes:
            if isinstance(node, ast.ClassDef) and source.room != "sync":
                where[node.name].append(f"{source.name}:{node.lineno}")
    twice = {name: places for name, places in where.items() if len(places) > 1}
    assert not twice, twice


PAGES = ("ireneo", "ireneo.types", "ireneo.errors", "ireneo.sync", "ireneo.testing.scripted")
"""The modules whose names are for those who use the package."""


def defined(source: Source) -> Iterator[tuple[str, ast.stmt]]:
    """The names that a module makes by itself; what a decorator takes is in use."""
    for node in source.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [] if node.decorator_list else [node.name]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        else:
            names = []
        yield from ((name, node) for name in names if not name.startswith("__"))


def test_no_name_of_a_module_is_made_twice() -> None:
    """The second would silently take the place of the first, also where that is used."""
    twice = [
        f"{source.name}: {name}"
        for source in sources()
        for name, made in Counter(name for name, _ in defined(source)).items()
        if made > 1
    ]
    assert not twice, twice


def test_every_name_is_used() -> None:
    """Each is imported, read as an attribute or in its module, named by a string, or stands on a public page."""
    imported = {(each.module, each.name) for source in sources() for each in source.imports}
    nodes = [node for source in sources() for node in source.nodes]
    anywhere = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    texts += [str(target) for points in ENTRY_POINTS for target in points.values()]
    anywhere |= {part for text in texts if DOTTED.fullmatch(text) for part in re.split(r"[.:]", text)}
    unused = []
    for source in sources():
        read = defaultdict(list)
        for each in source.nodes:
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                read[each.id].append(each.lineno)
        for name, node in defined(source):
            inside = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            if not (
                source.module in PAGES
                or (source.module, name) in imported
                or name in anywhere
                or any(line not in inside for line in read[name])
            ):
                unused.append(f"{source.name}:{node.lineno} {name}")
    assert not unused, "\n".join(unused)


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

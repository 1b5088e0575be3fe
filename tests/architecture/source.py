"""Reads the project's source for the tests of its architecture: files, rooms and imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "ireneo"
DOMAIN = frozenset({"log", "language", "grounding", "formats", "summaries", "context", "memories", "lessons"})


@dataclass(frozen=True)
class Import:
    """One imported module, and the line it stands on."""

    module: str
    line: int
    name: str = ""
    """What is taken from it; empty for the module itself."""
    inside: bool = False
    """Whether it stands in a function, and so is put off until that is called."""

    @property
    def room(self) -> str | None:
        """The room of the house that it comes from; "" for the public page; None for what is not ours."""
        parts = self.module.split(".")
        if parts[0] != "ireneo":
            return None
        return parts[1] if len(parts) > 1 else ""


@dataclass(frozen=True)
class Source:
    """A module of the package."""

    path: Path

    @property
    def name(self) -> str:
        """Its path from the project's root, for messages."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def module(self) -> str:
        """Its dotted name."""
        parts = ("ireneo", *self.path.relative_to(PACKAGE).with_suffix("").parts)
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def room(self) -> str:
        """The folder directly under the package, or, for a module there, its own name."""
        return self.path.relative_to(PACKAGE).parts[0].removesuffix(".py")

    @cached_property
    def text(self) -> str:
        """What it says."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """What it means."""
        return ast.parse(self.text, filename=self.name)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Everything in its tree."""
        return tuple(ast.walk(self.tree))

    @property
    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Every function and method."""
        return (each for each in self.nodes if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """Every module that it imports, wherever the import stands; relative ones resolved."""
        return tuple(self._imports())

    def _imports(self) -> Iterator[Import]:
        bodies = [range(each.lineno, (each.end_lineno or 0) + 1) for each in self.functions]
        for node in self.nodes:
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            inside = any(node.lineno in body for body in bodies)
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(alias.name, node.lineno, inside=inside)
            else:
                base = self._resolve(node)
                for alias in node.names:
                    # `from ireneo import adapters` imports a room as surely as `import ireneo.adapters` does.
                    taken = PACKAGE.parent.joinpath(*base.split("."), alias.name)
                    if taken.is_dir() or taken.with_suffix(".py").is_file():
                        yield Import(f"{base}.{alias.name}", node.lineno, inside=inside)
                    else:
                        yield Import(base, node.lineno, alias.name, inside)

    def _resolve(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = ("ireneo", *self.path.relative_to(PACKAGE).parts)[: -node.level]
        return ".".join([*parts, *([node.module] if node.module else [])])


@cache
def sources() -> tuple[Source, ...]:
    """Every module of the package."""
    return tuple(Source(path) for path in sorted(PACKAGE.rglob("*.py")))

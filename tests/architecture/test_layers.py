"""Imports run one way, the domain does no I/O and never waits, and only the faces read the environment."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from tests.architecture.source import DOMAIN, Source, sources

FOR_ALL = frozenset({"errors", "patterns", "short_repr", "language"})
# What a room may import beside itself, these, and what is not ours.
MAY_IMPORT = {
    "log": frozenset({"language"}),
    "formats": frozenset({"log", "language"}),
    "grounding": frozenset({"log", "language"}),
    "summaries": frozenset({"log", "language", "grounding"}),
    "context": frozenset({"log", "language", "grounding", "summaries"}),
    "memories": frozenset({"log", "language"}),
    "lessons": frozenset({"log", "language", "grounding", "summaries", "context", "memories"}),
    "prompts": DOMAIN | {"ports"},
    "ports": DOMAIN,
    "engine": DOMAIN | {"prompts", "ports"},
    "adapters": DOMAIN | {"ports"},
    "testing": DOMAIN | {"ports"},
    "compacting": DOMAIN | {"ports", "engine", "adapters"},
    "wiring": DOMAIN | {"prompts", "ports", "engine", "adapters", "analysing", "compacting"},
    "analysing": DOMAIN | {"", "ports", "engine", "adapters", "compacting"},
    "guard": DOMAIN | {"ports", "engine", "adapters"},
    "plumbing": frozenset({"adapters", "engine", "formats", "log", "memories", "lessons", "grounding", "summaries"}),
    "faces": frozenset({"", "sync", "types", "plumbing", "guard", "ports", "testing"}),
    "errors": frozenset(),
    "patterns": frozenset(),
    "short_repr": frozenset(),
    "language": frozenset(),
    "__init__": DOMAIN | {"sync", "", "ports", "engine", "compacting", "wiring"},
    "sync": DOMAIN | {"", "types", "ports", "engine", "compacting", "wiring"},
    "types": DOMAIN | {"prompts", "ports", "engine", "compacting", "wiring"},
    "__main__": frozenset({"", "faces"}),
}
# fmt: off
INPUT_OUTPUT = frozenset({
    "apsw", "sqlite3", "psycopg", "socket", "ssl", "select", "selectors", "http", "urllib", "httpx", "requests",
    "aiohttp", "asyncio", "anyio", "trio", "threading", "multiprocessing", "subprocess", "os", "io", "pathlib",
    "shutil", "tempfile", "glob", "fileinput", "rich", "typer", "click", "cyclopts", "logging",
})
# fmt: on
CALLS_OUT = frozenset({"open", "print", "input"})
WAITS = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)


def in_room(*rooms: str) -> Iterator[Source]:
    return (source for source in sources() if source.room in rooms)


def test_every_module_stands_in_a_room_of_the_house() -> None:
    stray = [source.name for source in sources() if source.room not in MAY_IMPORT]
    assert not stray, "\n".join(stray)


def test_imports_run_one_way() -> None:
    wrong = [
        f"{source.name}:{each.line}: {source.room} imports {each.module}"
        for source in sources()
        for each in source.imports
        if each.room not in {None, source.room, *FOR_ALL} and each.room not in MAY_IMPORT.get(source.room, frozenset())
    ]
    assert not wrong, "\n".join(wrong)


def test_no_import_runs_in_a_circle() -> None:
    """Neither what is imported when a module is, nor what only annotations name.

    An import in a function is left out: it puts off what is heavy, and may need the values of who does so. Between
    rooms it can't run in a circle either, as the test above shows.
    """
    ours = {source.module for source in sources()}
    needs = {
        source.module: {each.module for each in source.imports if not each.inside} & ours - {source.module}
        for source in sources()
    }
    try:
        tuple(TopologicalSorter(needs).static_order())
    except CycleError as fault:
        raise AssertionError(" needs ".join(reversed(fault.args[1]))) from None


def test_the_domain_does_no_input_or_output() -> None:
    modules = [
        f"{source.name}:{each.line}: imports {each.module}"
        for source in in_room(*DOMAIN)
        for each in source.imports
        if each.module.split(".")[0] in INPUT_OUTPUT
    ]
    calls = [
        f"{source.name}:{node.lineno}: calls {node.func.id}"
        for source in in_room(*DOMAIN)
        for node in source.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS_OUT
    ]
    assert not modules + calls, "\n".join(modules + calls)


def test_the_domain_never_waits() -> None:
    waiting = [
        f"{source.name}:{getattr(node, 'lineno', 0)}"
        for source in in_room(*DOMAIN)
        for node in source.nodes
        if isinstance(node, WAITS)
    ]
    assert not waiting, "\n".join(waiting)


def test_only_the_wiring_joins_adapters_and_engine() -> None:
    joined = []
    for source in sources():
        rooms = {each.room for each in source.imports}
        if {"adapters", "engine"} <= rooms | {source.room} and source.room not in {
            "wiring",
            "analysing",
            "compacting",
            "guard",
            "plumbing",
        }:
            joined.append(source.name)
    assert not joined, "\n".join(joined)


def test_only_the_faces_read_the_environment() -> None:
    readers = []
    for source in sources():
        if source.room == "faces":
            continue
        for node in source.nodes:
            name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None
            if name in {"environ", "environb", "getenv", "getenvb"}:
                readers.append(f"{source.name}:{getattr(node, 'lineno', 0)}")
    assert not readers, "\n".join(readers)

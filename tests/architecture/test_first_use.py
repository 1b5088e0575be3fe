"""A struct may be used for the first time by several threads at once: whatever reads one takes `readable`."""

from __future__ import annotations

import ast
import builtins
import subprocess
import sys
from collections.abc import Iterator

from tests.architecture.source import Source, sources

USED = """
import sys, threading
from msgspec import convert, defstruct
from ireneo.patterns import readable

sys.setswitchinterval(1e-6)
for number in range(300):
    inner = {f"f{each}": defstruct(f"Inner{number}_{each}", [("a", "int"), ("b", "str")]) for each in range(5)}
    kind = defstruct(f"Outer{number}", [*inner.items()])
    ready = threading.Barrier(4)
    read = []

    def use():
        ready.wait()
        read.append(convert({name: {"a": 1, "b": "x"} for name in inner}, readable(kind)))

    threads = [threading.Thread(target=use) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(read) == 4, read
"""


def test_four_threads_convert_into_a_struct_that_nothing_has_used() -> None:
    done = subprocess.run([sys.executable, "-c", USED], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


READS = {"msgspec.convert": 1, "msgspec.json.Decoder": 0, "msgspec.json.decode": None}
"""What reads a value into a type, and as which of its arguments it takes the type where `type=` doesn't name it."""


def test_msgspec_reads_into_readable_types_alone() -> None:
    readers = [each for each in sources() if "msgspec" in each.text and each.room != "patterns"]
    kinds = [kind for source in readers for kind in unreadable(source)]
    assert not kinds, "take `ireneo.patterns.readable`:\n" + "\n".join(kinds)
    assert sum(source.text.count("readable(") for source in sources()) > 25


def unreadable(source: Source) -> Iterator[str]:
    known = {
        ast.unparse(node.targets[0])
        for node in source.tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("readable(")
    } | {
        node.name
        for node in source.tree.body
        if isinstance(node, ast.ClassDef) and "readable" in map(ast.unparse, node.decorator_list)
    }
    for node in source.nodes:
        if not isinstance(node, ast.Call):
            continue
        # Also where a thread is handed it: `to_thread(msgspec.json.decode, answer, type=…)`.
        reads = next((name for name in map(ast.unparse, (node.func, *node.args[:1])) if name in READS), "")
        place = READS.get(reads)
        kinds = [each.value for each in node.keywords if reads and each.arg == "type"]
        kinds += node.args[place : place + 1] if place is not None else []
        for kind in kinds:
            said = ast.unparse(kind)
            if not (said.startswith("readable(") or said in known or is_built_in(kind)):
                yield f"{source.name}:{node.lineno}: {said}"


def is_built_in(kind: ast.expr) -> bool:
    """Whether no struct is in it: `dict[str, object]`."""
    names = {each.id for each in ast.walk(kind) if isinstance(each, ast.Name)}
    return all(hasattr(builtins, name) or name == "msgspec" for name in names)

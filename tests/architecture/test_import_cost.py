"""`import ireneo` and the hook load little; their time is measured by `benchmarks/import_cost.py`."""

from __future__ import annotations

import ast
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.architecture.source import sources
from tests.unit.guarded import shown_by, teach

import ireneo

HEAVY = tuple(
    (
        "apsw sqlite3 rich typer numpy bpe_openai psycopg distributed httpx httpx2 uvicorn pydantic mcp "
        "redact_secret tree_sitter tree_sitter_bash"
    ).split()
)
PROBE = "import json, sys; import ireneo; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"


def test_importing_the_page_loads_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert sorted(loaded & set(HEAVY)) == []


IMPORT_ALL = """
import json, sys
import ireneo.sync, ireneo.types, ireneo.faces.cli.main
from ireneo.language import files
print(json.dumps([len(files._sections), "Stemmer" in sys.modules]))
"""


def test_no_words_are_read_when_the_engine_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [0, False]


HELP = """
import json, sys
import ireneo.faces.cli.main
print(json.dumps(sorted({".".join(name.split(".")[:2]) for name in sys.modules if name.startswith("ireneo.")})))
"""


def test_a_command_line_that_only_prints_its_help_loads_neither_domain_nor_engine() -> None:
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)
    rooms = {"ireneo.adapters", "ireneo.errors", "ireneo.faces", "ireneo.patterns", "ireneo.plumbing"}
    assert set(json.loads(done.stdout)) == rooms


COMPACT = """
import json, sys
import ireneo
asked = {"name": "bash", "arguments": json.dumps({"command": "cd x && make lint | tail"})}
messages = [
    {"role": "user", "content": "Mend it."},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "type": "function", "function": asked}]},
    {"role": "tool", "tool_call_id": "a", "content": "make: *** [Makefile:3: lint] Error 1; " * 4000},
    {"role": "assistant", "content": "It fails."},
    {"role": "user", "content": "And now?"},
]
assert ireneo.compact(messages, 2_000).tokens <= 2_000
print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))
"""


def test_a_context_is_made_without_a_parser_of_commands() -> None:
    done = subprocess.run([sys.executable, "-c", COMPACT], capture_output=True, text=True, check=True)
    assert not {"tree_sitter", "tree_sitter_bash"} & set(json.loads(done.stdout))


HOOK = (
    "import sys; sys.argv = ['ireneo', 'hook', '--db', sys.argv[1]]\n"
    "from ireneo.faces.entry import run\n"
    "try:\n    run()\n"
    "except SystemExit:\n    import json; sys.stderr.write(json.dumps(sorted(sys.modules)))"
)
SCREENS = frozenset({"typer", "rich", "click", "pydantic", "mcp", "numpy", "redact_secret", "Stemmer"})
WAITS = frozenset({"asyncio", "sqlite3"})
PARSES = frozenset({"msgspec", "tree_sitter"})
"""What only a call that names a trap's word pays for."""
MODULES = {"ls": 12, "make integration": 30}
"""How many of ours are loaded before a call without a trap's word, and before one that is told of a trap."""


@pytest.mark.parametrize("command", MODULES)
def test_the_hook_loads_neither_the_command_line_nor_the_engine(tmp_path: Path, command: str) -> None:
    async def fill() -> None:
        async with ireneo.open(tmp_path / "memory.db") as memory:
            await teach(memory, shown_by(2))

    asyncio.run(fill())
    asked = {"tool_name": "Bash", "tool_input": {"command": command}, "session_id": "s1", "cwd": "/home/ann/cli"}
    transcript = tmp_path / "s1.jsonl"
    transcript.write_text(TRANSCRIPT, encoding="utf-8")
    given = json.dumps({**asked, "transcript_path": str(transcript)})
    run = [sys.executable, "-c", HOOK, str(tmp_path / "memory.db")]
    done = subprocess.run(run, input=given, capture_output=True, text=True, check=True)
    assert bool(done.stdout) == (command != "ls")
    loaded = set(json.loads(done.stderr))
    tops = {name.partition(".")[0] for name in loaded}
    assert tops & (SCREENS | WAITS) == set()
    assert bool(tops & PARSES) == (command != "ls")
    ours = sorted(name for name in loaded if name.startswith("ireneo"))
    assert not [name for name in ours if name.startswith(("ireneo.engine", "ireneo.ports", "ireneo.adapters.sql"))]
    assert len(ours) <= MODULES[command], ours


def test_a_brief_at_the_start_of_a_session_loads_nothing_that_writes_memories(tmp_path: Path) -> None:
    async def fill() -> None:
        async with ireneo.open(tmp_path / "memory.db") as memory:
            await teach(memory, shown_by(2))

    asyncio.run(fill())
    given = json.dumps({"hook_event_name": "SessionStart", "session_id": "s1", "cwd": "/home/ann/cli"})
    run = [sys.executable, "-c", HOOK, str(tmp_path / "memory.db")]
    done = subprocess.run(run, input=given, capture_output=True, text=True, check=True)
    assert "[BRIEF]" in done.stdout
    loaded = set(json.loads(done.stderr))
    assert not loaded & {"ireneo.engine.remember", "ireneo.engine.turns", "ireneo.memories.extract", "difflib"}
    assert not {name.partition(".")[0] for name in loaded} & (SCREENS - {"Stemmer"})


TRANSCRIPT = json.dumps(
    {
        "type": "user",
        "uuid": "00000000-0000-0000-0000-000000000001",
        "parentUuid": None,
        "sessionId": "s1",
        "timestamp": "2026-03-01T10:00:00.000Z",
        "message": {"role": "user", "content": "Please fix it."},
    }
)


def test_no_pattern_is_compiled_when_the_package_is_imported() -> None:
    held = "re.compile"
    at_import = [
        f"{source.name}:{node.lineno}"
        for source in sources()
        if held in source.text
        for node in outside_functions(source.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == held
    ]
    assert not at_import, "take `ireneo.patterns.lazy_re`:\n" + "\n".join(at_import)


def outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """What runs when a module is imported."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
            yield from outside_functions(child)

"""What a repository says in plain sight: its instructions for agents, and the commands that its own files offer."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md")
"""Files that an agent reads at its beginning."""
MOST_BYTES = 1_000_000


def repository_of(file: Path) -> Path:
    """The folder of the repository in which a file lies; its own folder where that is in none."""
    folder = file.resolve().parent
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)


def texts_of(paths: Iterable[Path]) -> Iterator[str]:
    """The texts of those files that are there, as far as they can be read, each once."""
    for path in dict.fromkeys(each.resolve() for each in paths):
        text = _text(path)
        if text:
            yield text


def commands_of(folder: Path) -> frozenset[str]:
    """The commands that the files of a repository offer, as they are typed."""
    out: set[str] = set()
    for name, (prefixes, read) in _READERS.items():
        text = _text(folder / name)
        if text:
            out.update(f"{prefix} {task}" for task in read(text) for prefix in prefixes)
    return frozenset(out)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            return ""
        return path.read_text("utf-8", errors="replace")
    except OSError:
        # What is not there, or may not be read, is not at hand.
        return ""


def _targets(text: str) -> Iterator[str]:
    """The names before the colons of a Makefile, and of a justfile, where a name may have parameters."""
    for line in text.splitlines():
        names, colon, rest = line.partition(":")
        if colon and not rest.startswith("=") and line[:1] not in (" ", "\t", "#", "."):
            yield from names.removeprefix("@").split()


def _tasks_of_yaml(text: str) -> Iterator[str]:
    """The keys that are indented once below ``tasks:``."""
    within = False
    for line in text.splitlines():
        if line[:1].strip():
            within = line.rstrip() == "tasks:"
        elif within and line.startswith("  ") and line[2:3].strip() and ":" in line:
            yield line.strip().partition(":")[0]


def _of_json(*place: str) -> Callable[[str], list[str]]:
    return lambda text: _names(_parsed(json.loads, text), place)


def _of_toml(*place: str) -> Callable[[str], list[str]]:
    return lambda text: _names(_parsed(tomllib.loads, text), place)


def _parsed(parse: Callable[[str], object], text: str) -> object:
    try:
        return parse(text)
    except (ValueError, RecursionError):
        # A manifest that its own tools can't read offers nothing.
        return {}


def _names(tree: object, place: tuple[str, ...]) -> list[str]:
    for name in place:
        tree = cast("Mapping[str, object]", tree).get(name) if isinstance(tree, Mapping) else None
    return [str(name) for name in cast("Mapping[str, object]", tree)] if isinstance(tree, Mapping) else []


def _of_pyproject(text: str) -> list[str]:
    tree = _parsed(tomllib.loads, text)
    places = (("tool", "poe", "tasks"), ("tool", "pdm", "scripts"), ("tool", "taskipy", "tasks"))
    return [name for place in places for name in _names(tree, place)]


_MISE = ("mise run", "mise r", "mise")
_READERS: Mapping[str, tuple[tuple[str, ...], Callable[[str], Iterable[str]]]] = {
    **dict.fromkeys(("Makefile", "makefile", "GNUmakefile"), (("make",), _targets)),
    **dict.fromkeys(("justfile", "Justfile", ".justfile"), (("just",), _targets)),
    **dict.fromkeys(("mise.toml", ".mise.toml", ".config/mise.toml"), (_MISE, _of_toml("tasks"))),
    **dict.fromkeys(("Taskfile.yml", "Taskfile.yaml"), (("task",), _tasks_of_yaml)),
    "package.json": (("npm run", "npm", "pnpm run", "pnpm", "yarn run", "yarn", "bun run"), _of_json("scripts")),
    "composer.json": (("composer run", "composer"), _of_json("scripts")),
    "deno.json": (("deno task",), _of_json("tasks")),
    "pyproject.toml": (("poe", "uv run poe", "pdm run", "task", "uv run task"), _of_pyproject),
}
"""Of each file how its tasks are called, and where they stand in it."""

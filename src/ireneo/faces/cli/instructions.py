"""A project's instructions for agents: the block of lessons in them, and what the project's files say already."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from ireneo.errors import BadInput
from ireneo.faces.cli.output import one_line
from ireneo.patterns import lazy_re

if TYPE_CHECKING:
    from ireneo.types import InstructionPage, Lesson

INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md")
"""Files that agents read when they begin."""
BEGINS = "<!-- ireneo: lessons begin; what stands between these marks is rewritten by `ireneo lessons --export` -->"
ENDS = "<!-- ireneo: lessons end -->"
_BLOCK = lazy_re(
    r"<!-- ireneo: lessons begin\b[^\n]{0,400}-->(?:(?!<!-- ireneo: lessons begin\b).)*?<!-- ireneo: lessons end -->",
    re.S,
)
_MARK = lazy_re(r"<!-- ireneo: lessons (?:begin\b[^\n]{0,400}|end )-->")
_HOME = lazy_re(r"/(?:Users|home)/(?:[\w.@-]{1,60}/){1,20}")
"""A path in somebody's home, which must not get into a repository."""
ANYWHERE = "several projects"
_SKILL = """---
name: lessons-from-runs
description: What earlier runs taught, with what failed and what to do instead. Read it before you begin a task.
---

"""


class Update(Struct, frozen=True, kw_only=True):
    """A file before and after an export."""

    path: Path
    before: str | None
    """The text of the file; None if there is no file yet."""
    after: str
    lines: int
    """The number of lessons in the file after the export."""

    @property
    def is_same(self) -> bool:
        """Whether the export changes nothing."""
        return self.after == (self.before or "")


def plan_update(path: Path, pages: Sequence[InstructionPage]) -> Update:
    """Put `pages` into the marked block of the text of `path`, which is added if missing. Writes nothing.

    The rest of the file stays byte for byte. Raises BadInput if the file can't be read or its marks are damaged.
    """
    before = _read(path)
    newline = "\r\n" if before is not None and "\r\n" in before else "\n"
    block = render_block(pages).replace("\n", newline)
    lines = sum(len(lessons) for page in pages for _, lessons in page.parts)
    if before is not None and (lines or _MARK.search(before)):
        after = with_block(before, block, newline, path)
    elif lines:
        after = (_SKILL if path.name == "SKILL.md" else "") + block + "\n"
    else:
        after = before or ""
    return Update(path=path, before=before, after=after, lines=lines)


def difference(update: Update) -> list[str]:
    """Return what an export would change, as a unified diff."""
    before, after = ((text or "").splitlines() for text in (update.before, update.after))
    name = str(update.path)
    return list(unified_diff(before, after, name if update.before is not None else "/dev/null", name, lineterm=""))


def without_block(text: str) -> str:
    """Return the text of a file without the block that an export wrote."""
    return _BLOCK.sub("", text)


def render_block(pages: Sequence[InstructionPage]) -> str:
    """Render the marked block."""
    lines = [BEGINS, "## Lessons from earlier runs", ""]
    for page in pages:
        about = f"{_harmless(page.project) or ANYWHERE}: " if len(pages) > 1 else ""
        for name, lessons in page.parts:
            lines += [f"### {about}{name.lower() if about else name}", *map(_line, lessons), ""]
    if not pages:
        lines += ["None that does not stand elsewhere.", ""]
    return "\n".join([*lines[:-1], ENDS])


def with_block(text: str, block: str, newline: str, path: Path) -> str:
    """Replace the block of `text` by `block`, or append it. Raises BadInput."""
    marks = len(_MARK.findall(text))
    if marks == 0:
        gap = "" if not text else newline if text.endswith(newline) else newline * 2
        return f"{text}{gap}{block}{newline}"
    found = list(_BLOCK.finditer(text))
    if len(found) != 1 or marks != 2:
        raise BadInput(
            f"{path} has {marks} marks of a block of lessons where two belong, a beginning and an end; "
            "repair or remove them, and export again."
        )
    return text[: found[0].start()] + block + text[found[0].end() :]


def _line(lesson: Lesson) -> str:
    seen = f" ({lesson.standing})" if lesson.standing else ""
    told = _harmless(_HOME.sub("", lesson.lesson)).rstrip(".")
    if lesson.is_ruling and not lesson.reviewed and "“" not in told:
        told = f"“{told}”"  # These are the user's words, and “I” is the user.
    return f"- {told}{seen}"


def _harmless(text: str) -> str:
    """Return `text` on one line, so changed that it neither closes the block nor opens another."""
    return one_line(text).replace("<!--", "‹!--").replace("-->", "--›")


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not in UTF-8; it was left as it is.") from None
    except OSError as fault:
        raise BadInput(f"{path} can't be read: {fault.strerror}.") from fault


def repository_of(file: Path) -> Path:
    """Return the root of the repository that a file is in; its own folder if it is in none."""
    folder = file.resolve().parent
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)


def texts_of(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the texts of the readable ones among the files, each once."""
    for path in dict.fromkeys(each.resolve() for each in paths):
        text = _text(path)
        if text:
            yield text


def commands_of(folder: Path) -> frozenset[str]:
    """Return the commands that a repository's files define, as one types them."""
    out: set[str] = set()
    for name, (prefixes, read) in _READERS.items():
        text = _text(folder / name)
        if text:
            out.update(f"{prefix} {task}" for task in read(text) for prefix in prefixes)
    return frozenset(out)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace") if path.stat().st_size <= 1_000_000 else ""
    except OSError:
        return ""


def _targets(text: str) -> Iterator[str]:
    """The targets of a Makefile or justfile: names before a colon; in a justfile they may have parameters."""
    for line in text.splitlines():
        names, colon, rest = line.partition(":")
        if colon and not rest.startswith("=") and line[:1] not in (" ", "\t", "#", "."):
            yield from names.removeprefix("@").split()


def _tasks_of_yaml(text: str) -> Iterator[str]:
    """The keys one level below ``tasks:``."""
    within = False
    for line in text.splitlines():
        if line[:1].strip():
            within = line.rstrip() == "tasks:"
        elif within and line.startswith("  ") and line[2:3].strip() and ":" in line:
            yield line.strip().partition(":")[0]


def _json_commands(*place: str) -> Callable[[str], list[str]]:
    return lambda text: _names(_parsed(json.loads, text), place)


def _toml_commands(*place: str) -> Callable[[str], list[str]]:
    return lambda text: _names(_parsed(tomllib.loads, text), place)


def _parsed(parse: Callable[[str], object], text: str) -> object:
    try:
        return parse(text)
    except (ValueError, RecursionError):
        return {}


def _names(tree: object, place: tuple[str, ...]) -> list[str]:
    for name in place:
        tree = cast("Mapping[str, object]", tree).get(name) if isinstance(tree, Mapping) else None
    return [str(name) for name in cast("Mapping[str, object]", tree)] if isinstance(tree, Mapping) else []


def _pyproject_commands(text: str) -> list[str]:
    tree = _parsed(tomllib.loads, text)
    places = (("tool", "poe", "tasks"), ("tool", "pdm", "scripts"), ("tool", "taskipy", "tasks"))
    return [name for place in places for name in _names(tree, place)]


_MISE = ("mise run", "mise r", "mise")
_READERS: Mapping[str, tuple[tuple[str, ...], Callable[[str], Iterable[str]]]] = {
    **dict.fromkeys(("Makefile", "makefile", "GNUmakefile"), (("make",), _targets)),
    **dict.fromkeys(("justfile", "Justfile", ".justfile"), (("just",), _targets)),
    **dict.fromkeys(("mise.toml", ".mise.toml", ".config/mise.toml"), (_MISE, _toml_commands("tasks"))),
    **dict.fromkeys(("Taskfile.yml", "Taskfile.yaml"), (("task",), _tasks_of_yaml)),
    "package.json": (("npm run", "npm", "pnpm run", "pnpm", "yarn run", "yarn", "bun run"), _json_commands("scripts")),
    "composer.json": (("composer run", "composer"), _json_commands("scripts")),
    "deno.json": (("deno task",), _json_commands("tasks")),
    "pyproject.toml": (("poe", "uv run poe", "pdm run", "task", "uv run task"), _pyproject_commands),
}
"""For each file: the commands that run its tasks, and the function that reads the tasks' names."""

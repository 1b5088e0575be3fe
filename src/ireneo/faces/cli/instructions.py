"""The block of lessons in a project's instructions: how it reads, and how it comes into a file."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ireneo.errors import BadInput
from ireneo.faces.cli.output import one_line
from ireneo.patterns import lazy_re

if TYPE_CHECKING:
    from ireneo.types import InstructionPage, Lesson

BEGINS = "<!-- ireneo: lessons begin; what stands between these marks is rewritten by `ireneo lessons --export` -->"
ENDS = "<!-- ireneo: lessons end -->"
_BLOCK = lazy_re(
    r"<!-- ireneo: lessons begin\b[^\n]{0,400}-->(?:(?!<!-- ireneo: lessons begin\b).)*?<!-- ireneo: lessons end -->",
    re.S,
)
_MARK = lazy_re(r"<!-- ireneo: lessons (?:begin\b[^\n]{0,400}|end )-->")
_HOME = lazy_re(r"/(?:Users|home)/(?:[\w.@-]{1,60}/){1,20}")
"""Where a file lies in somebody's home: nobody commits that."""
ANYWHERE = "any project"
_SKILL = """---
name: lessons-from-runs
description: What earlier runs taught, with what failed and what to do instead. Read it before you begin a task.
---

"""


class Update(Struct, frozen=True, kw_only=True):
    """What an export makes of a file."""

    path: Path
    before: str | None
    """None where there is none yet."""
    after: str
    lines: int
    """Lessons that stand in it then."""


def updated(path: Path, pages: Sequence[InstructionPage]) -> Update:
    """What `path` is with `pages` in its marked block, which is made where there is none; nothing is written.

    The rest of the file stays byte for byte. Raises BadInput where it can't be read or its marks are damaged.
    """
    before = _read(path)
    newline = "\r\n" if before is not None and "\r\n" in before else "\n"
    block = block_of(pages).replace("\n", newline)
    lines = sum(len(lessons) for page in pages for _, lessons in page.parts)
    if before is not None and (lines or _MARK.search(before)):
        after = with_block(before, block, newline, path)
    elif lines:
        after = (_SKILL if path.name == "SKILL.md" else "") + block + "\n"
    else:
        after = before or ""
    return Update(path=path, before=before, after=after, lines=lines)


def write(update: Update) -> str:
    """Write what an export makes of a file; says what was done."""
    if update.after == (update.before or ""):
        return "Nothing new for"
    _write(update.path, update.after)
    return "Made" if update.before is None else "Updated"


def difference(update: Update) -> list[str]:
    """What an export would change, as a unified diff; nothing where that is nothing."""
    before, after = ((text or "").splitlines() for text in (update.before, update.after))
    name = str(update.path)
    return list(unified_diff(before, after, name if update.before is not None else "/dev/null", name, lineterm=""))


def outside(text: str) -> str:
    """A file without the block that an export has written."""
    return _BLOCK.sub("", text)


def block_of(pages: Sequence[InstructionPage]) -> str:
    """The marked block."""
    lines = [BEGINS, "## Lessons from earlier runs", ""]
    for page in pages:
        about = f"{_harmless(page.project) or ANYWHERE}: " if len(pages) > 1 else ""
        for name, lessons in page.parts:
            lines += [f"### {about}{name.lower() if about else name}", *map(_line, lessons), ""]
    if not pages:
        lines += ["None that does not stand elsewhere.", ""]
    return "\n".join([*lines[:-1], ENDS])


def with_block(text: str, block: str, newline: str, path: Path) -> str:
    """`text` with `block` in the place of the one that it has, or behind its end."""
    marks = len(_MARK.findall(text))
    if marks == 0:
        gap = "" if not text else newline if text.endswith(newline) else newline * 2
        return f"{text}{gap}{block}{newline}"
    found = list(_BLOCK.finditer(text))
    if len(found) != 1 or marks != 2:
        raise BadInput(
            f"{path} has {marks} marks of a block of lessons where two belong, a beginning and an end; "
            "mend or remove them, and export again."
        )
    return text[: found[0].start()] + block + text[found[0].end() :]


def _line(lesson: Lesson) -> str:
    seen = f" ({lesson.standing})" if lesson.standing else ""
    return f"- {_harmless(_HOME.sub('', lesson.lesson)).rstrip('.')}{seen}"


def _harmless(text: str) -> str:
    """`text` in one line: what a log held, a project's name included, must not close the block, or open another."""
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


def _write(path: Path, text: str) -> None:
    """Put the whole file in its place at once, with the rights that it had: nobody ever sees half of it."""
    target = path.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as fault:
        raise BadInput(f"{path} can't be written: {fault.strerror}.") from fault
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
        Path(name).chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

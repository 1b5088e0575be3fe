"""Lessons in a file that agents read: a marked block in it, which is updated in place."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from ireneo.errors import BadInput
from ireneo.faces.cli.words import one_line
from ireneo.patterns import lazy_re

if TYPE_CHECKING:
    from ireneo.types import Lesson

BEGINS = "<!-- ireneo: lessons begin; what stands between these marks is rewritten by `ireneo lessons --export` -->"
ENDS = "<!-- ireneo: lessons end -->"
_BLOCK = lazy_re(
    r"<!-- ireneo: lessons begin\b[^\n]{0,400}-->(?:(?!<!-- ireneo: lessons begin\b).)*?<!-- ireneo: lessons end -->",
    re.S,
)
_MARK = lazy_re(r"<!-- ireneo: lessons (?:begin\b[^\n]{0,400}|end )-->")
HEADINGS = {"failure": "Don't repeat", "procedural": "How it is done", "factual": "What is so"}
"""The parts of the block, in this order."""
_SKILL = """---
name: lessons-from-runs
description: What earlier runs taught, with what failed and what to do instead. Read it before you begin a task.
---

"""


def update_file(path: Path, lessons: Sequence[Lesson]) -> str:
    """Put `lessons` into the marked block of `path`, which is made where there is none; says what was done.

    The rest of the file stays byte for byte. Raises BadInput where the file can't be read or its marks are damaged,
    with nothing written.
    """
    before = _read(path)
    newline = "\r\n" if before is not None and "\r\n" in before else "\n"
    block = block_of(lessons).replace("\n", newline)
    if before is None:
        after = (_SKILL if path.name == "SKILL.md" else "") + block + "\n"
    else:
        after = with_block(before, block, newline, path)
    if after == before:
        return "Nothing new for"
    _write(path, after)
    return "Made" if before is None else "Updated"


def block_of(lessons: Sequence[Lesson]) -> str:
    """The marked block."""
    order = list(HEADINGS)
    lines = [BEGINS, "## Lessons from earlier runs", ""]
    ranked = sorted(lessons, key=lambda each: order.index(each.category))
    for category, part in groupby(ranked, key=lambda each: each.category):
        lines += [f"### {HEADINGS[category]}", *(_line(each) for each in part), ""]
    if not lessons:
        lines += ["None yet.", ""]
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
    said = _harmless(lesson.lesson)
    seen = f"seen in {lesson.seen} runs" if lesson.seen > 1 else "seen in one run"
    about = f"{_harmless(lesson.project)}; " if lesson.project else ""
    last = f", last {lesson.last_seen:%Y-%m-%d}" if lesson.last_seen else ""
    return f"- {said} ({about}{seen}{last}; {lesson.confidence})"


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

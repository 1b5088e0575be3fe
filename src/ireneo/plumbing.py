"""What the command line and the MCP server need beside the public page; a program hardly ever does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ireneo.adapters.log_files import DOUBTFUL_SUFFIXES, LOG_SUFFIXES, LONGEST_BYTES, LogFile, runs_among

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from ireneo.engine.instructions import InstructionPage
    from ireneo.engine.lessons import Lesson

GENERAL = "*"
"""The project of what is meant for all of them."""

__all__ = [
    "DOUBTFUL_SUFFIXES",
    "GENERAL",
    "LOG_SUFFIXES",
    "LONGEST_BYTES",
    "LogFile",
    "holds_memories",
    "instructions",
    "neutralised",
    "project_here",
    "project_named",
    "runs_among",
    "said_once",
]


def holds_memories(sample: bytes) -> bool:
    """Whether a file that begins with `sample` holds memories, and is no log."""
    # Imported when used: most commands ask nothing of the kind.
    from ireneo.memories.exchange import recognised

    return bool(recognised(sample))


def project_named(given: str) -> str:
    """The project that is meant by its name, or by a directory of it; empty where that names none."""
    from ireneo.engine.scope import project_asked

    return project_asked(given) or ""


def neutralised(text: str) -> str:
    """`text` with what is worded as an instruction to a model marked as quoted."""
    from ireneo.grounding.neutral import neutralise

    return neutralise(text)


def project_here(folder: str) -> str:
    """The project of whoever works in a folder, or the one that is named; empty where neither tells of any."""
    from ireneo.lessons import run

    return run.project_here(folder)


def said_once(lessons: Sequence[Lesson]) -> list[Lesson]:
    """`lessons` in their order, of those that say the same in other words only one."""
    from ireneo.engine import instructions as page

    return page.said_once(lessons)


def instructions(
    lessons: Iterable[Lesson], said: Iterable[str], offered: Collection[str], since: datetime | None, project: str
) -> list[InstructionPage]:
    """The pages of lessons for the instructions of projects, without what is `said` or `offered` there already."""
    from ireneo.engine import instructions as page

    return page.instructions(lessons, said=said, offered=offered, since=since, project=project)

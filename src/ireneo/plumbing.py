"""What the command line and the MCP server need beside the public page; a program hardly ever does."""

from __future__ import annotations

from ireneo.adapters.log_files import DOUBTFUL_SUFFIXES, LOG_SUFFIXES, LONGEST_BYTES, LogFile, runs_among

__all__ = [
    "DOUBTFUL_SUFFIXES",
    "LOG_SUFFIXES",
    "LONGEST_BYTES",
    "LogFile",
    "holds_memories",
    "project_named",
    "runs_among",
]


def holds_memories(sample: bytes) -> bool:
    """Whether a file that begins with `sample` holds memories, and is no log."""
    # Imported when used: most commands ask nothing of the kind.
    from ireneo.memories.exchange import recognised

    return bool(recognised(sample))


def project_named(given: str) -> str:
    """The project that is meant by its name, or by a directory of it; empty where that names none."""
    from ireneo.engine.projects import project_asked

    return project_asked(given) or ""

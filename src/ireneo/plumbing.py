"""What the command line and the MCP server need beside the public page; a program hardly ever does."""

from ireneo.lessons.run import project_named
from ireneo.memories.exchange import recognised
from ireneo.adapters.log_files import DOUBTFUL_SUFFIXES, LOG_SUFFIXES, LONGEST_BYTES, LogFile, runs_among

__all__ = ["DOUBTFUL_SUFFIXES", "LOG_SUFFIXES", "LONGEST_BYTES", "LogFile", "holds_memories", "project_named", "runs_among"]


def holds_memories(sample: bytes) -> bool:
    """Whether a file that begins with `sample` holds memories, and is no log."""
    return bool(recognised(sample))

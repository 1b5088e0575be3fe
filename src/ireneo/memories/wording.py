"""How a memory is put into one line."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime


def one_line(text: str) -> str:
    """`text` with every run of blanks and line breaks made one blank."""
    return " ".join(text.split())


def day(moment: datetime) -> str:
    """A day as it is written in a memory: 3 May 2026."""
    return f"{moment.day} {moment:%B} {moment.year:04}"


def month(moment: datetime) -> str:
    """A month as it is told where the day doesn't matter: May 2026."""
    return f"{moment:%B} {moment.year:04}"


def with_notes(text: str, notes: Iterable[str]) -> str:
    """`text`, and behind it in brackets what is to be known of it."""
    said = "; ".join(note for note in notes if note)
    return f"{one_line(text)} ({said})" if said else one_line(text)


def quoted(text: str, longest: int = 80) -> str:
    """The beginning of a text between quotation marks."""
    line = one_line(text)
    return f"“{line}”" if len(line) <= longest else f"“{line[: longest - 1].rstrip()}…”"

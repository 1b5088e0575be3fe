"""Words for a screen: numbers with their nouns, and texts without what would steer the terminal."""

from __future__ import annotations

from ireneo.patterns import lazy_re

_STEERING = lazy_re(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

SHORT = 9
"""Characters of an id that name it."""


def printable(text: str) -> str:
    """`text` without what a tool may have written into its output to steer a terminal or turn its letters around."""
    return _STEERING.sub("", text)


def one_line(text: str) -> str:
    """`text` on one line, printable."""
    return " ".join(printable(text).split())


def short(id: str) -> str:
    """As much of an id as names it."""
    return id[:SHORT]


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun, in the singular or the plural."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def share(part: float) -> str:
    """A share as a percentage; only all of it is 100 %."""
    return f"{min(round(part * 100), 99) if part < 1 else 100} %"

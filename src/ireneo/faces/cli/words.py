"""Numbers in words."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun, in the singular or the plural."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"

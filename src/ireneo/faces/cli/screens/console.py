"""The terminal that a screen is shown on."""

from __future__ import annotations

import os

from rich.console import Console

PLAIN_WIDTH = 100
"""Columns where nobody says how many there are."""


def console(*, stderr: bool = False) -> Console:
    """Standard output (or standard error), as wide as it is; plain where it is no terminal."""
    out = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = PLAIN_WIDTH
    return out


def is_coloured(screen: Console) -> bool:
    """Whether colours tell things apart there."""
    return screen.is_terminal and screen.color_system is not None and not screen.no_color

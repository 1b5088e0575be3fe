"""Bars of characters: the tiers of a context by their tokens, and a session's messages by what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.text import Text

from ireneo.faces.cli.screens.blocks import FREE, Tier


def filled_bar(sizes: Sequence[tuple[Tier, int]], width: int, *, coloured: bool) -> Text:
    """Share `width` columns out by size; what is there at all gets a column."""
    total = sum(size for _, size in sizes) or 1
    columns = [max(1, round(size * width / total)) if size else 0 for _, size in sizes]
    if columns:
        widest = columns.index(max(columns))
        columns[widest] = max(columns[widest] + width - sum(columns), 1)
    bar = Text()
    for (tier, _), wide in zip(sizes, columns, strict=True):
        bar.append_text(_cells(tier, wide, coloured=coloured))
    return bar


def path_bar(sizes: Sequence[tuple[Tier, int]], width: int, *, coloured: bool) -> Text:
    """The path from left to right, each column in the tier of the messages that stand there."""
    ends = []
    total = 0
    for _, size in sizes:
        total += size
        ends.append(total)
    cells = []
    place = 0
    for column in range(width if total else 0):
        at = (column + 0.5) * total / width
        while ends[place] < at:
            place += 1
        cells.append(sizes[place][0])
    bar = Text()
    for tier, run in groupby(cells, key=lambda tier: tier):
        bar.append_text(_cells(tier, len(list(run)), coloured=coloured))
    return bar


def _cells(tier: Tier, wide: int, *, coloured: bool) -> Text:
    if not coloured:
        return Text(tier.letter * wide)
    return Text(("░" if tier is FREE else "█") * wide, style=tier.style)

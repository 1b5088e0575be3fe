"""Columns of text: as wide as what stands in them, the last one as wide as the screen leaves it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

MARGIN = "  "
GAP = "  "
NARROWEST = 12


class Column(Struct, frozen=True):
    """A column by its heading."""

    heading: str
    right: bool = False
    widest: int = 60


def show_columns(screen: Console, columns: Sequence[Column], rows: Sequence[Sequence[Text]]) -> None:
    """Show `rows` under the columns' headings, each on one line."""
    headings = [Text(column.heading, style="dim") for column in columns]
    widths = [
        min(max(cell_len(row[index].plain) for row in [headings, *rows]), column.widest)
        for index, column in enumerate(columns)
    ]
    fixed = len(MARGIN) + sum(widths[:-1]) + len(GAP) * (len(widths) - 1)
    widths[-1] = max(min(widths[-1], screen.width - fixed), NARROWEST)
    for row in [headings, *rows]:
        screen.print(_line(columns, row, widths), no_wrap=True, overflow="ellipsis", crop=True)


def show_labelled(screen: Console, label: str, text: Text, *, width: int) -> None:
    """Show `text` behind a dim label that takes `width` columns; further lines of it stand under its first."""
    for number, line in enumerate(text.wrap(screen, max(screen.width - width, NARROWEST))):
        line.rstrip()
        head = (MARGIN + label if number == 0 else "").ljust(width)
        screen.print(Text.assemble((head, "dim"), line), no_wrap=True, crop=False, overflow="ignore")


def _line(columns: Sequence[Column], row: Sequence[Text], widths: Sequence[int]) -> Text:
    line = Text(MARGIN)
    for index, (column, cell, width) in enumerate(zip(columns, row, widths, strict=True)):
        shown = cell.copy()
        shown.truncate(width, overflow="ellipsis")
        gap = " " * (width - cell_len(shown.plain))
        line.append(gap if column.right else "")
        line.append_text(shown)
        if index < len(columns) - 1:
            line.append("" if column.right else gap)
            line.append(GAP)
    return line

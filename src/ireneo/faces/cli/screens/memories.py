"""Memories in lists: what a question found, and what would be put away next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from ireneo.faces.cli.screens.columns import MARGIN, Column, show_columns, show_labelled
from ireneo.faces.cli.screens.console import console, is_coloured
from ireneo.faces.cli.times import day_of
from ireneo.faces.cli.words import one_line, printable, short

if TYPE_CHECKING:
    from ireneo.types import Fading, Recalled

MESSAGE = "message"
BAR = 20
"""Columns of a bar that is full."""
_EIGHTHS = " ▏▎▍▌▋▊▉"
STYLES = {
    "semantic": "color(71)",
    "episodic": "color(68)",
    "procedural": "color(99)",
    "failure": "color(160)",
    MESSAGE: "dim",
}
"""The colour of each kind."""
_FOUND = (
    Column("", right=True),
    Column("kind", widest=19),
    Column("when"),
    Column("session", widest=12),
    Column("id"),
    Column("text", widest=10_000),
)
_FADING = (
    Column("kept", widest=BAR),
    Column("", right=True),
    Column("kind"),
    Column("id"),
    Column("memory", widest=10_000),
)


def show_recalled(found: Sequence[Recalled], budget: int | None = None) -> None:
    """One row for each that was found, the best first, and under them what the scores are made of, if asked for."""
    screen = console()
    if not found:
        screen.print(
            "  Nothing answers to that." if budget is None else f"  Nothing answers to that in {budget:,} tokens."
        )
        return
    rows = [_found(number, each) for number, each in enumerate(found, start=1)]
    show_columns(screen, _FOUND, rows)
    for number, each in enumerate(found, start=1):
        for said in each.against:
            label = f"{number:>{len(str(len(found)))}}"
            show_labelled(screen, label, Text(printable(said)), width=len(label) + len(MARGIN) * 2)
    if not any(each.parts for each in found):
        return
    screen.print()
    for number, each in enumerate(found, start=1):
        parts = " · ".join(f"{name} {value:.4g}" for name, value in each.parts)
        label = f"{number:>{len(str(len(found)))}}  {each.score:.4f}"
        show_labelled(screen, label, Text(printable(parts)), width=len(label) + len(MARGIN) * 2)


def show_fading(found: Sequence[Fading], space: str) -> None:
    """One row for each memory, the one that would go first standing first, with why under it."""
    screen = console()
    if not found:
        screen.print(f"Nothing fades in space {space}: there is no memory that could be put away.", soft_wrap=True)
        return
    coloured = is_coloured(screen)
    rows = [
        [
            Text(filled(each.retention), style=STYLES[each.record.kind] if coloured else ""),
            Text(f"{each.retention:.2f}"),
            Text(each.record.kind),
            Text(short(each.record.id), style="dim"),
            Text(f"{one_line(each.record.text)}"),
        ]
        for each in found
    ]
    show_columns(screen, _FADING, rows)
    screen.print()
    for each in found:
        label = short(each.record.id)
        show_labelled(screen, label, Text(printable(each.reason)), width=len(label) + len(MARGIN) * 2)


def filled(share: float, width: int = BAR) -> str:
    """A bar of so much of `width` columns, to an eighth of one."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def _found(number: int, each: Recalled) -> list[Text]:
    doubt = "stale" if each.stale else each.state if each.state != "active" else ""
    return [
        Text(f"{number}", style="dim"),
        Text(f"{each.kind}, {doubt}" if doubt else each.kind, style=STYLES[each.kind]),
        Text(day_of(each.at)),
        Text(printable(each.session), style="dim"),
        Text(short(each.id), style="dim"),
        Text(one_line(each.text)),
    ]

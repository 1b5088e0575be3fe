"""Small pieces of the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ireneo.faces.cli.output import counted, printable

__all__ = ["bar", "code_marked", "counted", "rounded", "safe", "section", "table", "tag", "tile"]

_STEPS = ((1_000_000_000, "bn"), (1_000_000, "M"), (10_000, "k"))


def safe(text: str) -> str:
    """`text` as nothing but text, without what would steer a terminal or turn its letters around."""
    return escape(printable(text), quote=True)


def code_marked(text: str) -> str:
    """`text` with what stands in backticks set as code."""
    pieces = safe(text).split("`")
    if len(pieces) % 2 == 0:
        # A backtick that is never closed is one.
        pieces[-2:] = ["`".join(pieces[-2:])]
    return "".join(f"<code>{piece}</code>" if at % 2 else piece for at, piece in enumerate(pieces))


def section(heading: str, content: str, note: str = "") -> str:
    """A part of the page, which is named by its heading's last word; `note` says in a sentence what it shows."""
    said = f'<p class="note">{note}</p>\n' if note else ""
    return f'<section id="{anchor(heading)}">\n<h2>{safe(heading)}</h2>\n{said}{content}\n</section>'


def anchor(heading: str) -> str:
    """The name by which a part is linked to."""
    return heading.lower().replace(" ", "-")


def tile(value: float, label: str) -> str:
    """A figure with what it counts, rounded; the figure itself is told to whoever points at it."""
    return f'<div class="tile" title="{value:,.0f}"><b>{rounded(value)}</b><span>{safe(label)}</span></div>'


def rounded(value: float) -> str:
    """A number in at most four digits: 20.8 M for twenty million eight hundred thousand."""
    for size, name in _STEPS:
        if value >= size:
            by = 1_000 if name == "k" else size
            return f"{value / by:,.{1 if value / by < 100 else 0}f}\u202f{name}"
    return f"{value:,.0f}"


def tag(text: str, kind: str = "") -> str:
    """A word in a frame, coloured by its kind."""
    return f'<span class="tag {kind or text}">{safe(text)}</span>'


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], total: Sequence[str] = ()) -> str:
    """A table of cells that are markup already; a column whose name begins with ``>`` stands to the right."""
    right = [name.startswith(">") for name in columns]
    head = "".join(f"<th{_side(side)}>{safe(name.lstrip('>'))}</th>" for name, side in zip(columns, right, strict=True))
    body = "\n".join(_row(row, right) for row in rows)
    foot = f"\n<tfoot>{_row(total, right)}</tfoot>" if total else ""
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>{foot}\n</table></div>'


def bar(share: float, label: str) -> str:
    """A bar of so much of its width, for a reader who would rather look; `label` is read out instead."""
    width = round(100 * min(max(share, 0.0), 1.0), 1)
    frame = f'<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="{safe(label)}">'
    return f'{frame}<rect class="back" width="100" height="8"/><rect class="full" width="{width}" height="8"/></svg>'


def _row(row: Sequence[str], right: Sequence[bool]) -> str:
    cells = "".join(f"<td{_side(side)}>{cell}</td>" for cell, side in zip(row, right, strict=True))
    return f"<tr>{cells}</tr>"


def _side(right: bool) -> str:
    return ' class="right"' if right else ""

"""How far the confidence of lessons is to be trusted: drawn against what came true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ireneo.faces.report.markup import safe, section, table

if TYPE_CHECKING:
    from ireneo.types import CalibrationReport

CONFIDENCE_TITLE = "Confidence"
_SIDE = 200
_MARGIN = 28


def calibrated(measured: CalibrationReport | None) -> str:
    """The reliability diagram, the table by level, and the Brier score beside that of constant guesses."""
    if measured is None or not measured.count:
        return section(CONFIDENCE_TITLE, "<p>There are too few runs to hold confidence against what came true.</p>")
    told = (
        f"The first half of the runs by time foretold {measured.count:,} outcomes of the second. The mean square of "
        f"what was foretold less what came (Brier score, 0 is perfect) is {measured.brier:.3f}; foretelling for each "
        f"lesson what is usual for its category gives {measured.category_brier:.3f}, what is usual for all "
        f"{measured.base_brier:.3f}."
    )
    rows = [
        [safe(row.name), f"{row.count:,}", f"{row.foretold:.2f}", f"{row.true:.2f}"]
        for row in (*measured.levels, *measured.bins)
    ]
    columns = ["confidence", ">outcomes", ">foretold", ">came true"]
    return section(CONFIDENCE_TITLE, f'<div class="beside">{_diagram(measured)}{table(columns, rows)}</div>', told)


def _diagram(measured: CalibrationReport) -> str:
    """What was foretold to the right, what came true upwards; on the dotted line they are the same."""
    most = max(row.count for row in measured.bins) if measured.bins else 1
    dots = "".join(
        f'<circle class="dot" cx="{_x(row.foretold)}" cy="{_y(row.true)}" r="{3 + 6 * (row.count / most) ** 0.5:.1f}">'
        f"<title>{safe(row.name)}: foretold {row.foretold:.2f}, came true {row.true:.2f}, of {row.count:,}</title>"
        "</circle>"
        for row in measured.bins
        if row.count
    )
    far = _MARGIN + _SIDE
    ticks = "".join(
        f'<text x="{_x(share)}" y="{far + 14}" text-anchor="middle">{share:.1f}</text>'
        f'<text x="{_MARGIN - 5}" y="{_y(share) + 3}" text-anchor="end">{share:.1f}</text>'
        for share in (0.0, 0.5, 1.0)
    )
    return (
        f'<svg class="chart" viewBox="0 0 {far + 20} {far + 30}" role="img" aria-label="Confidence against outcomes">'
        f'<rect class="axis" x="{_MARGIN}" y="{_MARGIN}" width="{_SIDE}" height="{_SIDE}"/>'
        f'<line class="ideal" x1="{_MARGIN}" y1="{far}" x2="{far}" y2="{_MARGIN}"/>{ticks}'
        f'<text x="{far}" y="{far + 26}" text-anchor="end">foretold</text>'
        f'<text x="{_MARGIN}" y="{_MARGIN - 8}">came true</text>{dots}</svg>'
    )


def _x(share: float) -> float:
    return round(_MARGIN + _SIDE * share, 1)


def _y(share: float) -> float:
    return round(_MARGIN + _SIDE * (1 - share), 1)

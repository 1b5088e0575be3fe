"""The dead ends that recurred, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ireneo.faces.cli.output import counted
from ireneo.faces.report.markup import bar, code_marked, section, table

if TYPE_CHECKING:
    from ireneo.types import ClaimTotals, Lesson

DEAD_ENDS_TITLE = "Dead ends that recurred"
MOST = 30
"""Rows of the table, the dearest first."""
_DEAD_END_COLUMNS = ("what failed again", ">runs", ">times", ">tokens", "", ">minutes", ">last")


def dead_ends(claims: Sequence[ClaimTotals], lessons: Sequence[Lesson]) -> str:
    """A table of the failures that came back in other runs and that a lesson tells of."""
    told = {lesson.cue: lesson for lesson in lessons if lesson.category == "failure"}
    again = [claim for claim in claims if claim.cue in told and claim.runs > 1]
    again.sort(key=lambda claim: (-claim.tokens, -claim.held, claim.cue))
    if not again:
        return section(DEAD_ENDS_TITLE, "<p>None: nothing that a lesson tells of failed in a second run.</p>")
    most = max(claim.tokens for claim in again) or 1
    rows = [
        [
            code_marked(told[claim.cue].lesson),
            f"{claim.runs:,}",
            f"{claim.held:,}",
            f"{claim.tokens:,}",
            bar(claim.tokens / most, f"{claim.tokens:,} tokens"),
            f"{claim.seconds / 60:,.1f}" if claim.seconds else "–",
            f"{claim.last:%Y-%m-%d}" if claim.last else "–",
        ]
        for claim in again[:MOST]
    ]
    more = f" The {MOST} dearest are shown." if len(again) > MOST else ""
    times, runs = sum(claim.held for claim in again), max(claim.runs for claim in again)
    note = (
        f"{counted(len(again), 'dead end')} came back, {counted(times, 'time')} in all, one of them in "
        f"{counted(runs, 'run')}. What a failed call cost is its own length and its answer's, and how long it took."
    )
    return section(DEAD_ENDS_TITLE, table(_DEAD_END_COLUMNS, rows), note + more)

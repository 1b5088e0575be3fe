"""What is kept of the runs, held against how long their logs are."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from ireneo.faces.report.markup import safe, section, table

if TYPE_CHECKING:
    from ireneo.types import LearnedRun, Lesson

KEPT_TITLE = "What is kept"
_KEPT_COLUMNS = (
    "source",
    ">runs",
    ">tokens of log",
    ">tokens kept",
    ">compression",
    ">median run",
    ">calls",
    ">failed",
)
_A_TOKEN = 4
"""Characters of a lesson that are about one token."""


def kept(found: Sequence[LearnedRun], lessons: Sequence[Lesson]) -> str:
    """A table by log format: tokens of log over tokens of what is kept of it."""
    by_source: dict[str, list[LearnedRun]] = {}
    for run in found:
        by_source.setdefault(run.source.partition(":")[0] or "appended", []).append(run)
    shares = lesson_tokens(lessons)
    rows = [[safe(source), *_kept_row(its, shares)] for source, its in sorted(by_source.items())]
    total = ["together", *_kept_row(found, shares)] if len(rows) > 1 else ()
    note = "Kept are each run's diary and its share of the lessons that it speaks for."
    return section(KEPT_TITLE, table(_KEPT_COLUMNS, rows, total) if rows else "<p>Nothing yet.</p>", note)


def tokens_kept(found: Sequence[LearnedRun], lessons: Sequence[Lesson]) -> int:
    """What the diaries and the lessons cost together."""
    return sum(run.diary_tokens for run in found) + round(sum(lesson_tokens(lessons).values()))


def lesson_tokens(lessons: Sequence[Lesson]) -> dict[str, float]:
    """What the lessons cost each run, a lesson shared by the runs that it quotes."""
    out: dict[str, float] = {}
    for lesson in lessons:
        sessions = {cited.session for cited in lesson.sources}
        for session in sessions:
            out[session] = out.get(session, 0.0) + len(lesson.lesson) / _A_TOKEN / len(sessions)
    return out


def _kept_row(its: Sequence[LearnedRun], shares: dict[str, float]) -> list[str]:
    each = [(run.tokens, run.diary_tokens + shares.get(run.session, 0.0)) for run in its]
    log, cost = sum(tokens for tokens, _ in each), sum(cost for _, cost in each)
    ratios = [tokens / cost for tokens, cost in each if cost]
    return [
        f"{len(its):,}",
        f"{log:,}",
        f"{cost:,.0f}",
        f"<b>{log / cost:,.0f}\u202f×</b>" if cost else "–",
        f"{median(ratios):,.0f}\u202f×" if ratios else "–",
        f"{sum(run.calls for run in its):,}",
        f"{sum(run.failures for run in its):,}",
    ]

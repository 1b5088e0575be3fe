"""The runs: how much each was, what became of it, and its diary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ireneo.faces.cli.output import counted
from ireneo.faces.report.markup import code_marked, rounded, safe, section

if TYPE_CHECKING:
    from ireneo.types import DiaryEntry, DiaryLine, LearnedRun

RUNS_TITLE = "Runs"
_OPEN = 400
"""Runs whose diaries are told; beyond them only the table of formats counts them."""
_GOAL = 110
"""Characters of its first goal by which a run is told."""


def runs(found: Sequence[LearnedRun]) -> str:
    """Every run with its diary, the newest first."""
    parts = "".join(map(_run, found[:_OPEN]))
    more = f"<p class='note'>{counted(len(found) - _OPEN, 'earlier run')} more.</p>" if len(found) > _OPEN else ""
    note = "Open one to read its diary: what was tried, what came of it, what held in the end."
    return section(RUNS_TITLE, f"<div class='list'>{parts}</div>{more}" if found else "<p>None yet.</p>", note)


def _run(run: LearnedRun) -> str:
    day = f"{run.started:%Y-%m-%d}" if run.started else "–"
    failed = f"{run.failures:,} of {counted(run.calls, 'call')} failed" if run.failures else counted(run.calls, "call")
    goal = next((entry.goal for entry in run.diary if entry.goal), "")
    return (
        f"<details class='run'><summary><span class='day'>{day}</span>"
        f"<span class='text'><b>{safe(run.project or 'no project')}</b> {code_marked(_begun(goal))}</span>"
        f"<span class='sure'>{rounded(run.tokens)} tokens · {failed}</span></summary>\n"
        f"<div class='inside'><p class='note'>{safe(run.session)}{safe(_source(run))}</p>"
        f"{''.join(map(_entry, run.diary)) or '<p>Nothing was tried.</p>'}</div></details>\n"
    )


def _begun(goal: str) -> str:
    line = " ".join(goal.split())
    return line if len(line) <= _GOAL else f"{line[: _GOAL - 1].rstrip()}…"


def _source(run: LearnedRun) -> str:
    return f" · {run.source}" if run.source else ""


def _entry(entry: DiaryEntry) -> str:
    parts = [f"<h4>{code_marked(entry.goal)}</h4>"]
    if entry.attempted:
        parts.append(f"<ol>{''.join(map(_line, entry.attempted))}</ol>")
    for heading, lines in (("What worked", entry.worked), ("What failed", entry.failed)):
        if lines:
            parts.append(f"<h5>{heading}</h5>\n<ul>{''.join(map(_line, lines))}</ul>")
    if entry.pattern:
        parts.append(f"<h5>Pattern</h5><p>{code_marked(entry.pattern)}</p>")
    return f'<div class="entry">{"".join(parts)}</div>'


def _line(line: DiaryLine) -> str:
    return f"<li>{code_marked(line.text)}</li>"

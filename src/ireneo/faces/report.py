"""What runs taught as one HTML page without network, scripts or server. Text is escaped wherever it enters the page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from msgspec import Struct

from ireneo.faces.cli.output import counted, cut, printable, short
from ireneo.patterns import lazy_re

if TYPE_CHECKING:
    from ireneo.types import Cited, ClaimTotals, DiaryEntry, LearnedRun, Lesson

_CODE = lazy_re(r"`([^`“”\n]+)`")
"""Text in backticks. A quoted passage may hold a single backtick, which doesn't pair with one outside it."""
_STEPS = ((1_000_000_000, "bn"), (1_000_000, "M"), (10_000, "k"))


def safe(text: str) -> str:
    """Escape `text`, without control sequences."""
    return escape(printable(text), quote=True)


def code_marked(text: str) -> str:
    """Escape `text` and mark text in backticks as code, within a quotation or outside."""
    return _CODE.sub(lambda found: f"<code>{found[1]}</code>", safe(text))


def section(heading: str, content: str, note: str = "") -> str:
    """Render a section of the page; `note` is a sentence on what it shows."""
    said = f'<p class="note">{note}</p>\n' if note else ""
    return f'<section id="{anchor(heading)}">\n<h2>{safe(heading)}</h2>\n{said}{content}\n</section>'


def anchor(heading: str) -> str:
    """Return the id that links to a section."""
    return heading.lower().replace(" ", "-")


def tile(value: float, label: str) -> str:
    """Render a rounded figure with its label, and the exact one as a tooltip."""
    return f'<div class="tile" title="{value:,.0f}"><b>{rounded(value)}</b><span>{safe(label)}</span></div>'


def rounded(value: float) -> str:
    """Format a number in at most four digits, such as 20.8 M."""
    for size, name in _STEPS:
        if value >= size:
            by = 1_000 if name == "k" else size
            return f"{value / by:,.{1 if value / by < 100 else 0}f}\u202f{name}"
    return f"{value:,.0f}"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Render a table of HTML cells; a column whose name begins with ``>`` is aligned to the right."""
    right = [name.startswith(">") for name in columns]
    head = "".join(
        f"<th{_alignment(side)}>{safe(name.lstrip('>'))}</th>" for name, side in zip(columns, right, strict=True)
    )
    body = "\n".join(_row(row, right) for row in rows)
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'


def bar(share: float, label: str) -> str:
    """Render a bar over a share of its width; screen readers read the `label`."""
    width = round(100 * min(max(share, 0.0), 1.0), 1)
    frame = f'<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="{safe(label)}">'
    return f'{frame}<rect class="back" width="100" height="8"/><rect class="full" width="{width}" height="8"/></svg>'


def _row(row: Sequence[str], right: Sequence[bool]) -> str:
    cells = "".join(f"<td{_alignment(side)}>{cell}</td>" for cell, side in zip(row, right, strict=True))
    return f"<tr>{cells}</tr>"


def _alignment(right: bool) -> str:
    return ' class="right"' if right else ""


DEAD_ENDS_TITLE = "Failures that came back"
MOST = 30
"""The most rows of the table, the most expensive first."""
_DEAD_END_COLUMNS = ("what failed again", ">runs", ">times", ">tokens", "", ">minutes", ">last")


def render_dead_ends(claims: Sequence[ClaimTotals], lessons: Sequence[Lesson]) -> str:
    """Render a table of the failures that have a lesson and happened again in other runs."""
    by_cue = {lesson.cue: lesson for lesson in lessons if lesson.category == "failure"}
    again = [claim for claim in claims if claim.cue in by_cue and claim.runs > 1]
    again.sort(key=lambda claim: (-claim.tokens, -claim.held, claim.cue))
    if not again:
        return section(DEAD_ENDS_TITLE, "<p>None: no failure that has a lesson happened in a second run.</p>")
    most = max(claim.tokens for claim in again) or 1
    rows = [
        [
            code_marked(by_cue[claim.cue].lesson),
            f"{claim.runs:,}",
            f"{claim.held:,}",
            f"{claim.tokens:,}",
            bar(claim.tokens / most, f"{claim.tokens:,} tokens"),
            f"{claim.seconds / 60:,.1f}" if claim.seconds else "–",
            f"{claim.last:%Y-%m-%d}" if claim.last else "–",
        ]
        for claim in again[:MOST]
    ]
    more = f" The {MOST} most expensive are shown." if len(again) > MOST else ""
    times, runs = sum(claim.held for claim in again), max(claim.runs for claim in again)
    note = (
        f"{counted(len(again), 'failure')} came back, {counted(times, 'time')} in all, one of them in "
        f"{counted(runs, 'run')}. What a failed call cost is its own length and its answer's, and how long it took."
    )
    return section(DEAD_ENDS_TITLE, table(_DEAD_END_COLUMNS, rows), note + more)


RUNS_TITLE = "Runs"
_OPEN = 400
"""The most runs whose diaries are shown."""


def render_runs(found: Sequence[LearnedRun]) -> str:
    """Render the runs with their diaries, the newest first."""
    parts = "".join(map(_run, found[:_OPEN]))
    more = f"<p class='note'>{counted(len(found) - _OPEN, 'earlier run')} more.</p>" if len(found) > _OPEN else ""
    note = "Open one to read its diary: what was tried, what came of it, what held in the end."
    return section(RUNS_TITLE, f"<div class='list'>{parts}</div>{more}" if found else "<p>None yet.</p>", note)


def _run(run: LearnedRun) -> str:
    day = f"{run.started:%Y-%m-%d}" if run.started else "–"
    failed = f"{run.failures:,} of {counted(run.calls, 'call')} failed" if run.failures else counted(run.calls, "call")
    goal = cut(" ".join(next((entry.goal for entry in run.diary if entry.goal), "").split()), 110)
    return (
        f"<details class='run'><summary><span class='day'>{day}</span>"
        f"<span class='text'><b>{safe(run.project or 'no project')}</b> {code_marked(goal)}</span>"
        f"<span class='sure'>{rounded(run.tokens)} tokens · {failed}</span></summary>\n"
        f"<div class='inside'><p class='note'>{safe(run.session)}{safe(f' · {run.source}' if run.source else '')}</p>"
        f"{''.join(map(_entry, run.diary)) or '<p>Nothing was tried.</p>'}</div></details>\n"
    )


def _entry(entry: DiaryEntry) -> str:
    parts = [f"<h4>{code_marked(entry.goal)}</h4>"]
    for element, heading, lines in (
        ("ol", "", entry.attempted),
        ("ul", "<h5>What worked</h5>\n", entry.worked),
        ("ul", "<h5>What failed</h5>\n", entry.failed),
    ):
        if lines:
            listed = "".join(f"<li>{code_marked(line.text)}</li>" for line in lines)
            parts.append(f"{heading}<{element}>{listed}</{element}>")
    if entry.pattern:
        parts.append(f"<h5>Pattern</h5><p>{code_marked(entry.pattern)}</p>")
    return f'<div class="entry">{"".join(parts)}</div>'


LESSONS_TITLE = "Lessons"
ANYWHERE = "In several projects, or in none"


def render_lessons(lessons: Sequence[Lesson]) -> str:
    """Render the lessons by project, the project with most of them first."""
    by_project: dict[str, list[Lesson]] = {}
    for lesson in lessons:
        by_project.setdefault(lesson.project, []).append(lesson)
    order = sorted(by_project, key=lambda name: (not name, -len(by_project[name]), name))
    parts = [
        f"<h3>{safe(project) or ANYWHERE}</h3>\n<div class='list'>{''.join(map(_lesson, by_project[project]))}</div>"
        for project in order
    ]
    note = "Open one to see the passages that it is drawn from."
    return section(LESSONS_TITLE, "\n".join(parts) or "<p>None yet.</p>", note if lessons else "")


GUARDED_TITLE = "Told only where it applies"


def render_guarded(traps: Sequence[Lesson]) -> str:
    """Render the lessons that are only told where they apply; nothing if there are none."""
    note = "Told before a call that needs them: elsewhere they are read in time, or were seen or said too seldom."
    return section(GUARDED_TITLE, f"<div class='list'>{''.join(map(_lesson, traps))}</div>", note) if traps else ""


def _lesson(lesson: Lesson) -> str:
    conditions = ", ".join(f"{name} {value}" for name, value in sorted(lesson.conditions.items()))
    cost = f"cost {lesson.tokens:,} tokens so far" if lesson.tokens else ""
    whole = round(lesson.seconds / 60)
    minutes = f"and {whole:,} minute{'s' if whole > 1 else ''}" if cost and lesson.seconds >= 60 else ""
    notes = [lesson.task_type, conditions, f"{cost} {minutes}".strip()]
    about = " · ".join(safe(note) for note in [*notes, short(lesson.id)] if note)
    category = "ruling" if lesson.is_ruling else lesson.category
    return (
        f'<details class="lesson"><summary><span class="tag {category}">{category}</span>'
        f'<span class="text">{code_marked(lesson.lesson)}</span>'
        f'<span class="sure">{safe(lesson.standing)}</span></summary>\n'
        f'<div class="inside"><p class="note">{about}</p>\n{_render_quotes(lesson.sources)}</div></details>\n'
    )


def _render_quotes(sources: Sequence[Cited]) -> str:
    """Render the passages by run, each once."""
    by_session: dict[str, dict[str, str]] = {}
    for cited in sources:
        by_session.setdefault(cited.session, {}).setdefault(cited.quote, cited.message)
    parts = []
    for session, its in by_session.items():
        lines = "\n".join(f'<li title="{safe(message)}">{safe(quote)}</li>' for quote, message in its.items())
        parts.append(f"<figure><figcaption>{safe(session)}</figcaption><ol>{lines}</ol></figure>")
    return "\n".join(parts)


NO_NETWORK = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What lets a browser load nothing for the page, whatever a log contained."""
PARTS = (LESSONS_TITLE, GUARDED_TITLE, DEAD_ENDS_TITLE, RUNS_TITLE)


class ReportMaterial(Struct, frozen=True, kw_only=True):
    """The contents of the page."""

    space: str
    made: datetime
    runs: Sequence[LearnedRun]
    lessons: Sequence[Lesson]
    """All lessons, with those that are told only where they apply."""
    claims: Sequence[ClaimTotals]


def page(material: ReportMaterial) -> str:
    """Render the page."""
    style = files(__package__).joinpath("report.css").read_text("utf-8")
    title = f"What {counted(len(material.runs), 'run')} taught"
    body = "\n".join(
        [
            _head(material, title),
            render_lessons([each for each in material.lessons if not each.guard_only]),
            render_guarded([each for each in material.lessons if each.guard_only]),
            render_dead_ends(material.claims, material.lessons),
            render_runs(material.runs),
        ]
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{safe(title)}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{NO_NETWORK}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _head(material: ReportMaterial, title: str) -> str:
    listed = [each for each in material.lessons if not each.guard_only]
    days = sorted(day for run in material.runs if (day := run.started or run.ended) is not None)
    period = f" · {days[0]:%Y-%m-%d} to {days[-1]:%Y-%m-%d}" if days else ""
    log = sum(run.tokens for run in material.runs)
    # A token of a lesson has about four characters.
    cost = sum(run.diary_tokens for run in material.runs) + sum(len(each.lesson) for each in material.lessons) // 4
    minutes = round(sum(run.lost_seconds for run in material.runs) / 60)
    failed, calls = sum(run.failures for run in material.runs), sum(run.calls for run in material.runs)
    tiles = [
        tile(log, "tokens of log"),
        tile(cost, f"kept, 1 in {rounded(log / cost)}" if cost else "kept"),
        tile(len(listed), "lesson" if len(listed) == 1 else "lessons"),
        tile(failed, f"failed calls of {rounded(calls)}"),
        tile(sum(run.lost_tokens for run in material.runs), "tokens they cost"),
        tile(minutes, "minute, as far as known" if minutes == 1 else "minutes, as far as known"),
    ]
    parts = [each for each in PARTS if each != GUARDED_TITLE or len(listed) < len(material.lessons)]
    links = "".join(f'<a href="#{anchor(part)}">{safe(part)}</a>' for part in parts)
    return (
        f"<header>\n<h1>{safe(title)}</h1>\n"
        f'<p class="note">Space {safe(material.space)}{period} · made on {material.made:%Y-%m-%d %H:%M}</p>\n'
        f'<div class="tiles">{"".join(tiles)}</div>\n<nav>{links}</nav>\n</header>'
    )

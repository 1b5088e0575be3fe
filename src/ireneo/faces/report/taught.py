"""The lessons, by project, each with the passages that show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ireneo.faces.cli.output import counted
from ireneo.faces.report.markup import bar, code_marked, safe, section, tag

if TYPE_CHECKING:
    from ireneo.types import Cited, Lesson

LESSONS_TITLE = "Lessons"
A_MINUTE = 60
ANYWHERE = "In several projects, or in none"


def taught(lessons: Sequence[Lesson]) -> str:
    """The lessons of each project, the project with most of them first, the surest first."""
    by_project: dict[str, list[Lesson]] = {}
    for lesson in lessons:
        by_project.setdefault(lesson.project, []).append(lesson)
    order = sorted(by_project, key=lambda name: (not name, -len(by_project[name]), name))
    parts = [_of_project(project, by_project[project]) for project in order]
    note = "Open one to see the passages that it is drawn from. The bar tells how likely it holds the next time."
    return section(LESSONS_TITLE, "\n".join(parts) or "<p>None yet.</p>", note if lessons else "")


def _of_project(project: str, lessons: Sequence[Lesson]) -> str:
    sure = "".join(_lesson(each) for each in lessons if each.confidence != "low")
    low = [_lesson(each) for each in lessons if each.confidence == "low"]
    if low and sure:
        told = f"{counted(len(low), 'lesson')} of low confidence"
        rest = f'<details class="more"><summary>{told}</summary>\n{"".join(low)}</details>'
    else:
        rest = "".join(low)
    return f"<h3>{safe(project) or ANYWHERE}</h3>\n<div class='list'>{sure}{rest}</div>"


def _lesson(lesson: Lesson) -> str:
    runs = counted(lesson.seen, "run")
    conditions = ", ".join(f"{name} {value}" for name, value in sorted(lesson.conditions.items()))
    cost = f"cost {lesson.tokens:,} tokens so far" if lesson.tokens else ""
    minutes = f"and {lesson.seconds / A_MINUTE:,.0f} minutes" if cost and lesson.seconds >= A_MINUTE else ""
    seen = f"last seen on {lesson.last_seen:%Y-%m-%d}" if lesson.last_seen else ""
    notes = [lesson.task_type, seen, conditions, f"{cost} {minutes}".strip()]
    told = " · ".join(safe(note) for note in [*notes, lesson.id] if note)
    sure = f"{lesson.confidence} confidence, {lesson.chance:.0%}"
    return (
        f'<details class="lesson"><summary>{tag(lesson.category)}<span class="text">{code_marked(lesson.lesson)}</span>'
        f'<span class="sure {lesson.confidence}" title="{sure}">{bar(lesson.chance, sure)}'
        f"{lesson.confidence} · {runs}</span></summary>\n"
        f'<div class="inside"><p class="note">{told}</p>\n{_quoted(lesson.sources)}</div></details>\n'
    )


def _quoted(sources: Sequence[Cited]) -> str:
    """The passages, those of one run together; what stands there word for word twice is shown once."""
    by_session: dict[str, dict[str, str]] = {}
    for cited in sources:
        by_session.setdefault(cited.session, {}).setdefault(cited.quote, cited.message)
    parts = []
    for session, its in by_session.items():
        lines = "\n".join(f'<li title="{safe(message)}">{safe(quote)}</li>' for quote, message in its.items())
        parts.append(f"<figure><figcaption>{safe(session)}</figcaption><ol>{lines}</ol></figure>")
    return "\n".join(parts)

"""Lessons in a table: what is known of each on one line, and under it the lesson, whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ireneo.faces.cli.screens.columns import MARGIN, NARROWEST
from ireneo.faces.cli.screens.console import console
from ireneo.faces.cli.times import day_of
from ireneo.faces.cli.words import counted, one_line, short

if TYPE_CHECKING:
    from ireneo.types import Lesson

STYLES = {"failure": "color(160)", "procedural": "color(99)", "factual": "color(71)"}
LEVELS = {"high": "bold", "medium": "", "low": "dim"}
INDENT = MARGIN * 3
WIDEST = 110
"""Longer lines are tiring to read."""


def show_lessons(lessons: Sequence[Lesson], *, chosen: bool = False) -> None:
    """The lessons of each project, the surest first; what holds in several projects, or in none, stands last.

    `chosen` tells that there may be others than those that were asked for.
    """
    screen = console()
    if not lessons:
        none = "No lesson is like that" if chosen else "There are no lessons yet"
        shown = "`ireneo lessons` shows all" if chosen else "`ireneo learn LOGS` draws them from runs"
        screen.print(f"  {none}; {shown}.", soft_wrap=True)
        return
    by_project: dict[str, list[Lesson]] = {}
    for lesson in lessons:
        by_project.setdefault(one_line(lesson.project), []).append(lesson)
    screen.print(Text(f"{MARGIN}{'kind':10}  {'sure':6}  {'seen':>8}  {'last':10}  id", style="dim"))
    for project in sorted(by_project, key=lambda name: (not name, name)):
        screen.print()
        screen.print(Text(f"{MARGIN}{project or 'anywhere'}", style="bold"), no_wrap=True, overflow="ellipsis")
        for lesson in by_project[project]:
            _show(screen, lesson)


def _show(screen: Console, lesson: Lesson) -> None:
    known = Text(MARGIN)
    known.append(f"{lesson.category:10}  ", style=STYLES[lesson.category])
    known.append(f"{lesson.confidence:6}  ", style=LEVELS[lesson.confidence])
    known.append(f"{counted(lesson.seen, 'run'):>8}  {day_of(lesson.last_seen):10}  ")
    known.append(short(lesson.id), style="dim")
    known.append("" if lesson.state == "active" else "  counts no longer", style="dim")
    screen.print(known, no_wrap=True, overflow="ellipsis")
    width = max(min(screen.width, WIDEST) - len(INDENT), NARROWEST)
    for line in Text(one_line(lesson.lesson)).wrap(screen, width):
        line.rstrip()
        screen.print(Text(INDENT).append_text(line), no_wrap=True, crop=False, overflow="ignore")
    for said in lesson.against:
        screen.print(Text(f"{INDENT}{one_line(said)}", style="dim"), soft_wrap=True)

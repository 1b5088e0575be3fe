"""`ireneo lessons`: what runs taught, as a table, as JSON, or written into a file that agents read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from msgspec import Struct

import ireneo
from ireneo.errors import BadInput
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.instructions import update_file
from ireneo.faces.cli.options import AsJson, Stored
from ireneo.faces.cli.repeated import said_once
from ireneo.faces.cli.stored import reading
from ireneo.faces.cli.words import counted

if TYPE_CHECKING:
    from ireneo.types import Category, Lesson, Level

CATEGORIES = ("factual", "procedural", "failure")
LEVELS = ("high", "medium", "low")


class Which(Struct, frozen=True, kw_only=True):
    """Which lessons are meant."""

    project: Annotated[
        str | None,
        typer.Option("--project", "-p", metavar="NAME", help="Those of a project, and what holds in several."),
    ] = None
    kind: Annotated[
        str | None, typer.Option("--kind", "-k", metavar="KIND", help="Only factual, procedural or failure.")
    ] = None
    confidence: Annotated[
        str | None, typer.Option("--confidence", "-c", metavar="LEVEL", help="Only high, medium or low.")
    ] = None


Export = Annotated[
    Path | None,
    typer.Option(
        "--export",
        metavar="FILE",
        help="Write them into AGENTS.md, CLAUDE.md or a SKILL.md: a marked block; the rest of the file stays as it is.",
        show_default=False,
    ),
]


def lessons(as_json: AsJson = False, export: Export = None, *, which: Which, stored: Stored) -> None:
    """Show what runs taught.

    By project, kind and confidence, with what it is drawn from.
    """
    category, level = _one_of(which.kind, CATEGORIES, "--kind"), _one_of(which.confidence, LEVELS, "--confidence")

    async def listed(memory: ireneo.Memory) -> list[Lesson]:
        return list(
            await memory.lessons(
                project=which.project,
                category=cast("Category | None", category),
                confidence=cast("Level | None", level),
                disputed=export is None,
            )
        )

    found = reading(stored.db, stored.space, listed)
    if export is not None:
        told = said_once(found)
        did = update_file(export, told)
        sys.stderr.write(f"{did} {export}: {counted(len(told), 'lesson')}.\n")
    if as_json:
        write_json([lesson_answer(each) for each in found])
    elif export is None:
        from ireneo.faces.cli.screens.lessons import show_lessons

        show_lessons(said_once(found), chosen=any((which.project, which.kind, which.confidence)))


def lesson_answer(lesson: Lesson) -> dict[str, object]:
    """A lesson as JSON."""
    return {
        "id": lesson.id,
        "project": lesson.project,
        "task_type": lesson.task_type,
        "lesson": lesson.lesson,
        "category": lesson.category,
        "confidence": lesson.confidence,
        "conditions": lesson.conditions,
        "seen": lesson.seen,
        "last_seen": lesson.last_seen,
        "sources": [{"session": each.session, "message": each.message, "quote": each.quote} for each in lesson.sources],
        "state": lesson.state,
        "against": list(lesson.against),
    }


def _one_of(given: str | None, known: tuple[str, ...], option: str) -> str | None:
    if given is not None and given not in known:
        raise BadInput(f"{option} is {given!r}, which is none; give one of {', '.join(known)}.")
    return given

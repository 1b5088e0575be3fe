"""`ireneo lessons`, `check` and `report`: what runs taught, asked, shown and written into a file that agents read."""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import msgspec
import typer
from msgspec import Struct

from ireneo.errors import BadInput
from ireneo.faces.cli.options import STDIN, AsJson, Stored, reading, session_named
from ireneo.faces.cli.output import counted, one_line, write_json
from ireneo.patterns import lazy_re

if TYPE_CHECKING:
    from ireneo.types import Category, ConfidenceLevel, Lesson

_VERBATIM = lazy_re(r"“[^“”]{0,1000}+”|`[^`]*`")
_UNREAD = " of a file that was not read before"
_WHEN = "When "


def said_once(lessons: Sequence[Lesson]) -> list[Lesson]:
    """`lessons` in their order, without those whose words another one has already.

    A way out of a failure is left out where the failure tells of it; a failure of a file that was not read, where
    another lesson says the same of any file.
    """
    failures = [each.lesson for each in lessons if each.category == "failure"]
    said = {each.lesson for each in lessons}
    return [
        each
        for each in lessons
        if not (_UNREAD in each.lesson and each.lesson.replace(_UNREAD, "") in said)
        and not (each.category == "procedural" and _told_by(each.lesson, failures))
    ]


def _told_by(way: str, failures: Sequence[str]) -> bool:
    """Whether one of `failures` ends in what `way`, "When … fails, …", says to do about it."""
    at = _VERBATIM.sub(lambda found: "x" * len(found[0]), way).find(", ")
    if not way.startswith(_WHEN) or at < 0:
        return False
    fails, rest = way[len(_WHEN) : at], way[at + 2 :].rstrip(".")
    return any(each.startswith(fails) and f": {rest}" in each for each in failures)


BEGINS = "<!-- ireneo: lessons begin; what stands between these marks is rewritten by `ireneo lessons --export` -->"
ENDS = "<!-- ireneo: lessons end -->"
_BLOCK = lazy_re(
    r"<!-- ireneo: lessons begin\b[^\n]{0,400}-->(?:(?!<!-- ireneo: lessons begin\b).)*?<!-- ireneo: lessons end -->",
    re.S,
)
_MARK = lazy_re(r"<!-- ireneo: lessons (?:begin\b[^\n]{0,400}|end )-->")
HEADINGS = {"failure": "Don't repeat", "procedural": "How it is done", "factual": "What is so"}
"""The parts of the block, in this order."""
_SKILL = """---
name: lessons-from-runs
description: What earlier runs taught, with what failed and what to do instead. Read it before you begin a task.
---

"""


def update_file(path: Path, lessons: Sequence[Lesson]) -> str:
    """Put `lessons` into the marked block of `path`, which is made where there is none; says what was done.

    The rest of the file stays byte for byte. Raises BadInput where the file can't be read or its marks are damaged,
    with nothing written.
    """
    before = _read(path)
    newline = "\r\n" if before is not None and "\r\n" in before else "\n"
    block = block_of(lessons).replace("\n", newline)
    if before is None:
        after = (_SKILL if path.name == "SKILL.md" else "") + block + "\n"
    else:
        after = with_block(before, block, newline, path)
    if after == before:
        return "Nothing new for"
    _write(path, after)
    return "Made" if before is None else "Updated"


def block_of(lessons: Sequence[Lesson]) -> str:
    """The marked block."""
    order = list(HEADINGS)
    lines = [BEGINS, "## Lessons from earlier runs", ""]
    ranked = sorted(lessons, key=lambda each: order.index(each.category))
    for category, part in groupby(ranked, key=lambda each: each.category):
        lines += [f"### {HEADINGS[category]}", *(_line(each) for each in part), ""]
    if not lessons:
        lines += ["None yet.", ""]
    return "\n".join([*lines[:-1], ENDS])


def with_block(text: str, block: str, newline: str, path: Path) -> str:
    """`text` with `block` in the place of the one that it has, or behind its end."""
    marks = len(_MARK.findall(text))
    if marks == 0:
        gap = "" if not text else newline if text.endswith(newline) else newline * 2
        return f"{text}{gap}{block}{newline}"
    found = list(_BLOCK.finditer(text))
    if len(found) != 1 or marks != 2:
        raise BadInput(
            f"{path} has {marks} marks of a block of lessons where two belong, a beginning and an end; "
            "mend or remove them, and export again."
        )
    return text[: found[0].start()] + block + text[found[0].end() :]


def _line(lesson: Lesson) -> str:
    said = _harmless(lesson.lesson)
    seen = f"seen in {lesson.seen} runs" if lesson.seen > 1 else "seen in one run"
    about = f"{_harmless(lesson.project)}; " if lesson.project else ""
    last = f", last {lesson.last_seen:%Y-%m-%d}" if lesson.last_seen else ""
    return f"- {said} ({about}{seen}{last}; {lesson.confidence})"


def _harmless(text: str) -> str:
    """`text` in one line: what a log held, a project's name included, must not close the block, or open another."""
    return one_line(text).replace("<!--", "‹!--").replace("-->", "--›")


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not in UTF-8; it was left as it is.") from None
    except OSError as fault:
        raise BadInput(f"{path} can't be read: {fault.strerror}.") from fault


def _write(path: Path, text: str) -> None:
    """Put the whole file in its place at once, with the rights that it had: nobody ever sees half of it."""
    target = path.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as fault:
        raise BadInput(f"{path} can't be written: {fault.strerror}.") from fault
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
        Path(name).chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


CATEGORIES = ("factual", "procedural", "failure")
LEVELS = ("high", "medium", "low")


class LessonFilter(Struct, frozen=True, kw_only=True):
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


def lessons(as_json: AsJson = False, export: Export = None, *, which: LessonFilter, stored: Stored) -> None:
    """Show what runs taught.

    By project, kind and confidence, with what it is drawn from.
    """
    category, level = _one_of(which.kind, CATEGORIES, "--kind"), _one_of(which.confidence, LEVELS, "--confidence")
    with reading(stored.db, stored.space) as memory:
        found = memory.lessons(
            project=which.project,
            category=cast("Category | None", category),
            confidence=cast("ConfidenceLevel | None", level),
            disputed=export is None,
        )
    if export is not None:
        told = said_once(found)
        did = update_file(export, told)
        sys.stderr.write(f"{did} {export}: {counted(len(told), 'lesson')}.\n")
    if as_json:
        write_json([lesson_answer(each) for each in found])
    elif export is None:
        from ireneo.faces.cli.screens.lists import show_lessons

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


QUIET = "Nothing speaks against it."

Tool = Annotated[str, typer.Argument(metavar="TOOL", help="The tool that is to be called.", show_default=False)]
Arguments = Annotated[
    str,
    typer.Argument(metavar="ARGUMENTS", help="Its arguments as JSON, or a command for a shell.", show_default=False),
]


class CallPlace(Struct, frozen=True, kw_only=True):
    """Where the call is to be made."""

    session: Annotated[
        str | None,
        typer.Option(
            "--session", "-s", metavar="ID", help="The session as it stands now.", show_default="past runs only"
        ),
    ] = None
    project: Annotated[
        str,
        typer.Option(
            "--project", "-p", metavar="NAME", help="The project, or its directory.", show_default="this directory's"
        ),
    ] = ""
    hook: Annotated[
        bool, typer.Option("--hook", help="Answer Claude Code's PreToolUse hook: JSON on standard input.")
    ] = False


def check(
    tool: Tool = "", arguments: Arguments = "", as_json: AsJson = False, *, about: CallPlace, stored: Stored
) -> None:
    """Say whether a call is likely to fail, before it is made.

    From what failed in past runs and in the session so far. It is advice, and quiet when it is unsure.
    """
    if about.hook:
        from ireneo.faces.cli.hook import answer

        sys.stdout.write(answer(sys.stdin.buffer.read(), stored.db, stored.space))
        return
    if not tool:
        raise BadInput("Name the tool that is to be called: `ireneo check Bash 'make test'`.")
    given = read_arguments(arguments)
    with reading(stored.db, stored.space) as memory:
        session = session_named(memory, about.session).id if about.session else None
        found = memory.check(tool, given, session=session, project=about.project or str(Path.cwd()))
        if found is None and not as_json and not memory.runs():
            sys.stderr.write("warning: No run was learned from yet; `ireneo learn` takes them in.\n")
    if as_json:
        write_json(found)
    else:
        sys.stdout.write(f"{found.markdown if found else QUIET}\n")


def read_arguments(text: str) -> dict[str, object]:
    """The arguments that are meant: JSON, or else a command."""
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError) as fault:
        if text.lstrip().startswith('{"'):
            # A shell's group of commands begins with a brace as well, but not with a name in quotes.
            raise BadInput(f"The arguments begin like JSON, and are none: {fault}.") from fault
        return {"command": text} if text else {}


Out = Annotated[
    Path, typer.Option("--out", "-o", metavar="FILE", help="The file that is written; - for standard output.")
]


def report(out: Out = Path("report.html"), as_json: AsJson = False, *, stored: Stored) -> None:
    """Draw what runs taught as one HTML page.

    The runs, what is kept of them, the lessons with their evidence, and the dead ends that came back. The page needs
    no network.
    """
    if as_json and str(out) == STDIN:
        raise BadInput("With --json the page needs a file of its own; name one with --out.")
    from ireneo.faces.report.page import ReportMaterial, page

    with reading(stored.db, stored.space) as memory:
        material = ReportMaterial(
            space=memory.space,
            made=datetime.now().astimezone(),
            # A session without a call, a story for one, is no run: nothing was tried in it.
            runs=[run for run in memory.runs() if run.calls],
            lessons=memory.lessons(),
            claims=memory.claims(least_runs=2),
            calibration=memory.calibration(),
        )
    text, runs = page(material), len(material.runs)
    if str(out) == STDIN:
        sys.stdout.write(text)
        return
    try:
        out.write_text(text, "utf-8")
    except OSError as fault:
        raise BadInput(f"{out} can't be written: {fault.strerror}.") from fault
    if as_json:
        write_json({"path": str(out), "runs": runs})
        return
    if not runs:
        sys.stdout.write(f"{out}: no run yet; `ireneo learn` takes them in.\n")
        return
    sys.stdout.write(f"{out}: {counted(runs, 'run')}; open it in a browser.\n")

"""What Claude Code's hooks are answered: before a call the trap that it steps into, at a session's start the brief.

It never stops a call and never fails: what goes wrong is a line on standard error. Where there is nothing to say,
nothing is said. The session so far is read from the end of the transcript, since it is hardly ever stored while it goes
on.
"""

from __future__ import annotations

import json
import os
import sys

from ireneo.errors import IreneoError
from ireneo.faces.cli.place import Database, database, is_there, place_of
from ireneo.guard import check_call, has_lessons

BEFORE, START = "PreToolUse", "SessionStart"
MOST_LINES = 15
"""Lessons that a session begins with."""
BUDGET = 900
"""Tokens of its brief."""


def answer(given: bytes, db: str | None, space: str) -> str:
    """What is written to standard output: context for the model, or nothing."""
    try:
        asked = json.loads(given)
    except (ValueError, RecursionError) as fault:
        return _told(f"standard input holds no event as Claude Code's hooks tell it: {fault}.")
    try:
        return _answered(asked if isinstance(asked, dict) else {}, db, space)
    except (IreneoError, OSError, RuntimeError, RecursionError, UnicodeError) as fault:
        # A home that nobody has is no fault of the call either.
        return _told(f"{fault} Nothing was looked up.")


def _answered(asked: dict[str, object], db: str | None, space: str) -> str:
    event = asked.get("hook_event_name", BEFORE)
    tool = asked.get("tool_name")
    if event != START and not isinstance(tool, str):
        return _told("standard input holds no call as Claude Code's hooks tell it.")
    # Which database was found, or passed over, is said once a session.
    path = database(db) if event == START else place_of(db).path
    if not is_there(path):
        # Who has learned nothing yet is to hear nothing; who named a database wrongly is.
        return "" if db is None else _told(f"There is no database {path}; nothing was looked up.")
    folder = _text(asked, "cwd")
    if event == START:
        said = _opening(path, space, folder)
        return _context(START, said) if said else ""
    given = asked.get("tool_input")
    found = check_call(
        path,
        space,
        str(tool),
        given if isinstance(given, dict) else {},
        session=_text(asked, "session_id"),
        folder=folder,
        transcript=os.path.expanduser(_text(asked, "transcript_path")),
    )
    if found is None:
        return ""
    return _context(BEFORE, f"Ireneo, from earlier runs:\n{found.markdown}", f"ireneo: {found.text.splitlines()[0]}")


def _opening(path: Database, space: str, folder: str) -> str:
    """The brief for who begins to work in `folder`; empty where there is none."""
    if not has_lessons(path, space, folder):
        return ""
    # Only who has something to say pays for all this.
    from ireneo import sync

    with sync.open(path, space=space) as memory:
        return within(memory.brief(project=folder, budget=BUDGET).markdown)


def within(brief: str) -> str:
    """A brief with as many lessons as a session begins with, those of most use, which stand first."""
    told = 0
    lines: list[str] = []
    for line in brief.splitlines():
        told += line.startswith("- ")
        if told <= MOST_LINES or not line.startswith("- "):
            lines.append(line)
    return "\n".join(lines)


def _context(event: str, said: str, shown: str = "") -> str:
    told: dict[str, object] = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": said}}
    if shown:
        told = {"systemMessage": shown, **told}
    return json.dumps(told, ensure_ascii=False) + "\n"


def _text(asked: dict[str, object], name: str) -> str:
    value = asked.get(name)
    return value if isinstance(value, str) else ""


def _told(sentence: str) -> str:
    sys.stderr.write(f"ireneo: {sentence}\n")
    return ""

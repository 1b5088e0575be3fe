"""The entry point of the `ireneo` command, and the answers to Claude Code's hooks.

Claude Code starts a process for each of its calls and waits for it. The command line takes longer to load than a hook
takes to answer, so a hook is answered here without loading it. A hook never stops a call and never fails: faults become
a line on standard error, and with nothing to say the output is empty. The session so far is read from the end of
the transcript, since it is hardly ever stored while it goes on.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from typing import NoReturn

from ireneo.errors import IreneoError
from ireneo.faces.cli.place import DEFAULT_SPACE, database, exists, place_of

_OPTIONS = ("--db", "--space")
_BEFORE_CALL, _SESSION_START = "PreToolUse", "SessionStart"
_BRIEF_LESSONS, _BRIEF_TOKENS = 15, 900
"""The most lessons and tokens of a brief at the start of a session."""
SELDOM = (50_000, 20, 100)
"""How seldom garbage is collected: a command keeps all it loads, and Python's default takes up to an eighth of its
time."""


def run() -> NoReturn:
    """Run the command that the arguments name, and exit."""
    gc.set_threshold(*SELDOM)
    options = hook_options(sys.argv[1:])
    if options is None:
        from ireneo.faces.cli.main import run as run_command

        run_command()
    db, space = options
    sys.stdout.write(answer_hook(sys.stdin.buffer.read(), db, space))
    sys.exit(0)


def hook_options(arguments: list[str]) -> tuple[str | None, str] | None:
    """Return the database and space given to `hook` or `check --hook`; None if the command line must parse them."""
    if arguments[:1] == ["hook"]:
        options = arguments[1:]
    elif arguments[:1] == ["check"] and "--hook" in arguments:
        options = [each for each in arguments[1:] if each != "--hook"]
    else:
        return None
    found: dict[str, str] = {}
    rest = iter(options)
    for each in rest:
        name, equals, value = each.partition("=")
        value = value if equals else next(rest, "")
        if name not in _OPTIONS or not value or (not equals and value.startswith("-")):
            return None
        found[name] = value
    return found.get("--db"), found.get("--space", DEFAULT_SPACE)


def answer_hook(given: bytes, db: str | None, space: str) -> str:
    """Return a hook's standard output: context for the model as JSON, or nothing."""
    try:
        event = json.loads(given)
    except (ValueError, RecursionError) as fault:
        return _warn(f"standard input is not an event of a Claude Code hook: {fault}.")
    try:
        return _answer(event if isinstance(event, dict) else {}, db, space)
    except (IreneoError, OSError, RuntimeError, RecursionError, UnicodeError) as fault:
        return _warn(f"{fault} Nothing was looked up.")


def _answer(event: dict[str, object], db: str | None, space: str) -> str:
    name = event.get("hook_event_name", _BEFORE_CALL)
    tool = event.get("tool_name")
    if name != _SESSION_START and not isinstance(tool, str):
        return _warn("standard input is not a call of a Claude Code hook.")
    # The notice on which database was found or ignored is written once a session.
    path = database(db) if name == _SESSION_START else place_of(db).path
    if not exists(path):
        # Warn only if the missing database was named: otherwise nothing was learned yet.
        return "" if db is None else _warn(f"There is no database {path}; nothing was looked up.")
    # Imported late: all other commands need only the first function of this module.
    from ireneo.guard import brief, check_call

    folder = _text(event, "cwd")
    if name == _SESSION_START:
        told = shortened(brief(path, space, folder, _BRIEF_TOKENS))
        return _context(_SESSION_START, told) if told else ""
    arguments = event.get("tool_input")
    found = check_call(
        path,
        space,
        str(tool),
        arguments if isinstance(arguments, dict) else {},
        session=_text(event, "session_id"),
        folder=folder,
        transcript=os.path.expanduser(_text(event, "transcript_path")),
    )
    if found is None:
        return ""
    context = f"Ireneo, from earlier runs:\n{found.markdown}"
    return _context(_BEFORE_CALL, context, f"ireneo: {found.text.splitlines()[0]}")


def shortened(whole: str) -> str:
    """Return a brief with its first 15 lessons, which are the most useful ones."""
    lessons = 0
    lines: list[str] = []
    for line in whole.splitlines():
        lessons += line.startswith("- ")
        if lessons <= _BRIEF_LESSONS or not line.startswith("- "):
            lines.append(line)
    return "\n".join(lines)


def _context(event: str, context: str, message: str = "") -> str:
    answer: dict[str, object] = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
    if message:
        answer = {"systemMessage": message, **answer}
    return json.dumps(answer, ensure_ascii=False) + "\n"


def _text(event: dict[str, object], name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""


def _warn(sentence: str) -> str:
    said = sentence.replace("`doctor`", "`ireneo doctor`")
    sys.stderr.write(f"ireneo: {said}\n")
    return ""

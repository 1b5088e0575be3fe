"""Where the command begins: a hook is answered at once, and all else goes to the command line.

Claude Code starts a process for each of its calls and waits for it. The command line would take longer to load than the
answer does to find, so it is left out where nothing of it is needed.
"""

from __future__ import annotations

import sys
from typing import NoReturn

_OPTIONS = ("--db", "--space")
_SPACE = "default"


def run() -> NoReturn:
    """Run the command that the arguments name, and end the process."""
    asked = hook_asked(sys.argv[1:])
    if asked is None:
        from ireneo.faces.cli.main import run as run_command

        run_command()
    from ireneo.faces.cli.hook import answer

    db, space = asked
    sys.stdout.write(answer(sys.stdin.buffer.read(), db, space))
    sys.exit(0)


def hook_asked(arguments: list[str]) -> tuple[str | None, str] | None:
    """The database and the space of `hook` or `check --hook`, plainly written; None for what the command line reads."""
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
    return found.get("--db"), found.get("--space", _SPACE)

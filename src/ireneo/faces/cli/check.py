"""`ireneo check`: whether a call is likely to fail, asked by hand or by Claude Code before each call."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from msgspec import Struct

import ireneo
from ireneo.errors import BadInput
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import AsJson, Stored
from ireneo.faces.cli.stored import reading, session_named

if TYPE_CHECKING:
    from ireneo.types import Caution

QUIET = "Nothing speaks against it."

Tool = Annotated[str, typer.Argument(metavar="TOOL", help="The tool that is to be called.", show_default=False)]
Arguments = Annotated[
    str,
    typer.Argument(metavar="ARGUMENTS", help="Its arguments as JSON, or a command for a shell.", show_default=False),
]


class About(Struct, frozen=True, kw_only=True):
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


def check(tool: Tool = "", arguments: Arguments = "", as_json: AsJson = False, *, about: About, stored: Stored) -> None:
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

    async def asked(memory: ireneo.Memory) -> Caution | None:
        session = (await session_named(memory, about.session)).id if about.session else None
        found = await memory.check(tool, given, session=session, project=about.project or str(Path.cwd()))
        if found is None and not as_json and not await memory.runs():
            sys.stderr.write("warning: No run was learned from yet; `ireneo learn` takes them in.\n")
        return found

    found = reading(stored.db, stored.space, asked)
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

"""`ireneo expand`: the raw messages behind what a context shows only in short."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

import ireneo
from ireneo.errors import NotFound
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.files import LogFile
from ireneo.faces.cli.logs import log_format_of, session_in
from ireneo.faces.cli.options import AUTO, DEFAULT_SPACE, AsJson, Db, Space
from ireneo.faces.cli.stored import reading, session_named

Id = Annotated[str, typer.Argument(metavar="ID", help="What a context shows: s_… for a block, m_… for a message.")]
Of = Annotated[
    str | None, typer.Option("--session", "-s", metavar="ID", help="The session to look in. [default: all of the space]")
]
File = Annotated[
    str | None, typer.Option("--file", metavar="FILE", help="The log that the context was cut from, if it was a file.")
]
SMALLEST = 256
"""A budget for which all that can be summarised is."""


def expand(
    id: Id,
    session: Of = None,
    file: File = None,
    as_json: AsJson = False,
    db: Db = None,
    space: Space = DEFAULT_SPACE,
) -> None:
    """Open a block or a masked output of a context: the raw messages that stand behind it."""
    if file is None:
        name, opened = reading(db, space, lambda memory: _in_space(memory, id, session))
    else:
        name, opened = asyncio.run(_in_file(file, id, session))
    if as_json:
        write_json({"id": id, "session": name, "summary": opened.summary, "messages": opened.messages})
    else:
        # Only someone who reads pays for the drawing.
        from ireneo.faces.cli.screens.console import console
        from ireneo.faces.cli.screens.opened import show_opened

        show_opened(console(), opened, name)


async def _in_space(memory: ireneo.Memory, id: str, session: str | None) -> tuple[str, ireneo.Expanded]:
    if session is not None:
        named = await session_named(memory, session)
        return named.id, await named.expand(id)
    for info in await memory.sessions():
        one = await memory.session(info.key.session)
        try:
            return one.id, await one.expand(id)
        except NotFound:
            continue
    raise NotFound(f"There is no block or message {id} in space {memory.space}; a context shows the ids that there are.")


async def _in_file(given: str, id: str, session: str | None) -> tuple[str, ireneo.Expanded]:
    """Take the log into a memory that dies with us: the same messages make the same blocks, under the same ids."""

"""`ireneo expand`: the raw messages behind what a context shows only in short."""

from __future__ import annotations

from typing import Annotated

import typer

import ireneo
from ireneo.errors import NotFound
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.completed import memories_begun, sessions_begun
from ireneo.faces.cli.files import LogFile
from ireneo.faces.cli.logs import log_format_of
from ireneo.faces.cli.options import AUTO, DEFAULT_SPACE, AsJson, Db, FormatOfFile, Space
from ireneo.faces.cli.stored import reading, session_named

Id = Annotated[str, typer.Argument(metavar="ID", help="…")]
Of = Annotated[
    str | None,
    typer.Option(
        "--session",
        "-s",
        metavar="ID",
        help="The session to look in.",
        show_default="all of the space",
        autocompletion=sessions_begun,
    ),
]
File = Annotated[
    str | None, typer.Option("--file", metavar="FILE", help="The log that the context was cut from, if it was a file.")
]
SMALLEST = 256
"""A budget for which all that can be summarised is."""
AtBudget = Annotated[
    int,
    typer.Option(
        "--budget",
        "-b",
        metavar="TOKENS",
        help="With --file: what the context was cut to, which the block next to the live messages depends on.",
        show_default=False,
    ),
]


def expand(
    id: Id,
    session: Of = None,
    file: File = None,
    budget: AtBudget = SMALLEST,
    format: FormatOfFile = AUTO,
    as_json: AsJson = False,
    db: Db = None,
    space: Space = DEFAULT_SPACE,
) -> None:
    """Open a block or a masked output.

    Shows the raw messages that stand behind what a context shows in short.
    """
    if file is None:
        name, opened = reading(db, space, lambda memory: _in_space(memory, id, session))
    else:
        import asyncio

        name, opened = asyncio.run(_in_file(file, id, session, budget, format))
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
    raise NotFound(
        f"There is no block or message {id} in space {memory.space}; a context shows the ids that there are."
    )


async def _in_file(given: str, id: str, session: str | None, budget: int, format: str) -> tuple[str, ireneo.Expanded]:
    """Look in a memory that dies with us: the same messages make the same blocks, under the same ids."""
    async with ireneo.open(":memory:") as memory:
        with LogFile(given) as file:
            log = log_format_of(file, format)
            names = [done.session async for done in memory.import_log(file.lines(), log, name=file.stem)]
        for name in names:
            if session is not None and not name.startswith(session):
                continue
            for preset in ("coding", "forge", "story"):
                one = await memory.session(name)
                if id.startswith("s_"):
                    async for _ in one.catch_up(preset=preset):
                        pass
                    await one.context(budget, preset=preset)
                try:
                    return name, await one.expand(id)
                except NotFound:
                    continue
    raise NotFound(
        f"There is no block or message {id} in {given}; name the --budget of the context that showed it, "
        "since a block next to the live messages depends on it."
    )

"""`ireneo expand`: what stands behind an id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import ireneo
from ireneo.errors import NotFound
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.completed import memories_begun, sessions_begun
from ireneo.faces.cli.files import LogFile
from ireneo.faces.cli.logs import log_format_of
from ireneo.faces.cli.options import AUTO, DEFAULT_SPACE, AsJson, Db, FormatOfFile, Space
from ireneo.faces.cli.stored import reading, session_named

if TYPE_CHECKING:
    from ireneo.types import Opened

Id = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="s_… for a block, m_… for a message or a memory, p_… for a pin; or a session.",
        autocompletion=memories_begun,
    ),
]
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
    """Open what an id names.

    A block to its raw messages, a message, a memory with its evidence and where that comes from, a pin, a session to
    its diary. The beginning of an id will do where no other begins so.
    """
    if file is None:
        opened = reading(db, space, lambda memory: _in_space(memory, id, session))
    else:
        import asyncio

        opened = asyncio.run(_in_file(file, id, session, budget, format))
    if as_json:
        write_json(_answer(id, opened))
    else:
        # Only someone who reads pays for the drawing.
        from ireneo.faces.cli.screens.console import console
        from ireneo.faces.cli.screens.opened import show

        show(console(), opened)


def _answer(id: str, opened: Opened) -> dict[str, object]:
    behind = opened.expanded
    return {
        "id": id,
        "session": opened.session or None,
        "summary": behind.summary if behind else None,
        "messages": behind.messages if behind else (),
        "memory": opened.memory,
        "note": opened.note,
        "diary": opened.diary.entries if opened.diary else None,
    }


async def _in_space(memory: ireneo.Memory, id: str, session: str | None) -> Opened:
    return await memory.open_id(id, session=(await session_named(memory, session)).id if session else "")


async def _in_file(given: str, id: str, session: str | None, budget: int, format: str) -> Opened:
    """Look in a memory that dies with us: the same messages make the same blocks, under the same ids."""
    # Only who opens a file pays for the name.
    from ireneo.types import Opened

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
                    return Opened(session=name, expanded=await one.expand(id))
                except NotFound:
                    continue
    raise NotFound(
        f"There is no block or message {id} in {given}; name the --budget of the context that showed it, "
        "since a block next to the live messages depends on it."
    )

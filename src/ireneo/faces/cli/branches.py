"""`ireneo rewind` and `ireneo fork`: go back in a session, and go on in another way."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import ireneo
from ireneo.faces.cli.options import DEFAULT_SPACE, Db, SessionName, Space
from ireneo.faces.cli.stored import reading, session_named, title_of

Place = Annotated[
    str, typer.Argument(metavar="TO", help="A message's id, the beginning of it, the id that its log gave it, or root.")
]
At = Annotated[
    str | None,
    typer.Option("--at", metavar="ID", help="Where the branch begins.", show_default="where the session stands"),
]


def rewind(session: SessionName, to: Place, db: Db = None, space: Space = DEFAULT_SPACE) -> None:
    """Go back to a message of a session.

    What came after it stays in the log, and out of every context.
    """

    async def work(memory: ireneo.Memory) -> str:
        stands = await session_named(memory, session)
        await stands.rewind(to)
        return await _where(stands)

    sys.stdout.write(f"  {reading(db, space, work)}\n")


def fork(
    session: SessionName,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the new branch is called.")],
    at: At = None,
    db: Db = None,
    space: Space = DEFAULT_SPACE,
) -> None:
    """Make a branch that begins at a message.

    Look at it as SESSION@NAME.
    """

    async def work(memory: ireneo.Memory) -> str:
        stands = await session_named(memory, session)
        return await _where(await stands.fork(name, at=at))

    sys.stdout.write(f"  {reading(db, space, work)}\n")


async def _where(session: ireneo.Session) -> str:
    """Where a branch stands, in words."""
    heads = await session.branches()
    head = heads[session.branch]
    if head is None:
        return f"{title_of(session)} stands before its first message."
    place = f"message {head.position + 1:,}, in turn {head.turn}"
    return f"{title_of(session)} stands at {head.id[:9]} ({place}; {head.total_tokens:,} tokens)."

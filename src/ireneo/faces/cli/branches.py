"""`ireneo rewind` and `ireneo fork`: go back in a session, and go on in another way."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from msgspec import Struct

import ireneo
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import DEFAULT_SPACE, AsJson, Db, SessionName, Space
from ireneo.faces.cli.stored import reading, session_named, title_of

Place = Annotated[
    str, typer.Argument(metavar="TO", help="A message's id, the beginning of it, the id that its log gave it, or root.")
]
At = Annotated[
    str | None,
    typer.Option("--at", metavar="ID", help="Where the branch begins.", show_default="where the session stands"),
]


class Stand(Struct, frozen=True, kw_only=True):
    """Where a branch stands."""

    session: str
    branch: str
    message: str | None
    """None: before the first one."""
    position: int | None
    turn: int
    tokens: int


def rewind(
    session: SessionName, to: Place, as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE
) -> None:
    """Go back to a message of a session.

    What came after it stays in the log, and out of every context.
    """

    async def work(memory: ireneo.Memory) -> tuple[str, Stand]:
        stands = await session_named(memory, session)
        await stands.rewind(to)
        return await _where(stands)

    _tell(*reading(db, space, work), as_json=as_json)


def fork(
    session: SessionName,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the new branch is called.")],
    at: At = None,
    as_json: AsJson = False,
    db: Db = None,
    space: Space = DEFAULT_SPACE,
) -> None:
    """Make a branch that begins at a message.

    Look at it as SESSION@NAME.
    """

    async def work(memory: ireneo.Memory) -> tuple[str, Stand]:
        stands = await session_named(memory, session)
        return await _where(await stands.fork(name, at=at))

    _tell(*reading(db, space, work), as_json=as_json)


async def _where(session: ireneo.Session) -> tuple[str, Stand]:
    """What a screen calls the branch, and where it stands."""
    head = (await session.branches())[session.branch]
    stand = Stand(
        session=session.id,
        branch=session.branch,
        message=head.id if head else None,
        position=head.position if head else None,
        turn=head.turn if head else 0,
        tokens=head.total_tokens if head else 0,
    )
    return title_of(session), stand


def _tell(title: str, stand: Stand, *, as_json: bool) -> None:
    if as_json:
        write_json(stand)
    elif stand.message is None or stand.position is None:
        sys.stdout.write(f"  {title} stands before its first message.\n")
    else:
        place = f"message {stand.position + 1:,}, in turn {stand.turn}"
        sys.stdout.write(f"  {title} stands at {stand.message[:9]} ({place}; {stand.tokens:,} tokens).\n")

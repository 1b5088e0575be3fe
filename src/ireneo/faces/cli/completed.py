"""Ids that a shell completes: each function is asked whenever someone presses the key for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

import typer

import ireneo
from ireneo.errors import IreneoError
from ireneo.faces.cli.place import is_there, place_of
from ireneo.faces.cli.words import counted, one_line

SHOWN = 60
"""Characters of a text beside the id that is completed."""
Known = Sequence[tuple[str, str]]
"""Ids, each with what a shell says of it."""


def sessions_begun(ctx: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """The sessions whose ids begin so."""

    async def asked(memory: ireneo.Memory) -> Known:
        return [
            (each.key.session, f"{counted(each.messages, 'message')}, {each.source or 'appended'}")
            for each in await memory.sessions()
        ]

    return _begun(ctx, incomplete, asked)


def memories_begun(ctx: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """The memories whose ids begin so, as many as a look into an index gives."""

    async def asked(memory: ireneo.Memory) -> Known:
        return [(each.id, one_line(each.text)[:SHOWN]) for each in await memory.get([incomplete or "m_"])]

    return _begun(ctx, incomplete, asked)


def _begun(
    ctx: typer.Context, incomplete: str, asked: Callable[[ireneo.Memory], Awaitable[Known]]
) -> Iterator[tuple[str, str]]:
    # Only someone who presses the key pays for it.
    import asyncio

    from ireneo.faces.cli.options import DEFAULT_SPACE

    async def opened() -> Known:
        async with ireneo.open(path, space=ctx.params.get("space") or DEFAULT_SPACE) as memory:
            return await asked(memory)

    try:
        path = place_of(Path(given) if (given := ctx.params.get("db")) else None).path
        known = asyncio.run(opened()) if is_there(path) else ()
    except IreneoError:
        # Whoever presses a key is not told of a fault: the command itself says it.
        known = ()
    yield from ((id, told) for id, told in known if id.startswith(incomplete))

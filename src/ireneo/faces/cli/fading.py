"""`ireneo fading` and `restore`: what would be put away next, and taking back what was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import ireneo
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import DEFAULT_SPACE, AsJson, Db, Space
from ireneo.faces.cli.stored import reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ireneo.types import Fading

Limit = Annotated[int, typer.Option("--limit", "-n", metavar="N", help="At most so many.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID…", help="The memories, by their ids or the beginning of them.")]


def fading(limit: Limit = 20, as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE) -> None:
    """Show what would be put away next, and why.

    Nothing is put away before a space is full; pinned memories never are.
    """

    async def work(memory: ireneo.Memory) -> Sequence[Fading]:
        return await memory.fading(limit)

    found = reading(db, space, work)
    if as_json:
        write_json(found)
    else:
        from ireneo.faces.cli.screens.memories import show_fading

        show_fading(found, space)


def restore(ids: Ids, db: Db = None, space: Space = DEFAULT_SPACE) -> None:
    """Take memories back that were put away."""

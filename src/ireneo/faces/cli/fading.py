"""`ireneo fading` and `restore`: what would be put away next, and taking back what was."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

import ireneo
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.completed import memories_begun
from ireneo.faces.cli.options import DEFAULT_SPACE, AsJson, Db, Space
from ireneo.faces.cli.stored import reading
from ireneo.faces.cli.words import counted, one_line, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ireneo.types import Fading, Record

Limit = Annotated[int, typer.Option("--limit", "-n", metavar="N", help="At most so many.")]
Ids = Annotated[
    list[str],
    typer.Argument(
        metavar="ID…", help="The memories, by their ids or the beginning of them.", autocompletion=memories_begun
    ),
]


def fading(limit: Limit = 20, as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE) -> None:
    """Show what would be put away next, and why.

    Nothing is put away before a space is full; pinned memories never are.
    """

    async def work(memory: ireneo.Memory) -> Sequence[Fading]:
        return await memory.fading(limit)

    found = reading(db, space, work)
    if as_json:
        write_json([fading_answer(each) for each in found])
    else:
        from ireneo.faces.cli.screens.memories import show_fading

        show_fading(found, space)


def fading_answer(each: Fading) -> dict[str, object]:
    """A memory that fades, as JSON."""
    record = each.record
    return {
        "id": record.id,
        "kind": record.kind,
        "text": record.text,
        "retention": each.retention,
        "reason": each.reason,
    }


def restore(ids: Ids, as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE) -> None:
    """Take memories back that were put away."""

    async def work(memory: ireneo.Memory) -> Sequence[Record]:
        return await memory.restore(ids)

    back = reading(db, space, work)
    if as_json:
        write_json([each.id for each in back])
        return
    sys.stdout.write(f"  {counted(len(back), 'memory', 'memories')} taken back.\n")
    for each in back:
        sys.stdout.write(f"  {short(each.id)}  {one_line(each.text)}\n")

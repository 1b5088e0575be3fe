"""`ireneo doctor`: look a database over, and mend what can be mended."""

from __future__ import annotations

from typing import Annotated

import typer

import ireneo
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import DEFAULT_SPACE, AsJson, Db, Space
from ireneo.faces.cli.place import shown
from ireneo.faces.cli.screens.progress import checking_bar
from ireneo.faces.cli.stored import database, reading

Mend = Annotated[
    bool, typer.Option("--mend", help="Mend what can be mended: summaries, leases, failures; never the log.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Leave out whether each message is what its id says.")]


def doctor(
    mend: Mend = False, quick: Quick = False, as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE
) -> None:
    """Look for what is wrong with a database.

    The file as a whole, and each session of the space. It ends with 1 where something is wrong that was not mended.
    """
    # Not imported with the module: no other command needs it here.
    from ireneo.faces.cli.screens.findings import Told, show_findings

    async def work(memory: ireneo.Memory) -> tuple[list[Told], int, int]:
        infos = await memory.sessions()
        messages = sum(info.messages for info in infos)
        with checking_bar(0 if quick else messages) as told:
            found = await memory.doctor(mend=mend, quick=quick, told=told)
        rows = [
            Told(kind=each.kind, session=each.session, text=each.text, mended=each.mended, advice=each.advice)
            for each in found
        ]
        return rows, len(infos), messages

    found, sessions, messages = reading(db, space, work)
    is_sound = all(each.kind == "note" or each.mended for each in found)
    if as_json:
        write_json({"sound": is_sound, "sessions": sessions, "messages": messages, "findings": found})
    else:
        from ireneo.faces.cli.screens.console import console

        where = f"{shown(database(db))} · space {space}"
        show_findings(console(), found, where=where, sessions=sessions, messages=messages, quick=quick)
    if not is_sound:
        raise typer.Exit(1)

"""`ireneo doctor`: look a database over, and mend what can be mended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

import ireneo
from ireneo.errors import BadInput
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import DEFAULT_SPACE, AsJson, Db, Space
from ireneo.faces.cli.place import shown
from ireneo.faces.cli.screens.progress import checking_bar
from ireneo.faces.cli.stored import database, reading
from ireneo.faces.cli.words import counted

if TYPE_CHECKING:
    from ireneo.faces.cli.screens.findings import Told
    from ireneo.types import Secrets

Mend = Annotated[
    bool, typer.Option("--mend", help="Mend what can be mended: summaries, indexes, leases …; never the log.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Leave out whether each message and row is what was stored.")]
ForSecrets = Annotated[
    bool,
    typer.Option(
        "--secrets",
        help="Look for keys, tokens and passwords that are stored instead; with --mend take them out of the log and "
        "all else, down to the bytes of the file.",
    ),
]
TAKES_OUT = "`ireneo doctor --secrets --mend` takes them out; the messages from there on get other ids."
TAKEN_OUT = "Taken out."
_THINGS = {
    "messages": ("message", "messages"),
    "payloads": ("message's payload", "messages' payloads"),
    "summaries": ("summary", "summaries"),
    "notes": ("note", "notes"),
    "names": ("name", "names"),
    "leases": ("error of work that failed", "errors of work that failed"),
    "memories": ("memory", "memories"),
    "scratchpads": ("scratchpad", "scratchpads"),
    "runs": ("run or what it showed", "runs and what they showed"),
    "files": ("name of a file", "names of files"),
}


def doctor(
    mend: Mend = False,
    quick: Quick = False,
    secrets: ForSecrets = False,
    as_json: AsJson = False,
    db: Db = None,
    space: Space = DEFAULT_SPACE,
) -> None:
    """Look for what is wrong with a database.

    The file as a whole, and each session of the space. It ends with 1 where something is wrong that was not mended.
    """
    # Not imported with the module: no other command needs it here.
    from ireneo.faces.cli.screens.findings import Told, show_findings

    if secrets and quick:
        raise BadInput("--quick leaves out what --secrets does not look at; give one of them.")
    looked: list[Secrets] = []

    async def work(memory: ireneo.Memory) -> tuple[list[Told], int, int]:
        infos = await memory.sessions()
        messages = sum(info.messages for info in infos)
        with checking_bar(0 if quick else messages) as told:
            if secrets:
                looked.append(await memory.secrets(mend=mend, told=told))
                return _rows(looked[0]), len(infos), messages
            found = await memory.doctor(mend=mend, quick=quick, told=told)
        rows = [
            Told(kind=each.kind, session=each.session, text=each.text, mended=each.mended, advice=each.advice)
            for each in found
        ]
        return rows, len(infos), messages

    found, sessions, messages = reading(db, space, work)
    is_sound = all(each.kind == "note" or each.mended for each in found)
    if as_json:
        answer = {"sound": is_sound, "sessions": sessions, "messages": messages, "findings": found}
        write_json(answer | {"secrets": looked[0].found} if looked else answer)
    else:
        from ireneo.faces.cli.screens.console import console

        where = f"{shown(database(db))} · space {space}"
        show_findings(console(), found, where=where, sessions=sessions, messages=messages, quick=quick)
    if not is_sound:
        raise typer.Exit(1)


def _rows(looked: Secrets) -> list[Told]:
    """What a look for secrets found, a sentence for each place."""
    from ireneo.faces.cli.screens.findings import Told

    rows = [
        Told(
            kind="fault",
            session=each.session,
            text=f"{counted(each.things, *_THINGS[each.where])} with {_kinds(each.kinds)}",
            mended=looked.mended,
            advice=TAKEN_OUT if looked.mended else TAKES_OUT,
        )
        for each in looked.found
    ]
    if not looked.complete:
        text = "Bytes of what was taken out, or forgotten before, may still stand in the file."
        rows.append(Told(kind="fault", session="", text=text, mended=False, advice=looked.note))
    elif looked.note:
        rows.append(Told(kind="note", session="", text=looked.note, mended=False, advice=""))
    return rows


def _kinds(kinds: Mapping[str, int]) -> str:
    told = ", ".join(f"{kind} {number:,}" for kind, number in kinds.items())
    return f"{counted(sum(kinds.values()), 'secret')}: {told}"

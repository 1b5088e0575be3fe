"""`ireneo notes`: what to ask an agent at the end of its conversation, and what it answered."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import msgspec

from ireneo.errors import UnreadableLog
from ireneo.faces.cli.files import log_file
from ireneo.faces.cli.options import AsJson, Preset, SessionName, Stored, option, session_in, title_of
from ireneo.faces.cli.output import counted, write_json

if TYPE_CHECKING:
    from ireneo.types import NotesTaken

Take = Annotated[str | None, option("--take", "FILE", "The agent's answer, to be checked and kept; - reads stdin.")]


def notes(
    session: SessionName, take: Take = None, preset: Preset = None, as_json: AsJson = False, *, stored: Stored
) -> None:
    """Have the agent take notes on its own work.

    Prints what to ask it at the end of its conversation. With --take: keeps what its messages show of the answer.
    """
    reply = None if take is None else _read(take)
    with session_in(stored, session) as named:
        id, title = named.id, title_of(named)
        if reply is None:
            request = named.notes_request(preset=preset)
        else:
            taken = named.take_notes(reply, preset=preset)
    if reply is None:
        if as_json:
            write_json({"session": id, "request": request})
        else:
            sys.stdout.write(f"{request.rstrip()}\n")
    elif as_json:
        write_json({"session": id, **msgspec.to_builtins(taken)})
    else:
        sys.stdout.write("\n".join(noted(taken, title)) + "\n")


def noted(taken: NotesTaken, title: str) -> list[str]:
    """What became of an agent's notes, a sentence and the reasons for what was struck."""
    if taken.first_position > taken.last_position:
        return [f"All that was said and done in {title} has notes already."]
    where = f"messages {taken.first_position + 1:,} to {taken.last_position + 1:,} of {title}"
    struck = f"; {counted(taken.struck, 'statement')} struck, or without a clause:" if taken.struck else "."
    return [f"{counted(taken.notes, 'note')} kept on {where}{struck}", *(f"- {reason}" for reason in taken.reasons)]


def _read(file: str) -> str:
    with log_file(file) as given:
        try:
            return given.read().decode()
        except UnicodeDecodeError as fault:
            raise UnreadableLog(f"{given.label} is no text in UTF-8 ({fault}).") from fault

"""`ireneo forget`: take something out for good, with all that was made of it alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

import ireneo
from ireneo.errors import BadInput, SessionNotFound
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.completed import memories_begun, sessions_begun
from ireneo.faces.cli.consent import Yes, agreed
from ireneo.faces.cli.options import AsJson, Stored
from ireneo.faces.cli.screens.progress import waiting
from ireneo.faces.cli.stored import reading, session_named
from ireneo.faces.cli.times import said
from ireneo.faces.cli.words import counted, one_line

if TYPE_CHECKING:
    from ireneo.types import Receipt

ONE = "Say what is to be forgotten with one of --subject, --session, --message, --memory and --everything."


def _what(name: str, metavar: str, help: str, known: Callable[..., object] | None = None) -> object:
    return typer.Option(name, metavar=metavar, help=help, show_default=False, autocompletion=known)


class Goner(Struct, frozen=True, kw_only=True):
    """What is to go."""

    subject: Annotated[str, _what("--subject", "NAME", "All that is known of it.")] = ""
    session: Annotated[str, _what("--session", "ID", "A session, and what was made of it alone.", sessions_begun)] = ""
    message: Annotated[str, _what("--message", "ID", "A message's words.")] = ""
    memory: Annotated[str, _what("--memory", "ID", "A memory.", memories_begun)] = ""
    everything: Annotated[str, _what("--everything", "SPACE", "All of the space: give its name.")] = ""

    def given(self) -> dict[str, str]:
        """What was named. Raises BadInput unless it is one thing."""
        named = {name: value for name in self.__struct_fields__ if (value := getattr(self, name))}
        if len(named) != 1:
            raise BadInput(ONE)
        return named


def _meant(what: str, name: str) -> dict[str, str]:
    """What the memory is asked to forget; its own space is the one that it is open on."""
    return {"space": name} if what == "everything" else {what: name}


def forget(*, goner: Goner, yes: Yes = False, as_json: AsJson = False, stored: Stored) -> None:
    """Forget something for good.

    Its words and all that was made of them alone, from every byte of the database. It asks before it does.
    """
    ((what, name),) = goner.given().items()
    if what == "session":
        name = reading(stored.db, stored.space, lambda memory: _whole(memory, name))

    async def work(memory: ireneo.Memory, *, preview: bool) -> Receipt:
        return await memory.forget(**_meant(what, name), preview=preview)

    with waiting("Looking for what would go …"):
        before = reading(stored.db, stored.space, lambda memory: work(memory, preview=True))
    meant = f"{what} {name}" if what != "everything" else f"all of space {name}"
    if not yes and not agreed(_question(before, meant), what=meant):
        raise typer.Exit(1)
    with waiting("Erasing …"):
        done = reading(stored.db, stored.space, lambda memory: work(memory, preview=False))
    if as_json:
        write_json(done)
    else:
        sys.stdout.write(f"  {one_line(_told(done, meant))}\n")
    if not done.complete:
        raise typer.Exit(1)


async def _whole(memory: ireneo.Memory, name: str) -> str:
    """The whole id of a session; one that is kept elsewhere may still be what was learned from."""
    try:
        return (await session_named(memory, name)).id
    except SessionNotFound:
        return name


def _question(receipt: Receipt, meant: str) -> str:
    note = f" ({receipt.note})" if receipt.note else ""
    return f"Forget {meant} for good: {_listed(receipt) or 'nothing of it is kept'}{note}?"


def _told(receipt: Receipt, meant: str) -> str:
    listed = _listed(receipt)
    if not listed:
        return f"Nothing is kept of {meant}; nothing was taken out. {receipt.note}"
    gone = f"Forgotten, {meant}: {listed}, at {said(receipt.at)}."
    left = "" if receipt.complete else " Some of it still stands in the file."
    return f"{gone}{left} {receipt.note}"


def _listed(receipt: Receipt) -> str:
    """How much of each, in words."""
    gone = receipt.what
    counts = (
        (gone.sessions, "session", None),
        (gone.messages, "message", None),
        (gone.summaries, "summary", "summaries"),
        (gone.notes, "note", None),
        (gone.memories, "memory", "memories"),
        (gone.pads, "scratchpad", None),
        (gone.runs, "run", None),
        (gone.sightings, "sighting", None),
        (gone.files, "file learned from", "files learned from"),
    )
    parts = [counted(number, noun, plural) for number, noun, plural in counts if number]
    if gone.lessened:
        parts.append(f"{counted(gone.lessened, 'memory', 'memories')} without some of what spoke for them")
    return ", ".join(parts)

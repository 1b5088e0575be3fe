"""`ireneo memories`, `update`, `merge` and `delete`: the memories of a space, listed and changed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer
from msgspec import Struct

from ireneo.errors import BadInput
from ireneo.faces.cli.memories import Ids
from ireneo.faces.cli.options import (
    AsJson,
    KeepSecrets,
    Scoped,
    Stored,
    Yes,
    argument,
    flag,
    memories_begun,
    option,
    project_meant,
    reading,
    writing,
)
from ireneo.faces.cli.output import agreed, begins, counted, one_line, picked, short, tell, waiting, write_json
from ireneo.faces.cli.place import existing
from ireneo.plumbing import GENERAL

if TYPE_CHECKING:
    from ireneo.types import Deleted, Kind, ListedState, Record

SHOWN_SOURCES = 5
"""Messages that are shown where a memory is deleted."""


class MemoryChoice(Struct, frozen=True, kw_only=True):
    """Which memories are listed."""

    kind: Annotated[str | None, option("--kind -k", "KIND", "Only those of this kind.", shown="all")] = None
    subject: Annotated[str | None, option("--subject", "NAME", "Only facts about it.", shown="all")] = None
    label: Annotated[str | None, option("--label -l", "WORD", "Only those that bear it.", shown="all")] = None
    state: Annotated[
        str | None,
        option(
            "--state",
            "STATE",
            "active, superseded, retired, disputed, archived, or any.",
            shown="what stands: active and disputed",
        ),
    ] = None
    text: Annotated[str, option("--text", "WORDS", "Only those with these words in them.")] = ""
    limit: Annotated[int, option("--limit -n", "N", "At most so many.", shown=True)] = 50
    after: Annotated[str, option("--after", "PLACE", "The next page, as the last one says it.")] = ""


def memories(as_json: AsJson = False, *, choice: MemoryChoice, scoped: Scoped, stored: Stored) -> None:
    """List memories, the newest first.

    Those that stand: of this folder's project, and what is marked as general.
    """
    with reading(stored) as memory:
        found = memory.memories(
            kind=cast("Kind | None", choice.kind),
            subject=choice.subject,
            project=scoped.name,
            label=choice.label,
            state=cast("ListedState | None", choice.state),
            text=choice.text,
            limit=choice.limit,
            after=choice.after,
        )
        hint = "" if found else scoped.hint(memory)
    if as_json:
        write_json({"memories": [memory_answer(each) for each in found], "after": found.after})
        return
    from ireneo.faces.cli.screens.lists import show_memories

    show_memories(found, stored.space, hint)


def memory_answer(record: Record) -> dict[str, object]:
    """A memory, as JSON."""
    names = (
        "id kind text state reason subject attribute value at recorded origin trust confidence labels pinned archived"
    )
    projects = sorted({each for each in record.projects if each})
    return picked(record, names) | {"projects": projects, "sessions": record.sessions, "sources": record.sources}


Id = Annotated[str, argument("ID", "The memory, by its id or the beginning of it.", known=memories_begun)]
NewText = Annotated[str | None, argument("[TEXT]", "Its new words.", shown=False)]


class MemoryWording(Struct, frozen=True, kw_only=True):
    """What is changed about a memory."""

    subject: Annotated[str | None, option("--subject", "NAME", "Of a fact: whom or what it is about.")] = None
    attribute: Annotated[str | None, option("--attribute", "NAME", "Of a fact: what of it.")] = None
    value: Annotated[str | None, option("--value", "WORDS", "Of a fact: the value alone.")] = None
    at: Annotated[str | None, option("--at", "TIME", "Since when the new words are so.", shown="now")] = None
    label: Annotated[
        list[str] | None, option("--label -l", "WORD", "Its labels from now on, all of them; once for each.")
    ] = None
    no_labels: Annotated[bool, flag("--no-labels", "It is to bear none.")] = False
    project: Annotated[str | None, option("--project -p", "NAME", "The project that it belongs to.")] = None
    general: Annotated[bool, flag("--general", "It is meant for every project.")] = False
    pin: Annotated[bool | None, typer.Option("--pin/--unpin", help="Whether it is never evicted.")] = None


def update(
    id: Id,
    text: NewText = None,
    as_json: AsJson = False,
    keep_secrets: KeepSecrets = False,
    *,
    wording: MemoryWording,
    stored: Stored,
) -> None:
    """Change a memory: its words, slot, labels, project or pin.

    What it said before stays in its history; what is not given stays as it is.
    """
    if wording.general and wording.project is not None:
        raise BadInput("--project names one and --general means all; give one of them.")
    if wording.no_labels and wording.label:
        raise BadInput("--label gives it labels and --no-labels takes them away; give one of them.")
    project = GENERAL if wording.general else wording.project and project_meant(wording.project)
    with writing(existing(stored.db), stored.space, keep_secrets=keep_secrets) as memory:
        done = memory.update(
            id,
            text=text,
            subject=wording.subject,
            attribute=wording.attribute,
            value=wording.value,
            labels=[] if wording.no_labels else wording.label,
            project=project,
            pinned=wording.pin,
            at=begins(wording.at),
        )
    _tell(done, "Changed", as_json=as_json)


MergedIds = Annotated[
    list[str], argument("ID…", "The memories that say the same; the first is the one that stays.", known=memories_begun)
]


def merge(
    ids: MergedIds,
    text: Annotated[str | None, option("--text", "WORDS", "How it is put from now on.", shown="as the first")] = None,
    as_json: AsJson = False,
    *,
    stored: Stored,
) -> None:
    """Put memories together that say the same.

    The first stays, with what speaks for all of them; the others count no longer.
    """
    with reading(stored) as memory:
        done = memory.merge(ids, text=text)
    _tell(done, f"Merged {counted(len(ids), 'memory', 'memories')} into", as_json=as_json)


def _tell(done: Record, did: str, *, as_json: bool) -> None:
    if as_json:
        write_json(memory_answer(done))
        return
    projects = sorted({"all projects" if each == GENERAL else each for each in done.projects if each})
    about = [done.kind, done.state, *projects, *(f"#{each}" for each in done.labels), *(["pinned"] * done.pinned)]
    tell(f"{did}: {short(done.id)} ({', '.join(about)})  {one_line(done.text)}")


def delete(
    ids: Ids,
    source: Annotated[bool, flag("--source", "Also the messages that said so.")] = False,
    preview: Annotated[bool, flag("--preview", "Only show what would go.")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
    *,
    stored: Stored,
) -> None:
    """Delete memories for good.

    With what was drawn from them alone, from every byte of the database. The messages that said so stay and are shown;
    --source takes them out as well. It asks before it does.
    """
    with reading(stored) as memory:
        before = memory.delete(ids, preview=True)
        if not preview:
            meant = counted(len(before.memories), "memory", "memories")
            meant += f" and {counted(len(before.sources), 'message')}" if source and before.sources else ""
            said = "; ".join(one_line(each.text) for each in before.memories)
            if not yes and not agreed(f"Delete {meant} for good: {said}?", what=meant):
                raise typer.Exit(1)
            with waiting("Erasing …"):
                before = memory.delete(ids, source=source)
    if as_json:
        answer = {"deleted": [] if preview else [each.id for each in before.memories]}
        sources = [picked(each, "session message text") for each in before.sources]
        write_json(answer | {"sources": sources} | picked(before, "preview complete note"))
    else:
        _tell_deleted(before)
    if not (preview or before.complete):
        raise typer.Exit(1)


def _tell_deleted(done: Deleted) -> None:
    tell(f"{'Would go' if done.preview else 'Deleted'}: {counted(len(done.memories), 'memory', 'memories')}.")
    for each in done.memories:
        tell(f"{short(each.id)}  {one_line(each.text)}")
    if done.sources:
        stay = "say so" if done.preview else "say so and stay"
        tell(f"{counted(len(done.sources), 'message')} {stay}; --source deletes them too, as does `ireneo forget`:")
    for source in done.sources[:SHOWN_SOURCES]:
        tell(f"{short(source.message)}  {one_line(source.session)}: {one_line(source.text)}")
    if done.note:
        tell(done.note)

"""`ireneo remember`: write a memory, and say what became of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, cast

import typer
from msgspec import Struct

from ireneo.errors import BadInput
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import STDIN, AsJson, KeepSecrets, Stored
from ireneo.faces.cli.stored import database, tried
from ireneo.faces.cli.times import begins, said
from ireneo.faces.cli.words import one_line, short

if TYPE_CHECKING:
    from ireneo.types import Remembered, Told

Words = Annotated[str, typer.Argument(metavar="TEXT", help="What is to be remembered, or - for standard input.")]
_DID = {
    "added": "Remembered",
    "reinforced": "Known already, and now told once more",
    "superseded": "Remembered in place of what held before",
    "disputed": "Kept as disputed",
    "overturned": "Overturned",
    "ignored": "Left as it was",
}


def _told(name: str, metavar: str, help: str) -> object:
    return typer.Option(name, metavar=metavar, help=help, show_default=False)


class Telling(Struct, frozen=True, kw_only=True):
    """What is told of a memory beside its text."""

    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            "-k",
            metavar="KIND",
            help="episodic (what happened), semantic (what is true), procedural (how it is done) or failure.",
            show_default="as it reads",
        ),
    ] = None
    subject: Annotated[str, _told("--subject", "NAME", "Of a fact: whom or what it is about.")] = ""
    attribute: Annotated[str, _told("--attribute", "NAME", "Of a fact: what of it; a new value replaces it.")] = ""
    value: Annotated[str, _told("--value", "WORDS", "Of a fact: the value alone, where the text says more.")] = ""
    task_type: Annotated[str, _told("--task-type", "NAME", "Of steps: for which kind of task.")] = ""
    name: Annotated[str, _told("--name", "NAME", "Of steps: what they are called; new ones are a new version.")] = ""
    signature: Annotated[str, _told("--signature", "WORDS", "Of a failure: the action and the error.")] = ""
    against: Annotated[bool, typer.Option("--against", help="It speaks against that: it worked after all.")] = False
    adds: Annotated[
        bool,
        typer.Option("--adds", help="Of a fact: a further value beside the others, as of the attribute allergy."),
    ] = False
    at: Annotated[str | None, _told("--at", "TIME", "When it happened, or since when it is so; local time.")] = None
    until: Annotated[str | None, _told("--until", "TIME", "Of a fact: when it ended.")] = None
    session: Annotated[str, _told("--session", "ID", "The session that it comes from.")] = ""
    project: Annotated[str, _told("--project", "NAME", "The project that it belongs to, and no other.")] = ""
    origin: Annotated[
        str | None,
        typer.Option("--origin", metavar="WHO", help="Whose word it is: user, agent, tool.", show_default="user"),
    ] = None
    confidence: Annotated[float | None, _told("--confidence", "SHARE", "How sure it is, from 0 to 1.")] = None
    salience: Annotated[float | None, _told("--salience", "SHARE", "How much it matters, from 0 to 1.")] = None
    pinned: Annotated[bool, typer.Option("--pinned", help="Never evict it.")] = False

    def told(self) -> Told:
        """What was said, for the verb; what was not said is left out. Raises BadInput for a time that is none."""
        given = {name: getattr(self, name) for name in self.__struct_fields__}
        given |= {"at": begins(self.at), "until": begins(self.until)}
        return cast("Told", {name: value for name, value in given.items() if value not in (None, "", False)})


def remember(
    text: Words, as_json: AsJson = False, keep_secrets: KeepSecrets = False, *, telling: Telling, stored: Stored
) -> None:
    """Write a memory.

    Says what was done and why. What is known already is never doubled: it counts once more.
    """
    told = telling.told()
    words = _read(text)
    path = database(stored.db)
    done = tried(path, stored.space, lambda memory: memory.remember(words, **told), keep_secrets=keep_secrets)
    if as_json:
        write_json(remembered_answer(done))
    else:
        sys.stdout.write(told_of(done))


def remembered_answer(done: Remembered) -> dict[str, object]:
    """What became of an offer, as JSON."""
    record = done.record
    return {
        "did": done.did,
        "reason": done.reason,
        "id": record.id,
        "kind": record.kind,
        "text": record.text,
        "at": record.at,
        "state": record.state,
        "changed": [
            {"id": each.id, "state": each.state, "reason": each.reason, "stale": each.stale} for each in done.changed
        ],
    }


def told_of(done: Remembered) -> str:
    """What became of an offer, for a reader."""
    record = done.record
    lines = [f"{_DID[done.did]}: {record.kind} memory {short(record.id)}, {said(record.at)}.", done.reason]
    for each in done.changed:
        why = each.stale or each.reason
        state = "to be reconsidered" if each.stale else each.state
        lines.append(f"{short(each.id)} is {state}: {why}" if why else f"{short(each.id)} is {state}.")
    if record.kind == "procedural" and not record.task_type:
        lines.append("It has no task type: recall finds it by its words, but no brief shows it (--task-type).")
    return "".join(f"  {one_line(line)}\n" for line in lines if line)


def _read(text: str) -> str:
    if text != STDIN:
        return text
    try:
        return sys.stdin.buffer.read().decode("utf-8").strip()
    except UnicodeDecodeError:
        raise BadInput("Standard input is not in UTF-8.") from None

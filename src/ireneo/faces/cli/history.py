"""`ireneo history`: what was true of a subject, and what was believed when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

import ireneo
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import AsJson, Stored
from ireneo.faces.cli.stored import reading
from ireneo.faces.cli.times import asked, said
from ireneo.faces.cli.words import one_line

if TYPE_CHECKING:
    from ireneo.types import Fact

Subject = Annotated[str, typer.Argument(metavar="SUBJECT", help="Whom or what it is about.")]
Attribute = Annotated[
    str | None, typer.Option("--attribute", metavar="NAME", help="Only this of it.", show_default="all that is known")
]
At = Annotated[
    str | None,
    typer.Option("--at", metavar="TIME", help="Only what held then; a day is its end.", show_default="ever"),
]
Believed = Annotated[
    str | None,
    typer.Option("--believed", metavar="TIME", help="As it was known then; a day is its end.", show_default="now"),
]


def history(
    subject: Subject,
    attribute: Attribute = None,
    at: At = None,
    believed: Believed = None,
    as_json: AsJson = False,
    *,
    stored: Stored,
) -> None:
    """Show what was true of a subject, and when.

    What was true on a day (--at), and what was believed on a day (--believed).
    """
    held, known = asked(at), asked(believed)

    async def work(memory: ireneo.Memory) -> Sequence[Fact]:
        return await memory.history(subject, attribute, at=held, believed_at=known)

    facts = reading(stored.db, stored.space, work)
    if as_json:
        write_json([fact_answer(each) for each in facts])
        return
    from ireneo.faces.cli.screens.history import show_history

    words = [subject, *([attribute] if attribute else [])]
    words += [f"at {said(held)}"] if held else []
    words += [f"as believed at {said(known)}"] if known else []
    show_history(facts, " · ".join(one_line(word) for word in words), datetime.now().astimezone())


def fact_answer(fact: Fact) -> dict[str, object]:
    """A stretch of a fact's history, as JSON."""
    record = fact.record
    return {
        "id": record.id,
        "text": record.text,
        "subject": record.subject,
        "attribute": record.attribute,
        "value": record.value,
        "state": record.state,
        "reason": record.reason,
        "against": list(fact.against),
        "start": fact.period.start,
        "end": fact.period.end,
        "believed_from": fact.believed_from,
        "believed_to": fact.believed_to,
    }

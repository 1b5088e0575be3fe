"""What points to summaries that are gone: the marks of rebuilds, and what was noted about them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from ireneo.engine.doctor.finding import Cure, Finding, Found, note
from ireneo.engine.doctor.summaries import Shelf
from ireneo.log.annotation import Annotation
from ireneo.log.branch import Head, SessionKey
from ireneo.log.ids import short
from ireneo.ports.store import Rebuild
from ireneo.ports.transition import Transaction


async def check_marks(
    tx: Transaction, key: SessionKey, heads: Sequence[Head], shelf: Shelf, gone: Collection[str]
) -> list[Found]:
    """What is wrong with the marks and the notes of a session; `gone` are the summaries that are to be taken out."""
    there = shelf.ids - set(gone)
    marks = [_mark(key, mark, there) for mark in await tx.rebuilds.of_session(key)]
    notes: dict[str, Annotation] = {}
    for head in heads:
        notes.update((each.id, each) for each in await tx.annotations.on_path(key, head.id))
    stretches = {each.stretch for each in shelf.there.values()}
    disputes = [_dispute(key, each, stretches) for each in notes.values() if each.kind == "dispute"]
    return [each for each in (*marks, *disputes) if each is not None]


def _mark(key: SessionKey, mark: Rebuild, there: Collection[str]) -> Found | None:
    lost = [name for name in mark.taken_up if name.startswith("s_") and name not in there]
    if not lost:
        return None
    kept = replace(mark, taken_up=tuple(name for name in mark.taken_up if name not in lost))
    text = (
        f"The rebuild at message {mark.at_position + 1:,} to {mark.budget_tokens:,} tokens ({mark.family}) shows "
        f"{', '.join(short(name) for name in lost)}, and no such text is there."
    )
    advice = "`ireneo doctor --mend` takes it off the mark; the text of the structure is shown there."
    return Found(
        finding=Finding(kind="fault", session=key.session, text=text, advice=advice),
        cure=Cure(mark=(mark, kept), done="Taken off the mark; the text of the structure is shown there."),
    )


def _dispute(key: SessionKey, dispute: Annotation, stretches: Collection[str]) -> Found | None:
    if dispute.about in stretches:
        return None
    return note(
        key.session,
        f"Dispute {short(dispute.id)} at message {dispute.at_position + 1:,} is about a summary that is not there.",
        "It holds again as soon as the summary is made again.",
    )

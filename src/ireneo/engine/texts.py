"""The texts that models wrote of the stretches that summaries cover: their names, and which of them serves best."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ireneo.context.summary import Summary, SummaryId, anchor
from ireneo.context.terms import Terms
from ireneo.log.branch import SessionKey
from ireneo.log.ids import digest
from ireneo.ports.store import Transaction
from ireneo.prompts import PROMPTS
from ireneo.prompts.voices import Voice

_OWN_MEMORY = "/as/"
"""In the family of a story: it is the memory of the character who is named behind it."""


def voice_for(summary: Summary, voice: Voice) -> Voice:
    """In whose voice the text of a `summary` is written, where an agent's own notes speak in `voice`.

    A story is told in the third person, and what one character remembers of it in the first.
    """
    if summary.level != "story":
        return voice
    return "first" if _OWN_MEMORY in summary.family else "third"


def text_family(summary: Summary, disputes: Sequence[str], voice: Voice) -> str:
    """The family of the text that a model writes of what the canonical `summary` covers, in view of `disputes`."""
    doubts = f"/{digest('d', *(each.encode() for each in sorted(disputes)))[:12]}" if disputes else ""
    return f"{PROMPTS[summary.level].name}/{voice}/{summary.family}{doubts}"


def text_id(summary: Summary, disputes: Sequence[str], voice: Voice) -> SummaryId:
    """The anchor of that text: written twice, it is the same."""
    return anchor(summary.level, summary.first, summary.last, text_family(summary, disputes, voice))


async def best_texts(
    tx: Transaction,
    key: SessionKey,
    summaries: Sequence[Summary],
    terms: Terms,
    voice: Voice,
    known: Collection[str] | None,
) -> list[Summary]:
    """For each summary the text by a model, in view of all its disputes, or of none; itself where there is none.

    Only what is among `known`, where that is given.
    """
    wanted: list[list[SummaryId]] = []
    for summary in summaries:
        disputes = [note.id for note in terms.disputes.get(summary.stretch, ())]
        told = voice_for(summary, voice)
        names = [text_id(summary, disputes, told), *([text_id(summary, (), told)] if disputes else [])]
        wanted.append([name for name in names if known is None or name in known])
    found = {text.id: text for text in await tx.summaries.get(key, [name for names in wanted for name in names])}
    out: list[Summary] = []
    for summary, names in zip(summaries, wanted, strict=True):
        out.append(next((found[name] for name in names if name in found), summary))
    return out

"""The texts that models wrote of the stretches that summaries cover: their names, and which of them serves best."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ireneo.context.summary import Level, Summary, SummaryId, anchor
from ireneo.context.terms import Terms
from ireneo.log.branch import SessionKey
from ireneo.log.ids import digest
from ireneo.ports.transition import Transaction
from ireneo.prompts import PROMPTS
from ireneo.prompts.voices import Voice


def text_family(summary: Summary, disputes: Sequence[str], voice: Voice) -> str:
    """The family of the text that a model writes of what the canonical `summary` covers, in view of `disputes`."""
    doubts = f"/{digest('d', *(each.encode() for each in sorted(disputes)))[:12]}" if disputes else ""
    return f"{undisputed(summary.level, summary.family, voice)}{doubts}"


def undisputed(level: Level, family: str, voice: Voice) -> str:
    """The family of the texts that a model writes of canonical summaries of that level and `family`."""
    return f"{PROMPTS[level].name}/{voice}/{family}"


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
        names = [text_id(summary, disputes, voice), *([text_id(summary, (), voice)] if disputes else [])]
        wanted.append([name for name in names if known is None or name in known])
    found = {text.id: text for text in await tx.summaries.get(key, [name for names in wanted for name in names])}
    out: list[Summary] = []
    for summary, names in zip(summaries, wanted, strict=True):
        out.append(next((found[name] for name in names if name in found), summary))
    return out

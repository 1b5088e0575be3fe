"""Which texts of a story a model has still to write: derived from what is there, in the order of the story.

A leaf is told as the continuation of the leaves before it, and may resolve what they opened; so leaves are written
one after the other, and a deeper summary as soon as all leaves under it are. A leaf that keeps failing is passed over:
its offline text stands for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from ireneo.context.summary import Summary, anchor
from ireneo.context.terms import Terms
from ireneo.engine.texts import text_id, undisputed
from ireneo.log.branch import Head, SessionKey
from ireneo.log.message import MessageId
from ireneo.ports.leases import Lease
from ireneo.ports.store import Span
from ireneo.ports.transition import Transaction
from ireneo.prompts.voices import Voice

PATIENCE = 3
"""A text that failed so often in a row is no longer waited for."""
OFFERED = 16
"""So many texts are offered at a time; who takes one asks again."""


class DueTexts(Struct, frozen=True, kw_only=True):
    """What is due on one path."""

    ready: tuple[Summary, ...]
    """The canonical summaries whose texts may be written now, the first ones first."""
    missing: int
    """How many texts are due in all."""


async def due_texts(
    tx: Transaction,
    key: SessionKey,
    head: Head,
    terms: Terms,
    voice: Voice,
    failing: Sequence[Lease],
    now: datetime,
) -> DueTexts:
    """The texts that are due on the path to `head`; `failing` are the leases of the session as they stand `now`."""
    hopeless = {lease.work for lease in failing if lease.failures >= PATIENCE}
    resting = {lease.work for lease in failing if _rests(lease, now)}
    family = terms.policy.family
    missing: list[tuple[Span, int]] = []
    depth = 1
    while canonical := await tx.summaries.spans(key, head.id, family, depth):
        written = await tx.summaries.spans(key, head.id, undisputed("story", family, voice), depth)
        there = {(span.first_position, span.last_position) for span in written}
        missing += [(span, depth) for span in canonical if (span.first_position, span.last_position) not in there]
        depth += 1
    missing.sort(key=lambda each: (each[0].last_position, each[1]))
    ready: list[Summary] = []
    waits_for: int | None = None
    for span, depth in missing:
        if waits_for is not None and (depth == 1 or span.last_position >= waits_for):
            continue
        (summary,) = await tx.summaries.get(key, [span.id])
        name = text_id(summary, (), voice)
        # Those that are to be tried later take nobody's place.
        ready += [] if name in resting else [summary]
        if depth == 1 and name not in hopeless:
            waits_for = span.last_position
        if len(ready) >= OFFERED:
            break
    disputed = await _disputed(tx, key, terms, voice)
    return DueTexts(ready=(*disputed, *ready), missing=len(missing) + len(disputed))


def _rests(lease: Lease, now: datetime) -> bool:
    """Whether the work failed and is to be tried later; a day ahead or more it was put off by a wrong clock."""
    return lease.retry_at is not None and now < lease.retry_at < now + timedelta(days=1)


async def _disputed(tx: Transaction, key: SessionKey, terms: Terms, voice: Voice) -> list[Summary]:
    """The summaries that were disputed and not written again since."""
    out: list[Summary] = []
    for stretch, notes in terms.disputes.items():
        level, first, last = stretch.split(" ")
        if level != "story":
            continue
        canonical = anchor("story", MessageId(first), MessageId(last), terms.policy.family)
        for summary in await tx.summaries.get(key, [canonical]):
            name = text_id(summary, [note.id for note in notes], voice)
            if not await tx.summaries.get(key, [name]):
                out.append(summary)
    return out

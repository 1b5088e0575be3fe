"""Finds the memory that an offer only says again: what was recalled into a context is no evidence for itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ireneo.memories.kinds.registry import KINDS
from ireneo.memories.likeness import normal
from ireneo.memories.offer import Offer
from ireneo.memories.recall.words import terms
from ireneo.memories.record import Record
from ireneo.ports.transition import Transaction

RAREST = 4
"""Terms by which memories that may read alike are looked for."""
LOOKED_AT = 64
"""Memories that are compared word by word."""


async def held_already(tx: Transaction, space: str, offer: Offer, known: Sequence[Record]) -> Record | None:
    """The memory that stands and reads as `offer` does, as its text or as it is shown; `known` are those of its key.

    One that was told only after the offer can't have been recalled for it. One that the offer has new ground for, in
    memories which it was not drawn from yet, is not said again but drawn again.
    """
    row = KINDS[offer.kind]
    found = [each for each in known if row.same(each, offer)] or await _reading_alike(tx, space, offer)
    for each in found:
        stands = each.state in ("active", "disputed") and each.recorded <= offer.recorded
        # One that has to be reconsidered is drawn again where part of its ground is named anew.
        drawn_again = bool(each.stale and offer.memories)
        if stands and not drawn_again and not set(offer.memories) - {each.id, *each.sources}:
            return each
    return None


async def _reading_alike(tx: Transaction, space: str, offer: Offer) -> list[Record]:
    wanted = normal(offer.text)
    counts = await tx.search.count(space, "memories", list(dict.fromkeys(terms(offer.text))))
    # What a memory is shown with besides its words, its date, may stand in none of them.
    there = sorted((count, term) for term, count in counts.items() if count)
    rarest = [term for _, term in there[:RAREST]]
    if not rarest:
        return []
    listed = await tx.search.postings(space, "memories", rarest)
    documents = Counter(document for numbers in listed.values() for document in list(numbers)[:10_000])
    likely = sorted(documents, key=lambda document: (-documents[document], document))[:LOOKED_AT]
    records = [each.record for each in await tx.search.memories(space, likely)]
    return [each for each in records if wanted in (normal(each.text), normal(_shown(each, offer)))]


def _shown(record: Record, offer: Offer) -> str:
    return KINDS[record.kind].line(record, offer.recorded)

"""Several rankings made one: by rank, since their scores are not of one measure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)

DAMPING = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""

VECTOR_WEIGHT = 0.3
"""What a ranking by the vectors of a small model counts beside ours; as much as ours, it would cost ten points."""


def fuse(
    rankings: Sequence[Sequence[Item]], weights: Sequence[float] | None = None, *, damping: int = DAMPING
) -> tuple[tuple[Item, float], ...]:
    """Every item of `rankings` once, with the sum of weight / (damping + rank) over them, best first.

    Of equal ones the one that stands in an earlier ranking, further up, comes first. Vectors come in here, as one more
    ranking.
    """
    weights = [1.0] * len(rankings) if weights is None else weights
    if len(weights) != len(rankings):
        raise ValueError(f"{len(rankings)} rankings need as many weights, not {len(weights)}.")
    score: dict[Item, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for place, item in enumerate(dict.fromkeys(ranking), 1):
            score[item] = score.get(item, 0.0) + weight / (damping + place)
    return tuple(sorted(score.items(), key=lambda each: -each[1]))


def verbatim_first(ranking: Sequence[Item], sources: Mapping[Item, Sequence[Item]]) -> tuple[Item, ...]:
    """`ranking` with each message moved up to just before the first item that was extracted from it.

    `sources` tells of the extracted ones which messages they are from; only messages that are in the ranking move.
    """
    present = set(ranking)
    order: dict[Item, None] = {}
    for item in ranking:
        for source in sources.get(item, ()):
            if source in present:
                order.setdefault(source)
        order.setdefault(item)
    return tuple(order)

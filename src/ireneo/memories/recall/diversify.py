"""What says the same as something better placed steps back: a reader gains nothing from it twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")

NEARLY_THE_SAME = 0.9
"""The share of their terms that two texts must have in common (Jaccard's measure) to count as the same."""
_FEW = 4


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the terms of either that both have, 0 to 1."""
    together = len(one | other)
    return len(one & other) / together if together else 0.0


def repeats_last(
    ranking: Sequence[Item], terms_of: Callable[[Item], Iterable[str]], *, same: float = NEARLY_THE_SAME
) -> tuple[Item, ...]:
    """`ranking` with what nearly repeats a better one put at its end; no item is lost.

    Texts of fewer than four terms ("Yes, I did") are alike by chance, and stay.
    """
    kept: list[tuple[Item, frozenset[str]]] = []
    repeated: list[Item] = []
    for item in ranking:
        held = frozenset(terms_of(item))
        if len(held) >= _FEW and any(likeness(held, other) >= same for _, other in kept):
            repeated.append(item)
        else:
            kept.append((item, held))
    return (*(item for item, _ in kept), *repeated)

"""Packing to a budget of tokens: the best first, each whole or not at all, never over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def pack(ranking: Iterable[Item], cost: Callable[[Item], int], budget: int) -> tuple[Item, ...]:
    """Those of `ranking` that are taken, in its order: each that still fits into what is left of `budget` tokens.

    One that is too large is passed over, and smaller ones after it may still come in.
    """
    taken: list[Item] = []
    left = budget
    for item in ranking:
        size = cost(item)
        if size < 0:
            raise ValueError(f"A cost of {size} tokens is none: it must be 0 or more.")
        if size <= left:
            taken.append(item)
            left -= size
    return tuple(taken)

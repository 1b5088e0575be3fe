"""What the kinds of memories differ in: one row for each, so that nothing else asks of which kind a memory is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from msgspec import Struct

from ireneo.memories.offer import Offer
from ireneo.memories.record import Kind, MemoryId, Record

Factors: TypeAlias = tuple[tuple[str, float], ...]
"""What a memory's relevance is multiplied by, each part by its name, for those who ask why."""


class KindRow(Struct, frozen=True, kw_only=True):
    """How memories of one kind are written, found, worded and forgotten."""

    name: Kind
    answers: str
    """The question that should find it."""
    heading: str
    """What a brief calls these memories."""
    key: Callable[[Offer], str]
    """What an offer is compared under: its slot or signature, or ``t_…`` from its words where it has none."""
    id: Callable[[Offer], MemoryId]
    """The id of the memory that an offer makes where none says the same already."""
    same: Callable[[Record, Offer], bool]
    """Whether an offer says again what a memory under its key says already."""
    settle: Callable[[Sequence[Record]], Sequence[Record]]
    """State, periods, versions and confidence of all memories under one key, from their evidence alone.

    A pure function of the set: the order in which they stand makes no difference, and settling twice is settling once.
    They come back in the order of their ids.
    """
    holds: Callable[[Record, datetime], bool]
    """Whether what a memory says is the case at a moment, as far as we believe now; archived ones hold no more."""
    fits: Callable[[Record, Mapping[str, str]], bool]
    """Whether a memory still counts under the conditions that hold now (tool, version, file hashes)."""
    retention: Callable[[Record, datetime], float]
    """How much it is worth keeping, from 0 to 1; what is least goes first."""
    score: Callable[[Record, datetime], Factors]
    """The kind's own part in how well a memory answers; the factors are multiplied with its relevance."""
    line: Callable[[Record, datetime], str]
    """It on the wire, as one line without its id: "I …", a statement, steps, "I tried X — abandoned because Y"."""

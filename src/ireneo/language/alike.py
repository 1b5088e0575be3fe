"""Words of similar meaning: "car" and "vehicle", "boss" and "job".

The table was computed once with a sentence encoder for some 14,000 English words (`benchmarks/word_neighbours.py`), so
no model is needed to use it, and it contains no user data.
"""

from __future__ import annotations

import gzip
from array import array
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct

TABLE = "en.alike.gz"
SCALE = 250
"""Cosines are stored as bytes, multiplied by this."""


class AlikeTable(Struct, frozen=True, kw_only=True):
    """The nearest terms of each term, as slices of `near` and `cosines`, the nearest first."""

    terms: str
    """All terms, separated by blanks."""
    starts: bytes
    """Where each term's slice begins, and where the last one ends: four bytes each."""
    near: bytes
    """Indices of terms: two bytes each."""
    cosines: bytes


def alike(term: str, at_most: int) -> list[tuple[str, float]]:
    """Return the terms closest in meaning to `term`, the nearest first, each with its cosine; empty for a rare word."""
    place, terms, starts, near, cosines = _table()
    at = place.get(term)
    if at is None:
        return []
    first, last = starts[at], min(starts[at + 1], starts[at] + at_most)
    return [(terms[near[each]], cosines[each] / SCALE) for each in range(first, last)]


@cache
def _table() -> tuple[dict[str, int], list[str], array[int], array[int], bytes]:
    packed = gzip.decompress(files(__package__).joinpath(TABLE).read_bytes())
    table = msgspec.msgpack.decode(packed, type=AlikeTable)
    terms = table.terms.split()
    starts, near = array("I"), array("H")
    starts.frombytes(table.starts)
    near.frombytes(table.near)
    return {term: at for at, term in enumerate(terms)}, terms, starts, near, table.cosines

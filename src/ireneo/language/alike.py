"""Words that are alike in meaning, as a small model of sentences places them: "car" and "vehicle", "boss" and "job".

The table was made once of some 14,000 English words (`benchmarks/word_neighbours.py`), so that no model is needed to
read it, and nothing of what anybody said is in it.
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
"""Cosines are kept as bytes."""


class AlikeTable(Struct, frozen=True, kw_only=True):
    """For each term those that are alike, the nearest first: a run of `near`, with their cosines."""

    terms: str
    """All of them, with blanks between."""
    starts: bytes
    """Where each one's run begins, and where the last one's ends: four bytes each."""
    near: bytes
    """The places of terms: two bytes each."""
    cosines: bytes


def alike(term: str, at_most: int) -> list[tuple[str, float]]:
    """The terms most alike in meaning to `term`, the nearest first, each with its cosine; none for a rare word."""
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

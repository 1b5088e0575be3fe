"""The first look: from the lists of where the terms stand to the hundred places worth reading. No text is needed.

A message often answers in other words than those of the question, which stand in a message beside it: so each term
counts for the places near it too, less with the distance, and once for a place, from the nearest that holds it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from heapq import nlargest
from typing import TypeAlias

from msgspec import Struct

from ireneo.memories.recall.documents import ASSISTANT, CLASS_BITS, LENGTHS, MOST_IN_SESSION, USER
from ireneo.memories.recall.found import Postings, Shelf
from ireneo.memories.recall.question import Question

READ_AT_MOST = 5_000
"""Postings that are read for a question; commoner terms wait for the second look."""
SHADE = (1.0, 0.5, 0.4, 0.3, 0.2, 0.1)
"""What a term counts for a place that is 0, 1, 2 … places from where it stands."""
SATURATION = 2.0
"""BM25's k1 (Robertson and Zaragoza 2009), with every term counted as standing once: how far length counts at all."""
LENGTH_SHARE = 0.8
"""BM25's b."""
SHORT = 30.0
"""Terms up to which a message counts as short: among short ones no one is favoured for being shorter still."""
SIDE_FAVOUR = 0.4
"""How much more a message counts whose role is the one asked for."""
FEW_DOCUMENTS = 100
"""Documents that a small space counts as having, where it is asked how rare a term is."""
SEEDS = 100
_LOW = (1 << CLASS_BITS) - 1
_Places: TypeAlias = tuple[float, dict[int, int]]
"""What a term is worth, and the numbers of the documents that hold it, by their places."""


class Candidate(Struct, frozen=True, kw_only=True):
    """A place worth reading."""

    place: int
    own: float
    """What the terms that stand at the place itself count."""
    score: float
    """The same with those that stand near it."""


def terms_to_read(question: Question, counts: Mapping[str, int], at_most: int = READ_AT_MOST) -> tuple[str, ...]:
    """The terms whose postings are to be read, the rarest first, `at_most` postings together (the rarest in any case).

    `counts` is in how many documents of the space each term stands.
    """
    chosen: list[str] = []
    left = at_most
    for count, term in sorted((counts.get(term, 0), term) for term, _ in question.terms):
        if count == 0:
            continue
        if chosen and count > left:
            break
        chosen.append(term)
        left -= count
    return tuple(chosen)


def rarity(count: int, documents: int) -> float:
    """BM25's idf, never below zero: what a term is worth that stands in `count` of `documents`.

    Of a few documents it can't be told what is rare: fewer than a hundred count as so many.
    """
    documents = max(documents, FEW_DOCUMENTS)
    return math.log(1 + (max(documents, count) - count + 0.5) / (count + 0.5))


def weights(question: Question, postings: Sequence[Postings], shelf: Shelf) -> dict[str, float]:
    """What each term of the question is worth in this space."""
    counts = {each.term: each.count for each in postings}
    return {term: weight * rarity(counts.get(term, 0), shelf.documents) for term, weight in question.terms}


def length_factors(shelf: Shelf) -> tuple[float, ...]:
    """What a term counts in a document of each length class: 1 in an average one, less in longer ones."""
    average = max(SHORT, shelf.terms / shelf.documents) if shelf.documents else SHORT
    return tuple(
        (1 + SATURATION) / (1 + SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * max(SHORT, length) / average))
        for length in LENGTHS
    )


def candidates(
    question: Question,
    postings: Sequence[Postings],
    shelf: Shelf,
    *,
    reach: int = len(SHADE) - 1,
    at_most: int = 100,
    seeds: int = SEEDS,
) -> tuple[Candidate, ...]:
    """The places most worth reading, best first; `reach` 0 where neighbours have nothing to do with each other.

    They are those around the `seeds` places at which the terms themselves count most.
    """
    worth = weights(question, postings, shelf)
    factors = length_factors(shelf)
    # The low bits of a number are its classes: one table gives what a term counts there, and whose words they are.
    plain = tuple(factors[low >> 2] for low in range(1 << CLASS_BITS))
    side = {"user": USER, "assistant": ASSISTANT}.get(question.side or "")
    favoured = tuple(value * (1 + SIDE_FAVOUR * (low & 3 == side)) for low, value in enumerate(plain))
    read = [
        (worth[each.term], {number >> CLASS_BITS: number for number in each.numbers})
        for each in postings
        if each.numbers and each.term in worth
    ]
    own = _own(read, favoured)
    best_own = nlargest(seeds, own, key=own.__getitem__)
    near = {seed + step for seed in best_own for step in range(-2 * reach, 2 * reach + 1)}
    score = _shaded(read, plain, near, reach)
    best = nlargest(at_most, score, key=score.__getitem__)
    return tuple(Candidate(place=place, own=own.get(place, 0.0), score=score[place]) for place in best)


def _own(read: Sequence[_Places], table: Sequence[float]) -> dict[int, float]:
    """What the terms count at the places where they stand."""
    own: dict[int, float] = {}
    # The longest list comes first, since a whole dict is made faster than a dict is added to.
    for worth, places in sorted(read, key=lambda each: -len(each[1])):
        values = [worth * value for value in table]
        if own:
            for place, number in places.items():
                own[place] = own.get(place, 0.0) + values[number & _LOW]
        else:
            own = {place: values[number & _LOW] for place, number in places.items()}
    return own


def _shaded(read: Sequence[_Places], table: Sequence[float], near: set[int], reach: int) -> dict[int, float]:
    """What the terms count at the places in `near` where they stand, and at those up to `reach` from there."""
    score: dict[int, float] = {}
    for worth, places in read:
        best: dict[int, float] = {}
        for place in sorted(places.keys() & near):
            value = worth * table[places[place] & _LOW]
            ordinal = place & MOST_IN_SESSION - 1
            for step in range(-min(reach, ordinal), reach + 1):
                counted = value * SHADE[abs(step)]
                if counted > best.get(place + step, 0.0):
                    best[place + step] = counted
        for place, counted in best.items():
            score[place] = score.get(place, 0.0) + counted
    return score

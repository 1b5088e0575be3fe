"""Rank a shelf by the likeness of its vectors to that of a question."""

from __future__ import annotations

from msgspec import Struct

from ireneo.engine.recall.by_words import Hit
from ireneo.engine.recall.shelves import Shelf
from ireneo.engine.vectors import HeldVectors
from ireneo.memories.recall.documents import place_of
from ireneo.memories.recall.vector import Vector
from ireneo.ports.transition import Transaction

ROUNDS = 3
FURTHER = 4


class Meaning(Struct, frozen=True, kw_only=True):
    """A question's vector, and whose it is."""

    embedder: str
    vector: Vector


async def by_meaning(
    tx: Transaction, space: str, shelf: Shelf, meaning: Meaning, held: HeldVectors, *, looked_at: int
) -> list[Hit]:
    """The documents of a shelf whose vectors are nearest to the question's, best first."""
    wanted = looked_at
    for left in reversed(range(ROUNDS)):
        near = await held.nearest(tx.vectors, space, shelf.name, meaning.embedder, meaning.vector, looked_at)
        documents = await shelf.read(tx.search, space, [place_of(number) for number, _ in near])
        if 2 * len(documents) >= wanted or len(near) < looked_at or not left:
            break
        # Much of what is nearest may not be seen: then what is further off counts too.
        looked_at *= FURTHER
    return [
        Hit(read=documents[number], relevance=cosine, parts=(("meaning", cosine),))
        for number, cosine in near
        if number in documents and cosine > 0
    ]

"""Rank a shelf by the words of a question: the index first, then a close look at what it brings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.recall.shelves import Read, Shelf
from ireneo.memories.recall.candidates import SEEDS, Candidate, candidates, terms_to_read, weights
from ireneo.memories.recall.documents import place_of
from ireneo.memories.recall.events import around_event
from ireneo.memories.recall.found import Postings
from ireneo.memories.recall.found import Shelf as Size
from ireneo.memories.recall.question import Question
from ireneo.memories.recall.rank import rank
from ireneo.ports.transition import SearchPort

LOOKED_AT = 60
"""Documents that are read for a question, of each shelf; more change nothing about the first ten."""
LOOKED_AT_FOR_SOME = 400
"""The same where only those of one session or one kind are wanted: others are read and passed over."""
FURTHEST = 5_000
"""So far down it is looked among memories where much of what is found may not be seen."""
ROUNDS = 6
"""So many times it is looked further down, each time twice as far, where much of what is found may not be seen."""
FEW = 20_000
"""Documents up to which those of a kind are picked from the postings."""


_Looked: TypeAlias = tuple[Sequence[Candidate], dict[int, "Read"], list[Postings]]
"""What was found, the documents of it that are wanted, by number, and where the terms stand that counted for it."""


class Hit(Struct, frozen=True, kw_only=True):
    """A document that answers, with how well."""

    read: Read
    relevance: float
    """The share of what the question's words are worth that the document has: comparable between the shelves."""
    parts: tuple[tuple[str, float], ...]


async def by_words(
    search: SearchPort, space: str, shelf: Shelf, question: Question, *, looked_at: int = LOOKED_AT
) -> list[Hit]:
    """The documents of a shelf that have words of the question in or near them, best first."""
    size = await search.size(space, shelf.name)
    if not size.documents or not question.terms:
        return []
    whole = Size(documents=size.documents, terms=size.terms)
    counts = await search.count(space, shelf.name, [term for term, _ in question.terms])
    read = await search.postings(space, shelf.name, terms_to_read(question, counts))
    within = await _within(search, space, shelf)
    if within is not None:
        read = {term: [number for number in numbers if number in within] for term, numbers in read.items()}
    read = await shelf.within(read)
    postings = [Postings(term=term, count=counts[term], numbers=read.get(term)) for term, _ in question.terms]
    look = _further_down if shelf.narrows and not shelf.reach else _closely
    found, documents, postings = await look(search, space, shelf, question, postings, whole, looked_at)
    passages = [each.passage for each in documents.values()]
    question = around_event(question, passages)
    worth = sum(weights(question, postings, whole).values()) or 1.0
    return [
        Hit(
            read=documents[each.number],
            relevance=each.score / worth,
            parts=tuple((name, value / worth) for name, value in each.parts),
        )
        for each in rank(question, found, passages, postings, whole, reach=shelf.reach)
    ]


async def _closely(
    search: SearchPort,
    space: str,
    shelf: Shelf,
    question: Question,
    postings: list[Postings],
    whole: Size,
    looked_at: int,
) -> _Looked:
    """What is found, with the documents that are wanted of it.

    What may not be seen makes nothing beside it likelier: where there is any, it is looked again without that.
    """
    documents: dict[int, Read] = {}
    looked: set[int] = set()
    seeds = SEEDS
    for left in reversed(range(ROUNDS)):
        found = candidates(question, postings, whole, reach=shelf.reach, at_most=looked_at, seeds=seeds)
        places = [each.place for each in found if each.place not in looked]
        if not (places and left):
            break
        documents.update(await shelf.read(search, space, places))
        looked.update(places)
        if not shelf.narrows:
            break
        wanted = {place_of(number) for number in documents}
        postings = [
            replace(
                each, numbers=[one for one in each.numbers if place_of(one) in wanted or place_of(one) not in looked]
            )
            if each.numbers
            else each
            for each in postings
        ]
        looked_at *= 2
        seeds *= 2
    return found, documents, postings


async def _further_down(
    search: SearchPort,
    space: str,
    shelf: Shelf,
    question: Question,
    postings: list[Postings],
    whole: Size,
    looked_at: int,
) -> _Looked:
    """The same on a shelf without neighbours: from the best on, until enough are wanted of what was read."""
    found = candidates(question, postings, whole, reach=0, at_most=FURTHEST, seeds=FURTHEST)
    numbers = {place_of(number): number for each in postings for number in each.numbers or ()}
    likely = set(await shelf.likely([numbers[each.place] for each in found]))
    left = [each.place for each in found if numbers[each.place] in likely]
    documents: dict[int, Read] = {}
    looked_at = min(SEEDS, looked_at)
    enough = looked_at // 2
    while left and len(documents) < enough:
        documents.update(await shelf.read(search, space, left[:looked_at]))
        left = left[looked_at:]
    return found, documents, postings


async def _within(search: SearchPort, space: str, shelf: Shelf) -> frozenset[int] | None:
    """The documents that alone are wanted; None where any may be, or nearly any: then others are passed over later."""
    if shelf.only is None:
        return None
    count = (await search.count(space, shelf.name, [shelf.only]))[shelf.only]
    if count > FEW:
        return None
    return frozenset((await search.postings(space, shelf.name, [shelf.only]))[shelf.only])

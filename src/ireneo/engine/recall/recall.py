"""The verb: read the question, look on both shelves, mix what was found, and take the best that fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from ireneo.engine.embedding import vectors_of
from ireneo.engine.means import Means
from ireneo.engine.projects import place_all
from ireneo.engine.recall.asked import Asked
from ireneo.engine.recall.by_meaning import Meaning, by_meaning
from ireneo.engine.recall.by_words import LOOKED_AT, LOOKED_AT_FOR_SOME, Hit, by_words
from ireneo.engine.recall.scope import Scope
from ireneo.engine.recall.shelves import Memories, Messages, Shelf
from ireneo.engine.vectors import HeldVectors
from ireneo.errors import EmbedderError
from ireneo.memories.recall.diversify import repeats_last
from ireneo.memories.recall.fuse import VECTOR_WEIGHT, fuse, verbatim_first
from ireneo.memories.recall.pack import pack
from ireneo.memories.recall.question import read_question
from ireneo.memories.recall.recalled import Recalled, Recollection

_Name: TypeAlias = tuple[str, str]
"""A message's session and id, since sessions that begin alike share the ids of what they share; "" and a memory's."""

SPEAKS = 3
"""Who speaks in fewer messages than that is no speaker to be asked about; it may be a heading before a colon."""
LEAST_SHARE = 0.2
"""What the words of a question find with less than this share of the best one's score is no answer to it."""
SPARE = 2
"""So many times as many are ranked to the end as are wanted, since some repeat others."""
BY_WORDS = "It was looked for by the words alone: "


async def recall(means: Means, space: str, held: HeldVectors, asked: Asked) -> Recollection:
    """What answers a question, best first: messages and memories, found by their words and perhaps by their meaning.

    An embedder that does not answer changes nothing but the note: recall goes by the words alone then.
    """
    if asked.project is not None:
        await place_all(means.store, space)
    meaning, note = await _meaning(means, asked.text)
    now = means.clock.now()
    looked_at = max(LOOKED_AT if asked.kind is None else LOOKED_AT_FOR_SOME, SPARE * asked.limit)
    bare = 0
    worded: list[Hit] = []
    meant: list[Hit] = []
    async with means.store.read() as tx:
        speakers = [name for name, spoke in (await tx.search.authors(space)).items() if spoke >= SPEAKS]
        question = read_question(asked.text, now=asked.at or now, speakers=speakers)
        scope = await Scope.of(tx, space, asked)
        shelves: list[Shelf] = [Memories(asked, now, scope, question.window)]
        if asked.messages and asked.kind is None:
            shelves.insert(0, Messages(asked, scope))
        for shelf in shelves:
            worded += await by_words(tx.search, space, shelf, question, looked_at=looked_at)
            if meaning is not None:
                try:
                    meant += await by_meaning(tx, space, shelf, meaning, held, looked_at=looked_at)
                except EmbedderError as error:
                    meaning, note, meant, bare = None, f"{BY_WORDS}{error}", [], 0
                    continue
                size = await tx.search.size(space, shelf.name)
                bare += size.documents - held.count(space, shelf.name, meaning.embedder)
    answers = _answers([_scored(hit) for hit in worded])
    found = _mixed([answers, [_scored(hit) for hit in meant]]) if meant else answers
    if bare > 0:
        note = f"{bare:,} of what is searched have no vector yet and were looked for by their words; `work` makes them."
    return Recollection(_chosen(found, asked, means), note)


async def _meaning(means: Means, text: str) -> tuple[Meaning | None, str]:
    """The question's vector, outside any transaction; or why there is none."""
    if means.embedder is None:
        return None, ""
    try:
        (vector,) = await vectors_of(means.embedder, [text], query=True)
    except EmbedderError as error:
        return None, f"{BY_WORDS}{error}"
    return Meaning(embedder=means.embedder.name, vector=vector), ""


def _answers(worded: Sequence[Recalled]) -> list[Recalled]:
    """What the words found, best first, without what is far behind the best."""
    best = max((each.score for each in worded), default=0.0)
    return sorted((each for each in worded if each.score >= LEAST_SHARE * best), key=lambda each: -each.score)


def _mixed(lists: Sequence[Sequence[Recalled]]) -> list[Recalled]:
    """One ranking of the one by words and the one by meaning, by their ranks: the scores are not of one measure."""
    ranked = [sorted(each, key=lambda one: -one.score) for each in lists]
    found: dict[_Name, Recalled] = {}
    for each in (one for ranking in ranked for one in ranking):
        known = found.get(_name(each))
        found[_name(each)] = each if known is None else replace(known, parts=(*known.parts, *each.parts))
    weights = [1.0, *(VECTOR_WEIGHT for _ in ranked[1:])]
    fused = fuse([[_name(each) for each in ranking] for ranking in ranked], weights)
    return [replace(found[name], score=score) for name, score in fused]


def _name(found: Recalled) -> _Name:
    return (found.session if found.record is None else "", found.id)


def _scored(hit: Hit) -> Recalled:
    score, parts = hit.relevance, hit.parts
    for name, factor in hit.read.factors:
        score *= factor
        parts = (*parts, (f"× {name}", factor))
    return replace(hit.read.recalled, score=score, parts=parts)


def _chosen(found: Sequence[Recalled], asked: Asked, means: Means) -> Iterable[Recalled]:
    """The best that are wanted: what was said before what was made of it, and nothing twice."""
    best = list(found[: SPARE * asked.limit])
    known = {_name(each): each for each in best}
    said: dict[str, list[_Name]] = {}
    for each in best:
        if each.record is None:
            said.setdefault(each.id, []).append(_name(each))
    sources = {
        _name(each): [name for source in each.sources for name in said.get(source, ())]
        for each in best
        if each.record is not None
    }
    ordered = _falling([known[name] for name in verbatim_first(list(known), sources)])
    chosen: Sequence[Recalled] = repeats_last(ordered, lambda each: each.text.split())[: asked.limit]
    if asked.budget is not None:
        chosen = pack(chosen, lambda each: means.count(each.text), asked.budget)
    return chosen if asked.explain else [replace(each, parts=()) for each in chosen]


def _falling(ordered: Sequence[Recalled]) -> list[Recalled]:
    """The same order, with scores that say so: what was moved up is worth no less than what it stands before."""
    least = 0.0
    told: list[Recalled] = []
    for each in reversed(ordered):
        least = max(least, each.score)
        told.append(each if each.score == least else replace(each, score=least))
    return told[::-1]

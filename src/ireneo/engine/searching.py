"""Search the visible part of the indexes of messages and memories, by words and by vectors, and compute the vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.scope import RecallQuery, Scope
from ireneo.errors import EmbedderError, MissingExtra
from ireneo.language.words import is_common_there
from ireneo.log.message import Message, MessageId, author_of_message, text_of_message
from ireneo.memories.facts import attribute_of
from ireneo.memories.index import Vector, kind_term, number_range, place_of
from ireneo.memories.kinds import KINDS
from ireneo.memories.ranking import (
    ALIKE_AT_MOST,
    SEEDS,
    SHADE,
    Candidate,
    Passage,
    Postings,
    Question,
    RecallHit,
    candidates,
    rank,
    term_weights,
    terms_to_read,
    with_synonyms,
)
from ireneo.memories.ranking import IndexStats as Size
from ireneo.memories.record import Record, objections
from ireneo.ports.memories import FoundMemory, FoundMessage, IndexName, SearchPort, VectorChanges, VectorsPort
from ireneo.ports.models import Embedder
from ireneo.ports.store import Store, Transaction

if TYPE_CHECKING:
    from ireneo.memories.nearest import Vectors

INSTANT = timedelta(microseconds=1)
HELD_THEN = 1.25
"""Factor for what was true at the time that the question asks about."""
HELD_ELSE = 0.8
"""Factor for what wasn't, since the time may have been meant otherwise."""

SLOT_ASKED_OF = 1.5
"""Factor for a memory in a slot that the question asks for."""
SPEAKERS = frozenset({"", "user", "the user", "me", "i"})
"""Subjects that mean the speaker."""

Parts: TypeAlias = tuple[tuple[str, float], ...]


class Document(Struct, frozen=True, kw_only=True):
    """A document of an index: how it is ranked, how it is returned, and how well it answers."""

    passage: Passage
    hit: RecallHit
    """The document as a hit, without a score."""
    factors: Parts = ()
    """Factors of the relevance that don't depend on the question, by name."""
    relevance: float = 0.0
    """The share of the question's words, by worth, in the document, which is comparable between the indexes."""
    parts: Parts = ()


class MessageIndex:
    """The index of messages, as far as a scope makes them visible."""

    name: IndexName = "messages"
    reach = len(SHADE) - 1
    """The number of neighbours used on each side."""
    only: str | None = None
    """A term that all wanted documents contain."""

    def __init__(self, asked: RecallQuery, scope: Scope) -> None:
        self._asked = asked
        self.scope = scope
        self.narrows = scope.narrows_messages
        """Whether many of the documents found may turn out not to be wanted once they are read."""

    def within(self, numbers: Mapping[str, Sequence[int]]) -> Mapping[str, Sequence[int]]:
        """The documents that may be seen."""
        return self.scope.filter_documents(numbers)

    def read(self, places: Sequence[int]) -> dict[int, Document]:
        """Read the wanted documents among those at `places`, by number."""
        found = self.scope.tx.search.messages(self.scope.space, [number_range(place)[0] for place in places])
        self.scope.learn_sessions(each.document for each in found)
        found = self.scope.on_own_branch(found)
        return {each.document: self._to_document(each) for each in found if self._matches(each)}

    def _matches(self, found: FoundMessage) -> bool:
        asked, at = self._asked, found.message.draft.at
        if not self.scope.may_show(found.document) or not self.scope.is_heard(found.message.draft):
            return False
        return asked.at is None or at is None or at <= asked.at

    def _to_document(self, found: FoundMessage) -> Document:
        hit = hit_of_message(found.message, found.key.session)
        passage = Passage(number=found.document, text=hit.text, role=hit.role, author=hit.author, at=hit.at)
        return Document(passage=passage, hit=hit)


class MemoryIndex:
    """The index of memories, as far as a scope makes them visible."""

    name: IndexName = "memories"
    reach = 0

    def __init__(self, asked: RecallQuery, now: datetime, scope: Scope, question: Question | None = None) -> None:
        self._asked = asked
        self.scope = scope
        self.narrows = scope.narrows_memories
        self._now = now
        window = question.window if question else None
        self._past = question is not None and question.past and asked.at is None
        self._senses = question.senses if question else frozenset[str]()
        over = window.until if window and asked.at is None else None
        self._then = over - INSTANT if over is not None and over <= now else None
        """The last moment of the past time that the question names."""
        self.only = kind_term(asked.kind) if asked.kind else None

    def within(self, numbers: Mapping[str, Sequence[int]]) -> Mapping[str, Sequence[int]]:
        """Return all `numbers`, since a memory's number says nothing about what it is."""
        return numbers

    def read(self, places: Sequence[int]) -> dict[int, Document]:
        """Read the wanted documents among those at `places`, by number."""
        found = self.scope.tx.search.memories(self.scope.space, [number_range(place)[0] for place in places])
        seen = self.scope.seen([each.record for each in found])
        visible = [replace(each, record=as_seen) for each, as_seen in zip(found, seen, strict=True) if as_seen]
        return {each.document: self._read(each) for each in visible if self._wanted(each)}

    def _wanted(self, found: FoundMemory) -> bool:
        asked, record = self._asked, found.record
        if asked.kind is not None and record.kind != asked.kind:
            return False
        # A disputed memory is shown as such: leaving it out would decide the dispute.
        if record.state == "disputed" and not record.archived:
            return asked.at is None or record.recorded <= asked.at
        if asked.at is None and record.holds and record.at > self._now:
            # A plan for a future day is wanted before that day.
            return True
        return KINDS[record.kind].holds(record, asked.at or self._now) or self._was_valid_then(record)

    def _was_valid_then(self, record: Record) -> bool:
        """Whether the memory held at the time the question asks about."""
        if self._past:
            kind = KINDS[record.kind]
            return kind.holds(record, record.at) and not kind.holds(record, self._now)
        return self._then is not None and KINDS[record.kind].holds(record, self._then)

    def _read(self, found: FoundMemory) -> Document:
        record = found.record
        hit = hit_of_memory(record)
        passage = Passage(number=found.document, text=record.text, role=record.kind, at=record.when)
        factors = KINDS[record.kind].score(record, self._now)
        if self._past or self._then is not None:
            factors = (*factors, ("time asked of", HELD_THEN if self._was_valid_then(record) else HELD_ELSE))
        if record.attribute and attribute_of(record.attribute) in self._senses:
            factors = (*factors, ("slot asked of", SLOT_ASKED_OF))
        return Document(passage=passage, hit=hit, factors=factors)


def hit_of_message(message: Message, session: str, score: float = 0.0) -> RecallHit:
    """A message as a recall hit."""
    draft = message.draft
    return RecallHit(
        id=message.id,
        kind="message",
        # A message without text is shown by its calls and results.
        text=draft.text or text_of_message(draft),
        score=score,
        at=draft.at,
        session=session,
        sources=(message.id,),
        role=message.role,
        author=author_of_message(draft),
        source_id=draft.source_id,
    )


def hit_of_memory(record: Record, score: float = 0.0) -> RecallHit:
    """A memory as a recall hit."""
    messages = (MessageId(name) for each in record.evidence for name in each.messages)
    return RecallHit(
        id=record.id,
        kind=record.kind,
        text=record.text,
        score=score,
        at=record.when,
        session=record.sessions[0] if record.sessions else "",
        sources=tuple(dict.fromkeys(messages)),
        state=record.state,
        stale=record.stale,
        against=objections(record),
        record=record,
    )


SearchIndex: TypeAlias = MessageIndex | MemoryIndex


LOOKED_AT = 60
"""How many documents are read per index and question; more don't change the first ten."""
LOOKED_AT_FOR_SOME = 400
"""How many are read if only one kind is wanted, since documents of other kinds are skipped."""
FURTHEST = 5_000
"""How many candidates among memories there are if many may be hidden."""
WORD_ROUNDS = 6
"""How many rounds, each twice as far, the search continues if many documents may be hidden."""
FEW = 20_000
"""Up to this many documents of a kind are selected in the postings."""


def search_by_words(index: SearchIndex, question: Question, *, looked_at: int = LOOKED_AT) -> list[Document]:
    """The documents of an index that have words of the question in or near them, best first."""
    search, space = index.scope.tx.search, index.scope.space
    size = search.size(space, index.name)
    if not size.documents or not question.terms:
        return []
    whole = Size(documents=size.documents, terms=size.terms)
    counts = search.count(space, index.name, [term for term, _ in question.terms])
    read = search.postings(space, index.name, terms_to_read(question, counts))
    wanted = _documents_with(index, index.only)
    read = index.within(_keep_only(read, wanted))
    postings = [Postings(term=term, count=counts[term], numbers=read.get(term)) for term, _ in question.terms]
    some = sorted({word for each in question.beside.values() for word, _ in each})
    few = search.postings(space, index.name, some, ALIKE_AT_MOST)
    postings = with_synonyms(question, postings, index.within(_keep_only(few, wanted)), whole)
    if isinstance(index, MemoryIndex) and index.narrows:
        found, documents = _search_deeper(index, question, postings, whole, looked_at)
    else:
        found, documents, postings = _search_visible(index, question, postings, whole, looked_at)
    passages = [each.passage for each in documents.values()]
    worth = sum(term_weights(question, postings, whole).values()) or 1.0
    return [
        replace(
            documents[each.number],
            relevance=each.score / worth,
            parts=tuple((name, value / worth) for name, value in each.parts),
        )
        for each in rank(question, found, passages, postings, whole, reach=index.reach)
    ]


def _search_visible(
    index: SearchIndex, question: Question, postings: list[Postings], whole: Size, looked_at: int
) -> tuple[Sequence[Candidate], dict[int, Document], list[Postings]]:
    """Find candidates and read them.

    Hidden documents must not raise their neighbours, nor must those in which a term is a common word of their language:
    if there are any, the search is repeated without them.
    """
    documents: dict[int, Document] = {}
    looked: set[int] = set()
    seeds = SEEDS
    for left in reversed(range(WORD_ROUNDS)):
        found = candidates(question, postings, whole, reach=index.reach, at_most=looked_at, seeds=seeds)
        places = [each.place for each in found if each.place not in looked]
        if not (places and left):
            break
        documents.update(index.read(places))
        looked.update(places)
        read = {place_of(number): each.passage.text for number, each in documents.items()}
        hidden = looked - read.keys() if index.narrows else set[int]()
        passed_over = {
            each.term: hidden
            | {place for place, text in read.items() if is_common_there(each.term, question.language, text)}
            for each in postings
        }
        if not any(passed_over.values()):
            break
        postings = [_without_places(each, passed_over[each.term]) for each in postings]
        if 2 * len(documents) < len(looked):
            looked_at *= 2
            seeds *= 2
    return found, documents, postings


def _without_places(postings: Postings, places: set[int]) -> Postings:
    def kept(numbers: Sequence[int]) -> list[int]:
        return [each for each in numbers if place_of(each) not in places]

    return replace(
        postings,
        numbers=None if postings.numbers is None else kept(postings.numbers),
        alike=tuple((share, kept(numbers)) for share, numbers in postings.alike),
        told=tuple((share, kept(numbers)) for share, numbers in postings.told),
    )


def _search_deeper(
    index: MemoryIndex, question: Question, postings: list[Postings], whole: Size, looked_at: int
) -> tuple[Sequence[Candidate], dict[int, Document]]:
    """Find candidates in an index without neighbours, and read them from the best on until there are enough."""
    found = candidates(question, postings, whole, reach=0, at_most=FURTHEST, seeds=FURTHEST)
    numbers = {place_of(number): number for each in postings for number in each.numbers or ()}
    beside = (some for each in postings for _, some in (*each.alike, *each.told))
    numbers |= {place_of(number): number for some in beside for number in some}
    likely = set(index.scope.in_open_projects([numbers[each.place] for each in found]))
    left = [each.place for each in found if numbers[each.place] in likely]
    documents: dict[int, Document] = {}
    looked_at = min(SEEDS, looked_at)
    enough = looked_at // 2
    while left and len(documents) < enough:
        documents.update(index.read(left[:looked_at]))
        left = left[looked_at:]
    return found, documents


def _documents_with(index: SearchIndex, term: str | None) -> frozenset[int] | None:
    """The documents that contain `term`; None if it isn't given, or so common that others are skipped later."""
    if term is None:
        return None
    search, space = index.scope.tx.search, index.scope.space
    if search.count(space, index.name, [term], FEW)[term] > FEW:
        return None
    return frozenset(search.postings(space, index.name, [term])[term])


def _keep_only(numbers: Mapping[str, Sequence[int]], wanted: frozenset[int] | None) -> Mapping[str, Sequence[int]]:
    if wanted is None:
        return numbers
    return {term: [number for number in each if number in wanted] for term, each in numbers.items()}


VECTOR_ROUNDS = 3
FURTHER = 4


class QueryVector(Struct, frozen=True, kw_only=True):
    """A question's vector, and the embedder it is from."""

    embedder: str
    vector: Vector


def search_by_meaning(
    index: SearchIndex, meaning: QueryVector, held: VectorCache, *, looked_at: int
) -> tuple[list[Document], float]:
    """Return the documents of an index whose vectors are nearest to the question's, best first, and a floor.

    The relevance of a document is its cosine. The floor is the cosine of the last of `looked_at` wanted documents, or
    of the furthest one read if fewer are wanted, since any document is about that near. It is 0 if all were read.
    """
    tx, space = index.scope.tx, index.scope.space
    wanted = looked_at
    for left in reversed(range(VECTOR_ROUNDS)):
        near = held.nearest(tx.vectors, space, index.name, meaning.embedder, meaning.vector, looked_at)
        documents = index.read([place_of(number) for number, _ in near])
        if 2 * len(documents) >= wanted or len(near) < looked_at or not left:
            break
        # Many of the nearest may be hidden: search further.
        looked_at *= FURTHER
    found = [
        replace(documents[number], relevance=cosine, parts=(("meaning", cosine),))
        for number, cosine in near
        if number in documents and cosine > 0
    ]
    if len(found) >= wanted:
        return found, found[wanted - 1].relevance
    return found, near[-1][1] if len(near) >= looked_at else 0.0


# Vectors: computed for documents without one, and kept in memory up to date with the store.

INDEXES: tuple[IndexName, ...] = ("memories", "messages")
"""Memories first: they are few, and searched most."""
TOGETHER = 256
"""The number of documents per transaction: a stopped process loses at most this much work."""


class EmbedReport(Struct, frozen=True, kw_only=True):
    """How many vectors were computed."""

    documents: int
    """How many messages and memories got a vector."""
    left: bool
    """Whether some are still missing."""


async def embed_missing(store: Store, space: str, embedder: Embedder, limit: int = 1_000) -> EmbedReport:
    """Compute the vectors of at most `limit` documents, memories first, then the newest messages.

    The stored data determine what is due, so this may be stopped anywhere; concurrent processes only do some work
    twice. The embedder is asked outside any transaction: a document that was erased or rewritten meanwhile gets no
    vector. Raises EmbedderError, with the vectors before it kept.
    """
    done = 0
    for index in INDEXES:
        while done < limit:
            texts = await store.read(_due_texts, space, index, embedder.name, min(TOGETHER, limit - done))
            if not texts:
                break
            vectors = await vectors_of(embedder, list(texts.values()))
            kept = await store.write(_store_vectors, space, index, embedder.name, texts, vectors)
            done += kept
            if not kept:
                # Other processes were quicker, or all texts were rewritten: leave the rest to a later call.
                break
    left = await store.read(lambda tx: [tx.vectors.due(space, index, embedder.name, 1) for index in INDEXES])
    return EmbedReport(documents=done, left=any(left))


def _due_texts(tx: Transaction, space: str, index: IndexName, name: str, most: int) -> Mapping[int, str]:
    return _texts(tx.search, space, index, tx.vectors.due(space, index, name, most))


async def vectors_of(embedder: Embedder, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
    """The vector of each text. Raises EmbedderError, also for a wrong number or size of vectors."""
    vectors = await embedder.embed(texts, query=query)
    if len(vectors) != len(texts):
        raise EmbedderError(f"{embedder.name} gave {len(vectors):,} vectors for {len(texts):,} texts.")
    size = embedder.dimensions or len(vectors[0])
    if odd := [each for each in vectors if len(each) != size]:
        raise EmbedderError(f"{embedder.name} gave a vector of {len(odd[0]):,} bytes, and {size:,} are wanted.")
    return vectors


def _store_vectors(
    tx: Transaction, space: str, index: IndexName, name: str, texts: Mapping[int, str], vectors: Sequence[Vector]
) -> int:
    """Store the vectors of those documents whose text has not changed."""
    now = _texts(tx.search, space, index, list(texts))
    still = {
        document: vector
        for (document, text), vector in zip(texts.items(), vectors, strict=True)
        if now.get(document) == text
    }
    return tx.vectors.put(space, index, name, still)


def _texts(port: SearchPort, space: str, index: IndexName, documents: Sequence[int]) -> Mapping[int, str]:
    if index == "messages":
        return {each.document: text_of_message(each.message.draft) for each in port.messages(space, documents)}
    return {each.document: each.record.text for each in port.memories(space, documents)}


MOST_BYTES = 512 * 1024 * 1024
"""Limit for the vectors of all spaces: about a million documents of 384 dimensions."""

_Key: TypeAlias = tuple[str, IndexName, str]


class VectorCache:
    """The vectors of the most recently searched spaces of a store."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        """Hold at most `most_bytes`, unless a single space is larger."""
        self._most_bytes = most_bytes
        self._held: dict[_Key, _CachedVectors] = {}
        self._guard = Lock()

    @property
    def size_bytes(self) -> int:
        """The memory they take."""
        return sum(held.vectors.size_bytes for held in self._held.values())

    def count(self, space: str, index: IndexName, embedder: str) -> int:
        """How many documents had a vector when they were last searched."""
        held = self._held.get((space, index, embedder))
        return len(held.vectors) if held else 0

    def nearest(
        self, port: VectorsPort, space: str, index: IndexName, embedder: str, query: Vector, k: int
    ) -> Sequence[tuple[int, float]]:
        """The `k` documents whose vectors are nearest to `query`, with their cosines, the nearest first.

        `port` must be that of a `read()`, since uncommitted vectors must not be cached. Nothing erased before that
        snapshot is returned. Raises MissingExtra without the extra `vectors`, and EmbedderError if `query` has another
        number of dimensions than the vectors.
        """
        key = (space, index, embedder)
        if (likely := port.likely(space, index, embedder, query, k)) is not None:
            with self._guard:
                self._held.pop(key, None)
            return _CachedVectors().search(VectorChanges(change=0, added=likely, removed=(), whole=False), query, k)
        with self._guard:
            held = self._held[key] = self._held.pop(key) if key in self._held else _CachedVectors()
        with held.turn:
            changes = port.since(space, index, embedder, held.change)
            try:
                found = held.search(changes, query, k)
            except ValueError as wrong:
                raise EmbedderError(
                    f"The vectors of {embedder} can't be compared: {wrong}. Give it another name, and make them anew."
                ) from wrong
        with self._guard:
            self._drop_oldest(key)
        return found

    def _drop_oldest(self, used: _Key) -> None:
        """Drop the least recently used spaces until all others fit."""
        for key in list(self._held):
            if self.size_bytes <= self._most_bytes:
                return
            if key != used:
                del self._held[key]


class _CachedVectors:
    """The vectors of one space, index and embedder, and the number of their last change."""

    def __init__(self) -> None:
        self.change = 0
        self.vectors = _vectors()
        self.turn = Lock()
        """Held from reading changes to applying them, so that no older change overwrites a newer one."""

    def search(self, changes: VectorChanges, query: Vector, k: int) -> Sequence[tuple[int, float]]:
        if changes.whole:
            self.vectors = _vectors()
        self.vectors.change(changes.added, changes.removed)
        self.change = changes.change
        return self.vectors.nearest(query, k)


def _vectors() -> Vectors:
    """Create an empty set of vectors. Raises MissingExtra."""
    try:
        from ireneo.memories.nearest import Vectors
    except ImportError as missing:
        told = "To search by vectors needs the extra `vectors`: pip install 'ireneo[vectors]'."
        raise MissingExtra(told) from missing
    return Vectors()

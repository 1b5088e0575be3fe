"""Recall: read the question, search the indexes of messages and memories, mix what was found.

And take the best that fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.resources import Resources
from ireneo.engine.scope import RecallQuery, Scope, place_all
from ireneo.engine.vectors import HeldVectors, vectors_of
from ireneo.errors import EmbedderError
from ireneo.language.words import terms
from ireneo.log.message import MessageId
from ireneo.memories.changes import says_of_change
from ireneo.memories.index import (
    MOST_IN_SESSION,
    Vector,
    author_of_message,
    kind_term,
    numbers_at,
    place_of,
    text_of_message,
)
from ireneo.memories.kinds import KINDS
from ireneo.memories.ranking import (
    ALIKE_AT_MOST,
    MEANT_AT_MOST,
    NEAR_ENOUGH,
    NEWEST_OF_MATTER,
    OF_ONE_MATTER,
    SEEDS,
    SHADE,
    VECTOR_WEIGHT,
    Candidate,
    Passage,
    Postings,
    Question,
    RecallHit,
    RecallResults,
    around_event,
    asked_of,
    candidates,
    likeness,
    moved_up,
    pack,
    rank,
    read_question,
    repeats_last,
    terms_to_read,
    told_once,
    weights,
    with_beside,
    words_of,
)
from ireneo.memories.ranking import IndexStats as Size
from ireneo.memories.record import Record, disputes
from ireneo.memories.senses import TOLD
from ireneo.memories.serving import telling
from ireneo.memories.slots import attribute_of
from ireneo.ports.memories import FoundMemory, FoundMessage, SearchPort
from ireneo.ports.memories import IndexName as Name
from ireneo.ports.store import Transaction

INSTANT = timedelta(microseconds=1)
HELD_THEN = 1.25
"""What counts more where a question names a time: what was the case then."""
HELD_ELSE = 0.8
"""What was not, and is the case now: the time may have been meant otherwise, so it is told as well."""

SLOT_ASKED_OF = 1.5
"""What a memory counts more that fills the slot that is asked of."""
OF_ANOTHER = 0.5
"""What one counts that is of another, where it is asked of oneself."""
SPEAKERS = frozenset({"", "user", "the user", "me", "i"})
"""Subjects that are whoever speaks."""
SHORT_REPLY = 200
"""Letters of a reply that may do no more than say again what it answers, and of a message that may only ask."""
SAYS_AGAIN = 0.5
"""What is left to such a reply."""
ONLY_ASKS = 0.5
"""What is left to a message that only asks something."""

Parts: TypeAlias = tuple[tuple[str, float], ...]


class ReadDocument(Struct, frozen=True, kw_only=True):
    """A document that was read: how it is ranked, and how it is told."""

    passage: Passage
    recalled: RecallHit
    """Without its score."""
    factors: Parts = ()
    """What its relevance is multiplied by, apart from what the question says."""


class MessageIndex:
    """What was said."""

    name: Name = "messages"
    reach = len(SHADE) - 1
    """How many neighbours on each side count in."""
    only: str | None = None
    """The term that every document has which is wanted; None where any may be."""

    def __init__(self, asked: RecallQuery, scope: Scope) -> None:
        """Look for what is asked, as far as it may be seen."""
        self._asked = asked
        self._scope = scope
        self.narrows = scope.narrows_messages
        """Whether so much may turn out not to be wanted once it is read that what is further down counts too."""

    def within(self, numbers: Mapping[str, Sequence[int]]) -> Mapping[str, Sequence[int]]:
        """The documents that may be seen."""
        return self._scope.within(numbers)

    def likely(self, numbers: Sequence[int]) -> Sequence[int]:
        """All of them: the others are left out already."""
        return numbers

    def read(self, search: SearchPort, space: str, places: Sequence[int]) -> dict[int, ReadDocument]:
        """Read the messages at `places`."""
        found = search.messages(space, [numbers_at(place)[0] for place in places])
        self._scope.learn_sessions(each.document for each in found)
        found = self._scope.lived_through(found)
        return {each.document: self._read(each) for each in found if self._wanted(each)}

    def _wanted(self, found: FoundMessage) -> bool:
        asked, at = self._asked, found.message.draft.at
        if not self._scope.holds(found.document) or not self._scope.hears(found.message.draft):
            return False
        return asked.at is None or at is None or at <= asked.at

    def _read(self, found: FoundMessage) -> ReadDocument:
        message, draft = found.message, found.message.draft
        author = author_of_message(draft)
        recalled = RecallHit(
            id=message.id,
            kind="message",
            # Of one that has no words of its own, what its calls and results say.
            text=draft.text or text_of_message(draft),
            score=0.0,
            at=draft.at,
            session=found.key.session,
            sources=(message.id,),
            role=message.role,
            author=author,
            source_id=draft.source_id,
        )
        passage = Passage(number=found.document, text=recalled.text, role=message.role, author=author, at=draft.at)
        return ReadDocument(passage=passage, recalled=recalled)


class MemoryIndex:
    """What was learned."""

    name: Name = "memories"
    reach = 0

    def __init__(self, asked: RecallQuery, now: datetime, scope: Scope, question: Question | None = None) -> None:
        """Look for what is asked at the time `now`; `question` tells of which time it asks."""
        self._asked = asked
        self._scope = scope
        self.narrows = scope.narrows_memories
        self._now = now
        window = question.window if question else None
        self._past = question is not None and question.past and asked.at is None
        self._senses = question.senses if question else frozenset[str]()
        self._own = question is not None and question.own
        self._whom = question.whom if question else frozenset[str]()
        over = window.until if window and asked.at is None else None
        self._then = over - INSTANT if over is not None and over <= now else None
        """The last moment of the time that the question names, where that is over."""
        self.only = kind_term(asked.kind) if asked.kind else None

    def within(self, numbers: Mapping[str, Sequence[int]]) -> Mapping[str, Sequence[int]]:
        """All of them: of a memory its number tells nothing."""
        return numbers

    def likely(self, numbers: Sequence[int]) -> Sequence[int]:
        """Those that are not of another project alone."""
        return self._scope.may_be_here(numbers)

    def read(self, search: SearchPort, space: str, places: Sequence[int]) -> dict[int, ReadDocument]:
        """Read the memories at `places`."""
        found = search.memories(space, [numbers_at(place)[0] for place in places])
        seen = self._scope.seen([each.record for each in found])
        told = [replace(each, record=as_seen) for each, as_seen in zip(found, seen, strict=True) if as_seen]
        return {each.document: self._read(each) for each in told if self._wanted(each)}

    def _wanted(self, found: FoundMemory) -> bool:
        asked, record = self._asked, found.record
        if asked.kind is not None and record.kind != asked.kind:
            return False
        # What is disputed is shown as such: to leave it out would be to decide.
        if record.state == "disputed" and not record.archived:
            return asked.at is None or record.recorded <= asked.at
        return KINDS[record.kind].holds(record, asked.at or self._now) or self._held_then(record)

    def _held_then(self, record: Record) -> bool:
        """Whether it was the case in the time that the question asks of."""
        if self._past:
            return not record.archived and bool(record.periods) and not KINDS[record.kind].holds(record, self._now)
        return self._then is not None and KINDS[record.kind].holds(record, self._then)

    def _read(self, found: FoundMemory) -> ReadDocument:
        record = found.record
        recalled = hit_of_memory(record)
        passage = Passage(number=found.document, text=record.text, role=record.kind, at=record.when)
        factors = KINDS[record.kind].score(record, self._now)
        if self._past or self._then is not None:
            factors = (*factors, ("time asked of", HELD_THEN if self._held_then(record) else HELD_ELSE))
        if record.attribute and attribute_of(record.attribute) in self._senses:
            factors = (*factors, ("slot asked of", SLOT_ASKED_OF))
        if (self._own and record.subject.casefold() not in SPEAKERS) or self._is_of_another(record):
            factors = (*factors, ("of another", OF_ANOTHER))
        return ReadDocument(passage=passage, recalled=recalled, factors=factors)

    def _is_of_another(self, record: Record) -> bool:
        """Whether it fills a slot of somebody else than those whom the question names, and names none of these."""
        if not self._whom or not record.attribute or record.subject.casefold() in SPEAKERS:
            return False
        return self._whom.isdisjoint(terms(record.subject)) and self._whom.isdisjoint(terms(record.text))


def hit_of_memory(record: Record, score: float = 0.0) -> RecallHit:
    """A memory as it is recalled."""
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
        against=disputes(record),
        record=record,
    )


SearchIndex: TypeAlias = MessageIndex | MemoryIndex


LOOKED_AT = 60
"""Documents that are read for a question, of each index; more change nothing about the first ten."""
LOOKED_AT_FOR_SOME = 400
"""The same where only those of one session or one kind are wanted: others are read and passed over."""
FURTHEST = 5_000
"""So far down it is looked among memories where much of what is found may not be seen."""
WORD_ROUNDS = 6
"""So many times it is looked further down, each time twice as far, where much of what is found may not be seen."""
FEW = 20_000
"""Documents up to which those of a kind are picked from the postings."""


_Looked: TypeAlias = tuple[Sequence[Candidate], dict[int, "ReadDocument"], list[Postings]]
"""What was found, the documents of it that are wanted, by number, and where the terms stand that counted for it."""


class ScoredDocument(Struct, frozen=True, kw_only=True):
    """A document that answers, with how well."""

    read: ReadDocument
    relevance: float
    """The share of what the question's words are worth that the document has: comparable between the indexes."""
    parts: tuple[tuple[str, float], ...]


def by_words(
    search: SearchPort, space: str, index: SearchIndex, question: Question, *, looked_at: int = LOOKED_AT
) -> list[ScoredDocument]:
    """The documents of an index that have words of the question in or near them, best first."""
    size = search.size(space, index.name)
    if not size.documents or not question.terms:
        return []
    whole = Size(documents=size.documents, terms=size.terms)
    counts = search.count(space, index.name, [term for term, _ in question.terms])
    read = search.postings(space, index.name, terms_to_read(question, counts))
    within = _within(search, space, index)
    if within is not None:
        read = {term: [number for number in numbers if number in within] for term, numbers in read.items()}
    read = index.within(read)
    postings = [Postings(term=term, count=counts[term], numbers=read.get(term)) for term, _ in question.terms]
    some = sorted({word for each in question.beside.values() for word, _ in each})
    few = search.postings(space, index.name, some, ALIKE_AT_MOST)
    if within is not None:
        few = {word: [number for number in numbers if number in within] for word, numbers in few.items()}
    postings = with_beside(question, postings, index.within(few), whole)
    look = _further_down if index.narrows and not index.reach else _closely
    found, documents, postings = look(search, space, index, question, postings, whole, looked_at)
    passages = [each.passage for each in documents.values()]
    question = around_event(question, passages)
    worth = sum(weights(question, postings, whole).values()) or 1.0
    return [
        ScoredDocument(
            read=documents[each.number],
            relevance=each.score / worth,
            parts=tuple((name, value / worth) for name, value in each.parts),
        )
        for each in rank(question, found, passages, postings, whole, reach=index.reach)
    ]


def _closely(
    search: SearchPort,
    space: str,
    index: SearchIndex,
    question: Question,
    postings: list[Postings],
    whole: Size,
    looked_at: int,
) -> _Looked:
    """What is found, with the documents that are wanted of it.

    What may not be seen makes nothing beside it likelier: where there is any, it is looked again without that.
    """
    documents: dict[int, ReadDocument] = {}
    looked: set[int] = set()
    seeds = SEEDS
    for left in reversed(range(WORD_ROUNDS)):
        found = candidates(question, postings, whole, reach=index.reach, at_most=looked_at, seeds=seeds)
        places = [each.place for each in found if each.place not in looked]
        if not (places and left):
            break
        documents.update(index.read(search, space, places))
        looked.update(places)
        if not index.narrows:
            break
        passed_over = looked - {place_of(number) for number in documents}
        postings = [
            replace(
                each,
                numbers=None if each.numbers is None else _without(each.numbers, passed_over),
                alike=tuple((share, _without(numbers, passed_over)) for share, numbers in each.alike),
                told=tuple((share, _without(numbers, passed_over)) for share, numbers in each.told),
            )
            for each in postings
        ]
        if 2 * len(documents) < len(looked):
            looked_at *= 2
            seeds *= 2
    return found, documents, postings


def _without(numbers: Sequence[int], places: set[int]) -> list[int]:
    return [each for each in numbers if place_of(each) not in places]


def _further_down(
    search: SearchPort,
    space: str,
    index: SearchIndex,
    question: Question,
    postings: list[Postings],
    whole: Size,
    looked_at: int,
) -> _Looked:
    """The same on an index without neighbours: from the best on, until enough are wanted of what was read."""
    found = candidates(question, postings, whole, reach=0, at_most=FURTHEST, seeds=FURTHEST)
    numbers = {place_of(number): number for each in postings for number in each.numbers or ()}
    beside = (some for each in postings for _, some in (*each.alike, *each.told))
    numbers |= {place_of(number): number for some in beside for number in some}
    likely = set(index.likely([numbers[each.place] for each in found]))
    left = [each.place for each in found if numbers[each.place] in likely]
    documents: dict[int, ReadDocument] = {}
    looked_at = min(SEEDS, looked_at)
    enough = looked_at // 2
    while left and len(documents) < enough:
        documents.update(index.read(search, space, left[:looked_at]))
        left = left[looked_at:]
    return found, documents, postings


def _within(search: SearchPort, space: str, index: SearchIndex) -> frozenset[int] | None:
    """The documents that alone are wanted; None where any may be, or nearly any: then others are passed over later."""
    if index.only is None:
        return None
    count = search.count(space, index.name, [index.only], FEW)[index.only]
    if count > FEW:
        return None
    return frozenset(search.postings(space, index.name, [index.only])[index.only])


VECTOR_ROUNDS = 3
FURTHER = 4


class QueryVector(Struct, frozen=True, kw_only=True):
    """A question's vector, and whose it is."""

    embedder: str
    vector: Vector


def by_meaning(
    tx: Transaction, space: str, index: SearchIndex, meaning: QueryVector, held: HeldVectors, *, looked_at: int
) -> list[ScoredDocument]:
    """The documents of an index whose vectors are nearest to the question's, best first."""
    wanted = looked_at
    for left in reversed(range(VECTOR_ROUNDS)):
        near = held.nearest(tx.vectors, space, index.name, meaning.embedder, meaning.vector, looked_at)
        documents = index.read(tx.search, space, [place_of(number) for number, _ in near])
        if 2 * len(documents) >= wanted or len(near) < looked_at or not left:
            break
        # Much of what is nearest may not be seen: then what is further off counts too.
        looked_at *= FURTHER
    return [
        ScoredDocument(read=documents[number], relevance=cosine, parts=(("meaning", cosine),))
        for number, cosine in near
        if number in documents and cosine > 0
    ]


_Name: TypeAlias = tuple[str, str]
"""A message's session and id, since sessions that begin alike share the ids of what they share; "" and a memory's."""

SPEAKS = 3
"""Who speaks in fewer messages than that is no speaker to be asked about; it may be a heading before a colon."""
LEAST_SHARE = 0.2
"""What the words of a question find with less than this share of the best one's score is no answer to it."""
SPARE = 2
"""So many times as many are ranked to the end as are wanted, since some repeat others."""
FIRST = 20
"""Of so many the newer goes first; what is further down would push out of them what answers."""
FOLLOWED = 16
"""What took the place of what took its place is followed so far."""
BY_WORDS = "It was looked for by the words alone: "


async def recall(resources: Resources, space: str, held: HeldVectors, asked: RecallQuery) -> RecallResults:
    """What answers a question, best first: messages and memories, found by their words and perhaps by their meaning.

    An embedder that does not answer changes nothing but the note: recall goes by the words alone then.
    """
    if asked.project is not None:
        await place_all(resources.store, space)
    meaning, note = await _meaning(resources, asked.text)
    return await resources.store.read(_recall, resources, space, held, asked, meaning, note)


def _recall(
    tx: Transaction,
    resources: Resources,
    space: str,
    held: HeldVectors,
    asked: RecallQuery,
    meaning: QueryVector | None,
    note: str,
) -> RecallResults:
    now = resources.clock.now()
    speakers = [name for name, spoke in tx.search.authors(space).items() if spoke >= SPEAKS]
    question = read_question(asked.text, now=asked.at or now, speakers=speakers)
    scope = Scope.of(tx, space, asked)
    learned = MemoryIndex(asked, now, scope, question)
    indexes: list[SearchIndex] = [learned]
    if asked.messages and asked.kind is None:
        indexes.insert(0, MessageIndex(asked, scope))
    looked_at = max(LOOKED_AT if asked.kind is None else LOOKED_AT_FOR_SOME, SPARE * asked.limit)
    known = by_words(tx.search, space, learned, question, looked_at=looked_at)
    named = _by_name(question, [each.read.recalled.record for each in known])
    worded = [
        known
        if index is learned and named is question
        else by_words(tx.search, space, index, named, looked_at=looked_at)
        for index in indexes
    ]
    question = named
    meant: list[list[ScoredDocument]] = [[] for _ in indexes]
    bare = 0
    """How many have no vector yet."""
    if meaning is not None:
        try:
            meant = [by_meaning(tx, space, index, meaning, held, looked_at=looked_at) for index in indexes]
            for index in indexes:
                bare += tx.search.size(space, index.name).documents - held.count(space, index.name, meaning.embedder)
        except EmbedderError as error:
            note = f"{BY_WORDS}{error}"
    mixed = [each for some, near in zip(worded, meant, strict=True) for each in _mixed(some, near, question, looked_at)]
    if asked.messages and asked.kind is None and question.side != "assistant":
        mixed = _as_answers(tx.search, space, indexes[0], mixed)
    # Of equal ones the earlier, wherever it is stored: a copy finds them in the same order.
    found = sorted(map(_scored, mixed), key=lambda each: (-each.score, each.at.timestamp() if each.at else 0.0))
    found = [each for each in found if each.score >= LEAST_SHARE * found[0].score]
    if bare > 0:
        note = f"{bare:,} of what is searched have no vector yet and were looked for by their words; `work` makes them."
    if question.of_now:
        found = _now_first(tx, space, scope, question, found, asked)
    return RecallResults(_chosen(found, question, asked, resources), note)


def _by_name(question: Question, records: Iterable[Record | None]) -> Question:
    """The question with the names of those whom it calls "my sister", as far as a memory tells them."""
    asked = {term for term, _ in question.terms}
    names: dict[str, list[tuple[str, float]]] = {}
    for each in records:
        if each is None or attribute_of(each.attribute) not in question.senses or not each.value[:1].isupper():
            continue
        called = [term for term in terms(each.value) if term not in asked]
        for role in asked.intersection(terms(each.text)):
            names.setdefault(role, []).extend((term, TOLD) for term in called)
    if not names or len(asked) == 1:
        return question
    beside = {role: [*names.get(role, ()), *question.beside.get(role, ())] for role in {*names, *question.beside}}
    return replace(question, beside=beside)


def _as_answers(
    search: SearchPort, space: str, index: SearchIndex, mixed: Sequence[ScoredDocument]
) -> list[ScoredDocument]:
    """What was found, with what only asks worth less than what tells something.

    A short reply to what somebody told says it again: what it is worth, that is worth which it answers.
    """
    ranked = sorted(mixed, key=lambda each: -each.relevance)
    said = {place_of(each.read.passage.number): each for each in ranked if each.read.recalled.record is None}
    first = {
        place: each.read.recalled
        for place, each in list(said.items())[: SPARE * FIRST]
        if len(each.read.recalled.text) <= SHORT_REPLY
    }
    replies = [place for place, hit in first.items() if hit.role == "assistant" and place % MOST_IN_SESSION]
    unread = [place - 1 for place in replies if place - 1 not in said]
    for number, read in (index.read(search, space, unread) if unread else {}).items():
        said[place_of(number)] = ScoredDocument(read=read, relevance=0.0, parts=())
    for place, hit in first.items():
        if hit.role == "user" and not telling(hit.text):
            said[place] = _worth(said[place], "only asks", (ONLY_ASKS - 1) * said[place].relevance)
    for place in replies:
        answered, reply = said.get(place - 1), said[place]
        if answered is None or not _says_again(reply.read.recalled, answered.read.recalled):
            continue
        if (more := reply.relevance - answered.relevance) > 0:
            said[place - 1] = _worth(answered, "reply", more)
        said[place] = _worth(reply, "says again", (SAYS_AGAIN - 1) * reply.relevance)
    return [*(each for each in mixed if each.read.recalled.record is not None), *said.values()]


def _says_again(reply: RecallHit, answered: RecallHit) -> bool:
    """Whether a reply takes up what a user told: it has a word of that, and nothing was asked."""
    return (
        answered.role == "user"
        and bool(telling(answered.text))
        and not set(terms(reply.text)).isdisjoint(terms(answered.text))
    )


def _worth(each: ScoredDocument, why: str, more: float) -> ScoredDocument:
    return replace(each, relevance=each.relevance + more, parts=(*each.parts, (why, more)))


def _now_first(
    tx: Transaction, space: str, scope: Scope, question: Question, found: Sequence[RecallHit], asked: RecallQuery
) -> list[RecallHit]:
    """What was found with the newer before the older that answers as well, and nothing before what took its place."""
    head = min(asked.limit, FIRST)
    about = {_name(each): words_of(question, each.text) for each in found[:head]}

    least = NEWEST_OF_MATTER if question.newest else OF_ONE_MATTER

    def renews(one: RecallHit, other: RecallHit) -> bool:
        if one.at is None or other.at is None or one.at <= other.at:
            return False
        if (one.role, one.author) != (other.role, other.author) or one.score < NEAR_ENOUGH * other.score:
            return False
        words = about[_name(one)]
        # What says that something changed need not say all of it again.
        changes = 2 * len(words) >= len(question.terms) and len(one.text) <= SHORT_REPLY
        return likeness(words, about[_name(other)]) >= least or (changes and says_of_change(one.text))

    first = moved_up(found[:head], renews)
    if asked.at is not None:
        # What took the place of what may have done so later.
        return [*_falling(first), *found[head:]]
    best = [*first, *found[head : SPARE * asked.limit]]
    said = [name for each in best for name in each.sources]
    over = [
        each
        for each in scope.seen(tx.memories.citing(space, said) if said else ())
        if each is not None and each.state in ("superseded", "retired") and each.periods
        if words_of(question, each.text)
    ]
    ordered: list[RecallHit] = []
    for each in best:
        cited = [one for one in over if (each.id in one.sources if each.record is None else each.text == one.text)]
        ended = [(one, _holding(tx, space, scope, one)) for one in cited]
        for one in [*_instead(each, ended, best, asked), each]:
            if one not in ordered:
                ordered.append(one)
    return [*_falling(ordered), *found[SPARE * asked.limit :]]


def _instead(
    hit: RecallHit, ended: Iterable[tuple[Record, Record | None]], best: Sequence[RecallHit], asked: RecallQuery
) -> Iterator[RecallHit]:
    """What goes before a message that says what has `ended`: those that say so, and the memory that holds instead."""
    for record, holds in ended:
        pieces = (holds or record).evidence
        says = {name for each in pieces if each.against is (holds is None) for name in each.messages}
        if hit.id in says:
            continue
        yield from (each for each in best if each.record is None and each.id in says)
        if holds is not None:
            known = next((each for each in best if each.id == holds.id and each.record is not None), None)
            if known or asked.kind in (None, holds.kind):
                yield known or hit_of_memory(holds, hit.score)


def _holding(tx: Transaction, space: str, scope: Scope, record: Record) -> Record | None:
    """The memory that holds in the place of one that was superseded, followed to the last."""
    for _ in range(FOLLOWED):
        if record.superseded_by is None:
            break
        (following,) = scope.seen(tx.memories.get(space, [record.superseded_by])) or (None,)
        if following is None:
            return None
        record = following
    return record if record.holds else None


async def _meaning(resources: Resources, text: str) -> tuple[QueryVector | None, str]:
    """The question's vector, outside any transaction; or why there is none."""
    if resources.embedder is None:
        return None, ""
    try:
        (vector,) = await vectors_of(resources.embedder, [text], query=True)
    except EmbedderError as error:
        return None, f"{BY_WORDS}{error}"
    return QueryVector(embedder=resources.embedder.name, vector=vector), ""


def _mixed(
    worded: Sequence[ScoredDocument], near: Sequence[ScoredDocument], question: Question, looked_at: int
) -> list[ScoredDocument]:
    """What the words of a question find and what is near to it in meaning, with what both count together."""
    found = {each.read.passage.number: each for each in worded}
    # What is as near as anything is tells nothing: it counts by how much it is nearer than the last that is looked at.
    least = near[-1].relevance if len(near) >= looked_at else 0.0
    for each in near:
        passage = each.read.passage
        counts = VECTOR_WEIGHT * (each.relevance - least) * (1 + asked_of(question, passage))
        if counts > 0 and len(passage.text) <= MEANT_AT_MOST:
            known = found.get(passage.number) or ScoredDocument(read=each.read, relevance=0.0, parts=())
            parts = (*known.parts, ("meaning", counts))
            found[passage.number] = replace(known, relevance=known.relevance + counts, parts=parts)
    return list(found.values())


def _name(found: RecallHit) -> _Name:
    return (found.session if found.record is None else "", found.id)


def _scored(hit: ScoredDocument) -> RecallHit:
    score, parts = hit.relevance, hit.parts
    for name, factor in hit.read.factors:
        score *= factor
        parts = (*parts, (f"× {name}", factor))
    return replace(hit.read.recalled, score=score, parts=parts)


def _chosen(
    found: Sequence[RecallHit], question: Question, asked: RecallQuery, resources: Resources
) -> Iterable[RecallHit]:
    """The best that are wanted: what a memory and its message both say once, and nothing twice."""
    ordered = _falling(told_once(found[: SPARE * asked.limit], question))
    chosen: Sequence[RecallHit] = repeats_last(ordered, lambda each: each.text.split())[: asked.limit]
    if asked.budget is not None:
        chosen = pack(chosen, lambda each: resources.count(each.text), asked.budget)
    return chosen if asked.explain else [replace(each, parts=()) for each in chosen]


def _falling(ordered: Sequence[RecallHit]) -> list[RecallHit]:
    """The same order, with scores that say so: what was moved up is worth no less than what it stands before."""
    least = 0.0
    told: list[RecallHit] = []
    for each in reversed(ordered):
        least = max(least, each.score)
        told.append(each if each.score == least else replace(each, score=least))
    return told[::-1]

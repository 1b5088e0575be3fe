"""Recall: search the indexes of messages and memories, merge the results, and take the best that fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from ireneo.engine.resources import Resources
from ireneo.engine.scope import RecallQuery, Scope
from ireneo.engine.searching import (
    LOOKED_AT,
    LOOKED_AT_FOR_SOME,
    Document,
    MemoryIndex,
    MessageIndex,
    QueryVector,
    SearchIndex,
    VectorCache,
    hit_of_memory,
    hit_of_message,
    search_by_meaning,
    search_by_words,
    vectors_of,
)
from ireneo.errors import EmbedderError, SessionNotFound
from ireneo.language.files import topic
from ireneo.language.topics import Questions
from ireneo.language.words import terms
from ireneo.log.tree import SessionKey
from ireneo.memories.cues import mentions_change, relations
from ireneo.memories.facts import MANNER, cardinality_of
from ireneo.memories.index import MOST_IN_SESSION, place_of
from ireneo.memories.ranking import (
    ADJACENT_MEANT,
    ALIKE_MEANT,
    MEANT_AT_MOST,
    NEAR_ENOUGH,
    NEWEST_OF_MATTER,
    OF_ONE_MATTER,
    REPLY_MEANT,
    VECTOR_WEIGHT,
    WINDOW_FAVOUR,
    Question,
    RecallHit,
    RecallResults,
    is_small_talk,
    likeness,
    matched_terms,
    move_repeats_last,
    move_up,
    pack,
    read_question,
    speaker_bonus,
    without_copies,
    without_duplicates,
    words_share,
)
from ireneo.memories.record import REWORDED, Evidence, Record, one_line, slot
from ireneo.memories.senses import is_about_other_subject
from ireneo.memories.serving import informative_sentences
from ireneo.patterns import lazy_re
from ireneo.ports.store import Transaction
from ireneo.summaries.own_words import is_out_of_character

SHORT_REPLY = 200
"""The maximum numbers of characters of a reply that only repeats its question, and of a message that only asks."""
SAYS_AGAIN = 0.5
"""Factor for a reply that only repeats what it answers."""
ONLY_ASKS = 0.5
"""Factor for a message that only asks, or stands outside its story."""


ANSWERED_BY = 10
"""The share of the question's words that so many results have is answered by words; vectors speak for the rest."""
SPEAKS = 3
"""A name with fewer messages is not a speaker to ask about; it may be a heading before a colon."""
LEAST_SHARE = 0.2
"""Hits with less than this share of the best score are not answers."""
SPARE, LEAST_RANKED = 2, 20
"""How many times more hits than wanted are ranked, since some repeat others; and the fewest, since the first ones must
not depend on how many are wanted."""
FIRST = 20
"""Among how many first hits newer ones are moved up; further down they would displace answers."""
ENDS = 2
"""How many ended things are shown if the question asks whether there are any."""
_WORD = lazy_re(r"[^\W\d_]+")
FOLLOWED = 16
"""How many supersessions are followed from one memory to the next."""
BY_WORDS = "It was looked for by the words alone: "


async def recall(resources: Resources, space: str, held: VectorCache, asked: RecallQuery) -> RecallResults:
    """Return the messages and memories that answer a question, best first.

    Without an embedder, or if it fails, only words are searched; the result's note says so.
    """
    meaning, note = await _question_vector(resources, asked.text)
    found = await resources.store.read(_recall_in_transaction, resources, space, held, asked, meaning, note)
    if not found and asked.session is not None:
        key = SessionKey(space, asked.session)
        if await resources.store.read(lambda tx: tx.sessions.get(key)) is None:
            raise SessionNotFound.named(asked.session, space)
    return found


def _recall_in_transaction(
    tx: Transaction,
    resources: Resources,
    space: str,
    held: VectorCache,
    asked: RecallQuery,
    meaning: QueryVector | None,
    note: str,
) -> RecallResults:
    now = resources.clock.now()
    speakers = [name for name, spoke in tx.search.authors(space).items() if spoke >= SPEAKS]
    question = read_question(asked.text, now=asked.at or now, speakers=speakers)
    scope = Scope(tx, space, asked)
    indexes: list[SearchIndex] = [MemoryIndex(asked, now, scope, question)]
    if asked.kind is None:
        indexes.insert(0, MessageIndex(asked, scope))
    looked_at = max(LOOKED_AT if asked.kind is None else LOOKED_AT_FOR_SOME, _ranked(asked))
    worded = [search_by_words(index, question, looked_at=looked_at) for index in indexes]
    meant: list[tuple[list[Document], float]] = [([], 0.0) for _ in indexes]
    bare = 0
    """Documents without a vector."""
    if meaning is not None:
        try:
            meant = [search_by_meaning(index, meaning, held, looked_at=looked_at) for index in indexes]
            for index in indexes:
                bare += tx.search.size(space, index.name).documents - held.count(space, index.name, meaning.embedder)
        except EmbedderError as error:
            note = f"{BY_WORDS}{error}"
    covered = sorted((words_share(each.parts) for each in worded[0]), reverse=True)[:ANSWERED_BY]
    left = 1 - min(covered[-1], 1) if len(covered) == ANSWERED_BY else 1.0
    mixed = [
        each
        for index, some, (near, floor) in zip(indexes, worded, meant, strict=True)
        for each in _merge_documents(index, some, near, floor, question, left)
    ]
    if (window := question.window) is not None:
        for place, each in enumerate(mixed):
            if each.passage.at and window.holds(each.passage.at):
                mixed[place] = _raise_relevance(each, "time", WINDOW_FAVOUR)
    if asked.kind is None and question.side != "assistant":
        mixed = _prefer_answers(indexes[0], mixed, of_user=question.side == "user")
    # The earlier of equal hits comes first, so that a copied store returns the same order.
    found = sorted(map(_hit_of, mixed), key=lambda each: (-each.score, each.at.timestamp() if each.at else 0.0))
    # A user's bare "yes" may be an answer; an assistant's never is.
    found = [each for each in found if each.role != "assistant" or not is_small_talk(each.text)]
    found = [each for each in found if each.score >= LEAST_SHARE * found[0].score]
    if bare > 0:
        note = f"{bare:,} of what is searched have no vector yet and were looked for by their words; `work` makes them."
    if question.of_now:
        found = _newer_first(scope, question, found, asked)
        found = _with_descending_scores([*found[:1], *_endings(scope, question, found, asked), *found[1:]])
    return RecallResults(_choose_hits(found, question, asked, resources), note)


def _prefer_answers(index: SearchIndex, mixed: Sequence[Document], *, of_user: bool) -> list[Document]:
    """Lower messages that only ask, and give a message the worth of a short reply that repeats it.

    With `of_user`, for a question about what the user said, a reply is also a repetition if it uses other words.
    """
    ranked = sorted(mixed, key=lambda each: -each.relevance)
    said = {place_of(each.passage.number): each for each in ranked if each.hit.record is None}
    first = {
        place: each.hit for place, each in list(said.items())[: SPARE * FIRST] if len(each.hit.text) <= SHORT_REPLY
    }
    # What a character says is no reply that repeats what was asked, whichever role plays it.
    replies = [p for p, hit in first.items() if hit.role == "assistant" and not hit.author and p % MOST_IN_SESSION]
    unread = [place - 1 for place in replies if place - 1 not in said]
    for number, read in (index.read(unread) if unread else {}).items():
        said[place_of(number)] = read
    for place, hit in first.items():
        if hit.role == "user" and (is_out_of_character(hit.text) or not informative_sentences(hit.text)):
            said[place] = _raise_relevance(said[place], "only asks", (ONLY_ASKS - 1) * said[place].relevance)
    for place in replies:
        answered, reply = said.get(place - 1), said[place]
        if answered is None or not _repeats_message(reply.hit, answered.hit, in_other_words=of_user):
            continue
        if (more := reply.relevance - answered.relevance) > 0:
            said[place - 1] = _raise_relevance(answered, "reply", more)
        said[place] = _raise_relevance(reply, "says again", (SAYS_AGAIN - 1) * reply.relevance)
    return [*(each for each in mixed if each.hit.record is not None), *said.values()]


def _repeats_message(reply: RecallHit, answered: RecallHit, *, in_other_words: bool) -> bool:
    """Whether a reply repeats what a user said, rather than answering a question."""
    if answered.role != "user" or not informative_sentences(answered.text):
        return False
    return in_other_words or not set(terms(reply.text)).isdisjoint(terms(answered.text))


def _raise_relevance(each: Document, why: str, more: float) -> Document:
    return replace(each, relevance=each.relevance + more, parts=(*each.parts, (why, more)))


def _newer_first(scope: Scope, question: Question, found: Sequence[RecallHit], asked: RecallQuery) -> list[RecallHit]:
    """Move newer hits before older ones that answer about as well, and whatever superseded a hit before it."""
    about = {_hit_key(each): matched_terms(question, each.text) for each in found[:FIRST]}

    least = NEWEST_OF_MATTER if question.newest else OF_ONE_MATTER

    def is_newer_equal(one: RecallHit, other: RecallHit) -> bool:
        if one.at is None or other.at is None or one.at <= other.at:
            return False
        if (one.role, one.author) != (other.role, other.author) or one.score < NEAR_ENOUGH * other.score:
            return False
        words = about[_hit_key(one)]
        # A message about a change need not repeat everything.
        changes = 2 * len(words) >= len(question.terms) and len(one.text) <= SHORT_REPLY
        # A message with a vector as near may share no word with the question.
        meant, before = (dict(each.parts).get("meaning", 0.0) for each in (one, other))
        changes = changes or (len(one.text) <= SHORT_REPLY and meant >= ALIKE_MEANT * before > 0)
        return likeness(words, about[_hit_key(other)]) >= least or (changes and mentions_change(one.text))

    first = move_up(found[:FIRST], is_newer_equal)
    if asked.at is not None:
        # Whatever superseded a hit may have done so after that time.
        return [*_with_descending_scores(first), *found[FIRST:]]
    best = [*first, *found[FIRST : _ranked(asked)]]
    said = [name for each in best for name in each.sources]
    told = scope.visible(scope.tx.memories.citing(scope.space, said) if said else ())
    over = [
        each for each in told if each.state in ("superseded", "retired") and (each.periods or each.kind == "episodic")
    ]
    ordered: list[RecallHit] = []
    for each in best:
        cited = [one for one in over if (each.id in one.sources if each.record is None else each.text == one.text)]
        cited = [one for one in cited if matched_terms(question, one.text)]
        ended = [(one, _current_version(scope, one) or _reworded(one, told)) for one in cited]
        for one in [*_successors(scope, each, ended, best, asked), each]:
            if not _contains_hit(ordered, one):
                ordered.append(one)
    ordered = _with_slots_first(scope, question, ordered, asked)
    return [*_with_descending_scores(ordered), *found[_ranked(asked) :]]


def _endings(scope: Scope, question: Question, found: Sequence[RecallHit], asked: RecallQuery) -> Iterator[RecallHit]:
    """What says that things of the asker which the question asks about have ended, and is not among the hits.

    "Otto died" answers "do I have a dog", although it shares no word with it.
    """
    words = [word.casefold() for word in _WORD.findall(asked.text)]
    if topic(Questions).oneself.isdisjoint(words) or asked.at or asked.kind not in (None, "semantic", "episodic"):
        return
    named = {relations().get(word, "") for word in words}
    keys = [slot("user", each) for each in sorted(question.senses | named) if each]
    told = scope.visible([each for key in keys for each in scope.tx.memories.of_key(scope.space, "semantic", key)])
    ended = [each for each in told if each.state == "retired" and matched_terms(question, each.text)]
    for record in sorted(ended, key=lambda each: each.retired or each.recorded, reverse=True)[:ENDS]:
        last = max((each for each in record.evidence if each.against), key=lambda each: each.recorded, default=None)
        listed = scope.tx.search.postings(scope.space, "memories", sorted({*terms(last.why)} if last else ()))
        both = set.intersection(*map(set, listed.values())) if listed else set[int]()
        for each in scope.visible([each.record for each in scope.tx.search.memories(scope.space, sorted(both))]):
            hit = replace(hit_of_memory(each), parts=(("says that it ended", 0.0),))
            if each.holds and each.id != record.id and not _contains_hit(found, hit):
                yield hit


def _with_slots_first(
    scope: Scope, question: Question, ordered: Sequence[RecallHit], asked: RecallQuery
) -> list[RecallHit]:
    """If the question asks for a slot of the speaker, put its value before earlier messages and memories.

    It also goes before later ones that tell of others. Wishes for answers go before everything, the newest first.
    """
    senses = [each for each in sorted(question.senses) if cardinality_of(each) == "one" or each == MANNER]
    if not senses or not (question.own or MANNER in senses) or asked.kind not in (None, "semantic"):
        return list(ordered)
    keys = [slot("user", each) for each in senses]
    filled = [each for key in keys for each in scope.tx.memories.of_key(scope.space, "semantic", key) if each.holds]
    moved = list(ordered)
    for record in sorted(scope.visible(filled), key=lambda each: each.at):
        known = next((each for each in moved if each.record is not None and each.id == record.id), None)
        hit = known or replace(hit_of_memory(record), parts=(("fills the slot asked of", 0.0),))
        others = [each for each in moved if each is not known]
        told = record.at if hit.at is None else hit.at
        place = next(
            (
                at
                for at, each in enumerate(others)
                if record.attribute == MANNER or (each.at and each.at < told) or _tells_of_others(question, each)
            ),
            None,
        )
        if place is not None and (known is None or place <= moved.index(known)):
            moved = [*others[:place], hit, *others[place:]]
    return moved


def _tells_of_others(question: Question, hit: RecallHit) -> bool:
    """Whether nothing of a hit that has words of the question tells of whoever asks it."""
    said = (each for each in informative_sentences(hit.text) if matched_terms(question, each))
    return all(map(is_about_other_subject, said))


def _contains_hit(hits: Sequence[RecallHit], hit: RecallHit) -> bool:
    return any(_hit_key(each) == _hit_key(hit) for each in hits)


def _successors(
    scope: Scope,
    hit: RecallHit,
    ended: Iterable[tuple[Record, Record | None]],
    best: Sequence[RecallHit],
    asked: RecallQuery,
) -> Iterator[RecallHit]:
    """For a message whose statements have `ended`: the messages that ended them, and what is true instead."""
    for record, holds in ended:
        pieces = [each for each in (holds or record).evidence if each.against is (holds is None)]
        # What was put in other words by hand cites the message without being said in it.
        says = {name for each in pieces if each.session for name in each.messages}
        if hit.id in says:
            continue
        found = [each for each in best if each.record is None and each.id in says]
        if not found and holds is None and asked.kind is None:
            found = list(_messages_of(scope, pieces, hit))
        yield from found
        if holds is not None:
            known = next((each for each in best if each.id == holds.id and each.record is not None), None)
            if known or asked.kind in (None, holds.kind):
                made = hit_of_memory(holds, hit.score)
                yield known or replace(made, parts=(("holds instead", hit.score),))


def _messages_of(scope: Scope, pieces: Sequence[Evidence], hit: RecallHit) -> Iterator[RecallHit]:
    """The messages in which the newest piece of evidence says that a hit's statement has ended."""
    last = max((each for each in pieces if each.messages), key=lambda each: each.recorded, default=None)
    if last is None or not last.session:
        return
    for message in scope.tx.log.find(SessionKey(scope.space, last.session), last.messages):
        made = hit_of_message(message, last.session, hit.score)
        if made.role == "user":
            yield replace(made, parts=(("says that it ended", hit.score),))


def _current_version(scope: Scope, record: Record) -> Record | None:
    """The newest memory that superseded `record`; None if it isn't true or not visible."""
    for _ in range(FOLLOWED):
        if record.superseded_by is None:
            break
        (following,) = scope.seen(scope.tx.memories.get(scope.space, [record.superseded_by])) or (None,)
        if following is None:
            return None
        record = following
    return record if record.holds else None


def _reworded(record: Record, told: Sequence[Record]) -> Record | None:
    """The one of `told` by which a memory was put in other words; None if it was not."""
    whys = {piece.why for piece in record.evidence if piece.against}
    return next((each for each in told if each.holds and f"{REWORDED} {one_line(each.text)}" in whys), None)


async def _question_vector(resources: Resources, text: str) -> tuple[QueryVector | None, str]:
    """The vector of a question, or a sentence on why there is none; called outside any transaction."""
    if resources.embedder is None:
        return None, ""
    try:
        (vector,) = await vectors_of(resources.embedder, [text], query=True)
    except EmbedderError as error:
        return None, f"{BY_WORDS}{error}"
    return QueryVector(embedder=resources.embedder.name, vector=vector), ""


def _merge_documents(
    index: SearchIndex,
    worded: Sequence[Document],
    near: Sequence[Document],
    floor: float,
    question: Question,
    left: float,
) -> list[Document]:
    """Merge documents found by words and by meaning, adding both relevances.

    A vector also counts for the messages next to its own, which are often about the same, but not for an assistant's.
    `left` is the share of the question that words leave open: where they find enough, vectors only add what is alike.
    """
    found = {place_of(each.passage.number): each for each in worded}
    over = {place_of(each.passage.number): each.relevance - floor for each in near if each.relevance > floor}
    read = {place_of(each.passage.number): replace(each, relevance=0.0, parts=()) for each in near} | found
    for place, each in read.items():
        meant = over.get(place, 0.0)
        for step in (-1, 1) if index.reach and each.hit.role != "assistant" else ():
            beside = read.get(place + step)
            if beside is not None and beside.hit.session == each.hit.session:
                is_reply = step == 1 and beside.hit.role == "assistant"
                meant += (REPLY_MEANT if is_reply else ADJACENT_MEANT) * over.get(place + step, 0.0)
        if meant > 0 and len(each.passage.text) <= MEANT_AT_MOST:
            counts = VECTOR_WEIGHT * left**2 * meant * (1 + speaker_bonus(question, each.passage))
            found[place] = _raise_relevance(each, "meaning", counts)
    return list(found.values())


def _hit_key(found: RecallHit) -> tuple[str, str]:
    # Sessions that begin alike share the ids of their common messages.
    return (found.session if found.record is None else "", found.id)


def _hit_of(document: Document) -> RecallHit:
    score, parts = document.relevance, document.parts
    for name, factor in document.factors:
        score *= factor
        parts = (*parts, (f"× {name}", factor))
    return replace(document.hit, score=score, parts=parts)


def _ranked(asked: RecallQuery) -> int:
    """How many of the best hits are put in order."""
    return max(SPARE * asked.limit, LEAST_RANKED)


def _choose_hits(
    found: Sequence[RecallHit], question: Question, asked: RecallQuery, resources: Resources
) -> Iterable[RecallHit]:
    """The best hits, as many as were asked for, without repetitions of a memory or of its message."""
    found = without_copies(found)
    ordered = _with_descending_scores(without_duplicates(found[: _ranked(asked)], question))
    chosen: Sequence[RecallHit] = move_repeats_last(ordered, lambda each: each.text.split())[: asked.limit]
    if asked.budget is not None:
        chosen = pack(chosen, lambda each: resources.count(each.text), asked.budget)
    return chosen if asked.explain else [replace(each, parts=()) for each in chosen]


def _with_descending_scores(ordered: Sequence[RecallHit]) -> list[RecallHit]:
    """Raise scores where needed, so that they fall in the given order."""
    least = 0.0
    falling: list[RecallHit] = []
    for each in reversed(ordered):
        least = max(least, each.score)
        raised = () if each.score == least else (("moved up", least - each.score),)
        falling.append(replace(each, score=least, parts=(*each.parts, *raised)))
    return falling[::-1]

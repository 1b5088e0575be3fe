"""Answer a question: parse it, match it against the index, rank, diversify, and pack to a budget. No I/O."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from heapq import nlargest
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import any_of, cached_data, topic
from ireneo.language.times import Window, time_window
from ireneo.language.topics import Questions
from ireneo.language.words import common_words, language_of_sentence, stop_terms, terms
from ireneo.log.message import MessageId
from ireneo.memories.cues import relations
from ireneo.memories.index import ASSISTANT, CLASS_BITS, LENGTHS, MOST_IN_SESSION, USER, length_class, place_of, role_of
from ireneo.memories.record import Kind, Record, State
from ireneo.memories.senses import ALIKE, TOLD, asked_attributes, is_about_other_subject, names_another
from ireneo.memories.wording import distinctive_words
from ireneo.patterns import lazy_re
from ireneo.short_repr import ShortRepr

_SAYS = topic(Questions)

FRAME_WEIGHT = 0.5
"""The weight of a word that only says which sort of answer is wanted ("how many *days*"), compared to other words."""

_ASKER = lazy_re(lambda: rf"\b{any_of(_SAYS.asker)}\b", re.I)
_ANSWERER = lazy_re(lambda: rf"\b{any_of(_SAYS.answerer)}\b", re.I)
_BEFORE = lazy_re(lambda: rf"\b{any_of(_SAYS.before)}\s+[^,.;:?!]{{2}}", re.I)


class Question(Struct, frozen=True, kw_only=True):
    """The parsed question."""

    terms: tuple[tuple[str, float], ...]
    """Each term once, in the order of the question, with its weight."""
    language: str = "en"
    who: tuple[str, ...] = ()
    """The speakers whose words are asked for. Their names are not terms."""
    side: Literal["user", "assistant"] | None = None
    """The role whose words are asked for, if speakers have no names: "I" is the user, "you" the assistant."""
    window: Window | None = None
    """The period that it names."""
    past: bool = False
    """Whether it asks what was once true ("used to", "originally", "before the move"), without naming a time."""
    of_now: bool = True
    """Whether it asks about the present: it names no past time, and doesn't ask about the past."""
    newest: bool = False
    """Whether it explicitly asks for the newest value, or for the current one."""
    asks_when: bool = False
    asks_how_many: bool = False
    beside: Mapping[str, Sequence[tuple[str, float]]] = {}
    """For each term, the words that may stand in for it, each with its relative weight: words of an answer, and words
    similar in meaning."""
    senses: frozenset[str] = frozenset()
    """The attributes that it asks for."""
    own: bool = False
    """Whether it is about the person who asks, and names nobody else."""


def read_question(text: str, *, now: datetime | None = None, speakers: Sequence[str] = ()) -> Question:
    """Parse a question: `now` is when it is asked (with a zone), `speakers` are the known authors."""
    who = named_speakers(text, speakers)
    of_names = {term for name in who for term in terms(name)}
    every = dict.fromkeys(terms(text))
    about = [term for term in every if term not in of_names] or list(every)
    going = {term for found in _SAYS.motion.finditer(text) for term in terms(found[0].split()[-1])}
    if not {*about} - going <= _frame_terms():
        # "Do I go climbing" is about climbing, and "where did I go" about going.
        about = [term for term in about if term not in going]
    # A name that is also a month's ("April") names no time.
    window = time_window(_without_names(text, who), now)
    language = language_of_sentence(text)
    slight = _frame_terms() | stop_terms(language)
    counts = {term: FRAME_WEIGHT if term in slight else 1.0 for term in about}
    senses, beside = asked_attributes(text, counts, FRAME_WEIGHT)
    side = None if who else _asked_role(text)
    past = window is None and bool(_BEFORE.search(text) or _SAYS.past.search(text))
    over = window is not None and (now is None or (window.until is not None and window.until <= now))
    return Question(
        terms=tuple(counts.items()),
        language=language,
        who=who,
        side=side,
        window=window,
        past=past,
        of_now=not past and not over,
        beside=beside,
        senses=senses,
        own=side == "user" and not speakers and not names_another(text),
        newest=bool(_SAYS.newest.search(text)),
        asks_when=bool(_SAYS.when.search(text)),
        asks_how_many=bool(_SAYS.how_many.search(text)),
    )


def named_speakers(text: str, speakers: Sequence[str]) -> tuple[str, ...]:
    """The `speakers` whom `text` names, by their whole name or by a first name that only one of them has."""
    firsts = [name.split()[0].casefold() for name in speakers if name.split()]
    named = []
    for name in dict.fromkeys(speakers):
        parts = name.split()
        if parts and (
            _has_name(text, name)
            or (len(parts) > 1 and firsts.count(parts[0].casefold()) == 1 and _has_name(text, parts[0]))
        ):
            named.append(name)
    return tuple(named)


def _has_name(text: str, name: str) -> bool:
    """Whether `name` occurs in `text`; a name that is also a common word ("Will") only if capitalised."""
    flags = 0 if name.casefold() in common_words() else re.IGNORECASE
    return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, flags))


def _without_names(text: str, names: Sequence[str]) -> str:
    words = [re.escape(part) for name in names for part in (name, *name.split())]
    return re.sub(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", " ", text, flags=re.I) if words else text


def _asked_role(text: str) -> Literal["user", "assistant"] | None:
    told = _SAYS.begging.sub(" ", text)
    if _ANSWERER.search(told):
        return "assistant"
    return "user" if _ASKER.search(text) else None


@cached_data
def _frame_terms() -> frozenset[str]:
    return frozenset(terms(" ".join(_SAYS.frame)))


class IndexStats(Struct, frozen=True, kw_only=True):
    """The size of an index of one space: of its messages, or of its memories."""

    documents: int
    """The number of documents."""
    terms: int
    """The number of terms in all documents, for the average length."""


class Postings(Struct, frozen=True, kw_only=True):
    """The documents of a space that contain a term."""

    term: str
    """As `words.terms` or `words.author_term` returns it, without the space's prefix."""
    count: int
    """How many documents of the space contain it; also known if they are not listed."""
    numbers: Sequence[int] | None = None
    """The numbers of these documents, ascending; None if the term is too common to be read."""
    alike: tuple[tuple[float, Sequence[int]], ...] = ()
    """The documents that contain a word of similar meaning, each list with the word's relative weight."""
    told: tuple[tuple[float, Sequence[int]], ...] = ()
    """The same for words of an answer to what the term asks."""


class Passage(Struct, frozen=True, kw_only=True):
    """A document whose text is read for exact ranking."""

    number: int
    text: str
    role: str
    author: str | None = None
    at: datetime | None = None
    """When it was said, or when the event in it happened; aware."""


# The first look: from the lists of where the terms occur to the hundred places worth reading. No text is needed.
#
# A message often answers in words other than the question's, which are in a message next to it. So each term also
# counts for the places near it, less with the distance, and once for each place, from its nearest occurrence.


READ_AT_MOST = 5_000
"""How many postings are read for a question; more common terms wait for the second look."""
SHADE = (1.0, 0.5, 0.4, 0.3, 0.2, 0.1)
"""The share of a term's weight for a place that is 0, 1, 2 … places away from it."""
SATURATION = 2.0
"""BM25's k1 (Robertson and Zaragoza 2009), as if every term occurred once: how much length matters at all."""
LENGTH_SHARE = 0.8
"""BM25's b."""
SHORT = 30.0
"""A message with at most this many terms is short: even shorter ones aren't preferred to it."""
SIDE_FAVOUR = 0.4
"""How much more a message counts whose role is the one asked for."""
FEW_DOCUMENTS = 100
"""A smaller space is treated as having this many documents when the rarity of a term is computed."""
SEEDS = 100
ALIKE_AT_MOST = 500
"""Up to this many documents a word of similar meaning is read: a more common one says too little."""
_LOW = (1 << CLASS_BITS) - 1
_Places: TypeAlias = tuple[float, dict[int, int], dict[int, tuple[int, float]]]
"""The weight of a term, the numbers of the documents that contain it, by place, and those of documents that only
contain a word of similar meaning, with its relative weight."""


class Candidate(Struct, frozen=True, kw_only=True):
    """A place whose documents are worth reading."""

    place: int
    own: float
    """The weight of the terms at the place itself."""
    score: float
    """The same including the terms near it."""
    alike: float = 0.0
    """The part of `own` from words of similar meaning."""


def terms_to_read(question: Question, counts: Mapping[str, int], at_most: int = READ_AT_MOST) -> tuple[str, ...]:
    """The terms whose postings are read, the rarest first, `at_most` postings in total (the rarest in any case).

    `counts` has the number of documents of the space that contain each term.
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


def with_synonyms(
    question: Question, postings: Sequence[Postings], numbers: Mapping[str, Sequence[int]], stats: IndexStats
) -> list[Postings]:
    """Add the documents of words that count as a term to `postings`; `numbers` has the documents of these words."""
    found = []
    for each in postings:
        worth = rarity(each.count, stats.documents)
        held = [(word, share) for word, share in question.beside.get(each.term, ()) if worth and numbers.get(word)]
        counted = [
            (share, (share * min(1.0, rarity(len(numbers[word]), stats.documents) / worth), numbers[word]))
            for word, share in held
        ]
        alike = tuple(one for share, one in counted if share < TOLD)[:ALIKE]
        found.append(replace(each, alike=alike, told=tuple(one for share, one in counted if share >= TOLD)))
    return found


def rarity(count: int, documents: int) -> float:
    """BM25's idf, never below zero, of a term in `count` of `documents`.

    In a small index rarity means little, so the index is treated as having at least a hundred documents.
    """
    documents = max(documents, FEW_DOCUMENTS)
    return math.log(1 + (max(documents, count) - count + 0.5) / (count + 0.5))


def term_weights(question: Question, postings: Sequence[Postings], stats: IndexStats) -> dict[str, float]:
    """The weight of each term of the question in this space."""
    counts = {each.term: each.count for each in postings}
    return {term: weight * rarity(counts.get(term, 0), stats.documents) for term, weight in question.terms}


def length_factors(stats: IndexStats) -> tuple[float, ...]:
    """The weight of a term by length class of its document: 1 for an average one, less for longer ones."""
    average = max(SHORT, stats.terms / stats.documents) if stats.documents else SHORT
    return tuple(
        (1 + SATURATION) / (1 + SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * max(SHORT, length) / average))
        for length in LENGTHS
    )


def candidates(
    question: Question,
    postings: Sequence[Postings],
    stats: IndexStats,
    *,
    reach: int = len(SHADE) - 1,
    at_most: int = 100,
    seeds: int = SEEDS,
) -> tuple[Candidate, ...]:
    """The places most worth reading, best first; `reach` is 0 if neighbours are unrelated.

    They are around the `seeds` places where the terms themselves have the most weight.
    """
    worth = term_weights(question, postings, stats)
    factors = length_factors(stats)
    # The low bits of a number are its classes: one table gives the factor for the length and the role.
    plain = tuple(factors[low >> 2] for low in range(1 << CLASS_BITS))
    side = {"user": USER, "assistant": ASSISTANT}.get(question.side or "")
    favoured = tuple(value * (1 + SIDE_FAVOUR * (low & 3 == side)) for low, value in enumerate(plain))
    read = [_scored_places(worth[each.term], each) for each in postings if each.term in worth]
    own = _own_scores(read, favoured)
    best_own = nlargest(seeds, own, key=own.__getitem__)
    near = {seed + step for seed in best_own for step in range(-2 * reach, 2 * reach + 1)}
    score = _neighbour_scores(read, plain, near, reach)
    best = nlargest(at_most, score, key=score.__getitem__)
    return tuple(
        Candidate(
            place=place,
            own=own.get(place, 0.0),
            score=score[place],
            alike=sum(
                worth * less[place][1] * favoured[less[place][0] & _LOW] for worth, _, less in read if place in less
            ),
        )
        for place in best
    )


def _scored_places(worth: float, postings: Postings) -> _Places:
    own = {number >> CLASS_BITS: number for number in postings.numbers or ()}
    less: dict[int, tuple[int, float]] = {}
    # In ascending order: of several words of similar meaning at a place the one with the most weight is used.
    for share, numbers in sorted(postings.alike, key=lambda each: each[0]):
        for number in numbers:
            if (place := number >> CLASS_BITS) not in own:
                less[place] = (number, share)
    # Each further word of an answer adds less to the certainty.
    for share, numbers in postings.told:
        for number in numbers:
            if (place := number >> CLASS_BITS) not in own:
                less[place] = (number, share + (1 - share) * less[place][1] if place in less else share)
    return worth, own, less


def _own_scores(read: Sequence[_Places], table: Sequence[float]) -> dict[int, float]:
    """The score of each place by the terms in it."""
    own: dict[int, float] = {}
    # The longest list comes first, since building a whole dict is faster than adding to one.
    for worth, places, less in sorted(read, key=lambda each: -len(each[1])):
        values = [worth * value for value in table]
        if own:
            for place, number in places.items():
                own[place] = own.get(place, 0.0) + values[number & _LOW]
        else:
            own = {place: values[number & _LOW] for place, number in places.items()}
        for place, (number, share) in less.items():
            own[place] = own.get(place, 0.0) + share * values[number & _LOW]
    return own


def _neighbour_scores(read: Sequence[_Places], table: Sequence[float], near: set[int], reach: int) -> dict[int, float]:
    """The score of the places in `near`, and of those up to `reach` from there, by the terms around."""
    score: dict[int, float] = {}
    steps = [(step, SHADE[abs(step)]) for step in range(-reach, reach + 1)]
    for worth, places, less in read:
        best: dict[int, float] = {}
        known = best.get
        for place in (places.keys() | less.keys()) & near:
            number, share = less[place] if place in less else (places[place], 1.0)
            value = worth * share * table[number & _LOW]
            ordinal = place & MOST_IN_SESSION - 1
            # Not before the first place of its session.
            for step, shade in steps if ordinal >= reach else steps[reach - ordinal :]:
                if value * shade > known(place + step, 0.0):
                    best[place + step] = value * shade
        for place, counted in best.items():
            score[place] = score.get(place, 0.0) + counted
    return score


# The second look: the candidates are read, and whatever only their text, author and time show is added.
#
# A score is a sum of named parts, which are kept. The words count first; each bonus adds a share of that.


SPEAKER_FAVOUR = 0.4
"""The bonus of a message whose author is a speaker that the question names."""
OF_ANOTHER = -0.6
"""The deduction for a text about somebody else if the person who asks is meant."""
TIME_WORD_FAVOUR = 0.25
"""If the question asks when, the bonus for a word of time."""
FIGURE_FAVOUR = 0.1
"""If the question asks how many, the bonus for a number."""
WINDOW_FAVOUR = 0.2
"""The bonus for having been said in the period that the question names, as a share of the question's words: there a
message counts even if it has hardly any of them."""

_FIGURE = lazy_re(lambda: rf"\d|\b{any_of(_SAYS.figures)}\b", re.I)
_READ = 1_500
"""How many characters of a text are searched for words of time and figures, which every longer text contains."""


class Ranked(Struct, frozen=True, kw_only=True):
    """A document in ranked order, with its reasons."""

    number: int
    score: float
    parts: tuple[tuple[str, float], ...]
    """The parts of the score by name; their sum is the score."""


def rank(
    question: Question,
    found: Sequence[Candidate],
    passages: Sequence[Passage],
    postings: Sequence[Postings],
    stats: IndexStats,
    *,
    reach: int = len(SHADE) - 1,
) -> tuple[Ranked, ...]:
    """The passages of the candidates, best first; the earlier of equal ones first, which introduced the subject.

    Places without one of the `passages` (there is none, or it was erased) are left out. `postings` are those that the
    candidates were found with.
    """
    by_place = {place_of(each.number): each for each in passages}
    unread = {each.term for each in postings if each.numbers is None and each.count}
    worth = {term: value for term, value in term_weights(question, postings, stats).items() if term in unread}
    common = _common_words(by_place, worth, length_factors(stats), reach) if worth else {}
    ranked = [
        _score_passage(question, each, by_place[each.place], common.get(each.place, 0.0))
        for each in found
        if each.place in by_place
    ]
    return tuple(sorted(ranked, key=lambda each: (-each.score, each.number)))


_OF_WORDS = ("words", "words alike", "words nearby", "common words")


def _score_passage(question: Question, found: Candidate, passage: Passage, common: float) -> Ranked:
    base = found.score + common
    own = min(found.own, found.score)
    akin = min(found.alike, own)
    parts = list(zip(_OF_WORDS, (own - akin, akin, found.score - own, common), strict=True))
    parts += [(name, base * share) for name, share in _other_bonuses(question, passage)]
    kept = tuple((name, value) for name, value in parts if value)
    return Ranked(number=passage.number, score=sum(value for _, value in kept), parts=kept)


def words_share(parts: Iterable[tuple[str, float]]) -> float:
    """The part of a score that comes from words in or near the text, without any bonus."""
    return sum(value for name, value in parts if name in _OF_WORDS)


def speaker_bonus(question: Question, passage: Passage) -> float:
    """The bonus of a passage for its speaker, as a share."""
    return sum(share for name, share in _other_bonuses(question, passage) if name in ("speaker", "side", "of another"))


def _other_bonuses(question: Question, passage: Passage) -> Iterator[tuple[str, float]]:
    """Other bonuses of a passage, as shares of its score by words."""
    if passage.author in question.who:
        yield "speaker", SPEAKER_FAVOUR
    if question.side and passage.author is None and role_of(passage.number) == _SIDES[question.side]:
        yield "side", SIDE_FAVOUR
    if question.own and passage.role == "user" and is_about_other_subject(passage.text):
        yield "of another", OF_ANOTHER
    if len(passage.text) <= _READ:
        if question.asks_when and _SAYS.time_words.search(passage.text):
            yield "words of time", TIME_WORD_FAVOUR
        if question.asks_how_many and _FIGURE.search(passage.text):
            yield "figures", FIGURE_FAVOUR


_SIDES = {"user": USER, "assistant": ASSISTANT}


def _common_words(
    by_place: dict[int, Passage], worth: dict[str, float], factors: Sequence[float], reach: int
) -> dict[int, float]:
    """The score of terms that are too common for candidates, by the passages read."""
    score: dict[int, float] = dict.fromkeys(by_place, 0.0)
    held = {place: _terms_and_count(passage.text) for place, passage in by_place.items()}
    for term, value in worth.items():
        here = {place: value * factors[length_class(size)] for place, (have, size) in held.items() if term in have}
        for place in by_place:
            score[place] += max(SHADE[abs(step)] * here.get(place + step, 0.0) for step in range(-reach, reach + 1))
    return score


def _terms_and_count(text: str) -> tuple[frozenset[str], int]:
    read = terms(text)
    return frozenset(read), len(read)


VECTOR_WEIGHT = 2.0
"""The weight of a cosine (only its excess over the last candidate's), relative to the share of the question's words
that a document contains."""
REPLY_MEANT = 0.5
"""The weight of the assistant's reply for a message, since it often describes it in general words."""
ADJACENT_MEANT = 0.3
"""The same for other messages next to it."""
MEANT_AT_MOST = 2_000
"""The vectors of longer texts (in characters) are ignored: a single vector represents no part of a long text well."""

Item = TypeVar("Item")

NEAR_ENOUGH = 0.7
"""The minimum share of a document's score that a newer one of the same speaker needs to be ranked before it."""
ALIKE_MEANT = 0.9
"""The minimum share of a document's similarity by vector that a newer one about a change needs."""
OF_ONE_MATTER = 0.6
"""The minimum share of the question's words found in either document, or similar ones, that both must contain."""
NEWEST_OF_MATTER = 0.5
"""The same if the question asks for the newest."""


def move_up(ranking: Iterable[Item], goes_before: Callable[[Item, Item], bool]) -> list[Item]:
    """Move each item of `ranking` right before the first one above it that it `goes_before`."""
    ordered: list[Item] = []
    for item in ranking:
        place = next((at for at, other in enumerate(ordered) if goes_before(item, other)), len(ordered))
        ordered.insert(place, item)
    return ordered


def matched_terms(question: Question, text: str) -> frozenset[str]:
    """The terms of the question except stop words, or words of similar meaning, in the beginning of a text."""
    held, stop = set(terms(text[:_READ])), stop_terms(question.language)
    return frozenset(
        term
        for term, _ in question.terms
        if term not in stop and (term in held or any(word in held for word, _ in question.beside.get(term, ())))
    )


_FEW = 4


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of common terms among the terms of both texts, 0 to 1."""
    together = len(one | other)
    return len(one & other) / together if together else 0.0


def move_repeats_last(ranking: Sequence[Item], words_of: Callable[[Item], Iterable[str]]) -> tuple[Item, ...]:
    """Move items with the same words as a better one to the end of `ranking`; no item is lost.

    Texts of fewer than four words ("Yes, I did") are alike by chance, and are not moved.
    """
    kept: dict[object, Item] = {}
    repeated: list[Item] = []
    for place, item in enumerate(ranking):
        words = frozenset(words_of(item))
        key: object = words if len(words) >= _FEW else place
        if key in kept:
            repeated.append(item)
        else:
            kept[key] = item
    return (*kept.values(), *repeated)


def pack(ranking: Iterable[Item], cost: Callable[[Item], int], budget: int) -> tuple[Item, ...]:
    """Take from `ranking`, in its order, each item that still fits into the rest of `budget` tokens.

    An item that is too large is skipped, and smaller ones after it may still fit.
    """
    taken: list[Item] = []
    left = budget
    for item in ranking:
        size = cost(item)
        if size < 0:
            raise ValueError(f"A cost of {size} tokens is none: it must be 0 or more.")
        if size <= left:
            taken.append(item)
            left -= size
    return tuple(taken)


class RecallHit(ShortRepr, frozen=True, kw_only=True, omit_defaults=True):
    """A message or a memory that answers a question."""

    id: str
    kind: Kind | Literal["message"]
    text: str
    """The whole text of a message; the text of a memory."""
    score: float
    """How well it answers, only comparable within one result."""
    at: datetime | None = None
    """When it was said, when its event happened, or since when it is true; None if unknown."""
    session: str = ""
    """The session in which it was said; for a memory that of its first evidence."""
    sources: tuple[MessageId, ...] = ()
    """The messages that it is based on; for a message, itself."""
    role: str = ""
    """For a message: who speaks."""
    author: str | None = None
    """For a message: the speaker's name, if there is one."""
    source_id: str | None = None
    """For a message: its id in the log that it was imported from."""
    state: State = "active"
    """For a memory: its state; ``disputed`` if more trusted evidence contradicts it."""
    stale: str = ""
    """For a memory: why it must be reconsidered."""
    against: tuple[str, ...] = ()
    """For a memory: the objections to it, by whom and when, in sentences."""
    parts: tuple[tuple[str, float], ...] = ()
    """The parts of the score, if they were asked for."""
    record: Record | None = None
    """The memory itself; None for a message."""


def is_small_talk(text: str) -> bool:
    """Whether a message says nothing that could answer a question: "I see.", "Great, thanks!"."""
    return len(text) <= _READ and _SAYS.small_talk.fullmatch(text) is not None


def without_duplicates(best: Sequence[RecallHit], question: Question) -> list[RecallHit]:
    """Give a memory and the message that it was read from one place in the hits.

    Of a fact in a slot the memory is kept, with its date; of any other memory the message, which says more. The other
    hit moves to the end if it says anything more, such as when it ended, or if it is a memory that isn't tied to a day;
    otherwise it is left out. A hit keeps its place if it has a word of the question that the other one lacks, and a
    message does if the question asks for more of somebody than who it is, which is all that the memory says.
    """
    said: dict[str, list[int]] = {}
    for place, each in enumerate(best):
        if each.record is None:
            said.setdefault(each.id, []).append(place)
    stands = list(range(len(best)))
    """For each hit, the index of the hit whose place it has."""
    for place, each in enumerate(best):
        if each.record is None or not each.record.sessions:
            # What was written by hand says something else than the message that it cites.
            continue
        for source in (one for name in each.sources for one in said.get(name, ())):
            if stands[source] != source:
                continue
            own, words = matched_terms(question, each.text), matched_terms(question, best[source].text)
            if each.record.attribute and (words <= own or each.record.attribute in question.senses):
                # Who somebody's mother is doesn't answer where she lives.
                who = each.record.attribute in relations().values()
                stands[source] = source if who and question.senses - {each.record.attribute, "called"} else place
            elif own <= words and stands[place] == place:
                stands[place] = source
    rows = dict.fromkeys(stands)
    scores = {row: max(best[place].score for place in range(len(best)) if stands[place] == row) for row in rows}
    once = [replace(best[row], score=scores[row]) for row in rows]
    least = min(scores.values(), default=0.0)
    again = (
        each for place, each in enumerate(best) if place not in rows and not _is_repeated_by(each, best[stands[place]])
    )
    return [*once, *(replace(each, score=min(each.score, least)) for each in again)]


def _is_repeated_by(hit: RecallHit, shown: RecallHit) -> bool:
    said = hit.record is None or hit.record.kind == "episodic"
    return said and hit.state == "active" and distinctive_words(hit.text) <= distinctive_words(shown.text)


def without_copies(ranking: Sequence[RecallHit]) -> list[RecallHit]:
    """Drop a message that is higher up already: the same words at the same time, in another session.

    A file that was imported under two names contains it twice. Words said at two times were said twice.
    """
    said: set[tuple[str, str, str | None, datetime | None]] = set()
    once = []
    for each in ranking:
        words = (each.text, each.role, each.author, each.at)
        if each.record is None and words in said:
            continue
        if each.record is None:
            said.add(words)
        once.append(each)
    return once


class RecallResults(tuple[RecallHit, ...]):
    """The recalled hits, best first; `note` says what was not possible."""

    note: str

    def __new__(cls, found: Iterable[RecallHit] = (), note: str = "") -> RecallResults:
        """Hold `found` in its order."""
        made = super().__new__(cls, found)
        made.note = note
        return made

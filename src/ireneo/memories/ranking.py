"""Answer a question: parse it, match it against the index, rank, diversify, and pack to a budget. No I/O."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from heapq import nlargest
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import CAPITAL, either, from_data, of_language, topic
from ireneo.language.times import Window, time_window
from ireneo.language.topics import Questions, Words
from ireneo.language.words import common_words, language_of_sentence, terms, writes_nouns_large
from ireneo.log.message import MessageId
from ireneo.memories.cues import relations
from ireneo.memories.index import ASSISTANT, CLASS_BITS, LENGTHS, MOST_IN_SESSION, USER, length_class, place_of, role_of
from ireneo.memories.record import Kind, Record, State
from ireneo.memories.senses import ALIKE, TOLD, is_of_another, names_another, own_verb, wanted
from ireneo.memories.wording import telling
from ireneo.patterns import lazy_re
from ireneo.short_repr import ShortRepr

_SAYS = topic(Questions)


FRAME_WEIGHT = 0.5
"""What a word counts that says which sort of answer is wanted ("how many *days*"), against one of the matter itself."""

_QUOTED = lazy_re(
    "[\"\u201c\u00ab]([^\"\u201c\u201d\u00ab\u00bb]{2,80}+)[\"\u201d\u00bb]|(?<!\\w)['\u2018]([^'\u2018\u2019]{3,80}+)['\u2019](?!\\w)"
)
_ASKER = lazy_re(lambda: rf"\b{either(_SAYS.asker)}\b", re.I)
_ANSWERER = lazy_re(lambda: rf"\b{either(_SAYS.answerer)}\b", re.I)
_ASKED_OF = lazy_re(
    lambda: (
        rf"\b(?P<verb>{either(_SAYS.asked_of)} )?"
        rf"(?P<name>{CAPITAL}[\w-]+(?: {CAPITAL}[\w-]+)?)(?(verb)\b|(?=['’]s\b))"
    )
)
_AROUND = lazy_re(
    lambda: (
        rf"\b(?:(?P<before>{either(_SAYS.before)})|{either(_SAYS.after)})\b\s+"
        r"(?P<event>[^,.;:?!]{2,60})"
    ),
    re.I,
)


class Question(Struct, frozen=True, kw_only=True):
    """What a question asks for."""

    terms: tuple[tuple[str, float], ...]
    """Each term once, in the order of the question, with what it counts for."""
    who: tuple[str, ...] = ()
    """The speakers that it names: whose words are asked for. Their names are no terms."""
    side: Literal["user", "assistant"] | None = None
    """Whose words are asked for where speakers have no names: of "I" the user tells, of "you" the assistant."""
    phrases: tuple[tuple[str, ...], ...] = ()
    """What stands in quotation marks, as terms."""
    window: Window | None = None
    """The time that it names."""
    direction: Literal["before", "after"] | None = None
    """It asks of what was before or after something that it names ("before the move")."""
    event: tuple[str, ...] = ()
    """The terms of what that is."""
    past: bool = False
    """It asks what was once the case ("used to", "originally", "before the move"), and names no time."""
    of_now: bool = True
    """It asks what is the case now: it names no time that is over, and doesn't ask of the past."""
    newest: bool = False
    """It says that it asks for the newest, or what is so now."""
    asks_when: bool = False
    asks_how_many: bool = False
    beside: Mapping[str, Sequence[tuple[str, float]]] = {}
    """By a term, the words that count in its place, with what each counts beside it: those by which is told what it
    asks for, and those alike in meaning."""
    senses: frozenset[str] = frozenset()
    """What it wants to know, as attributes."""
    own: bool = False
    """It asks of the one who asks, and of nobody else that it names."""
    own_verb: str = ""
    """What that one does: "live" of "where do I live"."""
    whom: frozenset[str] = frozenset()
    """The terms of the names that it names within, in a language that writes nothing else large there."""
    only_of: frozenset[str] = frozenset()
    """Those of the one of whom it asks, and of nobody that is somebody to that one; empty if that is not clear."""


def read_question(text: str, *, now: datetime | None = None, speakers: Sequence[str] = ()) -> Question:
    """Parse a question: `now` is when it is asked (with a zone), `speakers` are the known authors."""
    who = named_speakers(text, speakers)
    of_names = {term for name in who for term in terms(name)}
    every = dict.fromkeys(terms(text))
    about = [term for term in every if term not in of_names] or list(every)
    language = language_of_sentence(text)
    stop, is_plain = _stop_terms(language), not writes_nouns_large(text)
    about = [term for term in about if term not in stop] or about
    going = {term for found in _SAYS.motion.finditer(text) for term in terms(found[0].split()[-1])}
    if not {*about} - going <= _frame_terms():
        # "Do I go climbing" asks of climbing, and "where did I go" of going.
        about = [term for term in about if term not in going]
    # A name that is also a month's ("April") names no time.
    window = time_window(_without(text, who), now)
    counts = {term: FRAME_WEIGHT if term in _frame_terms() else 1.0 for term in about}
    senses, beside = wanted(text, counts, FRAME_WEIGHT)
    side = None if who else _side(text)
    direction, event = _event(text) if window is None else (None, ())
    past = window is None and (direction == "before" or bool(_SAYS.past.search(text)))
    over = window is not None and (now is None or (window.until is not None and window.until <= now))
    large = (name for found in _LARGE.findall(text) for name in terms(found))
    whom = frozenset(large) if is_plain else frozenset[str]()
    return Question(
        terms=tuple(counts.items()),
        who=who,
        side=side,
        phrases=tuple(
            phrase for found in _QUOTED.finditer(text) if len(phrase := tuple(terms(found[1] or found[2]))) > 1
        ),
        window=window,
        direction=direction,
        event=event,
        past=past,
        of_now=not past and not over,
        beside=beside,
        senses=senses,
        own=side == "user" and not speakers and not names_another(text),
        own_verb=own_verb(text) if side == "user" else "",
        whom=whom,
        only_of=_asked_only_of(text, whom),
        newest=bool(_SAYS.newest.search(text)),
        asks_when=bool(_SAYS.when.search(text)),
        asks_how_many=bool(_SAYS.how_many.search(text)),
    )


_LARGE = lazy_re(rf"(?<=[\w,’'] ){CAPITAL}[\w-]{{2,}}")


def _asked_only_of(text: str, whom: frozenset[str]) -> frozenset[str]:
    """The terms of the only name of which a question asks: of "where does Mira live", not of "Mira's brother"."""
    names = {name for found in _ASKED_OF.finditer(text) for name in terms(found["name"])}
    told = {*terms(text)}
    others = any({*terms(word)} <= told for word in relations())
    return frozenset() if others or _SAYS.of_others_too.search(text) else whom & names


def named_speakers(text: str, speakers: Sequence[str]) -> tuple[str, ...]:
    """Those of `speakers` whom `text` names, by their whole name or by a first name that only one of them has."""
    firsts = [name.split()[0].casefold() for name in speakers if name.split()]
    named = []
    for name in dict.fromkeys(speakers):
        parts = name.split()
        if parts and (
            _names(text, name) or (len(parts) > 1 and firsts.count(parts[0].casefold()) == 1 and _names(text, parts[0]))
        ):
            named.append(name)
    return tuple(named)


def _names(text: str, name: str) -> bool:
    """Whether `name` occurs in `text`; a name that is also a common word ("Will") only if capitalised."""
    flags = 0 if name.casefold() in common_words() else re.IGNORECASE
    return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, flags))


def _without(text: str, names: Sequence[str]) -> str:
    words = [re.escape(part) for name in names for part in (name, *name.split())]
    return re.sub(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", " ", text, flags=re.I) if words else text


def _side(text: str) -> Literal["user", "assistant"] | None:
    told = _SAYS.begging.sub(" ", text)
    if _ANSWERER.search(told):
        return "assistant"
    return "user" if _ASKER.search(text) else None


def _event(text: str) -> tuple[Literal["before", "after"] | None, tuple[str, ...]]:
    """Whether it asks about before or after an event, and the event's terms up to the end of the clause."""
    found = _AROUND.search(text)
    event = tuple(dict.fromkeys(terms(found["event"]))) if found else ()
    if found is None or not event:
        return None, ()
    return ("before" if found["before"] else "after"), event


@cache
def _stop_terms(language: str) -> frozenset[str]:
    """Return the stop words of another language than English as terms of the index, which holds them."""
    return frozenset() if language == "en" else frozenset(terms(" ".join(of_language(Words, language).stop)))


@from_data
def _frame_terms() -> frozenset[str]:
    return frozenset(terms(" ".join(_SAYS.frame)))


class IndexStats(Struct, frozen=True, kw_only=True):
    """The size of an index of one space: of its messages, or of its memories."""

    documents: int
    """How many documents it holds."""
    terms: int
    """How many terms they have together; with `documents` this gives the average length."""


class Postings(Struct, frozen=True, kw_only=True):
    """Where a term occurs in one space."""

    term: str
    """As `words.terms` or `words.author_term` gives it, without the space's prefix."""
    count: int
    """How many documents of the space hold it; known also where they are not listed."""
    numbers: Sequence[int] | None = None
    """The numbers of the documents that hold it, rising; None where the term is too common to be read."""
    alike: tuple[tuple[float, Sequence[int]], ...] = ()
    """The documents that hold a word alike in meaning, each list with what that word counts beside the term."""
    told: tuple[tuple[float, Sequence[int]], ...] = ()
    """The same of the words by which is told what the term asks for."""


class Passage(Struct, frozen=True, kw_only=True):
    """A document whose text is read for exact ranking."""

    number: int
    text: str
    role: str
    author: str | None = None
    at: datetime | None = None
    """When it was said, or when what it tells of happened; aware."""


def around_event(question: Question, passages: Sequence[Passage]) -> Question:
    """The question with the time before or after the event that it names, if a passage tells of it.

    Of passages with all of its words the earliest counts, since later ones look back on it.
    """
    if question.direction is None:
        return question
    event = set(question.event)
    times = [each.at for each in passages if each.at is not None and event <= set(terms(each.text))]
    if not times:
        return question
    at = min(times)
    return replace(
        question,
        window=Window(since=None, until=at) if question.direction == "before" else Window(since=at, until=None),
    )


# The first look: from the lists of where the terms stand to the hundred places worth reading. No text is needed.
#
# A message often answers in other words than those of the question, which stand in a message beside it: so each term
# counts for the places near it too, less with the distance, and once for a place, from the nearest that holds it.


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
ALIKE_AT_MOST = 500
"""Documents up to which such a word is read: a commoner one tells too little."""
BRIEF = 25
"""Terms up to which a message tells what its words say; in a longer one they stand ever more often by chance."""
_TOLD_BY_LENGTH = tuple(min(1.0, BRIEF / max(1.0, length)) for length in LENGTHS)
_LOW = (1 << CLASS_BITS) - 1
_Places: TypeAlias = tuple[float, dict[int, int], dict[int, tuple[int, float]]]
"""What a term is worth, the numbers of the documents that hold it, by their places, and of those that hold only a word
alike in meaning, with what that counts beside it."""


class Candidate(Struct, frozen=True, kw_only=True):
    """A place whose documents are worth reading."""

    place: int
    own: float
    """What the terms that stand at the place itself count."""
    score: float
    """The same with those that stand near it."""
    alike: float = 0.0
    """What of `own` words alike in meaning count."""


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


def with_beside(
    question: Question, postings: Sequence[Postings], numbers: Mapping[str, Sequence[int]], stats: IndexStats
) -> list[Postings]:
    """`postings` with documents of words that count as a term; `numbers` has the documents of such words."""
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

    In a small index rarity means little: it counts as at least a hundred documents.
    """
    documents = max(documents, FEW_DOCUMENTS)
    return math.log(1 + (max(documents, count) - count + 0.5) / (count + 0.5))


def weights(question: Question, postings: Sequence[Postings], stats: IndexStats) -> dict[str, float]:
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
    """The places most worth reading, best first; `reach` 0 where neighbours have nothing to do with each other.

    They are those around the `seeds` places at which the terms themselves count most.
    """
    worth = weights(question, postings, stats)
    factors = length_factors(stats)
    # The low bits of a number are its classes: one table gives what a term counts there, and whose words they are.
    plain = tuple(factors[low >> 2] for low in range(1 << CLASS_BITS))
    side = {"user": USER, "assistant": ASSISTANT}.get(question.side or "")
    favoured = tuple(value * (1 + SIDE_FAVOUR * (low & 3 == side)) for low, value in enumerate(plain))
    read = [_places(worth[each.term], each) for each in postings if each.term in worth]
    own = _own(read, favoured)
    best_own = nlargest(seeds, own, key=own.__getitem__)
    near = {seed + step for seed in best_own for step in range(-2 * reach, 2 * reach + 1)}
    score = _shaded(read, plain, near, reach)
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


def _places(worth: float, postings: Postings) -> _Places:
    own = {number >> CLASS_BITS: number for number in postings.numbers or ()}
    less: dict[int, tuple[int, float]] = {}
    # The least first: of several words alike at a place, that counts which counts most.
    for share, numbers in sorted(postings.alike, key=lambda each: each[0]):
        for number in numbers:
            if (place := number >> CLASS_BITS) not in own:
                less[place] = (number, share)
    # Of those that tell what is asked for, each further one leaves less of a doubt that it does.
    for share, numbers in postings.told:
        for number in numbers:
            if (place := number >> CLASS_BITS) not in own:
                counts = share * _TOLD_BY_LENGTH[number >> 2 & 31]
                less[place] = (number, counts + (1 - counts) * less[place][1] if place in less else counts)
    return worth, own, less


def _own(read: Sequence[_Places], table: Sequence[float]) -> dict[int, float]:
    """The score of each place by the terms in it."""
    own: dict[int, float] = {}
    # The longest list comes first, since a whole dict is made faster than a dict is added to.
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


def _shaded(read: Sequence[_Places], table: Sequence[float], near: set[int], reach: int) -> dict[int, float]:
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
            # None before the first one of its session.
            for step, shade in steps if ordinal >= reach else steps[reach - ordinal :]:
                if value * shade > known(place + step, 0.0):
                    best[place + step] = value * shade
        for place, counted in best.items():
            score[place] = score.get(place, 0.0) + counted
    return score


# The second look: the candidates are read, and what only their text, author and time can tell is counted in.
#
# A score is a sum of named parts, kept with it. What the words count for comes first; each favour adds a share of that.


SPEAKER_FAVOUR = 0.4
"""How much more a message counts whose author is the one speaker that the question names."""
OF_ANOTHER = -0.6
"""What is taken off what says of another what was asked of the one who asks."""
TIME_WORD_FAVOUR = 0.25
"""How much more, where it is asked when, one counts that has a word of time."""
FIGURE_FAVOUR = 0.1
"""How much more, where it is asked how many, one counts that has a number."""
WINDOW_FAVOUR = 0.25
"""How much more one counts that was said in the time that the question names."""
PHRASE_FAVOUR = 0.25
"""How much more one counts that has a quoted phrase of the question word for word."""

_SMALL_TALK = lazy_re(lambda: rf"\W*(?:{either(_SAYS.small_talk)}\b\W*)*+", re.I)
_FIGURE = lazy_re(lambda: rf"\d|\b{either(_SAYS.figures)}\b", re.I)
_READ = 1_500
"""Letters of a text that are looked through for words of time and figures; in a longer one they are bound to occur."""


class Ranked(Struct, frozen=True, kw_only=True):
    """A document in ranked order, with its reasons."""

    number: int
    score: float
    parts: tuple[tuple[str, float], ...]
    """Each part of the score by its name; together they are the score."""


def rank(
    question: Question,
    found: Sequence[Candidate],
    passages: Sequence[Passage],
    postings: Sequence[Postings],
    stats: IndexStats,
    *,
    reach: int = len(SHADE) - 1,
) -> tuple[Ranked, ...]:
    """The passages of the candidates, best first; of equal ones the earlier, which brings a matter up.

    `passages` may miss some places (none is there, or it was erased): they are left out. `postings` are those that the
    candidates were found with.
    """
    by_place = {place_of(each.number): each for each in passages}
    unread = {each.term for each in postings if each.numbers is None and each.count}
    worth = {term: value for term, value in weights(question, postings, stats).items() if term in unread}
    common = _common_words(by_place, worth, length_factors(stats), reach) if worth else {}
    ranked = [
        _scored(question, each, by_place[each.place], common.get(each.place, 0.0))
        for each in found
        if each.place in by_place
    ]
    return tuple(sorted(ranked, key=lambda each: (-each.score, each.number)))


def _scored(question: Question, found: Candidate, passage: Passage, common: float) -> Ranked:
    base = found.score + common
    own = min(found.own, found.score)
    akin = min(found.alike, own)
    parts = [
        ("words", own - akin),
        ("words alike", akin),
        ("words nearby", found.score - own),
        ("common words", common),
    ]
    parts += [(name, base * share) for name, share in _favours(question, passage)]
    kept = tuple((name, value) for name, value in parts if value)
    return Ranked(number=passage.number, score=sum(value for _, value in kept), parts=kept)


def asked_of(question: Question, passage: Passage) -> float:
    """By how much a passage gains because of who says it, as a share."""
    return sum(share for name, share in _favours(question, passage) if name in ("speaker", "side", "of another"))


def _favours(question: Question, passage: Passage) -> Iterator[tuple[str, float]]:
    """Other bonuses of a passage, as shares of its score by words."""
    if len(question.who) == 1 and passage.author == question.who[0]:
        yield "speaker", SPEAKER_FAVOUR
    if question.side and passage.author is None and role_of(passage.number) == _SIDES[question.side]:
        yield "side", SIDE_FAVOUR
    if question.own and passage.role == "user" and is_of_another(question.own_verb, passage.text):
        yield "of another", OF_ANOTHER
    if question.window and passage.at and question.window.holds(passage.at):
        yield "time", WINDOW_FAVOUR
    if len(passage.text) <= _READ:
        if question.asks_when and _SAYS.time_words.search(passage.text):
            yield "words of time", TIME_WORD_FAVOUR
        if question.asks_how_many and _FIGURE.search(passage.text):
            yield "figures", FIGURE_FAVOUR
    if question.phrases and any(_stands_in(phrase, terms(passage.text)) for phrase in question.phrases):
        yield "phrase", PHRASE_FAVOUR


_SIDES = {"user": USER, "assistant": ASSISTANT}


def _stands_in(phrase: Sequence[str], read: Sequence[str]) -> bool:
    size = len(phrase)
    return any(tuple(read[at : at + size]) == tuple(phrase) for at in range(len(read) - size + 1))


def _common_words(
    by_place: dict[int, Passage], worth: dict[str, float], factors: Sequence[float], reach: int
) -> dict[int, float]:
    """The score of terms that are too common for candidates, by the passages read."""
    score: dict[int, float] = dict.fromkeys(by_place, 0.0)
    held = {place: _held(passage.text) for place, passage in by_place.items()}
    for term, value in worth.items():
        here = {place: value * factors[length_class(size)] for place, (have, size) in held.items() if term in have}
        for place in by_place:
            score[place] += max(SHADE[abs(step)] * here.get(place + step, 0.0) for step in range(-reach, reach + 1))
    return score


def _held(text: str) -> tuple[frozenset[str], int]:
    read = terms(text)
    return frozenset(read), len(read)


VECTOR_WEIGHT = 1.5
"""What a cosine counts, as far as it is over that of the last that is looked at, beside the share of a question's words
that a document has."""
REPLY_MEANT = 0.5
"""What the same of the assistant's reply counts for the message that it answers: a reply often says in general words
what that one is about."""
ANSWERED_MEANT = 0.3
"""What the same of the assistant's message counts for the user's next one: an answer need not repeat what was asked."""
MEANT_AT_MOST = 2_000
"""Letters of a text up to which its vector counts: one vector of a longer text says too little of any of it."""

Item = TypeVar("Item")

NEAR_ENOUGH = 0.7
"""The share of a document's score that a newer one of the same speaker must have at the least to go before it."""
ALIKE_MEANT = 0.9
"""The share of a document's nearness by its vector that a newer one must have which says of a change."""
OF_ONE_MATTER = 0.6
"""The share of the question's words that either has, or alike ones, which both must have."""
NEWEST_OF_MATTER = 0.5
"""The same where a question says that it asks for the newest."""


def moved_up(ranking: Iterable[Item], goes_before: Callable[[Item, Item], bool]) -> list[Item]:
    """`ranking` with each item right before the first one above it that it `goes_before`."""
    ordered: list[Item] = []
    for item in ranking:
        place = next((at for at, other in enumerate(ordered) if goes_before(item, other)), len(ordered))
        ordered.insert(place, item)
    return ordered


def words_of(question: Question, text: str) -> frozenset[str]:
    """The terms of the question, or words of similar meaning, in the beginning of a text."""
    held = set(terms(text[:_READ]))
    return frozenset(
        term
        for term, _ in question.terms
        if term in held or any(word in held for word, _ in question.beside.get(term, ()))
    )


NEARLY_THE_SAME = 0.9
"""The share of their terms that two texts must have in common (Jaccard's measure) to count as the same."""
_FEW = 4


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of common terms among the terms of both texts, 0 to 1."""
    together = len(one | other)
    return len(one & other) / together if together else 0.0


def repeats_last(
    ranking: Sequence[Item], terms_of: Callable[[Item], Iterable[str]], *, same: float = NEARLY_THE_SAME
) -> tuple[Item, ...]:
    """`ranking` with near repetitions of better items moved to its end; no item is lost.

    Texts of fewer than four terms ("Yes, I did") are similar by chance, and stay.
    """
    kept: list[tuple[Item, frozenset[str]]] = []
    repeated: list[Item] = []
    for item in ranking:
        held = frozenset(terms_of(item))
        if len(held) >= _FEW and any(likeness(held, other) >= same for _, other in kept):
            repeated.append(item)
        else:
            kept.append((item, held))
    return (*(item for item, _ in kept), *repeated)


def pack(ranking: Iterable[Item], cost: Callable[[Item], int], budget: int) -> tuple[Item, ...]:
    """Those of `ranking` that are taken, in its order: each that still fits into what is left of `budget` tokens.

    One that is too large is passed over, and smaller ones after it may still come in.
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
    """A message's own words, whole; what a memory says."""
    score: float
    """How well it answers, against the others of the same answer; of no meaning across answers."""
    at: datetime | None = None
    """When it was said, when what it tells of happened, since when it is so; None where that is not known."""
    session: str = ""
    """Where it was said; of a memory the session of its first evidence."""
    sources: tuple[MessageId, ...] = ()
    """The messages that it rests on; a message rests on itself."""
    role: str = ""
    """Of a message: who speaks."""
    author: str | None = None
    """Of a message: by which name, where it has one."""
    source_id: str | None = None
    """Of a message: the id that the log it came from gave it."""
    state: State = "active"
    """Of a memory: ``disputed`` where a more trusted word stands against it."""
    stale: str = ""
    """Of a memory: why it must be reconsidered."""
    against: tuple[str, ...] = ()
    """Of a memory: what was said against it, by whom and when, in sentences."""
    parts: tuple[tuple[str, float], ...] = ()
    """What the score is made of, where that was asked for."""
    record: Record | None = None
    """The memory itself; None for a message."""


def is_small_talk(text: str) -> bool:
    """Whether a message says nothing that could answer a question: "I see.", "Great, thanks!"."""
    return len(text) <= _READ and _SMALL_TALK.fullmatch(text) is not None


def without_duplicates(best: Sequence[RecallHit], question: Question) -> list[RecallHit]:
    """The same hits with one place for a memory and the message that it was read from.

    For a fact in a slot the memory is kept, with its date; any other memory is part of what was said, and the
    message says more. The other one moves to the end if it tells anything besides, such as when it ended, or is no
    message and nothing that was said on a day, or else is left out. A hit keeps its place if it has a word of the
    question that the other one lacks.
    """
    said: dict[str, list[int]] = {}
    for place, each in enumerate(best):
        if each.record is None:
            said.setdefault(each.id, []).append(place)
    stands = list(range(len(best)))
    """For each whose row it has."""
    for place, each in enumerate(best):
        if each.record is None:
            continue
        for source in (one for name in each.sources for one in said.get(name, ())):
            if stands[source] != source:
                continue
            own, words = words_of(question, each.text), words_of(question, best[source].text)
            if each.record.attribute and (words <= own or each.record.attribute in question.senses):
                stands[source] = place
            elif own <= words and stands[place] == place:
                stands[place] = source
    rows = dict.fromkeys(stands)
    scores = {row: max(best[place].score for place in range(len(best)) if stands[place] == row) for row in rows}
    once = [replace(best[row], score=scores[row]) for row in rows]
    least = min(scores.values(), default=0.0)
    again = (
        each for place, each in enumerate(best) if place not in rows and not _says_it_again(each, best[stands[place]])
    )
    return [*once, *(replace(each, score=min(each.score, least)) for each in again)]


def _says_it_again(hit: RecallHit, shown: RecallHit) -> bool:
    said = hit.record is None or hit.record.kind == "episodic"
    return said and hit.state == "active" and telling(hit.text) <= telling(shown.text)


def each_copy_once(ranking: Sequence[RecallHit]) -> list[RecallHit]:
    """`ranking` without a message that stands higher up already: the same words of the same time, in another session.

    A file that was imported under two names has it twice. What was said at two times was said twice.
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
    """What was recalled, best first; `note` says what was not possible."""

    note: str

    def __new__(cls, found: Iterable[RecallHit] = (), note: str = "") -> RecallResults:
        """Hold `found` in its order."""
        made = super().__new__(cls, found)
        made.note = note
        return made

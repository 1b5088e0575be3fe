"""Find, by rules alone, the threads that a stretch of a story opens and resolves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Generic, TypeVar

from msgspec import Struct

from ireneo.language.files import either, from_data, topic
from ireneo.language.story_topics import Ending, Opening, Threads
from ireneo.language.topics import Names
from ireneo.language.words import base_forms, common_words, light_stem
from ireneo.log.message import Message
from ireneo.patterns import lazy_re
from ireneo.summaries.speech import Sentence, Voiced, VoicedTexts, sentences
from ireneo.summaries.steps import clip
from ireneo.summaries.summary import Thread, ThreadChanges, ThreadEnd, ThreadId, ThreadKind, thread_id
from ireneo.summaries.tell_story import SHOW_TALK, TABLE_TALK

STEMS = 8_192
"""Size of the cache of word stems."""
_BETWEEN: frozenset[ThreadKind] = frozenset({"promise", "debt", "secret", "lie", "threat", "question"})
"""Kinds whose other party is the listener unless somebody else is named."""
AROUND = 60
"""Characters before a cue in which an "if" cancels it."""
MAX_CHARACTERS = 240
"""Longest thread text; a longer sentence is shortened to start at the clause with the cue."""
LEAD = 100
"""Most characters kept before the cue in a long sentence."""
NAMED = 0.2
"""Extra weight of a thread that names somebody or something."""

# Cues: the words that open or end a thread, compiled from the language data, and patterns for their surroundings.


Row = TypeVar("Row", bound=Opening | Ending)


class Cue(Struct, Generic[Row], frozen=True, kw_only=True):
    """A compiled row of the language data: a pattern that opens a thread of one kind or ends threads of some kinds."""

    row: Row
    kinds: tuple[ThreadKind, ...]
    words: tuple[frozenset[str], ...]
    """A text can only match if it contains a word of every set; a cheap test before the pattern is tried."""
    pattern: re.Pattern[str]


class Cues(Struct, Generic[Row], frozen=True, kw_only=True):
    """Cues in the order in which they are tried, indexed by the words of their first set."""

    all: tuple[Cue[Row], ...]
    by_word: dict[str, tuple[int, ...]]

    @classmethod
    def of(cls, rows: Iterable[Row], kinds: Callable[[Row], str]) -> Cues[Row]:
        """Compile `rows`; in `words`, ``|`` separates the words of a set and ``&`` the sets."""
        cues = tuple(
            Cue(
                row=row,
                kinds=tuple(kind for kind in _KINDS if kind in kinds(row).split()),
                words=tuple(frozenset(one.strip().split("|")) for one in row.words.split("&")),
                pattern=lazy_re(row.pattern, re.IGNORECASE),
            )
            for row in rows
        )
        places: dict[str, tuple[int, ...]] = {}
        for number, cue in enumerate(cues):
            for first in cue.words[0]:
                places[first] = (*places.get(first, ()), number)
        return cls(all=cues, by_word=places)

    def of_words(self, words: frozenset[str]) -> list[Cue[Row]]:
        """Return the cues that may match a text of these words, in the order in which they are tried."""
        numbers = sorted({number for word in words & self.by_word.keys() for number in self.by_word[word]})
        return [self.all[at] for at in numbers if not any(words.isdisjoint(each) for each in self.all[at].words[1:])]


# In order of precedence, for a sentence that could open several kinds.
_KINDS: tuple[ThreadKind, ...] = (
    "promise", "debt", "lie", "secret", "threat", "wound", "quest", "relation", "possession", "question",
)  # fmt: skip


@from_data
def _openings() -> Cues[Opening]:
    # Cues that need the next sentence come first, so that the thread is not opened without it.
    rows = sorted(_words().opens, key=lambda row: (not row.point, _KINDS.index(_kind(row.kind))))
    return Cues.of(rows, lambda row: row.kind)


@from_data
def _endings() -> Cues[Ending]:
    return Cues.of(_words().ends, lambda row: row.kinds)


@from_data
def _asking() -> frozenset[str]:
    return _words().backed_words | _words().demand_words


@from_data
def _empty() -> frozenset[str]:
    return common_words() | _words().empty


@from_data
def _lethal() -> frozenset[str]:
    return frozenset(map(_stem, _words().lethal))


@from_data
def _idle() -> frozenset[str]:
    return frozenset(map(_stem, _words().idle))


def _kind(name: str) -> ThreadKind:
    return next(kind for kind in _KINDS if kind == name)


def _words() -> Threads:
    return topic(Threads)


_BACKED = lazy_re(lambda: either(_words().backed), re.IGNORECASE)
_MEANS_TO = lazy_re(lambda: either(_words().means_to), re.IGNORECASE)
_DEMAND = lazy_re(lambda: either(_words().demand), re.IGNORECASE)
_CONSENT = lazy_re(lambda: rf"^[\W_]*{either(_words().consent)}", re.IGNORECASE)
_ANSWERS = lazy_re(lambda: rf"\b{either(_words().answers)}\b", re.IGNORECASE)
_FATE = lazy_re(lambda: rf"\b{either(_words().fate)}\b", re.IGNORECASE)
_MAY_BE = lazy_re(lambda: rf"\b{either(_words().may_be)}\b", re.IGNORECASE)
_FATES = lazy_re(lambda: rf"\b{either(_words().asks_fate)}\b", re.IGNORECASE)
_REPLY = lazy_re(lambda: rf"^\W*{either(_words().reply)}\b", re.IGNORECASE)
_JOKE = lazy_re(lambda: either(_words().joke), re.IGNORECASE)
_NOT_SO = lazy_re(lambda: rf"\b{either(_words().not_so)}\b", re.IGNORECASE)
_TRIFLE = lazy_re(lambda: rf"\b{either(_words().trifle)}\b", re.IGNORECASE)
_DENIES = lazy_re(lambda: rf"\b{either(_words().denies)} (?:\w+ ){{0,2}}$", re.IGNORECASE)
_UNDONE = lazy_re(lambda: rf"\b{either(_words().undone)}\b", re.IGNORECASE)
_KIN = lazy_re(lambda: rf"\b{either(_words().kin)}\b", re.IGNORECASE)
_CLAUSE = lazy_re(lambda: rf"[,;:—–]\s+|--\s*|(?<!\s)\s+(?={either(_words().conjunctions)}\s)")
_DID = lazy_re(
    lambda: rf"\b(?i:{either([*_words().speaker, *_words().nobody])})(?:{either(_words().have)})? $|\b[A-ZÀ-Þ]\w+ $"
)
_PASSIVE = lazy_re(lambda: rf"\b{either(_words().passive)} $", re.IGNORECASE)
_BROKEN_OFF = lazy_re(r"(?:--|—|–|-)[\"'”’]?\s*$")
_PLAIN_WORD = lazy_re(r"\w+")
_SAID_WORD = lazy_re(r"[^\W_][\w’'-]*")
_NAME = lazy_re(r"(?<![.!?…\"“”:(*_] )(?<!^)\b[A-ZÀ-Þ][a-zà-þ][\w’-]*")


def words_of(text: str) -> frozenset[str]:
    """Return the lower-case words of a text, split at apostrophes."""
    return frozenset(_PLAIN_WORD.findall(text.lower()))


def about(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text."""
    return frozenset(_stem(word) for word in _said(text) if len(word) > 1 and word not in _empty())


def _said(text: str) -> list[str]:
    """Return the lower-case words of a text without possessive endings."""
    words = (word.strip("’'-") for word in _SAID_WORD.findall(text.lower()))
    return [word.removesuffix("'s").removesuffix("’s") for word in words]


@lru_cache(maxsize=STEMS)
def _stem(word: str) -> str:
    # married → marry
    word = f"{word[:-3]}y" if word.endswith("ied") else word
    return light_stem(base_forms().get(word, word))


def names(text: str) -> frozenset[str]:
    """Return the proper names of a text in lower case; a capital at the start of a sentence doesn't count."""
    found = (name.removesuffix("’s") for name in _NAME.findall(text.strip().lstrip("\"“«'‘")))
    return frozenset(name.lower() for name in found if name not in topic(Names).none_inside)


def may_open(words: frozenset[str]) -> bool:
    """Whether a text of these words could open a thread: a cheap test."""
    return not words.isdisjoint(_asking()) or bool(_openings().of_words(words))


def opening(sentence: Sentence, following: str = "") -> Thread | None:
    """Return the thread that a sentence opens, if any; `following` is what its speaker says next."""
    words = words_of(sentence.text)
    backs = not words.isdisjoint(_words().backed_words) and _BACKED.match(sentence.text.strip(" \"“”'’"))
    cues = () if backs else _openings().of_words(words)
    if not (backs or cues) or _BROKEN_OFF.search(sentence.text) or (sentence.voiced.authored and _table(sentence)):
        return None
    if backs:
        return _backed(sentence)
    for cue in cues:
        found = cue.pattern.search(sentence.text)
        if found is None or not _holds(cue, found, sentence):
            continue
        made = _made(cue, found, sentence, following)
        # A cue that needs the next sentence and lacks it rules out the cues after it.
        if made is not None or cue.row.point:
            return made
    return None


def thread(kind: ThreadKind, text: str, voiced: Voiced, who: str, whom: str, weight: float) -> Thread:
    """Build a thread that is opened in `voiced`."""
    words = " ".join(text.split()).strip(' "“”«»')
    words = words if len(words) <= MAX_CHARACTERS else clip(words, MAX_CHARACTERS)
    return Thread(
        id=thread_id(kind, words, voiced.source),
        kind=kind,
        text=words,
        who=who,
        whom=whom if whom != who else "",
        weight=round(weight + (NAMED if names(words) else 0.0), 2),
        position=voiced.position,
        source=voiced.source,
    )


def _table(sentence: Sentence) -> bool:
    """Whether the players are talking out of character."""
    return bool(_JOKE.search(sentence.voiced.text) or TABLE_TALK.search(sentence.text.lower()))


def _holds(cue: Cue[Opening], found: re.Match[str], sentence: Sentence) -> bool:
    text = sentence.text
    if not cue.row.narrated and not sentence.voiced.quoted(sentence.start + found.start()):
        return False
    kind = cue.kinds[0]
    if kind == "question":
        return "?" in text or not cue.pattern.pattern.startswith("^")
    if _TRIFLE.search(text):
        return False
    head = text[: found.start()]
    return (
        "?" not in text[found.start() :]
        and not _DENIES.search(head)
        and (cue.row.maybe or not _NOT_SO.search(text, max(0, found.start() - AROUND), found.end()))
    )


def _made(cue: Cue[Opening], found: re.Match[str], sentence: Sentence, following: str) -> Thread | None:
    meant = _meant(found, "who"), _meant(found, "whom")
    words = _with_point(cue, found, sentence, following)
    if words is None or _TRIFLE.search(words):
        return None
    named = bool(any(map(_is_name, meant)) or names(words))
    # A relation needs a name; elsewhere a word of kinship counts as one.
    named = named or bool(_KIN.search(words) and cue.kinds[0] != "relation") or _opens_with_name(words)
    if cue.row.named and not named:
        return None
    quoted = sentence.voiced.quoted(sentence.start + found.start())
    who = _person(meant[0], sentence.voiced, quoted=quoted, default="speaker")
    # The listener is not assumed to have caused a wound.
    whom = _person(meant[1], sentence.voiced, quoted=quoted, default="hearer" if cue.kinds[0] in _BETWEEN else "")
    if any(name.startswith("whom") for name in found.groupdict()) and meant[0] is None and whom == who:
        who = ""
    if not (who or whom or named):
        # Whose it is nobody could tell from it.
        return None
    weight = cue.row.weight
    return thread(cue.kinds[0], words, sentence.voiced, who, whom, weight)


def _opens_with_name(words: str) -> bool:
    """Whether the first word is capitalised and not a common word."""
    first = next(iter(_said(words)), "")
    known = first in _empty() or first in _words().nobody or first in topic(Names).openers
    return bool(first) and not known and words.lstrip(" \"“'")[:1].isupper()


def _meant(found: re.Match[str], group: str) -> str | None:
    """Return the match of the group `who` or `whom`, which may be numbered (`who2`) in an alternative."""
    groups = found.groupdict().items()
    return next((word for name, word in groups if word and name.rstrip("0123456789") == group), None)


def _with_point(cue: Cue[Opening], found: re.Match[str], sentence: Sentence, following: str) -> str | None:
    """Return the thread's sentence, with the neighbouring one where that is needed to understand it.

    None if neither sentence says what it is about.
    """
    text = sentence.text
    with_next = f"{text} {following}".strip()
    if cue.row.point:
        enough = len(about(following)) >= 2 and "?" not in following
        return clip(with_next, MAX_CHARACTERS) if enough else None
    rest = text[: found.start()] + " " + text[found.end() :]
    named = frozenset[str]() if cue.kinds[0] == "secret" else names(found[0])
    if len(about(rest) | named) < cue.row.says:
        wider = sentence.with_before
        fits = len(wider) <= MAX_CHARACTERS and "?" not in wider and sentence.before != sentence.start
        return wider if fits and len(about(wider) - names(wider)) > cue.row.says else None
    words = _around(text, found.start())
    # The person it is about may be named in the sentence before or after.
    if names(words) or not (cue.row.named or words_of(words) & _words().nobody):
        return words
    for wider in (sentence.with_before, *([with_next] if cue.row.named else [])):
        if len(wider) <= MAX_CHARACTERS and "?" not in wider and (names(wider) or _opens_with_name(wider)):
            return wider
    return words


def _backed(sentence: Sentence) -> Thread | None:
    """Return the promise in the sentence before, where this one confirms it."""
    voiced = sentence.voiced
    said = sentence.with_before
    before = said[: sentence.start - sentence.before]
    idle = _TRIFLE.search(before) or _NOT_SO.search(before) or (voiced.authored and TABLE_TALK.search(said.lower()))
    if idle or "?" in said or not _MEANS_TO.search(before) or len(about(before)) < 2:
        return None
    if len(said) > MAX_CHARACTERS or not voiced.quoted(sentence.start):
        return None
    return thread("promise", said, voiced, voiced.speaker, voiced.hearer, 1.5)


def _person(word: str | None, voiced: Voiced, *, quoted: bool, default: str) -> str:
    """The person whom a word of a cue refers to; without a word, the default of that kind of thread."""
    word = {"speaker": "I", "hearer": "you", "": "it"}[default] if word is None else word
    low = word.lower()
    if low.split(" ")[0] in _words().speaker:
        return voiced.speaker if quoted else ""
    if low in _words().hearer:
        return voiced.hearer if quoted else ""
    return re.sub(r"['’]s?$", "", _name_in(word)) if _is_name(word) else ""


def _is_name(word: str | None) -> bool:
    low = _name_in(word or "").lower()
    pronoun = low in _words().nobody or low in _words().hearer or low.split(" ")[0] in _words().speaker
    return _name_in(word or "")[:1].isupper() and not pronoun and low not in topic(Names).titles


def _name_in(word: str) -> str:
    """Strip a leading article or the like."""
    first, _, rest = word.partition(" ")
    return rest if rest and first.lower() in _empty() else word


def _around(text: str, place: int) -> str:
    """Return a sentence, or for a long one the clauses around `place`."""
    if len(text) <= MAX_CHARACTERS or place <= LEAD:
        return text
    starts = [found.end() for found in _CLAUSE.finditer(text, 0, place) if place - found.end() <= LEAD]
    return text[starts[0] if starts else place :]


_DEEDS: frozenset[ThreadKind] = frozenset({"promise", "quest", "debt", "threat"})
"""Kinds that are resolved by a deed."""
DONE = 0.4
"""Share of such a thread's content words that must recur with its verb in the past tense."""
_THINGS: frozenset[ThreadKind] = frozenset({"wound", "possession", "lie"})
"""Kinds identified by their object: the arm that is healed, the ring that is lost."""
BESIDE = 25
"""Characters around an ending or a verb within which its object is looked for."""
ENOUGH = 0.5
"""Share of a thread's content words that must recur where it ends."""

CLOSE = 30
"""Characters after a name within which somebody's fate is looked for."""
ALONE = 1_500
"""Messages within which an ending may resolve the speaker's only thread of its kind."""
TOGETHER = 5_000
"""Messages within which it may resolve the only one between its speaker and hearer."""


class KnownThread(Struct, frozen=True, kw_only=True):
    """An open thread with its words precomputed."""

    thread: Thread
    about: frozenset[str]
    names: frozenset[str]
    words: frozenset[str]
    """Content words, not stemmed."""
    said: frozenset[str]
    """All words, not stemmed."""
    stems: frozenset[str]
    who: frozenset[str]
    whom: frozenset[str]
    """The two parties, as the lower-case words of their names."""

    @property
    def people(self) -> frozenset[str]:
        """The words of both parties' names."""
        return self.who | self.whom


def known(thread: Thread) -> KnownThread:
    """Precompute the words of an open thread."""
    said = frozenset(_said(thread.text))
    return KnownThread(
        thread=thread,
        about=about(thread.text),
        names=names(thread.text),
        words=words_of(thread.text) - _empty(),
        said=said,
        stems=frozenset(map(_stem, said)),
        who=_named(thread.who),
        whom=_named(thread.whom),
    )


def _named(who: str) -> frozenset[str]:
    """Return the significant words of a name."""
    return frozenset(word for word in _said(who) if word not in _empty())


def may_end(words: frozenset[str], threads: Sequence[KnownThread]) -> bool:
    """Whether a text of these words could end one of `threads`: a cheap test."""
    if not threads:
        return False
    if not words.isdisjoint(_endings().by_word):
        return True
    stems = frozenset(map(_stem, words))
    return any(not stems.isdisjoint(each.about) for each in threads)


def ended(sentence: Sentence, threads: Sequence[KnownThread]) -> list[KnownThread]:
    """Return the threads that a sentence resolves, never one that its own message opened."""
    text = sentence.text
    plain = " ".join(text.split())
    earlier = [
        each for each in threads if each.thread.source != sentence.voiced.source and plain not in each.thread.text
    ]
    if "?" in text or not earlier:
        return []
    out = [each for each in earlier if each.thread.kind == "question" and answers(text, each)]
    for end in _endings().of_words(words_of(text)):
        theirs = [each for each in earlier if each.thread.kind in end.kinds]
        found = end.pattern.search(text) if theirs else None
        if found is None or _DENIES.search(text[: found.start()]) or _NOT_SO.search(text, 0, found.end()):
            continue
        if end.row.death:
            dead = _said(_meant(found, "who") or "")
            out += [each for each in theirs if dead and not _undone(text, found.end()) and _dies_with(each, dead[0])]
        else:
            out += _which(end, sentence, found.span(), theirs)
    told = _TellsOf(sentence)
    return [*out, *(each for each in earlier if told.does(each))]


def _dies_with(each: KnownThread, dead: str) -> bool:
    """Whether a death ends a thread: the death of one of its parties, or of its intended victim."""
    if each.thread.kind == "debt":
        return dead in each.people
    if each.thread.kind == "relation":
        return dead in each.people or dead in each.names
    if each.thread.kind == "wound":
        return dead in each.whom
    return dead in each.who or (dead in each.names and not each.about.isdisjoint(_lethal()))


class _Deed(Struct, frozen=True, kw_only=True):
    """A verb in the past tense."""

    word: str
    stem: str
    unchanged: bool
    """Its present tense is spelled the same."""
    passive: bool
    """It is in the passive."""
    near: frozenset[str]
    """Content stems within `AROUND` characters."""
    beside: frozenset[str]
    """Content stems within `BESIDE` characters."""
    behind: frozenset[str]
    """The words within `BESIDE` characters after it."""


class _TellsOf:
    """A sentence parsed once for all threads that it may end."""

    def __init__(self, sentence: Sentence) -> None:
        self.text = sentence.text
        self.voiced = sentence.voiced
        self.about = about(self.text)

    @cached_property
    def here(self) -> frozenset[str]:
        """The words of the message and of its speaker's name."""
        return words_of(self.voiced.text) | _named(self.voiced.speaker)

    @cached_property
    def is_of_somebody(self) -> bool:
        """Whether anybody is named in the message."""
        return bool(self.voiced.speaker or names(self.voiced.text))

    @cached_property
    def deeds(self) -> list[_Deed]:
        """The verbs in the past tense that are not negated or only intended."""
        out = []
        for found in _SAID_WORD.finditer(self.text):
            word = found[0].lower()
            stem = _stem(word)
            unchanged = word in _words().unchanged and bool(_DID.search(self.text[: found.start()]))
            past = word in base_forms() or (word.endswith("ed") and "-" not in word) or unchanged
            if not past or stem in _empty() or stem in _idle():
                continue
            if not _undone(self.text, found.start()):
                near = about(self.text[max(0, found.start() - AROUND) : found.end() + AROUND])
                beside = about(self.text[max(0, found.start() - BESIDE) : found.end() + BESIDE])
                behind = words_of(self.text[found.end() : found.end() + BESIDE])
                passive = bool(_PASSIVE.search(self.text, 0, found.start()))
                out.append(
                    _Deed(
                        word=word,
                        stem=stem,
                        unchanged=unchanged,
                        passive=passive,
                        near=near,
                        beside=beside,
                        behind=behind,
                    )
                )
        return out

    def does(self, each: KnownThread) -> bool:
        """Whether it reports the deed that a thread is about: its verb in the past tense, with its object."""
        if each.thread.kind not in _DEEDS:
            return False
        about_it = each.about - each.people - _idle()
        shared = about_it & self.about
        if not shared and each.stems.isdisjoint(self.about):
            return False
        if each.who and not (each.who | each.names) & self.here and self.is_of_somebody:
            return False
        named = frozenset(map(_stem, each.names))
        for deed in self.deeds:
            # The object of the deed is near its verb.
            others = deed.near & shared - {deed.stem}
            if deed.stem in each.stems and (deed.word not in each.said or deed.unchanged):
                # The person it was done to, by name or pronoun, follows the verb and is named in the message.
                beside = bool(deed.behind & (each.names | _words().someone)) and not each.names.isdisjoint(self.here)
                told = 1 + len((others & deed.beside) - (frozenset() if deed.passive else named)) + beside
                if each.thread.kind != "debt" and told > 1 and told >= DONE * len(about_it):
                    return True
            # Another verb counts too if all the other words recur.
            if len(others - named) >= 2 and about_it <= others | {deed.stem}:
                return True
        return False


def _undone(text: str, place: int) -> bool:
    """Whether the clause that leads to `place` is only intended, wished or negated."""
    clause = max((found.end() for found in _CLAUSE.finditer(text, 0, place)), default=0)
    return bool(_UNDONE.search(text, max(clause, place - AROUND), place))


def answers(text: str, question: KnownThread) -> bool:
    """Whether a sentence answers a question about the people or things that it names."""
    said = words_of(text)
    if "?" in text or not question.names <= said:
        return False
    if _FATES.search(question.thread.text):
        return _tells_fate(text, question)
    shared = question.about & about(text)
    return len(shared) >= 2 and 3 * len(shared) >= 2 * len(question.about) and bool(_ANSWERS.search(text))


def _tells_fate(text: str, question: KnownThread) -> bool:
    """Whether a fate is told shortly after a name of the question."""
    if _MAY_BE.search(text):
        return False
    low = text.lower()
    ends = [place + len(name) for name in question.names if (place := low.find(name)) >= 0]
    return any(_FATE.search(text, end, end + CLOSE) for end in ends)


def _which(
    end: Cue[Ending], sentence: Sentence, place: tuple[int, int], threads: Sequence[KnownThread]
) -> list[KnownThread]:
    """Return the one of `threads` that an ending resolves; none if that is ambiguous.

    `place` is the span of the ending in the sentence.
    """
    said = about(sentence.with_before)
    voiced = sentence.voiced
    named = names(sentence.text)
    here = words_of(sentence.with_before) | _named(voiced.speaker) | _named(voiced.hearer)
    is_somebody = bool(voiced.speaker or names(sentence.with_before))
    gives = sentence.text[place[0] : place[1]].lower().partition(" ")[0] in _words().speaker
    best: tuple[int, KnownThread] | None = None
    ours: list[KnownThread] = []
    things = about(sentence.text[max(0, place[0] - BESIDE) : place[1] + BESIDE])
    things -= _idle() | frozenset(map(_stem, end.words[0]))
    for each in threads:
        both = each.about & said
        # Its people are named all over the story, so another word must recur as well.
        shared = len(both) if both - each.names - each.people - _idle() else 0
        if gives and not end.row.by_people and each.thread.kind == "debt" and _named(voiced.speaker) & each.whom:
            # The creditor is paying for something else.
            continue
        theirs = bool(each.people & here)
        if each.people and is_somebody and not theirs:
            continue
        # Where the speaker is unknown, require the same name or many of the same words.
        least = 3 if each.thread.kind in _THINGS else 2
        enough = (1 if end.row.by_people else least) if theirs or each.names & named or end.row.by_people else 4
        age = voiced.position - each.thread.position
        both_here = bool(each.who & here and each.whom & here) and age <= TOGETHER
        beside = theirs and bool(things & (both - each.names - each.people)) and each.thread.kind in _THINGS
        # A relation is about nothing but its two people.
        beside = beside or (both_here and each.thread.kind == "relation")
        if (beside or (shared >= enough and shared >= ENOUGH * len(each.about))) and (best is None or shared > best[0]):
            best = (shared, each)
        own = bool(_named(voiced.speaker) & each.people) and age <= ALONE and named <= each.people
        if both_here or own:
            ours.append(each)
    if best is not None:
        return [best[1]]
    return ours if end.row.by_people and len(ours) == 1 else []


# Precision over recall: a wrong thread is carried for long, while a missed one is still in its leaf.


SOON = 3
"""Lines: a question answered within them opens no thread, nor does a request whose promise takes longer."""
TABLE_NEAR = 4
"""Lines before and after in which talk about the show makes a line part of that talk."""
AGAIN = 0.7
"""Share of common content words from which two threads of one kind and person are the same thread."""


def find_threads(messages: Sequence[Message], before: Sequence[Thread]) -> ThreadChanges:
    """Return the threads that `messages` open and leave open, and which of those open `before` they resolve."""
    heard = VoicedTexts(messages)
    tale = _Tale(before)
    for place, text in enumerate(heard.texts):
        words = words_of(text)
        opens, ends = may_open(words), may_end(words, tale.open)
        if not (opens or ends):
            continue
        for sentence in sentences(heard.voiced(place)):
            if ends:
                tale.end(ended(sentence, tale.open), sentence)
            following = heard.said_next(place, sentence.end) if opens else ""
            found = (opening(sentence, following) or _asked_for(sentence, heard, place)) if opens else None
            if found is not None and not _passing(found, sentence, heard, place):
                tale.begin(found)
    return tale.threads


class _Tale:
    """The open threads while a stretch is read in order."""

    def __init__(self, before: Sequence[Thread]) -> None:
        self._open = {thread.id: known(thread) for thread in before}
        self._before = frozenset(self._open)
        self._closed: dict[ThreadId, ThreadEnd | None] = {}
        self._said = {_plain(thread.text) for thread in before}
        self.open = list(self._open.values())

    @property
    def threads(self) -> ThreadChanges:
        opened = tuple(each.thread for name, each in self._open.items() if name not in self._before)
        return ThreadChanges(opened=opened, closed=tuple(self._closed), ends=tuple(filter(None, self._closed.values())))

    def begin(self, thread: Thread) -> None:
        """Open a thread, replacing an older wording of it; does nothing if the same words are known."""
        if _plain(thread.text) in self._said:
            return
        new = known(thread)
        self.end([each for each in self.open if _again(each, new)])
        self._said.add(_plain(thread.text))
        self._open[thread.id] = new
        self.open.append(new)

    def end(self, resolved: Sequence[KnownThread], by: Sentence | None = None) -> None:
        """Resolve threads; `by` is the resolving sentence, or None if they were only reworded."""
        for each in resolved:
            name = each.thread.id
            if self._open.pop(name, None) is not None and name in self._before:
                self._closed[name] = _end(name, by) if by else None
        if resolved:
            self.open = list(self._open.values())


def _end(name: ThreadId, by: Sentence) -> ThreadEnd:
    said = clip(" ".join(by.text.split()), MAX_CHARACTERS)
    return ThreadEnd(id=name, text=said, position=by.voiced.position, source=by.voiced.source)


def _again(old: KnownThread, new: KnownThread) -> bool:
    """Whether `new` is `old` in other words."""
    if old.thread.kind != new.thread.kind:
        return False
    shared = len(old.about & new.about)
    if new.thread.kind == "quest" and new.names and new.names == old.names:
        return shared > len(new.names)
    same = old.thread.who == new.thread.who and ("" in (old.thread.whom, new.thread.whom) or old.whom == new.whom)
    return same and shared >= 3 and shared >= AGAIN * max(len(old.about), len(new.about))


def _asked_for(sentence: Sentence, heard: VoicedTexts, place: int) -> Thread | None:
    """Return the promise that a sentence asks for and somebody gives soon after."""
    found = _DEMAND.search(sentence.text)
    voiced = sentence.voiced
    if (
        found is None
        or (voiced.authored and TABLE_TALK.search(sentence.text.lower()))
        or not voiced.quoted(sentence.start + found.start())
    ):
        return None
    for after in range(place + 1, min(place + 1 + SOON, len(heard.texts))):
        if not _CONSENT.match(heard.texts[after]):
            continue
        speaker = heard.voiced(after).speaker
        if speaker != voiced.speaker or not voiced.authored:
            return thread("promise", sentence.text, voiced, speaker, voiced.speaker, 1.5)
    return None


def _passing(found: Thread, sentence: Sentence, heard: VoicedTexts, place: int) -> bool:
    """Whether a thread is over at once: table talk, or a question that is answered right away."""
    voiced = sentence.voiced
    around = heard.texts[max(0, place - TABLE_NEAR) : place + TABLE_NEAR + 1]
    if voiced.authored and any(SHOW_TALK.search(text.lower()) for text in around):
        return True
    if found.kind != "question":
        return False
    asked = known(found)
    after = heard.texts[place + 1 : place + 1 + SOON]
    rest = voiced.text[sentence.end :]
    if any(answers(text, asked) for each in (rest, *after) for text in each.split(". ")):
        return True
    return any(_REPLY.match(text) and len(text.split()) > 2 and "?" not in text for text in after[:1])


def _plain(text: str) -> str:
    return " ".join(text.lower().split())

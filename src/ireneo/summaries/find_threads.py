"""Find, by rules, the threads that a stretch of a written story opens and resolves.

Patterns of the language data recognise plain promises, debts, secrets, threats and the like. In English a linear model
over the words of the sentence (`ireneo.language.word_lines`) has to agree. A wrong thread is carried for long, while a
missed one is still in its leaf; so what players say at a table, who switch between themselves and their characters in
one sentence, opens and resolves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Generic, TypeVar, get_args

from msgspec import Struct

from ireneo.language.files import CAPITAL, any_of, cached_data, topic
from ireneo.language.story_topics import Ending, Opening, Threads
from ireneo.language.topics import Names
from ireneo.language.word_lines import features, load_models
from ireneo.language.words import balanced, base_forms, common_words, light_stem
from ireneo.log.message import Message
from ireneo.patterns import lazy_re
from ireneo.summaries.by_hand import HAND_WEIGHT
from ireneo.summaries.speech import WORDS, Sentence, VoicedText, VoicedTexts, is_spoken_play, sentences, with_speaker
from ireneo.summaries.steps import clip
from ireneo.summaries.summary import Thread, ThreadChanges, ThreadEnd, ThreadId, ThreadKind, thread_id

_SAYS = topic(Threads)

STEMS = 8_192
"""Size of the cache of word stems."""
TEXTS = 2_048
"""How many texts are cached with their content words: more than a stretch and its open threads have."""
_BETWEEN: frozenset[ThreadKind] = frozenset({"promise", "debt", "secret", "threat"})
"""Kinds whose other party is the listener, if the speaker is one of the parties."""
OPENS = 0.2
"""The least value, by the model, of an English sentence that opens a thread."""
MAX_CHARACTERS = 240
"""The maximum number of characters of a thread's text."""
LEAD = 100
"""The maximum number of characters kept before the cue in a long sentence."""
AROUND = 60
"""How many characters before a verb are searched for words that make it intended, wished or negated."""

# Cues: the words that open or end a thread, compiled from the language data, and patterns for the text around them.


Row = TypeVar("Row", bound=Opening | Ending)


class Cue(Struct, Generic[Row], frozen=True, kw_only=True):
    """A compiled row of the language data: a pattern that opens a thread of one kind or ends threads of some kinds."""

    row: Row
    kinds: tuple[ThreadKind, ...]
    words: tuple[frozenset[str], ...]
    """A text can only match if it contains a word of every set; a cheap test before the pattern is tried."""
    pattern: re.Pattern[str]


def _compile(rows: Iterable[Row], kinds: Callable[[Row], str]) -> tuple[Cue[Row], ...]:
    """Compile `rows`; in `words`, ``|`` separates the words of a set and ``&`` the sets."""
    return tuple(
        Cue(
            row=row,
            kinds=tuple(kind for kind in get_args(ThreadKind) if kind in kinds(row).split()),
            words=tuple(frozenset(one.strip().split("|")) for one in row.words.split("&")),
            pattern=lazy_re(row.pattern, re.IGNORECASE),
        )
        for row in rows
    )


def _candidates(cues: Sequence[Cue[Row]], text: str) -> list[Cue[Row]]:
    """Return the cues that may match a text, in the order in which they are tried."""
    words = lower_words(text)
    return [cue for cue in cues if not any(words.isdisjoint(each) for each in cue.words)]


@lru_cache(maxsize=STEMS)
def _stem(word: str) -> str:
    word = f"{word[:-3]}y" if word.endswith("ied") else word
    return light_stem(base_forms().get(word, word))


_opening_cues = cached_data(lambda: _compile(_SAYS.opens, lambda row: row.kind))
_ending_cues = cached_data(lambda: _compile(_SAYS.ends, lambda row: row.kinds))
_empty_words = cached_data(lambda: common_words() | _SAYS.empty)
_lethal_stems = cached_data(lambda: frozenset(map(_stem, _SAYS.lethal)))
_idle_stems = cached_data(lambda: frozenset(map(_stem, _SAYS.idle)))

_CLAUSE = lazy_re(lambda: rf"[,;:—–]\s+|--\s*|(?<!\s)\s+(?={any_of(_SAYS.conjunctions)}\s)")
_BROKEN_OFF = lazy_re(r"(?:--|—|–|-)[\"'”’]?\s*$")
_SAID_WORD = lazy_re(r"[^\W_][\w’'-]*")
_NAME = lazy_re(rf"(?<![.!?…\"“”:(*_] )(?<!^)\b{CAPITAL}[a-zß-ɏ][\w’-]*")


def lower_words(text: str) -> frozenset[str]:
    """Return the lower-case words of a text, split at apostrophes."""
    return frozenset(WORDS.findall(text.lower()))


@lru_cache(maxsize=TEXTS)
def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text; cached, as each open thread is compared with the same texts."""
    return frozenset(_stem(word) for word in _bare_words(text) if len(word) > 1 and word not in _empty_words())


def _bare_words(text: str) -> list[str]:
    """Return the lower-case words of a text without possessive endings."""
    words = (word.strip("’'-") for word in _SAID_WORD.findall(text.lower()))
    return [word.removesuffix("'s").removesuffix("’s") for word in words]


def proper_names(text: str) -> frozenset[str]:
    """Return the proper names of a text in lower case; a capital at the start of a sentence doesn't count."""
    found = (name.removesuffix("’s") for name in _NAME.findall(text.strip().lstrip("\"“«'‘")))
    return frozenset(name.lower() for name in found if name not in topic(Names).none_inside)


def opened_thread(sentence: Sentence, following: str = "") -> Thread | None:
    """Return the thread that a sentence opens, if any; `following` is what its speaker says next."""
    if "?" in sentence.text or _BROKEN_OFF.search(sentence.text):
        return None
    for cue in _candidates(_opening_cues(), sentence.text):
        found = cue.pattern.search(sentence.text)
        if found is not None and _cue_applies(cue.row, found, sentence):
            return _thread_by_cue(cue, found, sentence, following)
    return None


def _cue_applies(row: Opening, found: re.Match[str], sentence: Sentence) -> bool:
    if not row.narrated and (sentence.voiced.narrated or not sentence.voiced.is_speech(sentence.start + found.start())):
        return False
    if row.rated and load_models("threads")["opens"].value(features(sentence.text)) < OPENS:
        return False
    return not _SAYS.denies.search(sentence.text[: found.start()])


def _thread_by_cue(cue: Cue[Opening], found: re.Match[str], sentence: Sentence, following: str) -> Thread | None:
    kind, voiced = cue.kinds[0], sentence.voiced
    words = _self_contained_text(cue.row, found, sentence, following)
    if words is None:
        return None
    quoted = voiced.is_speech(sentence.start + found.start()) and not voiced.narrated
    who = _resolve_person(_party_in_match(found, "who") or "I", voiced, quoted=quoted)
    hearer = "you" if kind in _BETWEEN else ""
    whom = _resolve_person(_party_in_match(found, "whom") or hearer, voiced, quoted=quoted)
    if not (who or whom or proper_names(words) or _opens_with_name(words)):
        # Nobody could tell from it whose thread it is.
        return None
    return make_thread(kind, words, voiced, who, whom)


def make_thread(kind: ThreadKind, text: str, voiced: VoicedText, who: str, whom: str) -> Thread:
    """Build a thread that is opened in `voiced`; if nobody is known whose it is, its text names the speaker."""
    words = " ".join(text.split())
    bare = words.strip(' "“”«»')
    words = bare if balanced(bare) or not balanced(words) else words
    words = words if len(words) <= MAX_CHARACTERS else clip(words, MAX_CHARACTERS)
    words = words if who or whom else with_speaker(voiced.speaker, words, voiced.text)
    return Thread(
        id=thread_id(kind, words, voiced.source),
        kind=kind,
        text=words,
        who=who,
        whom=whom if whom != who else "",
        position=voiced.position,
        source=voiced.source,
    )


def _party_in_match(found: re.Match[str], group: str) -> str | None:
    """Return the match of the group `who` or `whom`, which may be numbered (`who2`) in an alternative."""
    groups = found.groupdict().items()
    return next((word for name, word in groups if word and name.rstrip("0123456789") == group), None)


def _resolve_person(word: str, voiced: VoicedText, *, quoted: bool) -> str:
    """Return the person to whom a word of a cue refers; empty if unknown."""
    first, _, rest = word.lower().partition(" ")
    if first in _SAYS.speaker:
        return voiced.speaker if quoted else ""
    if word.lower() in _SAYS.hearer:
        return voiced.hearer if quoted else ""
    bare = word.partition(" ")[2] if rest and first in _empty_words() else word
    named = bare[:1].isupper() and bare.lower() not in _SAYS.nobody | topic(Names).titles
    return re.sub(r"['’]s?$", "", bare) if named else ""


def _self_contained_text(row: Opening, found: re.Match[str], sentence: Sentence, following: str) -> str | None:
    """Return a sentence with the neighbour that it needs; None if neither names the subject."""
    text, wider = sentence.text, sentence.with_before
    rest = f"{text[: found.start()]} {text[found.end() :]}"
    if len(content_stems(rest) | proper_names(found[0])) < row.says:
        joined = f"{text} {following}"
        says = len(content_stems(following)) > row.says and "?" not in following and len(joined) <= MAX_CHARACTERS
        return joined if says else None
    if len(text) > MAX_CHARACTERS and found.start() > LEAD:
        return text[found.start() :]
    named = proper_names(text) or _opens_with_name(text) or not lower_words(text) & _SAYS.nobody
    return text if named or len(wider) > MAX_CHARACTERS or "?" in wider or not proper_names(wider) else wider


def _opens_with_name(words: str) -> bool:
    """Whether the first word is capitalised and not a common word."""
    first = next(iter(_bare_words(words)), "")
    known = first in _empty_words() or first in _SAYS.nobody or first in topic(Names).openers
    return bool(first) and not known and words.lstrip(" \"“'")[:1].isupper()


ENOUGH = 0.5
"""The share of a thread's content words that must recur where it ends."""
SHARED = 2
"""The fewest words that a thread and the sentence that resolves it share."""
ALONE = 1_500
"""Within this many messages an ending may resolve the only thread of its kind between its speaker and hearer, or of its
speaker."""
SOON = 3
"""No line ends a thread within this many lines, unless it says so."""
AGAIN = 0.7
"""The share of common content words from which two threads of one kind and person are the same."""


class KnownThread(Struct, frozen=True, kw_only=True):
    """An open thread with precomputed words."""

    thread: Thread
    about: frozenset[str]
    names: frozenset[str]
    who: frozenset[str]
    whom: frozenset[str]
    """The two parties, as the lower-case words of their names."""

    @property
    def people(self) -> frozenset[str]:
        """The words of both parties' names."""
        return self.who | self.whom


def index_thread(thread: Thread) -> KnownThread:
    """Precompute the words of an open thread."""
    return KnownThread(
        thread=thread,
        about=content_stems(thread.text),
        names=proper_names(thread.text),
        who=_name_words(thread.who),
        whom=_name_words(thread.whom),
    )


def _name_words(who: str) -> frozenset[str]:
    """Return the significant words of a name."""
    return frozenset(word for word in _bare_words(who) if word not in _empty_words())


def ended_threads(sentence: Sentence, threads: Sequence[KnownThread]) -> list[KnownThread]:
    """Return the threads that a sentence resolves, but never one that its own message opened."""
    text = sentence.text
    earlier = [each for each in threads if each.thread.source != sentence.voiced.source]
    if "?" in text or not earlier:
        return []
    out: list[KnownThread] = []
    for end in _candidates(_ending_cues(), text):
        theirs = [each for each in earlier if each.thread.kind in end.kinds]
        found = end.pattern.search(text) if theirs else None
        if found is None or _SAYS.denies.search(text[: found.start()]) or _is_unrealised(text, found.start()):
            continue
        if end.row.death:
            dead = _bare_words(_party_in_match(found, "who") or "")
            out += [each for each in theirs if dead and _ends_by_death(each, dead[0])]
        else:
            out += _ended_by_cue(end.row, sentence, theirs)
    return out


def _ends_by_death(each: KnownThread, dead: str) -> bool:
    """Whether a death ends a thread: the death of who has to do something, or of the intended victim."""
    if each.thread.kind == "debt":
        return dead in each.people
    if each.thread.kind == "wound":
        return dead in each.whom
    return dead in each.who or (dead in each.names and not each.about.isdisjoint(_lethal_stems()))


def _is_unrealised(text: str, place: int) -> bool:
    """Whether the clause before `place` is only intended, wished or negated."""
    clause = max((found.end() for found in _CLAUSE.finditer(text, 0, place)), default=0)
    return bool(_SAYS.undone.search(text, max(clause, place - AROUND), place))


def _ended_by_cue(end: Ending, sentence: Sentence, threads: Sequence[KnownThread]) -> list[KnownThread]:
    """Return the one of `threads` that an ending resolves; empty if that is ambiguous."""
    voiced = sentence.voiced
    said = content_stems(sentence.with_before)
    speaker, named = _name_words(voiced.speaker), proper_names(sentence.text)
    here = lower_words(sentence.with_before) | speaker | _name_words(voiced.hearer)
    met = here | lower_words(voiced.text)
    own = sentence.text.lower().lstrip(' "“').partition(" ")[0] in _SAYS.speaker
    best: tuple[int, KnownThread] | None = None
    ours: list[KnownThread] = []
    for each in threads:
        age = voiced.position - each.thread.position
        if each.people and voiced.speaker and each.people.isdisjoint(here):
            continue
        if not end.by_people and (age < SOON or (own and each.thread.kind == "debt" and speaker & each.whom)):
            # The creditor pays for something else.
            continue
        # People are named all over the story, so another word must recur as well.
        both = each.about & said
        shared = len(both) if both - each.names - each.people - _idle_stems() else 0
        if shared >= max(1 if end.by_people else SHARED, ENOUGH * len(each.about)) and (not best or shared > best[0]):
            best = shared, each
        between = bool(each.who & met and each.whom & met) or bool(speaker & each.people and named <= each.people)
        if end.by_people and between and age <= ALONE:
            ours.append(each)
    if best is not None:
        return [best[1]]
    return ours if len(ours) == 1 else []


def find_threads(messages: Sequence[Message], before: Sequence[Thread]) -> ThreadChanges:
    """Return the threads that `messages` open and leave open, and which of those open `before` they resolve."""
    heard = VoicedTexts(messages)
    tale = _OpenThreads(before)
    if is_spoken_play(heard):
        return tale.changes
    recapped = heard.recap_spans()
    for place in range(len(heard.texts)):
        start, end = recapped.get(place, (0, 0))
        for sentence in sentences(heard.voiced(place)):
            if closed := ended_threads(sentence, tale.open):
                tale.end(closed, sentence)
            # A recap repeats threads.
            elif not start <= sentence.start < end and (
                found := opened_thread(sentence, heard.next_sentence(place, sentence.end))
            ):
                tale.begin(found)
    return tale.changes


def closed_since(threads: Sequence[Thread], messages: Sequence[Message]) -> Mapping[ThreadId, ThreadEnd]:
    """Map each of the open `threads` that the following `messages` resolve to its end, as `find_threads` does.

    What was written by hand is ended by hand.
    """
    found = find_threads(messages, [each for each in threads if each.weight < HAND_WEIGHT])
    return {end.id: end for end in found.ends}


class _OpenThreads:
    """The open threads while a stretch is read in order."""

    def __init__(self, before: Sequence[Thread]) -> None:
        self._before = frozenset(thread.id for thread in before)
        self._closed: dict[ThreadId, ThreadEnd | None] = {}
        self.open = [index_thread(thread) for thread in before]

    @property
    def changes(self) -> ThreadChanges:
        opened = tuple(each.thread for each in self.open if each.thread.id not in self._before)
        return ThreadChanges(opened=opened, closed=tuple(self._closed), ends=tuple(filter(None, self._closed.values())))

    def begin(self, thread: Thread) -> None:
        """Open a thread, replacing older wordings of it; does nothing if the same words are open."""
        words = _plain_text(thread.text)
        if not any(words in _plain_text(each.thread.text) for each in self.open):
            new = index_thread(thread)
            self.end([each for each in self.open if _is_rewording(each, new)])
            self.open.append(new)

    def end(self, resolved: Sequence[KnownThread], by: Sentence | None = None) -> None:
        """Resolve threads; `by` is the resolving sentence, or None if they were only reworded."""
        for each in resolved:
            name = each.thread.id
            if name in self._before:
                self._closed[name] = _thread_end(name, by) if by else None
        gone = {each.thread.id for each in resolved}
        self.open = [each for each in self.open if each.thread.id not in gone]


def _thread_end(name: ThreadId, by: Sentence) -> ThreadEnd:
    said = clip(" ".join(by.text.split()), MAX_CHARACTERS)
    return ThreadEnd(id=name, text=said, position=by.voiced.position, source=by.voiced.source)


def _is_rewording(old: KnownThread, new: KnownThread) -> bool:
    """Whether `new` is `old` in other words."""
    shared = len(old.about & new.about)
    same = (
        old.thread.kind == new.thread.kind
        and old.who == new.who
        and (not (old.whom and new.whom) or old.whom == new.whom)
    )
    return same and shared >= 3 and shared >= AGAIN * max(len(old.about), len(new.about))


def _plain_text(text: str) -> str:
    return " ".join(_bare_words(text))

"""Find, by rules, the threads that a stretch of a story opens and resolves.

For English, linear models over the words of a sentence (`ireneo.language.word_lines`), fitted to labelled sentences,
decide whether it opens one and of which kind. For other languages patterns of the language data do.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Generic, TypeVar

from msgspec import Struct

from ireneo.language.files import CAPITAL, any_of, cached_data, topic
from ireneo.language.story_topics import Ending, Opening, Threads, Turns
from ireneo.language.topics import Names
from ireneo.language.word_lines import Features, LinearModel, features, load_models
from ireneo.language.words import balanced, base_forms, common_words, light_stem
from ireneo.log.message import Message
from ireneo.patterns import lazy_re
from ireneo.summaries.by_hand import HAND_WEIGHT
from ireneo.summaries.speech import WORDS, Sentence, VoicedText, VoicedTexts, is_spoken_play, sentences, with_speaker
from ireneo.summaries.steps import clip
from ireneo.summaries.summary import Thread, ThreadChanges, ThreadEnd, ThreadId, ThreadKind, thread_id
from ireneo.summaries.tell_story import NARRATED_FORM, SALIENCE

_SAYS = topic(Threads)
_TURNS = topic(Turns)

STEMS = 8_192
"""Size of the cache of word stems."""
TEXTS = 2_048
"""How many texts are cached with their content words: more than a stretch and its open threads have."""
_BETWEEN: frozenset[ThreadKind] = frozenset({"promise", "debt", "secret", "lie", "threat", "wound"})
"""Kinds whose other party is the listener, if the speaker is one of the parties."""
AROUND = 60
"""Characters before a cue in which an "if" cancels it."""
_SAYING: frozenset[ThreadKind] = frozenset({"secret", "lie"})
"""Kinds that mean nothing unless the hidden or spoken thing is named."""
_OWN: frozenset[ThreadKind] = frozenset({"secret", "lie", "wound"})
"""Kinds that belong to a speaker who mentions themselves and others."""
_PAUSE = frozenset(",.!")
OPENS, OPENS_STATE = 0.4, 1.2
"""The least value of an English sentence that opens a thread, and of one that tells a state and denies nothing."""
LASTS, OPENLY, NAMES = 1.2, 0.25, 0.2
"""In spoken play, the least value of a sentence that opens a thread: how much it matters later, with the value for
opening one and up to `MOST_NAMES` names weighted so."""
MOST_NAMES, OPENS_SURELY = 2, -0.5
"""There, the least value for opening a thread from which on it has a kind."""
_UNDONE: frozenset[ThreadKind] = frozenset({"open", "promise", "debt", "quest", "threat"})
"""Kinds of what is still to be done, of which a sentence about the past alone tells nothing."""
_TO_COME = frozenset({"@future", "@unsure", "@supposes", "@denies"})
_CONCERNS = frozenset({"@i", "@we", "@you", "@future", "@supposes"})
"""Forms of a sentence that looks ahead, and of one that concerns those who speak or what is to come."""
MATTERS, USUAL = 0.5, -0.8
"""How much it adds that a sentence matters later, and from which value on it does."""
LIKE_CLOSING = 1.0
"""Added to the value for closing a thread before it is compared with the value for opening one."""
SAYS = 2
"""The minimum number of content words of a sentence that itself says what is hidden."""
SURE = 0.55
"""The least probability of its kind; below it, the kind is left open."""
MAX_CHARACTERS = 240
"""The maximum number of characters of a thread's text."""
LEAD = 100
"""The maximum number of characters kept before the cue in a long sentence."""
NAMED = 0.2
"""Extra weight of a thread that names somebody or something."""

# Cues: the words that open or end a thread, compiled from the language data, and patterns for the text around them.


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
    def compile(cls, rows: Iterable[Row], kinds: Callable[[Row], str]) -> Cues[Row]:
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

    def candidates(self, words: frozenset[str]) -> list[Cue[Row]]:
        """Return the cues that may match a text of these words, in the order in which they are tried."""
        numbers = sorted({number for word in words & self.by_word.keys() for number in self.by_word[word]})
        return [self.all[at] for at in numbers if not any(words.isdisjoint(each) for each in self.all[at].words[1:])]


# In order of precedence, for a sentence that could open several kinds.
_KINDS: tuple[ThreadKind, ...] = (
    "promise", "debt", "lie", "secret", "threat", "wound", "quest", "relation", "possession",
)  # fmt: skip


@cached_data
def _opening_cues() -> Cues[Opening]:
    return Cues.compile(sorted(_SAYS.opens, key=lambda row: [*map(str, _KINDS)].index(row.kind)), lambda row: row.kind)


@cached_data
def _ending_cues() -> Cues[Ending]:
    return Cues.compile(_SAYS.ends, lambda row: row.kinds)


@cached_data
def _empty_words() -> frozenset[str]:
    return common_words() | _SAYS.empty


@cached_data
def _lethal_stems() -> frozenset[str]:
    return frozenset(map(_stem, _SAYS.lethal))


@cached_data
def _idle_stems() -> frozenset[str]:
    return frozenset(map(_stem, _SAYS.idle))


_CLAUSE = lazy_re(lambda: rf"[,;:—–]\s+|--\s*|(?<!\s)\s+(?={any_of(_SAYS.conjunctions)}\s)")
_QUOTE = lazy_re(r'["“]')
_BROKEN_OFF = lazy_re(r"(?:--|—|–|-)[\"'”’]?\s*$")
_SOUND = lazy_re(r"^\s*[(\[][a-z ,]{3,40}[)\]]\s*")
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


@lru_cache(maxsize=STEMS)
def _stem(word: str) -> str:
    word = f"{word[:-3]}y" if word.endswith("ied") else word
    return light_stem(base_forms().get(word, word))


def proper_names(text: str) -> frozenset[str]:
    """Return the proper names of a text in lower case; a capital at the start of a sentence doesn't count."""
    found = (name.removesuffix("’s") for name in _NAME.findall(text.strip().lstrip("\"“«'‘")))
    return frozenset(name.lower() for name in found if name not in topic(Names).none_inside)


def opened_thread(sentence: Sentence, following: str = "") -> Thread | None:
    """Return the thread that a sentence opens, if any; `following` is what its speaker says next."""
    if _BROKEN_OFF.search(sentence.text) or (sentence.voiced.authored and _is_table_talk(sentence)):
        return None
    for cue in _opening_cues().candidates(lower_words(sentence.text)):
        found = cue.pattern.search(sentence.text)
        if found is not None and _cue_applies(cue, found, sentence):
            return _thread_by_cue(cue, found, sentence)
    return _thread_by_model(sentence, following)


@cached_data
def _thread_models() -> tuple[LinearModel, LinearModel, dict[ThreadKind, LinearModel]]:
    """Return the models for opening a thread, for closing one, and for each kind."""
    lines = load_models("threads")
    return lines["opens"], lines["closes"], {kind: lines[kind] for kind in _KINDS}


def _thread_by_model(sentence: Sentence, following: str) -> Thread | None:
    """Return the thread that the words of an English sentence open."""
    text, voiced = sentence.text, sentence.voiced
    found = features(text)
    opens, closes, _ = _thread_models()
    # Sentences that close a thread use similar words to those that open one.
    value = opens.value(found) - max(0.0, closes.value(found) + LIKE_CLOSING)
    later = load_models(SALIENCE)[SALIENCE].value(found.with_forms(NARRATED_FORM if voiced.narrated else ()))
    value += MATTERS * (later - USUAL)
    if value < OPENS or "?" in text or _SAYS.trifle.search(text) or _SAYS.demand.search(text):
        return None
    kind = _kind_by_model(found)
    who, whom = _parties(kind, sentence) if kind != "open" else ("", "")
    own = "@i" in found.forms and (voiced.speaker == who or _mentions_loan(text))
    if kind in _UNDONE and not own and not _is_pending(found, kind):
        return None
    # Who is whose brother is no thread, and what somebody has, hides or suffers is seldom told in passing.
    kept = (_UNDONE - {"open"}) | (_SAYING if "@denies" in found.forms else set())
    if kind == "relation" or (value < OPENS_STATE and kind not in kept):
        return None
    least = SAYS if kind in _SAYING else 0 if who and whom else 1
    words = _self_contained_text(sentence, following, least)
    if words is None or not (who or whom or voiced.speaker or proper_names(words)):
        # Nobody could tell from it whose thread it is.
        return None
    return make_thread(kind, words, voiced, who, whom, 1.0 + min(value - OPENS, 2.0) / 2)


def _kind_by_model(found: Features) -> ThreadKind:
    """Return the likeliest kind, or `open` if none is certain."""
    _, _, kinds = _thread_models()
    values = {kind: line.value(found) for kind, line in kinds.items()}
    kind = max(values, key=lambda each: values[each])
    return kind if 1 / sum(math.exp(each - values[kind]) for each in values.values()) >= SURE else "open"


def _is_pending(found: Features, kind: ThreadKind = "open") -> bool:
    """Whether a sentence isn't about the past alone, and one of no certain kind concerns those who speak."""
    ahead = _TO_COME - {"@denies"} if kind == "open" else _TO_COME
    if "@past" in found.forms and ahead.isdisjoint(found.forms):
        return False
    return kind != "open" or not _CONCERNS.isdisjoint(found.forms)


def _self_contained_text(sentence: Sentence, following: str, least: int) -> str | None:
    """Return a sentence with the neighbour that it needs; None if neither names the subject."""
    text, wider = sentence.text, sentence.with_before
    joined = f"{text} {following}"
    if len(content_stems(text)) < least:
        enough = len(content_stems(following)) >= least and "?" not in following and len(joined) <= MAX_CHARACTERS
        return joined if enough else None
    named = proper_names(text) or _opens_with_name(text) or not lower_words(text) & _SAYS.nobody
    return text if named or len(wider) > MAX_CHARACTERS or "?" in wider or not proper_names(wider) else wider


def _parties(kind: ThreadKind, sentence: Sentence) -> tuple[str, str]:
    """Return the owner of a thread and the other party, in the order of the sentence; empty if unknown."""
    known, voiced = _SAYS, sentence.voiced
    people = _mentions(sentence.text)
    first, leads, place = people[0] if people else ("", "", 0)
    named = [name for name, *_ in people if name[:1].isupper()]
    spoken = voiced.is_speech(sentence.start + place) and not voiced.narrated
    own = spoken and any(word in known.speaker for word, *_ in people)
    if named and first == named[0]:
        if leads and leads not in known.conjunctions:
            return "", ""
        # “Anselm gave me the key.” “Anselm murdered my brother.” But: “Anselm is my brother.”
        mine = own and (kind in ("possession", "wound") or (kind == "debt" and _mentions_loan(sentence.text)))
        other = voiced.speaker if own else named[1] if kind == "relation" and len(named) > 1 else ""
        return (voiced.speaker, first) if mine else (first, other)
    if not spoken:
        return "", ""
    if first in known.nobody:
        return (voiced.speaker if own and kind in _OWN else "", "")
    other = next((name for name, before, _ in people if before in known.toward and name[:1].isupper()), "")
    other = other or (voiced.hearer if kind in _BETWEEN else "")
    if first in known.speaker:
        return (other, voiced.speaker) if kind == "debt" and _mentions_loan(sentence.text) else (voiced.speaker, other)
    if kind == "quest" or (kind == "debt" and first and not _mentions_loan(sentence.text)):
        return voiced.hearer, voiced.speaker
    return (voiced.speaker, other) if kind in _BETWEEN else ("", "")


def _mentions(text: str) -> list[tuple[str, str, int]]:
    """Return the names and, in lower case, pronouns of a sentence in order, each with the word before it and its place.

    People who are only addressed by name (“Tom, …”) are left out.
    """
    known, named = _SAYS, proper_names(text)
    if (first := WORDS.search(text)) and _opens_with_name(first[0]):
        # It is a name if the models don't know it.
        named |= {first[0].lower()} - _thread_models()[0].weights.keys()
    persons = known.speaker | known.hearer | known.nobody
    found: list[tuple[str, str, int]] = []
    before = ""
    for match in WORDS.finditer(text):
        word = match[0]
        is_name = _is_name(word) and word.lower() in named
        alone = not before or text[: match.start()].rstrip()[-1:] == ","
        called = is_name and alone and text[match.end() : match.end() + 1] in _PAUSE
        if not called and (is_name or word.lower() in persons):
            found.append((word if is_name else word.lower(), before, match.start()))
        before = word.lower()
    return found


def _mentions_loan(text: str) -> bool:
    return not _SAYS.lends.isdisjoint(lower_words(text))


def make_thread(kind: ThreadKind, text: str, voiced: VoicedText, who: str, whom: str, weight: float) -> Thread:
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
        weight=round(weight + (NAMED if proper_names(words) else 0.0), 2),
        position=voiced.position,
        source=voiced.source,
    )


def _is_table_talk(sentence: Sentence) -> bool:
    """Whether the players are talking out of character."""
    return bool(_SAYS.joke.search(sentence.voiced.text) or _TURNS.table.search(sentence.text.lower()))


def _cue_applies(cue: Cue[Opening], found: re.Match[str], sentence: Sentence) -> bool:
    text = sentence.text
    if not cue.row.narrated and not sentence.voiced.is_speech(sentence.start + found.start()):
        return False
    if _SAYS.trifle.search(text):
        return False
    head = text[: found.start()]
    return (
        "?" not in text[found.start() :]
        and not _SAYS.denies.search(head)
        and (cue.row.maybe or not _SAYS.not_so.search(text, max(0, found.start() - AROUND), found.end()))
    )


def _thread_by_cue(cue: Cue[Opening], found: re.Match[str], sentence: Sentence) -> Thread | None:
    meant = _party_in_match(found, "who"), _party_in_match(found, "whom")
    words = _text_with_subject(cue, found, sentence)
    if words is None or _SAYS.trifle.search(words):
        return None
    named = bool(any(map(_is_name, meant)) or proper_names(words))
    # A relation needs a name; elsewhere a word of kinship counts as one.
    named = named or bool(_SAYS.kin.search(words) and cue.kinds[0] != "relation") or _opens_with_name(words)
    if cue.row.named and not named:
        return None
    quoted = sentence.voiced.is_speech(sentence.start + found.start())
    who = _resolve_person(meant[0], sentence.voiced, quoted=quoted, default="speaker")
    # The listener is not assumed to have caused a wound.
    between = cue.kinds[0] in _BETWEEN - {"wound"}
    whom = _resolve_person(meant[1], sentence.voiced, quoted=quoted, default="hearer" if between else "")
    if any(name.startswith("whom") for name in found.groupdict()) and meant[0] is None and whom == who:
        who = ""
    if not (who or whom or named):
        # Nobody could tell from it whose thread it is.
        return None
    return make_thread(cue.kinds[0], words, sentence.voiced, who, whom, cue.row.weight)


def _opens_with_name(words: str) -> bool:
    """Whether the first word is capitalised and not a common word."""
    first = next(iter(_bare_words(words)), "")
    known = first in _empty_words() or first in _SAYS.nobody or first in topic(Names).openers
    return bool(first) and not known and words.lstrip(" \"“'")[:1].isupper()


def _party_in_match(found: re.Match[str], group: str) -> str | None:
    """Return the match of the group `who` or `whom`, which may be numbered (`who2`) in an alternative."""
    groups = found.groupdict().items()
    return next((word for name, word in groups if word and name.rstrip("0123456789") == group), None)


def _text_with_subject(cue: Cue[Opening], found: re.Match[str], sentence: Sentence) -> str | None:
    """Return the thread's sentence, with the one before if needed; None if neither names the subject."""
    text, wider = sentence.text, sentence.with_before
    rest = text[: found.start()] + " " + text[found.end() :]
    named = frozenset[str]() if cue.kinds[0] == "secret" else proper_names(found[0])
    if len(content_stems(rest) | named) < cue.row.says:
        fits = len(wider) <= MAX_CHARACTERS and "?" not in wider and sentence.before != sentence.start
        return wider if fits and len(content_stems(wider) - proper_names(wider)) > cue.row.says else None
    words = _clauses_around(text, found.start())
    # The person it is about may be named in the sentence before.
    if proper_names(words) or not (cue.row.named or lower_words(words) & _SAYS.nobody):
        return words
    fits = len(wider) <= MAX_CHARACTERS and "?" not in wider
    return wider if fits and (proper_names(wider) or _opens_with_name(wider)) else words


def _resolve_person(word: str | None, voiced: VoicedText, *, quoted: bool, default: str) -> str:
    """The person to whom a word of a cue refers; without a word, the default for that kind of thread."""
    word = {"speaker": "I", "hearer": "you", "": "it"}[default] if word is None else word
    low = word.lower()
    if low.split(" ")[0] in _SAYS.speaker:
        return voiced.speaker if quoted else ""
    if low in _SAYS.hearer:
        return voiced.hearer if quoted else ""
    return re.sub(r"['’]s?$", "", _strip_article(word)) if _is_name(word) else ""


def _is_name(word: str | None) -> bool:
    low = _strip_article(word or "").lower()
    pronoun = low in _SAYS.nobody or low in _SAYS.hearer or low.split(" ")[0] in _SAYS.speaker
    return _strip_article(word or "")[:1].isupper() and not pronoun and low not in topic(Names).titles


def _strip_article(word: str) -> str:
    """Strip a leading article or the like."""
    first, _, rest = word.partition(" ")
    return rest if rest and first.lower() in _empty_words() else word


def _clauses_around(text: str, place: int) -> str:
    """Return a sentence, or for a long one the clauses around `place`."""
    if len(text) <= MAX_CHARACTERS or place <= LEAD:
        return text
    starts = [found.end() for found in _CLAUSE.finditer(text, 0, place) if place - found.end() <= LEAD]
    return text[starts[0] if starts else place :]


_THINGS: frozenset[ThreadKind] = frozenset({"wound", "possession", "lie"})
"""Kinds identified by an object: the arm that is healed, the ring that is lost."""
BESIDE = 25
"""How many characters around an ending or a verb are searched for its object."""
ENOUGH = 0.5
"""The share of a thread's content words that must recur where it ends."""

CLOSES = 5.5
"""The least value of a sentence that closes a thread."""
SENTENCE, MESSAGE, CLOSING = 0.6, 0.5, 1.5
"""The weights in it: of the rarity of shared words in the sentence and in its message, and of the closing model."""
TOLD_AGAIN = 0.5
"""The share of an opening's runs of three words from which on a text only repeats it."""
SHARED = 2
"""The fewest words besides names that a thread and the text that closes it share."""
STRETCH = 100
"""A stretch is treated as having at least this many texts, so that words of a short one don't seem common."""
ALONE = 1_500
"""Within this many messages an ending may resolve the speaker's only thread of its kind."""
TOGETHER = 5_000
"""Within this many messages it may resolve the only one between its speaker and hearer."""


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


def may_end(words: frozenset[str], threads: Sequence[KnownThread]) -> bool:
    """Whether a text with these words could end one of `threads`: a cheap test."""
    if not threads:
        return False
    if not words.isdisjoint(_ending_cues().by_word):
        return True
    stems = frozenset(map(_stem, words))
    return any(not stems.isdisjoint(each.about) for each in threads)


def ended_threads(sentence: Sentence, threads: Sequence[KnownThread], rare: Mapping[str, float]) -> list[KnownThread]:
    """Return the threads that a sentence resolves, but never one that its own message opened.

    `rare` maps each stem of the stretch to its rarity; it is empty if shared words mean nothing.
    """
    text = sentence.text
    plain = " ".join(text.split())
    earlier = [
        each for each in threads if each.thread.source != sentence.voiced.source and plain not in each.thread.text
    ]
    if "?" in text or not earlier:
        return []
    out: list[KnownThread] = []
    for end in _ending_cues().candidates(lower_words(text)):
        theirs = [each for each in earlier if each.thread.kind in end.kinds]
        found = end.pattern.search(text) if theirs else None
        if found is None or _SAYS.denies.search(text[: found.start()]) or _SAYS.not_so.search(text, 0, found.end()):
            continue
        if end.row.death:
            dead = _bare_words(_party_in_match(found, "who") or "")
            out += [
                each
                for each in theirs
                if dead and not _is_unrealised(text, found.end()) and _ends_by_death(each, dead[0])
            ]
        else:
            out += _ended_by_cue(end, sentence, found.span(), theirs)
    said = content_stems(text)
    of_these = [each for each in earlier if not said.isdisjoint(each.about)] if rare else []
    if of_these:
        value = _closing_score(text)
        out += [each for each in of_these if _is_closed_by(sentence, each, value, rare)]
    return [each for each in out if not _repeats_opening(sentence.voiced.text, each.thread.text)] if out else out


def _repeats_opening(text: str, opening: str) -> bool:
    """Whether a text repeats the words that opened a thread, which doesn't end it."""
    runs = _word_triples(opening)
    return bool(runs) and len(runs & _word_triples(text)) >= TOLD_AGAIN * len(runs)


def _word_triples(text: str) -> frozenset[tuple[str, ...]]:
    words = _bare_words(text)
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def _ends_by_death(each: KnownThread, dead: str) -> bool:
    """Whether a death ends a thread: the death of one of its parties, or of its intended victim."""
    if each.thread.kind == "debt":
        return dead in each.people
    if each.thread.kind == "relation":
        return dead in each.people or dead in each.names
    if each.thread.kind == "wound":
        return dead in each.whom
    return dead in each.who or (dead in each.names and not each.about.isdisjoint(_lethal_stems()))


@lru_cache(maxsize=TEXTS)
def _closing_score(text: str) -> float:
    """Return the closing model's value for a sentence; cached like `about`."""
    _, closes, _ = _thread_models()
    return closes.value(features(text))


def _is_closed_by(sentence: Sentence, each: KnownThread, value: float, rare: Mapping[str, float]) -> bool:
    """Whether a sentence, with this closing `value`, is about the subject of a thread and closes it."""
    text, voiced, things = sentence.text, sentence.voiced, each.about - each.people
    here = things & content_stems(text)
    if voiced.position - each.thread.position < SOON or not here - each.names:
        return False
    if len((things - each.names) & content_stems(voiced.text)) < SHARED:
        return False
    own = text.lower().lstrip(' "“').partition(" ")[0] in _SAYS.speaker
    if own and each.thread.kind == "debt" and not _name_words(voiced.speaker).isdisjoint(each.whom):
        # The creditor pays for something else.
        return False
    told = sum(rare.get(stem, 0.0) for stem in here)
    around = sum(rare.get(stem, 0.0) for stem in things & content_stems(voiced.text))
    if SENTENCE * told + MESSAGE * around + CLOSING * value < CLOSES:
        return False
    return not _is_unrealised(
        text, next(word.start() for word in _SAID_WORD.finditer(text) if content_stems(word[0]) & here)
    )


def _is_unrealised(text: str, place: int) -> bool:
    """Whether the clause before `place` is only intended, wished or negated."""
    clause = max((found.end() for found in _CLAUSE.finditer(text, 0, place)), default=0)
    return bool(_SAYS.undone.search(text, max(clause, place - AROUND), place))


def _ended_by_cue(
    end: Cue[Ending], sentence: Sentence, place: tuple[int, int], threads: Sequence[KnownThread]
) -> list[KnownThread]:
    """Return the one of `threads` that an ending resolves; empty if that is ambiguous.

    `place` is the span of the ending in the sentence.
    """
    said = content_stems(sentence.with_before)
    voiced = sentence.voiced
    named = proper_names(sentence.text)
    here = lower_words(sentence.with_before) | _name_words(voiced.speaker) | _name_words(voiced.hearer)
    met = here | lower_words(voiced.text)
    is_somebody = bool(voiced.speaker or proper_names(sentence.with_before))
    gives = sentence.text[place[0] : place[1]].lower().partition(" ")[0] in _SAYS.speaker
    best: tuple[int, KnownThread] | None = None
    ours: list[KnownThread] = []
    things = content_stems(sentence.text[max(0, place[0] - BESIDE) : place[1] + BESIDE])
    things -= _idle_stems() | frozenset(map(_stem, end.words[0]))
    for each in threads:
        both = each.about & said
        # Its people are named all over the story, so another word must recur as well.
        shared = len(both) if both - each.names - each.people - _idle_stems() else 0
        if gives and not end.row.by_people and each.thread.kind == "debt" and _name_words(voiced.speaker) & each.whom:
            continue
        theirs = bool(each.people & here)
        if each.people and is_somebody and not theirs:
            continue
        # If the speaker is unknown, require the same name or many of the same words.
        least = 3 if each.thread.kind in _THINGS else 2
        enough = (1 if end.row.by_people else least) if theirs or each.names & named or end.row.by_people else 4
        age = voiced.position - each.thread.position
        both_here = bool(each.who & met and each.whom & met) and age <= TOGETHER
        beside = theirs and bool(things & (both - each.names - each.people)) and each.thread.kind in _THINGS
        # A relation is about nothing but its two people.
        beside = beside or (both_here and each.thread.kind == "relation")
        if (beside or (shared >= enough and shared >= ENOUGH * len(each.about))) and (best is None or shared > best[0]):
            best = (shared, each)
        own = bool(_name_words(voiced.speaker) & each.people) and age <= ALONE and named <= each.people
        if both_here or own:
            ours.append(each)
    if best is not None:
        return [best[1]]
    return ours if end.row.by_people and len(ours) == 1 else []


# Precision over recall: a wrong thread is carried for long, while a missed one is still in its leaf.


SOON = 3
"""No line ends a thread within this many lines."""
TABLE_NEAR = 4
"""How many lines before and after are searched for talk about the show, which makes a line part of that talk."""
AGAIN = 0.7
"""The share of common content words from which two threads of one kind and person are the same."""


def find_threads(messages: Sequence[Message], before: Sequence[Thread]) -> ThreadChanges:
    """Return the threads that `messages` open and leave open, and which of those open `before` they resolve."""
    heard = VoicedTexts(messages)
    tale = _OpenThreads(before)
    spoken = is_spoken_play(heard)
    begun = _thread_in_play if spoken else _thread_in_story
    recapped = heard.recap_spans()
    rare = _stem_rarity(heard)
    for place, text in enumerate(heard.texts):
        ends = may_end(lower_words(text), tale.open)
        for sentence in sentences(heard.voiced(place)):
            closed = ended_threads(sentence, tale.open, rare) if ends else ()
            if closed:
                tale.end(closed, sentence)
                continue
            start, end = recapped.get(place, (0, 0))
            # A recap repeats threads, and those who narrate the past recap it.
            found = None if start <= sentence.start < end else begun(sentence, heard, place)
            if found is not None and not _is_show_talk(sentence, heard, place):
                tale.begin(found, anew=not spoken)
    return tale.changes


def _thread_in_story(sentence: Sentence, heard: VoicedTexts, place: int) -> Thread | None:
    """Return the thread that a sentence of a written story opens."""
    return opened_thread(sentence, heard.next_sentence(place, sentence.end))


def _thread_in_play(sentence: Sentence, _heard: VoicedTexts, _place: int) -> Thread | None:
    """Return the thread that a sentence of spoken play opens."""
    text, voiced = sentence.text, sentence.voiced
    if "?" in text or _BROKEN_OFF.search(text) or _is_table_talk(sentence) or _SAYS.trifle.search(text):
        return None
    found = features(text)
    # What a narrator says is only about the moment, except what somebody says in it.
    if not _is_pending(found) or (
        voiced.narrated and not (_QUOTE.search(text) or voiced.text.count('"', 0, sentence.start) % 2)
    ):
        return None
    opens, _, _ = _thread_models()
    value = load_models(SALIENCE)[SALIENCE].value(found.with_forms(NARRATED_FORM if voiced.narrated else ()))
    value += OPENLY * opens.value(found) + NAMES * min(len(proper_names(text)), MOST_NAMES)
    if value < LASTS:
        return None
    kind = _kind_by_model(found) if opens.value(found) >= OPENS_SURELY else "open"
    who, whom = _parties(kind, sentence) if kind != "open" else ("", "")
    return make_thread(kind, _SOUND.sub("", text), voiced, who, whom, 1.0 + min(value - LASTS, 2.0) / 2)


def closed_since(threads: Sequence[Thread], messages: Sequence[Message]) -> Mapping[ThreadId, ThreadEnd]:
    """Map each of the open `threads` that the following `messages` resolve to its end, as `find_threads` does.

    What was written by hand is ended by hand.
    """
    heard = VoicedTexts(messages)
    left = [index_thread(thread) for thread in threads if thread.weight < HAND_WEIGHT]
    rare: Mapping[str, float] | None = None
    out: dict[ThreadId, ThreadEnd] = {}
    for place, text in enumerate(heard.texts):
        if not may_end(lower_words(text), left):
            continue
        rare = _stem_rarity(heard) if rare is None else rare
        for sentence in sentences(heard.voiced(place)):
            for each in ended_threads(sentence, left, rare):
                out.setdefault(each.thread.id, _thread_end(each.thread.id, sentence))
        left = [each for each in left if each.thread.id not in out]
    return out


def _stem_rarity(heard: VoicedTexts) -> Mapping[str, float]:
    """Return how rare each stem is among texts, as a logarithm; empty in spoken play, where any word recurs."""
    if is_spoken_play(heard):
        return {}
    texts = [content_stems(text) for text in heard.texts]
    counts = Counter(stem for text in texts for stem in text)
    size = max(len(texts), STRETCH) + 1
    return {stem: math.log(size / (count + 0.5)) for stem, count in counts.items()}


class _OpenThreads:
    """The open threads while a stretch is read in order."""

    def __init__(self, before: Sequence[Thread]) -> None:
        self._open = {thread.id: index_thread(thread) for thread in before}
        self._before = frozenset(self._open)
        self._closed: dict[ThreadId, ThreadEnd | None] = {}
        self._said = {_plain_text(thread.text) for thread in before}
        self.open = list(self._open.values())

    @property
    def changes(self) -> ThreadChanges:
        opened = tuple(each.thread for name, each in self._open.items() if name not in self._before)
        return ThreadChanges(opened=opened, closed=tuple(self._closed), ends=tuple(filter(None, self._closed.values())))

    def begin(self, thread: Thread, *, anew: bool = True) -> None:
        """Open a thread, replacing an older wording of it; does nothing if the same words are known.

        Without `anew` a later wording is only a repetition, and the older one is kept.
        """
        words = _plain_text(thread.text)
        beside = [each for each in self.open if each.thread.source == thread.source]
        if words in self._said or any(words in _plain_text(each.thread.text) for each in beside):
            return
        new = index_thread(thread)
        older = [each for each in self.open if _is_rewording(each, new)]
        if older and not anew:
            return
        self.end(older)
        self.end([each for each in beside if _plain_text(each.thread.text) in words])
        self._said.add(words)
        self._open[thread.id] = new
        self.open.append(new)

    def end(self, resolved: Sequence[KnownThread], by: Sentence | None = None) -> None:
        """Resolve threads; `by` is the resolving sentence, or None if they were only reworded."""
        for each in resolved:
            name = each.thread.id
            if self._open.pop(name, None) is not None and name in self._before:
                self._closed[name] = _thread_end(name, by) if by else None
        if resolved:
            self.open = list(self._open.values())


def _thread_end(name: ThreadId, by: Sentence) -> ThreadEnd:
    said = clip(" ".join(by.text.split()), MAX_CHARACTERS)
    return ThreadEnd(id=name, text=said, position=by.voiced.position, source=by.voiced.source)


def _is_rewording(old: KnownThread, new: KnownThread) -> bool:
    """Whether `new` is `old` in other words."""
    if old.thread.kind != new.thread.kind:
        return False
    shared = len(old.about & new.about)
    if new.thread.kind == "quest" and new.names and new.names == old.names:
        return shared > len(new.names)
    same = old.thread.who == new.thread.who and ("" in (old.thread.whom, new.thread.whom) or old.whom == new.whom)
    return same and shared >= 3 and shared >= AGAIN * max(len(old.about), len(new.about))


def _is_show_talk(sentence: Sentence, heard: VoicedTexts, place: int) -> bool:
    """Whether a sentence is among talk about a show."""
    around = heard.texts[max(0, place - TABLE_NEAR) : place + TABLE_NEAR + 1]
    return sentence.voiced.authored and any(_TURNS.show.search(text.lower()) for text in around)


def _plain_text(text: str) -> str:
    return " ".join(_bare_words(text))

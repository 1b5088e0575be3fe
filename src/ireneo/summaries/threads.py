"""The threads of a story: found by rules, carried while they are open, and shown word for word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from ireneo.log.message import Message, short
from ireneo.patterns import lazy_re
from ireneo.pyramid.offline.cues import Cue, words_of
from ireneo.pyramid.offline.debt_words import DEBTS
from ireneo.pyramid.offline.promise_words import BACKED, BACKED_WORDS, CONSENT, DEMAND, DEMAND_WORDS, MEANS_TO, PROMISES
from ireneo.pyramid.offline.question_words import QUESTIONS
from ireneo.pyramid.offline.resolving_words import ANSWERS, BY_WORD, ENDS, FATE, HINTS, PLACE, End
from ireneo.pyramid.offline.same_words import about, names
from ireneo.pyramid.offline.secret_words import SECRETS
from ireneo.pyramid.offline.speech import Sentence, Voiced, Voices, sentences
from ireneo.pyramid.offline.table_talk import DENIES, EMPTY, JOKE, NOT_SO, SHOW, TABLE, TRIFLE
from ireneo.pyramid.offline.wound_words import WOUNDS
from ireneo.summaries.prose import clip
from ireneo.summaries.summary import Thread, ThreadId, ThreadKind, Threads, thread_id

# Which threads are open after a stretch of a story, and which give way where too many are.
#
# An open thread is carried word for word until it is resolved. Only so many can be: beyond the cap the least weighty
# are forgotten. A forgotten thread is counted, and the leaf that it was opened in still has it.
#
# **Who gives way.** A thread is worth its kind's worth times its weight, and that fades with the messages since it was
# opened. Debts and promises fade over thousands of messages, questions over a few hundred. A thread that is taken up
# again in new words is opened anew and so is young again; a question that nobody takes up fades first. While others
# want the room, no kind has more than half of it and no pair of people more than a quarter: one loud quarrel doesn't
# push out all else. What room is then left goes by worth again.


WORTH: dict[ThreadKind, tuple[float, float]] = {
    "promise": (3.0, 6_000.0),
    "debt": (3.0, 6_000.0),
    "wound": (2.5, 4_000.0),
    "secret": (2.5, 4_000.0),
    "question": (1.5, 500.0),
}
"""Of each kind: what a thread that was just opened is worth, and after how many messages it is worth half of that."""
KIND_SHARE = 0.5
"""Of the room, what one kind may have while others want it."""
PAIR_SHARE = 0.25
"""Of the room, what the threads between the same two people may have while others want it."""


def follow(before: Sequence[Thread], changes: Threads, cap: int) -> tuple[tuple[Thread, ...], int]:
    """What is open after a stretch, in order, and how many had to be forgotten: within it, and now for the cap.

    `before` is what was open at its beginning, `cap` how many may be open at its end.
    """
    closed = set(changes.closed)
    still = [thread for thread in before if thread.id not in closed]
    kept, dropped = within(_once([*still, *changes.opened]), cap)
    return kept, changes.forgotten + dropped


def join(stretches: Sequence[Threads], cap: int) -> Threads:
    """What became of threads within adjacent stretches, the oldest first, as if they were one stretch.

    What one of them opened and a later one resolved leaves no trace. Below the cap it doesn't matter which neighbours
    are joined first. Above it, what is forgotten may differ: a late joining sees more that was resolved meanwhile.
    """
    opened: dict[ThreadId, Thread] = {}
    closed: dict[ThreadId, None] = {}
    forgotten = 0
    for stretch in stretches:
        for name in stretch.closed:
            if opened.pop(name, None) is None:
                closed[name] = None
        opened.update({thread.id: thread for thread in stretch.opened})
        forgotten += stretch.forgotten
    kept, dropped = within(list(opened.values()), cap)
    return Threads(opened=kept, closed=tuple(closed), forgotten=forgotten + dropped)


def within(threads: Sequence[Thread], cap: int) -> tuple[tuple[Thread, ...], int]:
    """Those of `threads` that may stay where only `cap` can, in their order, and how many must go."""
    if len(threads) <= cap:
        return tuple(threads), 0
    chosen = _seated(threads, max(cap, 0))
    return tuple(thread for thread in threads if thread.id in chosen), len(threads) - len(chosen)


def weightiest(threads: Iterable[Thread]) -> list[Thread]:
    """The threads by what they are worth at the newest of them, the worthiest first; of equals the older first."""
    row = list(threads)
    now = max((thread.position for thread in row), default=0)
    return sorted(row, key=lambda thread: (-_worth(thread, now), thread.position, thread.id))


def _seated(threads: Sequence[Thread], cap: int) -> set[ThreadId]:
    """The ids of those that may stay: by worth, but that neither a kind nor a pair of people takes all the room."""
    kinds: Counter[ThreadKind] = Counter()
    pairs: Counter[frozenset[str]] = Counter()
    seated: dict[ThreadId, None] = {}
    waiting: list[ThreadId] = []
    for thread in weightiest(threads):
        pair = frozenset((thread.who, thread.whom)) - {""}
        # Of nobody in particular there may be many: that they are said of the same people is not known.
        crowds = bool(pair) and pairs[pair] >= max(1, int(cap * PAIR_SHARE))
        if crowds or kinds[thread.kind] >= max(1, int(cap * KIND_SHARE)):
            waiting.append(thread.id)
            continue
        pairs[pair] += 1
        kinds[thread.kind] += 1
        seated[thread.id] = None
    return set([*seated, *waiting][:cap])


def _worth(thread: Thread, now: int) -> float:
    worth, half = WORTH[thread.kind]
    return worth * thread.weight / (1.0 + (now - thread.position) / half)


def _once(threads: Iterable[Thread]) -> list[Thread]:
    """Each thread once, where it stands first."""
    out: dict[ThreadId, Thread] = {}
    for thread in threads:
        out.setdefault(thread.id, thread)
    return list(out.values())


Count = Callable[[str], int]
"""Counts the tokens of a text."""


def say_thread(thread: Thread) -> str:
    """One thread on one line: its kind, who has it with whom, its own words, and the message that it comes from."""
    words = " ".join(thread.text.split())
    said = f"{thread.kind} · {_between(thread)}: “{words}”"
    return f"{said} · {short(thread.source)}" if thread.source else said


def thread_lines(threads: Sequence[Thread], forgotten: int, room: int, count: Count) -> list[str]:
    """The lines for `threads`, in their order; `room` is the tokens that they may take all together.

    Where they don't all fit, the weightiest stand, and a line says how many more there are; `forgotten` is how many
    gave way before. A room that has no place for anything gives no lines.
    """
    let_go = f"({forgotten} older ones were let go; open the story to find them.)" if forgotten > 0 else ""
    lines = {thread.id: f"- {say_thread(thread)}" for thread in threads}
    costs = {name: count(line) + 1 for name, line in lines.items()}
    if sum(costs.values()) + _cost(let_go, count) <= room:
        return [*lines.values(), *filter(None, [let_go])]
    used = _cost(let_go, count) + _cost(_no_room(len(lines)), count)
    chosen = set()
    for thread in weightiest(threads):
        if thread.id in costs and used + costs[thread.id] <= room:
            used += costs[thread.id]
            chosen.add(thread.id)
    shown = [line for name, line in lines.items() if name in chosen]
    return _fitting([*shown, _no_room(len(lines) - len(shown)), let_go], room, count)


def _fitting(lines: Sequence[str], room: int, count: Count) -> list[str]:
    out: list[str] = []
    used = 0
    for line in filter(None, lines):
        used += _cost(line, count)
        if used > room:
            break
        out.append(line)
    return out


def _cost(line: str, count: Count) -> int:
    return count(line) + 1 if line else 0


def _no_room(number: int) -> str:
    return f"({number} more open threads have no room here.)" if number else ""


def _between(thread: Thread) -> str:
    if thread.whom:
        return f"{thread.who or '?'} → {thread.whom}"
    return thread.who or "?"


AROUND = 60
"""Within so many characters before a cue, an "if" makes it none."""
MAX_CHARACTERS = 240
"""A longer sentence is shown from the clause on in which it opens a thread."""
LEAD = 100
"""Of a long sentence, at the most so many characters stand before what opens the thread."""
NAMED = 0.2
"""A thread that names somebody or something weighs so much more."""

CUES = (*PROMISES, *DEBTS, *SECRETS, *WOUNDS, *QUESTIONS)
OPENINGS_BY_WORD: dict[str, list[int]] = {}
for _number, _cue in enumerate(CUES):
    for _word in _cue.words[0]:
        OPENINGS_BY_WORD.setdefault(_word, []).append(_number)
ASKING = BACKED_WORDS | DEMAND_WORDS
OPENING_HINTS = frozenset(OPENINGS_BY_WORD) | ASKING
"""One of these stands in every sentence that may open a thread."""

_CLAUSE = lazy_re(r"[,;:—–]\s+|--\s*|(?<!\s)\s+(?=(?:and|but|for|that|because)\s)")
_SPEAKER = frozenset("i me my we us our myself ich mich je me yo".split())
_HEARER = frozenset("you your yours du dir dich euch te vous tu le".split())
_NOBODY = frozenset("he she they it him her his them their who himself herself er sie ihm ihr ihnen lui os les".split())


def may_open(words: frozenset[str]) -> bool:
    """Whether a text of these words may open a thread, at a glance."""
    return not words.isdisjoint(OPENING_HINTS) and (not words.isdisjoint(ASKING) or bool(_cues(words)))


def opening(sentence: Sentence) -> Thread | None:
    """The thread that a sentence opens, if it opens one."""
    words = words_of(sentence.text)
    if words.isdisjoint(OPENING_HINTS):
        return None
    backs = not words.isdisjoint(BACKED_WORDS) and BACKED.match(sentence.text.strip(" \"“”'’"))
    cues = () if backs else _cues(words)
    if not (backs or cues) or (sentence.voiced.authored and _table(sentence)):
        return None
    if backs:
        return _backed(sentence)
    for cue in cues:
        found = cue.pattern.search(sentence.text)
        if found is not None and _holds(cue, found, sentence):
            return _made(cue, found, sentence)
    return None


def thread(kind: ThreadKind, text: str, voiced: Voiced, who: str, whom: str, weight: float) -> Thread:
    """A thread that is opened in `voiced`."""
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


def _cues(words: frozenset[str]) -> list[Cue]:
    """The cues that a text of these words may hold, in the order in which they are tried."""
    numbers = {number for word in words & OPENING_HINTS for number in OPENINGS_BY_WORD.get(word, ())}
    found = (CUES[number] for number in sorted(numbers))
    return [cue for cue in found if not any(words.isdisjoint(each) for each in cue.words[1:])]


def _table(sentence: Sentence) -> bool:
    """Whether those who play speak, and not those who are played."""
    return bool(JOKE.search(sentence.voiced.text) or TABLE.search(sentence.text))


def _holds(cue: Cue, found: re.Match[str], sentence: Sentence) -> bool:
    text = sentence.text
    if not cue.told and not sentence.voiced.quoted(sentence.start + found.start()):
        return False
    if cue.kind == "question":
        return "?" in text or not cue.pattern.pattern.startswith("^")
    if cue.kind in ("promise", "debt") and TRIFLE.search(text):
        return False
    head = text[: found.start()]
    return (
        "?" not in text[found.start() :]
        and not DENIES.search(head)
        and not NOT_SO.search(text, max(0, found.start() - AROUND), found.end())
    )


def _made(cue: Cue, found: re.Match[str], sentence: Sentence) -> Thread | None:
    text = sentence.text
    rest = text[: found.start()] + " " + text[found.end() :]
    words = _around(text, found.start())
    if len(about(rest) | names(found[0])) < cue.says:
        if sentence.before == sentence.start or len(about(sentence.with_before)) < cue.says + 1:
            return None
        words = sentence.with_before
        if len(words) > MAX_CHARACTERS:
            return None
    quoted = sentence.voiced.quoted(sentence.start + found.start())
    groups = found.groupdict()
    who = _person(groups.get("who"), sentence.voiced, quoted=quoted, default="speaker")
    # A wound that names nobody who struck it wasn't struck by whoever listens.
    whom = _person(
        groups.get("whom") or groups.get("te"),
        sentence.voiced,
        quoted=quoted,
        default="" if cue.kind == "wound" else "hearer",
    )
    if "whom" in groups and groups.get("who") is None and whom == who:
        who = ""
    return thread(cue.kind, words, sentence.voiced, who, whom, cue.weight)


def _backed(sentence: Sentence) -> Thread | None:
    """The promise of the sentence before, where this one says that it was one."""
    voiced = sentence.voiced
    said = sentence.with_before
    before = said[: sentence.start - sentence.before]
    idle = TRIFLE.search(before) or NOT_SO.search(before) or (voiced.authored and TABLE.search(said))
    if idle or "?" in said or not MEANS_TO.search(before) or len(about(before)) < 2:
        return None
    if len(said) > MAX_CHARACTERS or not voiced.quoted(sentence.start):
        return None
    return thread("promise", said, voiced, voiced.speaker, voiced.hearer, 1.5)


def _person(word: str | None, voiced: Voiced, *, quoted: bool, default: str) -> str:
    """Whom a word of a cue means; without one, whom such a thread has by default."""
    word = {"speaker": "I", "hearer": "you", "": "it"}[default] if word is None else word
    low = word.lower()
    if low.split(" ")[0] in _SPEAKER:
        return voiced.speaker if quoted else ""
    if low in _HEARER:
        return voiced.hearer if quoted else ""
    if low in _NOBODY or not word[:1].isupper():
        return ""
    return re.sub(r"['’]s?$", "", word)


def _around(text: str, place: int) -> str:
    """A sentence, or of a long one the part round `place`: from a clause on."""
    if len(text) <= MAX_CHARACTERS or place <= LEAD:
        return text
    starts = [found.end() for found in _CLAUSE.finditer(text, 0, place) if place - found.end() <= LEAD]
    return text[starts[0] if starts else place :]


ENOUGH = 0.5
"""Of what a thread speaks of, so much must be spoken of again where its end comes."""

CLOSE = 30
"""What becomes of somebody is said within so many characters after the name."""
ALONE = 1_500
"""Within so many messages, an end is taken to be of the only thread of its kind that its speaker has."""
TOGETHER = 5_000
"""Within so many, to be of the only one that its speaker and hearer have with each other."""

_WHY = lazy_re(r"^\W*(?:\w+[, ]+)?why\b", re.IGNORECASE)
_REASON = lazy_re(r"\b(?:because|so that|in order to|wanted|hoped|feared)\b", re.IGNORECASE)
_MAY_BE = lazy_re(r"\b(?:if|will|shall|would|may|might|should|could|perhaps|maybe)\b", re.IGNORECASE)
_FATES = lazy_re(r"\b(?:happened to|became of|become of)\b", re.IGNORECASE)
_PLACES = lazy_re(r"\bwhere\b", re.IGNORECASE)


class KnownThread(Struct, frozen=True, kw_only=True):
    """An open thread, with what it speaks of."""

    thread: Thread
    about: frozenset[str]
    names: frozenset[str]
    words: frozenset[str]
    """Its words that say something, as they stand there."""
    people: frozenset[str]
    """Whose it is, in small letters."""


def known(thread: Thread) -> KnownThread:
    """An open thread, read once for all the sentences that may end it."""
    people = frozenset((thread.who.casefold(), thread.whom.casefold())) - {""}
    return KnownThread(
        thread=thread,
        about=about(thread.text),
        names=names(thread.text),
        words=words_of(thread.text) - EMPTY,
        people=people,
    )


def may_end(words: frozenset[str], threads: Sequence[KnownThread]) -> bool:
    """Whether a text of these words may end one of `threads`, at a glance."""
    return bool(threads) and (
        not words.isdisjoint(HINTS)
        or any(each.thread.kind == "question" and not words.isdisjoint(each.names or each.words) for each in threads)
    )


def ended(sentence: Sentence, threads: Sequence[KnownThread]) -> list[KnownThread]:
    """Those of `threads` that a sentence resolves; none is resolved in the message that opened it."""
    text = sentence.text
    if "?" in text or not (earlier := [each for each in threads if each.thread.source != sentence.voiced.source]):
        return []
    out = [each for each in earlier if each.thread.kind == "question" and answers(text, each)]
    words = words_of(text)
    numbers = {number for word in words & HINTS for number in BY_WORD[word]}
    for end in (ENDS[number] for number in sorted(numbers)):
        theirs = [each for each in earlier if each.thread.kind in end.kinds]
        if not theirs or any(words.isdisjoint(each) for each in end.words):
            continue
        found = end.pattern.search(text)
        if found is not None and not DENIES.search(text[: found.start()]) and not NOT_SO.search(text, 0, found.end()):
            out += _which(end, sentence, theirs)
    return out


def answers(text: str, question: KnownThread) -> bool:
    """Whether a sentence says who, where, why or what, of whom or what the question names."""
    said = words_of(text)
    if "?" in text or not question.names <= said:
        return False
    if _FATES.search(question.thread.text):
        return _said_of(FATE, text, question)
    if _PLACES.search(question.thread.text):
        return _said_of(PLACE, text, question)
    if _WHY.search(question.thread.text) and not _REASON.search(text):
        return False
    shared = question.about & about(text)
    return len(shared) >= 2 and 3 * len(shared) >= 2 * len(question.about) and bool(ANSWERS.search(text))


def _said_of(words: re.Pattern[str], text: str, question: KnownThread) -> bool:
    """Whether such words stand close behind a name of the question."""
    if _MAY_BE.search(text):
        return False
    low = text.lower()
    ends = [place + len(name) for name in question.names if (place := low.find(name)) >= 0]
    return any(words.search(text, end, end + CLOSE) for end in ends)


def _which(end: End, sentence: Sentence, threads: Sequence[KnownThread]) -> list[KnownThread]:
    """Of the threads that an end may be of, the one that it is of; none where that isn't plain."""
    said = about(sentence.text)
    voiced = sentence.voiced
    people = {voiced.speaker.casefold(), voiced.hearer.casefold(), *names(sentence.text)} - {""}
    best: tuple[int, KnownThread] | None = None
    ours: list[KnownThread] = []
    for each in threads:
        both = each.about & said
        # Those who are named in it are in half of a story: something else must be said again, too.
        shared = len(both) if both - each.names - each.people else 0
        theirs = bool(each.people & people)
        if each.people and people and not theirs:
            continue
        # Where nobody knows who speaks, only the same name or a good many of the same words tell.
        enough = 2 if theirs or (each.names & names(sentence.text)) or end.by_people else 4
        if shared >= enough and shared >= ENOUGH * len(each.about) and (best is None or shared > best[0]):
            best = (shared, each)
        age = voiced.position - each.thread.position
        both_here = len(each.people) == 2 and each.people <= people and age <= TOGETHER
        own = voiced.speaker.casefold() in each.people and age <= ALONE and names(sentence.text) <= each.people
        if both_here or own:
            ours.append(each)
    if best is not None:
        return [best[1]]
    return ours if end.by_people and len(ours) == 1 else []


# Find, without a model, which threads a stretch of a story opens and which it resolves.
#
# Better none than a wrong one: a thread that nobody meant is carried for long, and one that was missed still stands in
# its leaf.


SOON = 3
"""A question that is answered within so many lines, and a promise that isn't given within them, opens nothing."""
TABLE_NEAR = 4
"""Among so many lines before and after, talk about the game or the show makes a line part of it."""
AGAIN = 0.7
"""Threads of one kind and one person that share so much of what they speak of are one, taken up again."""

_REPLY = lazy_re(
    r"^\W*(?:he|she|they|it|his|her|their|in|at|by|to|because|from|yes|no|the|i|we|that|this|nothing|nobody|dead"
    r"|gone)\b",
    re.IGNORECASE,
)


def find_threads(messages: Sequence[Message], before: Sequence[Thread]) -> Threads:
    """What `messages` open and leave open, and which of the threads that were open `before` they resolve."""
    heard = Voices(messages)
    tale = _Tale(before)
    for place, text in enumerate(heard.texts):
        words = words_of(text)
        opens, ends = may_open(words), may_end(words, tale.open)
        if not (opens or ends):
            continue
        for sentence in sentences(heard.voiced(place)):
            if ends:
                tale.end(ended(sentence, tale.open))
            found = (opening(sentence) or _asked_for(sentence, heard, place)) if opens else None
            if found is not None and not _passing(found, sentence, heard, place):
                tale.begin(found)
    return tale.threads


class _Tale:
    """The threads that are open, as a stretch is read from its beginning to its end."""

    def __init__(self, before: Sequence[Thread]) -> None:
        self._open = {thread.id: known(thread) for thread in before}
        self._before = frozenset(self._open)
        self._closed: dict[ThreadId, None] = {}
        self._said = {_plain(thread.text) for thread in before}
        self.open = list(self._open.values())

    @property
    def threads(self) -> Threads:
        opened = tuple(each.thread for name, each in self._open.items() if name not in self._before)
        return Threads(opened=opened, closed=tuple(self._closed))

    def begin(self, thread: Thread) -> None:
        """Open a thread; one that is only said in other words gives way to it, and one in the same words stays."""
        if _plain(thread.text) in self._said:
            return
        new = known(thread)
        self.end([each for each in self.open if _again(each, new)])
        self._said.add(_plain(thread.text))
        self._open[thread.id] = new
        self.open.append(new)

    def end(self, resolved: Sequence[KnownThread]) -> None:
        """Resolve threads."""
        for each in resolved:
            name = each.thread.id
            if self._open.pop(name, None) is not None and name in self._before:
                self._closed[name] = None
        if resolved:
            self.open = list(self._open.values())


def _again(old: KnownThread, new: KnownThread) -> bool:
    """Whether a thread takes up an older one."""
    same = old.thread.kind == new.thread.kind and old.thread.who == new.thread.who
    shared = len(old.about & new.about)
    return same and shared >= 3 and shared >= AGAIN * max(len(old.about), len(new.about))


def _asked_for(sentence: Sentence, heard: Voices, place: int) -> Thread | None:
    """The promise that a sentence asks for, where it is given soon after."""
    found = DEMAND.search(sentence.text)
    voiced = sentence.voiced
    if (
        found is None
        or (voiced.authored and TABLE.search(sentence.text))
        or not voiced.quoted(sentence.start + found.start())
    ):
        return None
    for after in range(place + 1, min(place + 1 + SOON, len(heard.texts))):
        if not CONSENT.match(heard.texts[after]):
            continue
        speaker = heard.voiced(after).speaker
        if speaker != voiced.speaker or not voiced.authored:
            return thread("promise", sentence.text, voiced, speaker, voiced.speaker, 1.5)
    return None


def _passing(found: Thread, sentence: Sentence, heard: Voices, place: int) -> bool:
    """Whether a thread passes at once: it is a part of the talk about the game, or a question with its answer."""
    voiced = sentence.voiced
    around = heard.texts[max(0, place - TABLE_NEAR) : place + TABLE_NEAR + 1]
    if voiced.authored and any(SHOW.search(text) for text in around):
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

"""What a sentence of a story opens: a promise, a debt, a secret, a wound, a question."""

from __future__ import annotations

import re

from ireneo.context.offline.prose import clip
from ireneo.context.thread import Thread, ThreadKind, thread_id
from ireneo.patterns import lazy_re
from ireneo.pyramid.offline.cues import Cue, words_of
from ireneo.pyramid.offline.debt_words import DEBTS
from ireneo.pyramid.offline.promise_words import BACKED, BACKED_WORDS, DEMAND_WORDS, MEANS_TO, PROMISES
from ireneo.pyramid.offline.question_words import QUESTIONS
from ireneo.pyramid.offline.same_words import about, names
from ireneo.pyramid.offline.secret_words import SECRETS
from ireneo.pyramid.offline.speech import Sentence, Voiced
from ireneo.pyramid.offline.table_talk import DENIES, JOKE, NOT_SO, TABLE, TRIFLE
from ireneo.pyramid.offline.wound_words import WOUNDS

AROUND = 60
"""Within so many characters before a cue, an "if" makes it none."""
MAX_CHARACTERS = 240
"""A longer sentence is shown from the clause on in which it opens a thread."""
LEAD = 100
"""Of a long sentence, at the most so many characters stand before what opens the thread."""
NAMED = 0.2
"""A thread that names somebody or something weighs so much more."""

CUES = (*PROMISES, *DEBTS, *SECRETS, *WOUNDS, *QUESTIONS)
BY_WORD: dict[str, list[int]] = {}
for _number, _cue in enumerate(CUES):
    for _word in _cue.words[0]:
        BY_WORD.setdefault(_word, []).append(_number)
ASKING = BACKED_WORDS | DEMAND_WORDS
HINTS = frozenset(BY_WORD) | ASKING
"""One of these stands in every sentence that may open a thread."""

_CLAUSE = lazy_re(r"[,;:—–]\s+|--\s*|(?<!\s)\s+(?=(?:and|but|for|that|because)\s)")
_SPEAKER = frozenset("i me my we us our myself ich mich je me yo".split())
_HEARER = frozenset("you your yours du dir dich euch te vous tu le".split())
_NOBODY = frozenset("he she they it him her his them their who himself herself er sie ihm ihr ihnen lui os les".split())


def may_open(words: frozenset[str]) -> bool:
    """Whether a text of these words may open a thread, at a glance."""
    return not words.isdisjoint(HINTS) and (not words.isdisjoint(ASKING) or bool(_cues(words)))


def opening(sentence: Sentence) -> Thread | None:
    """The thread that a sentence opens, if it opens one."""
    words = words_of(sentence.text)
    if words.isdisjoint(HINTS):
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
    numbers = {number for word in words & HINTS for number in BY_WORD.get(word, ())}
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

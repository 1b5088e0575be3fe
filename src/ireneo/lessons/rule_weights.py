"""Weigh whether a sentence of a user is a rule, and whether it holds beyond its task.

The weight follows from closed classes of words and from the structure of the sentence, not from whole phrases: whether
it orders or states, about a kind of things or about one thing; whether it negates, obliges, generalises, or contrasts;
and whether it reports, tells of the past, or concerns the current task.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ireneo.language.files import either, topic
from ireneo.language.topics import Binding, Constraints, Rulings
from ireneo.language.words import common_words
from ireneo.patterns import lazy_re
from ireneo.summaries.pins import QUOTED

RULES = 2.0
"""The least weight of a ruling."""
STANDS = 4.0
"""The least weight of a ruling that is told to later runs although it was said only once."""
LEAST = 2
"""The least number of content words of a ruling."""
ABOUT = lazy_re(r"\AOn (?:changing )?[“`][^\n]{1,400}?[”`]: “")
"""The subject that is put before the words of a ruling."""
BEGINS = 400
"""Characters of a sentence that are read."""


def _words() -> Rulings:
    return topic(Rulings)


def _anywhere(rows: Callable[[], Iterable[str]]) -> re.Pattern[str]:
    return lazy_re(lambda: rf"(?<!\w){either(rows())}", re.I)


_FOR = (
    (1.0, _anywhere(lambda: _words().negates)),
    (1.0, _anywhere(lambda: _words().reaches)),
    (1.0, _anywhere(lambda: _words().contrasts)),
    (1.0, _anywhere(lambda: _words().ours)),
    (0.5, _anywhere(lambda: _words().holds)),
    (0.5, _anywhere(lambda: _words().reasons)),
    (1.5, _anywhere(lambda: _words().places)),
    (1.5, _anywhere(lambda: _words().consults)),
    (2.0, _anywhere(lambda: _words().blames)),
)
"""Word classes that speak for a rule, with their weights."""
_REPORTS = _anywhere(lambda: _words().reports)
_HAPPENED = _anywhere(lambda: _words().happened)
_AT_HAND = _anywhere(lambda: _words().at_hand)
_DOUBTS = _anywhere(lambda: _words().doubts)
_CONTRASTS = _anywhere(lambda: _words().contrasts)
REACHES = _anywhere(lambda: _words().reaches)
_BLAMES = _anywhere(lambda: _words().blames)
_CONSULTS = _anywhere(lambda: _words().consults)
_HEDGES = _anywhere(lambda: _words().hedges)
_OWED = _anywhere(lambda: _words().owed)
_ANY_WORK = _anywhere(lambda: _words().any_work)
_PROCESS = _anywhere(lambda: _words().process)
_ORDERS = lazy_re(lambda: either(_words().orders), re.I)
_CLAUSE = lazy_re(r"[,;:(–—]|\s-\s")
_JOINS = lazy_re(lambda: either(_words().joins), re.I)
PASTED = lazy_re(
    r"[\[(/]\d+[/\])]|~/|\{|:=|^\W*\d+[.:)] |: \d+\.|\w\(\) - |\(Y\)es/|\(default"
    r"|\w\.[cm]?[jt]sx?:\d|\ANo (?:\w+ ){1,4}(?:available|found|provided|configured)\b"
    r"|\d:\d\d \D{4,200} \d:\d\d\b|(?:\b[A-Z]\w{1,30}: \S{1,40} ){3}|\bYOU (?:DO NOT|MUST|ARE|WILL|NEVER|ALWAYS)\b"
)
"""Marks of text that was pasted from a program, a list or a prompt."""
_FILE = lazy_re(r"(?<![\w./-])(?:[\w.-]++/[\w./-]*|\.[a-z][\w-]+|[\w-]++\.[a-z]{2,5})(?![\w/])")
_DISPUTES = _anywhere(lambda: _words().disputes)
_ACCEPTS = _anywhere(lambda: _words().accepts)
_ASKS = lazy_re(lambda: either(_words().asks), re.I)
_STRESSED = lazy_re(lambda: either(_words().stressed))
_LASTS = _anywhere(lambda: topic(Binding).from_now)
NAMES = lazy_re(r"`[^`\n]{1,80}`|\w\(\)|(?<!\w)--[a-z]")
"""Names in code."""
_POINTS = _anywhere(lambda: _words().points)
_LEAD = lazy_re(lambda: rf"(?:{either(topic(Constraints).lead)}\b[\s,.!:*_…–—-]*)+", re.I)
_NO_BESIDE = lazy_re(lambda: rf"\W*{either(_words().no)}\b[^\w\s]", re.I)
WORD = lazy_re(r"[^\W_][\w'’./-]*")


def bare(sentence: str) -> str:
    """A sentence without its opening words and quotations."""
    said = QUOTED.sub("X", sentence[:BEGINS].replace("_", " ").replace("*", "")).strip()
    found = _LEAD.match(said)
    return said[found.end() :] if found else said


def weight(sentence: str) -> float:
    """The weight of a sentence as a rule, by its words and structure."""
    said = bare(sentence)
    against = 1.5 * bool(_REPORTS.search(said)) + 1.5 * of_task(said)
    if said.rstrip("\"'”’)]*_ ").endswith("?"):
        implied = bool(_DOUBTS.search(said) or _BLAMES.search(said))
        return 2.0 * implied + 0.5 * bool(_CONTRASTS.search(said)) + 0.5 * bool(REACHES.search(said)) - against
    speaks = sum(much for much, how in _FOR if how.search(said)) + bool(_NO_BESIDE.match(sentence))
    speaks += bool(_OWED.search(said) or _OWED.search(sentence))
    return speaks + _build(said) - against - 1.5 * bool(_HAPPENED.search(said))


def _build(said: str) -> float:
    """The weight of its first words: more about a kind of things than about one, less if it points back."""
    words = [word.lower() for word in WORD.findall(said[:BEGINS])]
    if len(words) < 2:
        return -1.0
    first, second = words[0], words[1]
    if _POINTS.match(said):
        return -1.0
    if first in _words().subjects or first in _words().definite:
        return 0.0
    content = first not in common_words()
    if content and second in _words().definite:
        return -0.5  # An order to do something to one thing.
    return 1.5 if content and second.endswith("s") and second not in common_words() and len(words) > 2 else 1.0


def of_task(sentence: str) -> bool:
    """Whether a sentence concerns the current task."""
    return bool(_AT_HAND.search(sentence))


def blames(sentence: str) -> bool:
    """Whether a sentence rejects what the agent did or said."""
    return bool(_NO_BESIDE.match(sentence) or _BLAMES.search(bare(sentence)))


def is_of_any_work(ruling: str) -> bool:
    """Whether a ruling is about what all work on a project includes, such as its commits, and about no one place.

    That a file is committed, or isn't, concerns who has to do with that file.
    """
    return ABOUT.match(ruling) is None and _ANY_WORK.search(ruling) is not None and _FILE.search(ruling) is None


def consults(sentence: str) -> bool:
    """Whether a sentence says when the agent has to ask, or who decides."""
    return bool(_CONSULTS.search(sentence))


def joins(sentence: str) -> bool:
    """Whether a sentence continues what was said before it."""
    return bool(_JOINS.match(sentence))


def alone_weight(sentence: str) -> float:
    """The weight of a sentence for a reader without context: less if it refers to something that it does not name."""
    said = bare(sentence)
    asks = said.rstrip("\"'”’)]*_ ").endswith("?") or _ASKS.match(said)
    tied = 1.0 * bool(_POINTS.search(_CLAUSE.split(said)[0])) + 1.0 * bool(_HEDGES.search(said))
    tied += 0.5 * joins(sentence) + 1.0 * bool(asks) + 2.0 * bool(PASTED.search(sentence))
    # A bare no and an agreement are answers; a dispute about facts is no rule.
    tied += 1.0 * bool(_NO_BESIDE.match(sentence)) + 1.5 * bool(_ACCEPTS.search(said))
    tied += 2.0 * (sentence.count(" - ") > 1)  # A list of steps on one line.
    tied += 4.0 * bool(_DISPUTES.search(said)) - 0.5 * bool(_STRESSED.search(sentence))
    # A contrast of two named things holds in general.
    tied -= 0.5 * (len(NAMES.findall(sentence)) > 1 and bool(_CONTRASTS.search(said)))
    # A word for a process counts in an order only: a program may be about commits too.
    return weight(sentence) + 1.5 * of_process(said) + 2.0 * bool(_LASTS.search(sentence)) - tied


def of_process(said: str) -> bool:
    """Whether a sentence orders how work is done."""
    return bool(_ORDERS.match(said) and _PROCESS.search(said))

"""How much speaks for a sentence of a user's being a rule, and for its telling something beyond its task.

What a sentence does is read from closed classes of words and from its build, and not from phrases: whether it orders
or states, of a kind of things or of one thing that both know of; whether it says no, owes something, reaches beyond
this case, sets one thing against another; and whether it reports, tells what is past or is of the task at hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ireneo.language.files import either, topic
from ireneo.language.topics import Constraints, Rulings
from ireneo.language.words import common_words
from ireneo.patterns import lazy_re

RULES = 2.0
"""How much has to speak for a sentence for it to rule."""
STANDS = 4.0
"""The same for it to be told to later runs where it was said once."""
LEAST = 2
"""Words of content without which nothing is ruled."""
ABOUT = lazy_re(r"\AOn (?:changing )?[“`][^\n]{1,400}?[”`]: “")
"""What a ruling was said to, before its words."""
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
"""What speaks for a rule, with its weight."""
_REPORTS = _anywhere(lambda: _words().reports)
_HAPPENED = _anywhere(lambda: _words().happened)
_AT_HAND = _anywhere(lambda: _words().at_hand)
_DOUBTS = _anywhere(lambda: _words().doubts)
_CONTRASTS = _anywhere(lambda: _words().contrasts)
_REACHES = _anywhere(lambda: _words().reaches)
_BLAMES = _anywhere(lambda: _words().blames)
_CONSULTS = _anywhere(lambda: _words().consults)
_HEDGES = _anywhere(lambda: _words().hedges)
_OWED = _anywhere(lambda: _words().owed)
_PROCESS = _anywhere(lambda: _words().process)
_ORDERS = lazy_re(lambda: either(_words().orders), re.I)
_CLAUSE = lazy_re(r"[,;:(–—]|\s-\s")
_JOINS = lazy_re(lambda: either(_words().joins), re.I)
_PASTED = lazy_re(r"[\[(/]\d+[/\])]|~/|\{|:=|^\W*\d+[.:)] |: \d+\.|\w\(\) - ")
"""What nobody says: it was taken from a program, or from a list."""
_DISPUTES = _anywhere(lambda: _words().disputes)
_ACCEPTS = _anywhere(lambda: _words().accepts)
_ASKS = lazy_re(lambda: either(_words().asks), re.I)
_STRESSED = lazy_re(lambda: either(_words().stressed))
_LASTS = _anywhere(lambda: _words().lasts)
NAMES = lazy_re(r"`[^`\n]{1,80}`|\w\(\)|(?<!\w)--[a-z]")
"""Names in code."""
_POINTS = _anywhere(lambda: _words().points)
_LEAD = lazy_re(lambda: rf"(?:{either(topic(Constraints).lead)}\b[\s,.!:*_…–—-]*)+", re.I)
_NO_BESIDE = lazy_re(r"\W*(?:no|nope|nein)\b[^\w\s]", re.I)
_WORD = lazy_re(r"[^\W_][\w'’./-]*")
_QUOTED = lazy_re(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“\n]{1,400}“|`[^`\n]{1,400}`")


def bare(sentence: str) -> str:
    """A sentence without what it opens with, and without what it quotes."""
    said = _QUOTED.sub("X", sentence[:BEGINS].replace("_", " ").replace("*", "")).strip()
    found = _LEAD.match(said)
    return said[found.end() :] if found else said


def weight(sentence: str) -> float:
    """How much speaks for a sentence being a rule, from its words and its build."""
    said = bare(sentence)
    against = 1.5 * bool(_REPORTS.search(said)) + 1.5 * of_task(said)
    if said.rstrip("\"'”’)]*_ ").endswith("?"):
        implied = bool(_DOUBTS.search(said) or _BLAMES.search(said))
        return 2.0 * implied + 0.5 * bool(_CONTRASTS.search(said)) + 0.5 * bool(_REACHES.search(said)) - against
    speaks = sum(much for much, how in _FOR if how.search(said)) + bool(_NO_BESIDE.match(sentence))
    speaks += bool(_OWED.search(said) or _OWED.search(sentence))
    return speaks + _build(said) - against - 1.5 * bool(_HAPPENED.search(said))


def _build(said: str) -> float:
    """What the first words tell: of a kind of things more than of one, of what was named before less."""
    words = [word.lower() for word in _WORD.findall(said[:BEGINS])]
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
    """Whether a sentence is of the task at hand."""
    return bool(_AT_HAND.search(sentence))


def blames(sentence: str) -> bool:
    """Whether a sentence says no to what the agent did or said."""
    return bool(_NO_BESIDE.match(sentence) or _BLAMES.search(bare(sentence)))


def consults(sentence: str) -> bool:
    """Whether a sentence says what the agent is to ask for, or who decides."""
    return bool(_CONSULTS.search(sentence))


def alone_weight(sentence: str) -> float:
    """What a sentence weighs for somebody who knows nothing of its task: less where it points to what is not named."""
    said = bare(sentence)
    asks = said.rstrip("\"'”’)]*_ ").endswith("?") or _ASKS.match(said)
    tied = 1.0 * bool(_POINTS.search(_CLAUSE.split(said)[0])) + 1.0 * bool(_HEDGES.search(said))
    tied += 0.5 * bool(_JOINS.match(sentence)) + 1.0 * bool(asks) + 2.0 * bool(_PASTED.search(sentence))
    # A bare no is an answer, and so is what agrees; a dispute about what is so binds nobody.
    tied += 1.0 * bool(_NO_BESIDE.match(sentence)) + 1.5 * bool(_ACCEPTS.search(said))
    tied += 2.0 * (sentence.count(" - ") > 1)  # A list of steps on one line.
    tied += 4.0 * bool(_DISPUTES.search(said)) - 0.5 * bool(_STRESSED.search(sentence))
    # Two things by their names, one against the other, are told apart for good.
    tied -= 0.5 * (len(NAMES.findall(sentence)) > 1 and bool(_CONTRASTS.search(said)))
    # Of how work is done only an order counts: a program may be about commits as well.
    return weight(sentence) + 1.5 * of_process(said) + 2.0 * bool(_LASTS.search(sentence)) - tied


def of_process(said: str) -> bool:
    """Whether a sentence orders how work is done."""
    return bool(_ORDERS.match(said) and _PROCESS.search(said))

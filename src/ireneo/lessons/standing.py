"""How much speaks for a sentence of a user's being a rule, and for its telling something beyond its task.

What a sentence does is read from closed classes of words and from its build, and not from phrases: whether it orders or
states, of a kind of things or of one thing that both know of; whether it says no, owes something, reaches beyond this
case, sets one thing against another; and whether it reports, tells what is past or is of the task at hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ireneo.language.files import either, topic
from ireneo.language.topics import Constraints, Rulings
from ireneo.language.words import common_words
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import sentences

RULES = 2.0
"""How much has to speak for a sentence for it to rule."""
STANDS = 3.0
"""The same for it to be told to later runs where it was said once."""
LEAST = 2
"""Words of content without which a sentence tells nothing to who was not there."""
BEGINS = 400
"""Characters of a sentence that are read."""


def _words() -> Rulings:
    return topic(Rulings)


def _anywhere(rows: Callable[[], Iterable[str]]) -> re.Pattern[str]:
    return lazy_re(lambda: rf"(?<!\w){either(rows())}", re.I)


_FOR = (
    (1.0, _anywhere(lambda: _words().negates)),
    (1.0, _anywhere(lambda: _words().owed)),
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
_JOINS = lazy_re(lambda: either(_words().joins), re.I)
_PASTED = lazy_re(r"[\[(/]\d+[/\])]|~/|\{|:=|^\W*\d+[.:)] |: \d+\.|\w\(\) - ")
"""What nobody says: it was taken from a program, or from a list."""
_POINTS = _anywhere(lambda: _words().points)
_LEAD = lazy_re(lambda: rf"(?:{either(topic(Constraints).lead)}\b[\s,.!:*_…–—-]*)+", re.I)
_NO = lazy_re(r"\W*(?:no|nope|nein)\b[^\w\s]", re.I)
_WORD = lazy_re(r"[^\W_][\w'’./-]*")
_QUOTED = lazy_re(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“\n]{1,400}“|`[^`\n]{1,400}`")
_ABOUT = lazy_re(r"\AOn (?:changing )?[“`][^\n]{1,400}?[”`]: “")
"""What a ruling was said to, before its words."""


def bare(sentence: str) -> str:
    """A sentence without what it opens with, and without what it quotes."""
    said = _QUOTED.sub("X", sentence[:BEGINS]).strip()
    found = _LEAD.match(said)
    return said[found.end() :] if found else said


def weight(sentence: str) -> float:
    """How much speaks for a sentence being a rule, from its words and its build."""
    said = bare(sentence)
    against = 1.5 * bool(_REPORTS.search(said)) + 1.5 * of_task(said)
    if said.rstrip("\"'”’)]*_ ").endswith("?"):
        implied = bool(_DOUBTS.search(said) or _BLAMES.search(said))
        return 2.0 * implied + 0.5 * bool(_CONTRASTS.search(said)) + 0.5 * bool(_REACHES.search(said)) - against
    speaks = sum(much for much, how in _FOR if how.search(said)) + bool(_NO.match(sentence))
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
    return bool(_NO.match(sentence) or _BLAMES.search(bare(sentence)))


def consults(sentence: str) -> bool:
    """Whether a sentence says what the agent is to ask for, or who decides."""
    return bool(_CONSULTS.search(sentence))


def stands_alone(ruling: str) -> bool:
    """Whether `ruling` says how work is done in general: one that was heard once is told only then."""
    about = _ABOUT.match(ruling)
    said = (ruling[about.end() :] if about else ruling).strip(" \"“”'")
    # What was refused says itself what it is about, where that is a command.
    refused = about is not None and about[0].endswith("`: “") and not about[0].startswith("On changing")
    return any(alone_weight(each) >= STANDS and (refused or _tells(each)) for each in sentences(said))


def _tells(sentence: str) -> bool:
    empty = common_words() | topic(Constraints).empty | _words().plain
    telling = {word for word in _WORD.findall(bare(sentence).lower()) if word not in empty}
    return len(telling) >= LEAST or consults(sentence)


def alone_weight(sentence: str) -> float:
    """What a sentence weighs for somebody who knows nothing of its task: less where it points to what is not named."""
    said = bare(sentence)
    asks = said.rstrip("\"'”’)]*_ ").endswith("?")
    tied = 1.0 * bool(_POINTS.search(said)) + 1.0 * bool(_HEDGES.search(said)) + 0.5 * bool(_JOINS.match(sentence))
    return weight(sentence) - tied - 1.0 * asks - 2.0 * bool(_PASTED.search(sentence))

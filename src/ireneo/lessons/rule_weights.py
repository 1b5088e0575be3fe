"""Weigh whether a sentence of a user is a rule, and whether it holds beyond its task.

The weight follows from closed classes of words and from the structure of the sentence, not from whole phrases: whether
it is an order or a statement; whether it is about a kind of things or one thing; whether it negates, obliges,
generalises or contrasts; and whether it reports, is about the past, or concerns the current task.
"""

from __future__ import annotations

import re

from ireneo.language.files import any_of, topic
from ireneo.language.topics import Binding, Constraints, Rulings
from ireneo.language.words import common_words
from ireneo.patterns import lazy_re
from ireneo.summaries.pins import QUOTED

_SAYS = topic(Rulings)

RULES = 2.0
"""The minimum weight of a ruling."""
STANDS = 4.0
"""The minimum weight of a ruling that is shown to later runs although it was given only once."""
LEAST = 2
"""The minimum number of content words of a ruling."""
ABOUT = lazy_re(r"\AOn (?:changing )?[“`][^\n]{1,400}?[”`]: “")
"""The heading before a ruling's words that names its subject."""
BEGINS = 400
"""How many characters of a sentence are read."""


_PLAIN = dict.fromkeys(("negates", "reaches", "contrasts", "ours"), 1.0)
_FOR = _PLAIN | {"holds": 0.5, "places": 1.5, "consults": 1.5, "blames": 2.0}
"""The fields whose words speak for a rule, with their weights."""
_REASONS = lazy_re(lambda: rf"(?<![\w.]){any_of(_SAYS.reasons)}", re.I)
_CLAUSE = lazy_re(r"[,;:(–—]|\s-\s")
PASTED = lazy_re(
    r"[\[(/]\d+[/\])]|~/|\{|:=|^\W*\d+[.:)] |: \d+\.|\w\(\) - |\(Y\)es/|\(default"
    r"|\w\.[cm]?[jt]sx?:\d|\ANo (?:\w+ ){1,4}(?:available|found|provided|configured)\b"
    r"|\d:\d\d \D{4,200} \d:\d\d\b|(?:\b[A-Z]\w{1,30}: \S{1,40} ){3}|\bYOU (?:DO NOT|MUST|ARE|WILL|NEVER|ALWAYS)\b"
)
"""Signs of text that was pasted from a program, a list or a prompt."""
_FILE = lazy_re(r"(?<![\w./-])(?:[\w.-]++/[\w./-]*|\.[a-z][\w-]+|[\w-]++\.[a-z]{2,5})(?![\w/])")
NAMES = lazy_re(r"`[^`\n]{1,80}`|\w\(\)|(?<!\w)--[a-z]")
"""Names in code."""
_LEAD = lazy_re(lambda: rf"(?:{any_of(topic(Constraints).lead)}\b[\s,.!:*_…–—-]*)+", re.I)
_NO_BESIDE = lazy_re(lambda: rf"\W*{any_of(_SAYS.no)}\b[^\w\s]", re.I)
WORD = lazy_re(r"[^\W_][\w'’./-]*")


def strip_opening(sentence: str) -> str:
    """A sentence without its opening words and quotations."""
    said = QUOTED.sub("X", sentence[:BEGINS].replace("_", " ").replace("*", "")).strip()
    found = _LEAD.match(said)
    return said[found.end() :] if found else said


def weight(sentence: str) -> float:
    """The weight of a sentence as a rule, by its words and structure."""
    said = strip_opening(sentence)
    against = 1.5 * bool(_SAYS.reports.search(said)) + 1.5 * is_about_task(said)
    if said.rstrip("\"'”’)]*_ ").endswith("?"):
        implied = bool(_SAYS.doubts.search(said) or _SAYS.blames.search(said))
        return (
            2.0 * implied + 0.5 * bool(_SAYS.contrasts.search(said)) + 0.5 * bool(_SAYS.reaches.search(said)) - against
        )
    speaks = sum(much for field, much in _FOR.items() if getattr(_SAYS, field).search(said))
    speaks += 0.5 * bool(_REASONS.search(said)) + bool(_NO_BESIDE.match(sentence))
    speaks += bool(_SAYS.owed.search(said) or _SAYS.owed.search(sentence))
    return speaks + _opening_weight(said) - against - 1.5 * bool(_SAYS.happened.search(said))


def _opening_weight(said: str) -> float:
    """The weight of the first words: more for a kind of things than for one thing, less if they refer back."""
    words = [word.lower() for word in WORD.findall(said[:BEGINS])]
    if len(words) < 2:
        return -1.0
    first, second = words[0], words[1]
    if _SAYS.points.match(said):
        return -1.0
    if first in _SAYS.subjects or first in _SAYS.definite:
        return 0.0
    content = first not in common_words()
    if content and second in _SAYS.definite:
        return -0.5  # An order to do something with one thing.
    return 1.5 if content and second.endswith("s") and second not in common_words() and len(words) > 2 else 1.0


def is_about_task(sentence: str) -> bool:
    """Whether a sentence concerns the current task."""
    return bool(_SAYS.at_hand.search(sentence))


def rejects_agent_work(sentence: str) -> bool:
    """Whether a sentence rejects what the agent did or said."""
    return bool(_NO_BESIDE.match(sentence) or _SAYS.blames.search(strip_opening(sentence)))


def is_about_all_work(ruling: str) -> bool:
    """Whether a ruling is about what all work on a project includes, such as its commits, and not about one place.

    Whether one file is committed only concerns those who work on that file.
    """
    return ABOUT.match(ruling) is None and _SAYS.any_work.search(ruling) is not None and _FILE.search(ruling) is None


def says_who_decides(sentence: str) -> bool:
    """Whether a sentence says when the agent must ask, or who decides."""
    return bool(_SAYS.consults.search(sentence))


def continues_previous(sentence: str) -> bool:
    """Whether a sentence continues what was said before it."""
    return bool(_SAYS.joins.match(sentence))


def context_free_weight(sentence: str) -> float:
    """The weight of a sentence for a reader without context, who doesn't know what it refers to."""
    said = strip_opening(sentence)
    asks = said.rstrip("\"'”’)]*_ ").endswith("?") or _SAYS.asks.match(said)
    tied = 1.0 * bool(_SAYS.points.search(_CLAUSE.split(said)[0])) + 1.0 * bool(_SAYS.hedges.search(said))
    tied += 0.5 * continues_previous(sentence) + 1.0 * bool(asks) + 2.0 * bool(PASTED.search(sentence))
    # A bare no and an agreement are answers; a dispute about facts is not a rule.
    tied += 1.0 * bool(_NO_BESIDE.match(sentence)) + 1.5 * bool(_SAYS.accepts.search(said))
    tied += 2.0 * (sentence.count(" - ") > 1)  # A list of steps on one line.
    tied += 4.0 * bool(_SAYS.disputes.search(said)) - 0.5 * bool(_SAYS.stressed.search(sentence))
    # A contrast of two named things applies in general.
    tied -= 0.5 * (len(NAMES.findall(sentence)) > 1 and bool(_SAYS.contrasts.search(said)))
    # A word for a process only has weight in an order: a program may be about commits too.
    return weight(sentence) + 1.5 * is_about_process(said) + 2.0 * bool(topic(Binding).from_now.search(sentence)) - tied


def is_about_process(said: str) -> bool:
    """Whether a sentence orders how work is done."""
    return bool(_SAYS.orders.match(said) and _SAYS.process.search(said))

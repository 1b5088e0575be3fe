"""Whether a statement says what is so from then on, until another one ends it, or only what was so as it was said.

Who says "I have a test on Friday", "I'm packing" or "she is 14 weeks old" says something that ends by itself, and
nobody says when: that it was said stays true, and so it is kept as something that was said that day.
"""

from __future__ import annotations

from collections.abc import Collection

from ireneo.language.files import of_language, topic
from ireneo.language.predicates import Predicate
from ireneo.language.spoken import Attributes, Facts
from ireneo.memories.changes import figures, telling
from ireneo.patterns import lazy_re

_WORDS = lazy_re(r"[^\W_]+(?:['’.-][^\W_]+)*")
_SPEAKER = frozenset({"i", "we", "", "im", "ive"})
_RUNS_ON = frozenset({"h", "day", "week", "month"})
"""What of which there are so many changes by itself within a year."""


def lasts(said: Predicate | None, text: str, names: Collection[str], *, dated: bool) -> bool:
    """Whether what is so by a statement that fills no slot is so until something is said that ends it.

    Its subject and predicate must be known, since nothing can be told to end it otherwise. `names` are those of whom
    the speaker has told who they are; `dated` says that the text names a time of its own.
    """
    if said is None or said.tense in ("progressive", "future") or not _is_somebodys(said.subject, names):
        return False
    verb = said.verb.split()[-1]
    known = of_language(Facts, "en")
    if verb in known.was - known.begins or (verb == "be" and said.rest.split(" ", 1)[0].endswith("ing")):
        # "I had four", and a verb that isn't known: "I'm revising".
        return False
    if said.tense == "past" and (verb in known.was or verb not in known.begins):
        return False
    if said.tense == "present" and dated:
        return False
    return not _RUNS_ON & figures(text).keys() or said.tense == "past"


def _is_somebodys(subject: str, names: Collection[str]) -> bool:
    """Whether it is the speaker, somebody known, or a thing of the speaker's."""
    low = subject.strip().casefold()
    first = low.split(" ", 1)[0]
    if low in _SPEAKER or first in ("my", "our") or low in topic(Attributes).bare:
        return True
    return subject.strip().removesuffix("'s") in names


def tells_by_itself(said: Predicate) -> bool:
    """Whether a verb says something of its subject with few words: "I sing alto", and not "I have one"."""
    return said.verb.split()[-1] not in of_language(Facts, "en").light and bool(telling(said.rest))


def is_code(text: str) -> bool:
    """Whether it has figures and no words: moves of a game, numbers of parts. "27:58" is a time."""
    words = _WORDS.findall(text)
    return not any(word.isalpha() and len(word) > 2 for word in words) and not all(word[0].isdigit() for word in words)

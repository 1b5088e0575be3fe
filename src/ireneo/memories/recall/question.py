"""A question as it is searched: what it asks about, whose words would answer it, and of which time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from ireneo.memories.recall.time_words import Window, time_window
from ireneo.memories.recall.word_lists import COMMON_WORDS, FRAME_WORDS
from ireneo.memories.recall.words import terms
from ireneo.patterns import lazy_re

FRAME_WEIGHT = 0.5
"""What a word counts that says which sort of answer is wanted ("how many *days*"), against one of the matter itself."""

_FRAME_TERMS = frozenset(terms(FRAME_WORDS))
_QUOTED = lazy_re(
    "[\"\u201c\u00ab]([^\"\u201c\u201d\u00ab\u00bb]{2,80}+)[\"\u201d\u00bb]|(?<!\\w)['\u2018]([^'\u2018\u2019]{3,80}+)['\u2019](?!\\w)"
)
_ASKER = lazy_re(r"\b(?:i|my|me|mine|we|our|us)\b", re.I)
_ANSWERER = lazy_re(r"\b(?:you|your|yours)\b", re.I)
# "Can you remind me …" asks nothing about the one who is asked.
_BEGGING = lazy_re(
    r"\b(?:can|could|would|will|do)\s+you\s+(?:please\s+)?"
    r"(?:remind|tell|help|confirm|give|remember|recall|suggest|recommend|clarify|know)\b",
    re.I,
)
_WHEN = lazy_re(
    r"\bwhen\b|\bhow (?:long|many (?:day|week|month|year|hour)s)\b|\b(?:what|which) (?:date|day|month|year)\b"
    r"|\bwhich\b.{0,200}?\bfirst\b|\border\b",
    re.I,
)
_HOW_MANY = lazy_re(
    r"\bhow (?:many|much|old|long|far|often|tall|big)\b|\bwhat (?:time|percentage|price|age|number)\b",
    re.I,
)
_AROUND = lazy_re(r"\b(before|until|prior to|after|since)\b\s+([^,.;:?!]{2,60})", re.I)
_EARLIER = frozenset(("before", "until", "prior to"))


class Question(Struct, frozen=True, kw_only=True):
    """What a question asks for."""

    terms: tuple[tuple[str, float], ...]
    """Each term once, in the order of the question, with what it counts for."""
    who: tuple[str, ...] = ()
    """The speakers that it names: whose words are asked for. Their names are no terms."""
    side: Literal["user", "assistant"] | None = None
    """Whose words are asked for where speakers have no names: of "I" the user tells, of "you" the assistant."""
    phrases: tuple[tuple[str, ...], ...] = ()
    """What stands in quotation marks, as terms."""
    window: Window | None = None
    """The time that it names."""
    direction: Literal["before", "after"] | None = None
    """It asks of what was before or after something that it names ("before the move")."""
    event: tuple[str, ...] = ()
    """The terms of what that is."""
    asks_when: bool = False
    asks_how_many: bool = False


def read_question(text: str, *, now: datetime | None = None, speakers: Sequence[str] = ()) -> Question:
    """Read a question: `now` is when it is asked (aware), `speakers` are the authors that the space knows."""
    who = named_speakers(text, speakers)
    of_names = {term for name in who for term in terms(name)}
    wanted = dict.fromkeys(terms(text))
    about = [term for term in wanted if term not in of_names] or list(wanted)
    # A name that is also a month's ("April") names no time.
    window = time_window(_without(text, who), now)
    direction, event = _event(text) if window is None else (None, ())
    return Question(
        terms=tuple((term, FRAME_WEIGHT if term in _FRAME_TERMS else 1.0) for term in about),
        who=who,
        side=None if who else _side(text),
        phrases=tuple(
            phrase for found in _QUOTED.finditer(text) if len(phrase := tuple(terms(found[1] or found[2]))) > 1
        ),
        window=window,
        direction=direction,
        event=event,
        asks_when=bool(_WHEN.search(text)),
        asks_how_many=bool(_HOW_MANY.search(text)),
    )


def named_speakers(text: str, speakers: Sequence[str]) -> tuple[str, ...]:
    """Those of `speakers` whom `text` names, by their whole name or by a first name that only one of them has."""
    firsts = [name.split()[0].casefold() for name in speakers if name.split()]
    named = []
    for name in dict.fromkeys(speakers):
        parts = name.split()
        if parts and (
            _names(text, name) or (len(parts) > 1 and firsts.count(parts[0].casefold()) == 1 and _names(text, parts[0]))
        ):
            named.append(name)
    return tuple(named)


def _names(text: str, name: str) -> bool:
    """Whether `name` stands in `text`; one that is also a common word ("Will") only where it is written as a name."""
    flags = 0 if name.casefold() in COMMON_WORDS else re.IGNORECASE
    return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, flags))


def _without(text: str, names: Sequence[str]) -> str:
    words = [re.escape(part) for name in names for part in (name, *name.split())]
    return re.sub(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", " ", text, flags=re.I) if words else text


def _side(text: str) -> Literal["user", "assistant"] | None:
    told = _BEGGING.sub(" ", text)
    if _ANSWERER.search(told):
        return "assistant"
    return "user" if _ASKER.search(text) else None


def _event(text: str) -> tuple[Literal["before", "after"] | None, tuple[str, ...]]:
    """Whether it asks of before or after, and the terms of what: the words up to the end of the clause."""
    found = _AROUND.search(text)
    event = tuple(dict.fromkeys(terms(found[2]))) if found else ()
    if found is None or not event:
        return None, ()
    return ("before" if found[1].casefold() in _EARLIER else "after"), event

"""The recaps that somebody gives of a story: what happened so far, in order and with its causes, in one voice.

Nothing else in a long play tells so much in so few words. A recap is a long message behind words such as "last we left
off", or before "and that is where we left off"; what the others throw in doesn't end it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ireneo.language.files import either, topic
from ireneo.language.sentences import breaks
from ireneo.language.story_topics import Threads, Turns
from ireneo.log.message import Message
from ireneo.patterns import lazy_re
from ireneo.summaries.speech import spoken

LEAST = 400
"""Characters: what is shorter is no recap by itself."""
GOES_ON = 150
"""Characters of a further message that goes on with one."""
NEAR = 8
"""Messages: so far behind the last one of a recap the next is looked for."""
LEAD = 60
"""Characters behind the words that begin a recap; where less is left of their sentence, it begins with the next."""
SPOKEN_TO = 0.04
"""Who recaps says less often than this, of all words, "you": who plays on says it all the time."""

_OPENS = lazy_re(lambda: rf"\b{either(topic(Turns).recaps)}", re.IGNORECASE)
_ENDS = lazy_re(lambda: rf"\b{either(topic(Turns).recap_ends)}\b", re.IGNORECASE)
_WORD = lazy_re(r"\w+")
_SPEECH = lazy_re(r"(?:\([^()]*\)\s*)?[\"“„«»「『]")
_BROKEN = ("--", "—", "–", "-", "…", "...")

Span = tuple[int, int]


def recaps(messages: Sequence[Message]) -> dict[tuple[str, int], Span]:
    """Where a recap stands, from which character to which: by the message's id and the number of its text."""
    texts = [
        ((message.id, number), place, author, text)
        for place, message in enumerate(messages)
        for number, (author, text) in enumerate(spoken(message))
    ]
    out: dict[tuple[str, int], Span] = {}
    going: tuple[str, int] | None = None
    broken = ended = False
    for name, place, author, text in texts:
        span = _span(text)
        if span is None and going and author == going[0] and place - going[1] <= NEAR:
            span = _further(text, broken=broken, ended=ended)
        if span is None:
            continue
        out[name] = span
        going = (author, place)
        broken = text.rstrip("\"'”’) ").endswith(_BROKEN)
        ended = bool(_ENDS.search(text, *span))
    return out


def _span(text: str) -> Span | None:
    """Where in a text a recap stands that it opens or ends."""
    if len(text) < LEAST:
        return None
    ends = [found.span() for found in _ENDS.finditer(text)]
    start, end = 0, len(text)
    opened = next(
        (found for found in _OPENS.finditer(text) if not any(a < found.end() and found.start() < b for a, b in ends)),
        None,
    )
    if not opened and not ends:
        return None
    if opened:
        start = _begins(text, opened.start(), opened.end())
    behind = [place for _, place in ends if place - start >= LEAST]
    if behind:
        end = _ends_of(text, behind[-1])
    elif not opened:
        return None
    return (start, end) if end - start >= LEAST else None


def _further(text: str, *, broken: bool, ended: bool) -> Span | None:
    """Where a text goes on with a recap that was given shortly before, and `broken` off or said to have `ended`."""
    ends = [found.end() for found in _ENDS.finditer(text)]
    end = _ends_of(text, ends[-1]) if ends else len(text)
    if broken and text.startswith(_BROKEN):
        return 0, end
    if end < GOES_ON or _SPEECH.match(text):
        return None
    words = _WORD.findall(text[:end].lower())
    spoken_to = sum(word in topic(Threads).hearer for word in words)
    most = SPOKEN_TO * len(words) / (2 if ended else 1)
    return (0, end) if ends or broken or spoken_to < most else None


def _begins(text: str, start: int, end: int) -> int:
    """Where the sentence begins in which a recap is opened, or the next one where it does no more than that."""
    first = 0
    for last, following in breaks(text):
        if last >= end:
            return first if last - end >= LEAD else following
        if following <= start:
            first = following
    return first


def _ends_of(text: str, place: int) -> int:
    """Where the sentence ends that holds `place`."""
    return next((last for last, _ in breaks(text) if last >= place), len(text))

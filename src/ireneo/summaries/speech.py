"""Speakers in a story: who says its texts, who narrates, and what recaps it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ireneo.language.files import CAPITAL, any_of, topic
from ireneo.language.story_topics import Turns
from ireneo.language.topics import Speech
from ireneo.language.words import sentence_breaks
from ireneo.log.message import Message, Text
from ireneo.patterns import lazy_re

_TURNS = topic(Turns)

_TAG = lazy_re(
    lambda: (
        rf"[”\"»]\s*(?:{any_of(topic(Speech).said)}\s+(?P<after>{_person_pattern()})"
        rf"|(?P<before>{_person_pattern()})\s+{any_of(topic(Speech).said)}\b)"
    )
)
WORDS = lazy_re(r"\w+")
_WORD = lazy_re(r"\w+(?:['’]\w+)?")
QUOTATION = lazy_re(r"[\"“„«「『][^\"”“»」』]*[\"”“»」』]?")
ACTION = lazy_re(r"(?<![*\w])\*[^\s*]+[\s.,:;!?…—][^*]*\*(?![*\w])|(?<![*\w])\*[^\s*]+[.,:;!?…—]\*(?![*\w])")
"""An action, which roleplay writes in asterisks beside speech; a word alone is only stressed."""
_ROLES = {"user": "User", "assistant": "Assistant"}


def _person_pattern() -> str:
    return rf"(?:{any_of(topic(Speech).titles)}\.? )?{CAPITAL}[\w’-]+(?: {CAPITAL}[\w’-]+)?"


def spoken_texts(messages: Sequence[Message]) -> list[tuple[Message, Text]]:
    """Return the texts that users and assistants wrote in a stretch of a story, with their messages."""
    return [
        (message, part)
        for message in messages
        if message.role in ("user", "assistant") and message.draft.origin == "spoken"
        for part in message.parts
        if isinstance(part, Text)
    ]


def tagged_speaker(text: str) -> str:
    """Return the only speaker that a paragraph of prose names (“said Holm”); empty if there are several or none."""
    if not any(mark in text for mark in '"”»'):
        return ""
    found = {
        name for each in _TAG.finditer(text) if (name := each["after"] or each["before"]) not in topic(Speech).pronouns
    }
    return found.pop() if len(found) == 1 else ""


def texts_by_author(message: Message) -> Sequence[tuple[str, str]]:
    """Return the texts of a message as (author, text); the author is empty if none is given."""
    return [(part.author or "", part.text) for part in message.parts if isinstance(part, Text)]


def is_prose(messages: Sequence[Message]) -> bool:
    """Whether nobody speaks: a text with neither an assistant nor a named author, such as a novel."""
    return not any(
        message.role == "assistant" or any(author for author, _ in texts_by_author(message)) for message in messages
    )


BY_NAME = 0.1
"""The share of their texts in which authors must name themselves, or speak between actions, to play who they are
called."""


def _speaks_and_acts(text: str) -> bool:
    return ACTION.search(text) is not None and bool(_WORD.search(QUOTATION.sub(" ", ACTION.sub(" ", text))))


FEW_TEXTS = 8
"""With fewer texts, whoever says most is not taken for a narrator."""


def narrators(messages: Sequence[Message]) -> frozenset[str]:
    """Return the authors who narrate: by their name, or since they say the most and the least about themselves.

    An author who writes about themselves by name ("Ilse shrugs."), or speaks plainly between actions in asterisks,
    plays a character.
    """
    said: Counter[str] = Counter()
    of_self: Counter[str] = Counter()
    texts: Counter[str] = Counter()
    played: Counter[str] = Counter()
    for message in messages:
        for author, text in texts_by_author(message):
            words = [word.lower() for word in _WORD.findall(text)]
            said[author] += len(words)
            of_self[author] += sum(word.replace("’", "'") in topic(Speech).selves for word in words)
            texts[author] += 1
            played[author] += not set(author.lower().split()).isdisjoint(words) or _speaks_and_acts(text)
    out = {author for author in said if author.casefold().replace(" ", "-") in topic(Speech).narrators} | {""}
    authors = [author for author in said if author]
    if len(authors) > 2:
        most = max(authors, key=lambda author: (said[author], author))
        others = [author for author in authors if author != most]
        share = sum(of_self[author] for author in others) / max(sum(said[author] for author in others), 1)
        plays = played[most] > BY_NAME * texts[most]
        enough = texts[most] >= FEW_TEXTS and said[most] * 4 > sum(said.values())
        if enough and of_self[most] < share * said[most] * 0.6 and not plays:
            out.add(most)
    return frozenset(out)


def speaker_label(author: str, message: Message, two_roles: bool) -> str:
    """Return the name to show before what this author says: the role, if two roles talk and nobody has a name."""
    return author or (_ROLES.get(message.role, "") if two_roles else "")


def two_roles(messages: Sequence[Message]) -> bool:
    """Whether a user and a model talk to each other without other names."""
    return {"user", "assistant"} <= {message.role for message in messages}


def needs_speaker(sentence: str) -> bool:
    """Whether a sentence says "I" outside quotations, so that it needs its speaker's name."""
    outside = QUOTATION.sub(" ", sentence)
    return any(word.lower().replace("’", "'") in topic(Speech).selves for word in _WORD.findall(outside))


# Recaps: one speaker's account of the story so far, in order and with its causes.
#
# Nothing else in a long play is as dense. A recap is a long message after words such as "last we left off", or before
# "and that is where we left off"; interjections by others don't end it.

MIN_RECAP = 400
"""A text with fewer characters is not a recap."""
MIN_FURTHER = 150
"""The least characters of a further message that continues a recap."""
RECAP_NEAR = 8
"""How many messages after a recap are searched for its continuation."""
RECAP_LEAD = 60
"""If fewer characters are left after the opening words of a sentence, the recap begins with the next sentence."""
SPOKEN_TO = 0.04
"""The largest share of the word "you" in a recap; in play it is far more frequent."""

_SPEECH = lazy_re(r"(?:\([^()]*\)\s*)?[\"“„«»「『]")
_BROKEN = ("--", "—", "–", "-", "…", "...")

Span = tuple[int, int]


def find_recaps(messages: Sequence[Message]) -> dict[tuple[str, int], Span]:
    """Return the spans of recaps as (start, end) offsets, by message id and index of the text in it."""
    texts = [
        ((message.id, number), place, author, text)
        for place, message in enumerate(messages)
        for number, (author, text) in enumerate(texts_by_author(message))
    ]
    out: dict[tuple[str, int], Span] = {}
    going: tuple[str, int] | None = None
    broken = ended = False
    for name, place, author, text in texts:
        span = _recap_span(text)
        if span is None and going and author == going[0] and place - going[1] <= RECAP_NEAR:
            span = _continued_recap(text, broken=broken, ended=ended)
        if span is None:
            continue
        out[name] = span
        going = (author, place)
        broken = text.rstrip("\"'”’) ").endswith(_BROKEN)
        ended = bool(_TURNS.recap_ends.search(text, *span))
    return out


def _recap_span(text: str) -> Span | None:
    """Return the span of a recap in a text that opens or ends one."""
    if len(text) < MIN_RECAP:
        return None
    ends = [found.span() for found in _TURNS.recap_ends.finditer(text)]
    start, end = 0, len(text)
    opened = next(
        (
            found
            for found in _TURNS.recaps.finditer(text)
            if not any(a < found.end() and found.start() < b for a, b in ends)
        ),
        None,
    )
    if not opened and not ends:
        return None
    if opened:
        start = _recap_start(text, opened.start(), opened.end())
    behind = [place for _, place in ends if place - start >= MIN_RECAP]
    if behind:
        end = _sentence_end(text, behind[-1])
    elif not opened:
        return None
    return (start, end) if end - start >= MIN_RECAP else None


def _continued_recap(text: str, *, broken: bool, ended: bool) -> Span | None:
    """Return the span of a text that continues a recent recap, which was interrupted (`broken`) or seemed `ended`."""
    ends = [found.end() for found in _TURNS.recap_ends.finditer(text)]
    end = _sentence_end(text, ends[-1]) if ends else len(text)
    if broken and text.startswith(_BROKEN):
        return 0, end
    if end < MIN_FURTHER or _SPEECH.match(text):
        return None
    words = WORDS.findall(text[:end].lower())
    spoken_to = sum(word in _TURNS.hearer for word in words)
    most = SPOKEN_TO * len(words) / (2 if ended else 1)
    return (0, end) if ends or broken or spoken_to < most else None


def _recap_start(text: str, start: int, end: int) -> int:
    """Return the start of the sentence that opens a recap, or of the next one if that says nothing else."""
    first = 0
    for last, following in sentence_breaks(text):
        if last >= end:
            return first if last - end >= RECAP_LEAD else following
        if following <= start:
            first = following
    return first


def _sentence_end(text: str, place: int) -> int:
    """Return the end of the sentence that contains `place`."""
    return next((last for last, _ in sentence_breaks(text) if last >= place), len(text))

"""The sentences of a story, each with who says it, to whom, and where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ireneo.log.message import Message, MessageId, Text
from ireneo.patterns import lazy_re

NEAR = 4
"""Whom a line is said to is looked for among so many messages before and after it."""

_END = lazy_re(r"(?<=[.!?…])(?<!\bMr\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bMrs\.)(?<!\bMs\.)[\"”’»')\]]*\s+")
_SAID = (
    "(?:said|asked|replied|answered|cried|whispered|returned|added|exclaimed|murmured|muttered|shouted|sagte|fragte"
    "|rief"
    "|dit|demanda|dijo)"
)
_WHO = r"(?:(?:Mr|Mrs|Miss|Dr|Lady|Sir|Captain)\.? )?[A-ZÀ-Þ][\w’-]+(?: [A-ZÀ-Þ][\w’-]+)?"
_TAG = lazy_re(rf"[”\"»]\s*(?:{_SAID}\s+(?P<after>{_WHO})|(?P<before>{_WHO})\s+{_SAID}\b)")
_PRONOUNS = frozenset(
    "I He She It They We You The A An My His Her Their Er Sie Es Wir Il Elle Nous Vous Él Ella".split()
)
_QUOTES = str.maketrans("“”«»", '""""')


class Voiced(Struct, frozen=True, kw_only=True):
    """The text of a message in one voice."""

    text: str
    speaker: str
    """Who says it; empty where that isn't known."""
    hearer: str
    """To whom; empty where that isn't known."""
    authored: bool
    """It has an author: it is a line of one voice, and no prose with several voices in quotation marks."""
    position: int
    source: MessageId

    def quoted(self, place: int) -> bool:
        """Whether somebody speaks at `place`: everywhere in a line, and between quotation marks in prose."""
        return self.authored or self.text.translate(_QUOTES).count('"', 0, place) % 2 == 1


class Sentence(Struct, frozen=True, kw_only=True):
    """A sentence, and the one before it in the same text."""

    voiced: Voiced
    start: int
    end: int
    before: int
    """Where the sentence before it starts; `start` where it is the first."""

    @property
    def text(self) -> str:
        """The sentence, word for word."""
        return self.voiced.text[self.start : self.end]

    @property
    def with_before(self) -> str:
        """The sentence with the one before it, word for word."""
        return self.voiced.text[self.before : self.end]


class Voices:
    """The texts that are told or spoken in a stretch; what no role or voice of the story says is left out."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._rows = [
            (message, part)
            for message in messages
            if message.role in ("user", "assistant") and message.draft.origin == "spoken"
            for part in message.parts
            if isinstance(part, Text)
        ]
        self._authors = [part.author or "" for _, part in self._rows]
        self._names = {author.split()[0].casefold(): author for author in set(self._authors) if author.split()}
        self.texts = [part.text for _, part in self._rows]

    def voiced(self, place: int) -> Voiced:
        """The text at `place`, with who says it and to whom."""
        message, part = self._rows[place]
        hearer = ""
        if part.author:
            hearer = _named(part.text, part.author, self._names) or _other(self._authors, place)
        return Voiced(
            text=part.text,
            speaker=part.author or _tagged(part.text),
            hearer=hearer,
            authored=part.author is not None,
            position=message.position,
            source=message.id,
        )


def sentences(voiced: Voiced) -> Iterator[Sentence]:
    """The sentences of a text in order."""
    before = start = 0
    for found in [*_END.finditer(voiced.text), None]:
        end = found.start() if found else len(voiced.text)
        if voiced.text[start:end].strip():
            yield Sentence(voiced=voiced, start=start, end=end, before=before)
            before = start
        start = found.end() if found else end


def _tagged(text: str) -> str:
    """Who is said to speak in a paragraph of prose, where one alone is."""
    if not any(mark in text for mark in '"”»'):
        return ""
    found = {name for each in _TAG.finditer(text) if (name := each["after"] or each["before"]) not in _PRONOUNS}
    return found.pop() if len(found) == 1 else ""


def _named(text: str, author: str | None, names: dict[str, str]) -> str:
    """Who of those who speak is called by name in a line."""
    words = [word for word in re.findall(r"[^\W\d_]+", text) if word[0].isupper()] if len(text) < 400 else []
    return next((names[low] for word in words if (low := word.casefold()) in names and names[low] != author), "")


def _other(authors: Sequence[str], place: int) -> str:
    """Who else spoke last before a line, or speaks first after it."""
    own = authors[place]
    earlier = [name for name in reversed(authors[max(0, place - NEAR) : place]) if name not in ("", own)]
    later = [name for name in authors[place + 1 : place + 1 + NEAR] if name not in ("", own)]
    return next(iter([*earlier, *later]), "")

"""By which words it is known that a text comes from what is erased."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.log.message import Call, Media, Message, Opaque, Part, Result, Text, Thinking
from ireneo.patterns import lazy_re

_WORD = lazy_re(r"\w+")
_SENTENCE = lazy_re(r"(?:\A|[.!?:;\n]\s{0,200}+[\"'“‘(\[*-]{0,8}+\s{0,200}+)(\w+)")
SHORTEST = 4
"""Shorter words without a digit stand everywhere, and tell nothing."""


def words(text: str) -> set[str]:
    """The words of a text that tell something, without regard to case."""
    return {word for word in _WORD.findall(text.casefold()) if len(word) >= SHORTEST or any(map(str.isdigit, word))}


def striking(text: str) -> set[str]:
    """Those of its words that are names, numbers or identifiers by their looks: nobody says them by chance."""
    opens = {found.start(1) for found in _SENTENCE.finditer(text)}
    return {
        word.casefold()
        for found in _WORD.finditer(text)
        if (word := found[0]) and (_is_odd(word) or (word[0].isupper() and found.start() not in opens))
    } & words(text)


def _is_odd(word: str) -> bool:
    return "_" in word or any(map(str.isdigit, word)) or any(map(str.isupper, word[1:]))


class Erased(Struct, frozen=True, kw_only=True):
    """The words of what is erased."""

    all: frozenset[str] = frozenset()
    alone: frozenset[str] = frozenset()
    """Those that stand in nothing that stays."""
    striking: frozenset[str] = frozenset()

    @classmethod
    def of(cls, texts: Iterable[str]) -> Erased:
        """The words of `texts`, none of which is known to stand elsewhere."""
        every: set[str] = set()
        marked: set[str] = set()
        for text in texts:
            every |= words(text)
            marked |= striking(text)
        return cls(all=frozenset(every), alone=frozenset(every), striking=frozenset(marked))

    def without(self, texts: Iterable[str]) -> Erased:
        """The same, where `texts` stay."""
        alone = set(self.alone)
        for text in texts:
            if not alone:
                break
            alone -= words(text)
        return replace(self, alone=frozenset(alone))

    def and_of(self, other: Erased) -> Erased:
        """The words of both."""
        return Erased(all=self.all | other.all, alone=self.alone | other.alone, striking=self.striking | other.striking)

    def in_part(self, text: str) -> bool:
        """Whether any word of `text` can only come from what is erased: enough where it can be made again."""
        return not self.alone.isdisjoint(words(text))

    def is_source_of(self, text: str) -> bool:
        """Whether `text`, which somebody wrote, comes from what is erased.

        It has a name, a number or an identifier that stands nowhere else, or half of its words are from there and one
        of them is from nowhere else: a plain word that both use by chance is no reason to take it out.
        """
        own = words(text)
        only = own & self.alone
        return bool(only & self.striking) or (bool(only) and 2 * len(own & self.all) >= len(own))


class Name:
    """A subject as it may be named in texts: as whole words, without regard to case."""

    def __init__(self, name: str) -> None:
        """Look for `name`."""
        pieces = [re.escape(piece) for piece in name.casefold().split()]
        self._said = re.compile(r"(?<!\w)" + r"\s+".join(pieces) + r"(?!\w)")

    def is_in(self, texts: Iterable[str]) -> bool:
        """Whether any of `texts` names it."""
        return any(self._said.search(text.casefold()) for text in texts)


def said(message: Message) -> Iterator[str]:
    """Every text in a message: what is said, thought and done, who speaks and who hears."""
    return _of_parts(message.parts)


def written(message: Message) -> Iterator[str]:
    """Every text of a message, those among them that its provider and its log wrote besides."""
    yield from said(message)
    for piece in (message.draft.native, message.draft.record):
        if piece is not None:
            yield from strings(piece.payload)
    if message.draft.source_id:
        yield message.draft.source_id


def _of_parts(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Text):
            yield part.text
            yield from filter(None, (part.author, *(part.present or ())))
        elif isinstance(part, Thinking):
            yield part.text
        elif isinstance(part, Call):
            yield from strings(part.arguments)
        elif isinstance(part, Result):
            yield from _of_parts(part.parts)
        elif isinstance(part, Media):
            yield from filter(None, (part.name, part.url))
        elif isinstance(part, Opaque):
            yield from strings(part.payload)


def values(value: object) -> Iterator[str]:
    """Every text in a value as JSON has it, without the names of fields: those are ours."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from values(inner)
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for inner in value:
            yield from values(inner)


def strings(value: object) -> Iterator[str]:
    """Every text in a value as JSON has it, the names of its fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from strings(inner)
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for inner in value:
            yield from strings(inner)

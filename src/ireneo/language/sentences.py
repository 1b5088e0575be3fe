"""Prose cut into sentences: a full stop behind an abbreviation, an initial or an ordinal number ends none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ireneo.language.files import either, from_data, topic
from ireneo.language.topics import Sentences
from ireneo.patterns import lazy_re

_END = lazy_re(r"(?:(?<![.!?…])[.!?…]+[\"'”“’»«)\]*_]*(?=\s)|[。！？]+[」』”’）]*|[।؟۔]+)\s*")
_LONGEST = 12
"""Characters before a full stop by which it is known that it ends nothing."""
_CLOSES = r"\.[\"'”“’»«)\]*_]*$"


def breaks(text: str, *, small_opens: bool = False) -> Iterator[tuple[int, int]]:
    """Where a sentence of `text` ends that another one follows: behind its last sign, and where the next begins.

    A small letter goes on with a sentence (“Where are you?” she asked), unless `small_opens` one: so people chat.
    """
    start = 0
    for found in _END.finditer(text):
        end = found.start() + len(found[0].rstrip())
        if end < len(text) and not (
            (text[found.end()].islower() and not small_opens) or _goes_on(text, start, end, found.end())
        ):
            yield end, found.end()
            start = found.end()


def sentences(text: str, *, longest_quoted: int = 0, small_opens: bool = False) -> Iterator[str]:
    """The sentences of `text` in order; those of one quotation stand together, up to so many characters."""
    held = ""
    for piece in _pieces(text, small_opens):
        whole = f"{held} {piece}" if held else piece
        if held and len(whole) > longest_quoted:
            yield held
            whole = piece
        held = whole
        if not longest_quoted or balanced(held):
            yield held
            held = ""
    if held:
        yield held


def balanced(text: str) -> bool:
    """Whether every quotation that begins in `text` ends in it."""
    low = text.count("„")
    return (
        (low <= text.count("“") + text.count("”") if low else text.count("“") <= text.count("”"))
        and text.count("«") == text.count("»")
        and text.count('"') % 2 == 0
        and text.count("「") <= text.count("」")
        and text.count("『") <= text.count("』")
    )


def _pieces(text: str, small_opens: bool) -> Iterator[str]:
    start = 0
    for end, following in breaks(text, small_opens=small_opens):
        yield text[start:end].strip()
        start = following
    if rest := text[start:].strip():
        yield rest


def _goes_on(text: str, start: int, end: int, following: int) -> bool:
    """Whether what stands before `end` is an abbreviation, an initial or an ordinal number."""
    before = max(start, end - _LONGEST)
    if _NO_END.search(text, before, end):
        return True
    parts, after = _inside()
    if _ORDINAL.search(text, before, end):
        word = _WORD.match(text, following)
        led = _WORDS_BEFORE.search(text, max(start, before - _LONGEST), end)
        return bool(word and word[0] in after) or bool(led and led[1] in topic(Sentences).ordinal_before)
    inner = _WORD_BEFORE.search(text, before, end)
    return inner is not None and text.startswith(parts.get(inner[1], ()), following)


_WORD = lazy_re(r"[^\W\d_]+")
_ORDINAL = lazy_re(rf"(?<![\w.,])\d{{1,3}}{_CLOSES}")
_WORDS_BEFORE = lazy_re(rf"(?<![^\W\d_])([^\W\d_]{{1,20}})\s\d{{1,3}}{_CLOSES}")
_WORD_BEFORE = lazy_re(rf"(?<!\w)(\w{{1,6}}){_CLOSES}")
# A title or an initial; the English I ends sentences as well.
_NO_END = lazy_re(lambda: rf"(?:\b{either(map(_written, _abbreviations()))}|(?<![\w'’])[A-HJ-ZÄÖÜ]){_CLOSES}")


def _abbreviations() -> tuple[str, ...]:
    return topic(Sentences).abbreviations


def _written(abbreviation: str) -> str:
    return r"\.\s?".join(re.escape(part) for part in abbreviation.split(". "))


@from_data
def _inside() -> tuple[dict[str, tuple[str, ...]], frozenset[str]]:
    """What follows a part of an abbreviation that has several, and what follows an ordinal number."""
    parts: dict[str, tuple[str, ...]] = {}
    for abbreviation in _abbreviations():
        pieces = abbreviation.split(". ")
        for one, other in pairwise(pieces):
            parts[one] = (*parts.get(one, ()), f"{other}.")
    return parts, topic(Sentences).ordinal_after

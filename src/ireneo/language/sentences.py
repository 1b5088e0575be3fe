"""Split prose into sentences; a full stop after an abbreviation, an initial or an ordinal number doesn't end one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ireneo.language.files import either, from_data, topic
from ireneo.language.topics import Sentences
from ireneo.patterns import lazy_re

_END = lazy_re(r"(?:(?<![.!?…])[.!?…]+[\"'”“’»«)\]*_]*(?=\s)|[。！？]+[」』”’）]*|[।؟۔]+)\s*")
# The same for ASCII text; it begins with a character set, which makes the search much faster.
_ASCII_END = lazy_re(r"[.!?](?<![.!?]{2})[.!?]*[\"')\]*_]*(?=\s)\s*")
_LONGEST = 12
"""Characters before a full stop in which abbreviations are looked for."""
_CLOSES = r"\.[\"'”“’»«)\]*_]*$"


def breaks(text: str, *, small_opens: bool = False) -> Iterator[tuple[int, int]]:
    """Yield for each boundary between sentences of `text` where one ends and where the next begins.

    A lower-case letter continues a sentence (“Where are you?” she asked), unless `small_opens`, as in chats.
    """
    start = 0
    for found in (_ASCII_END if text.isascii() else _END).finditer(text):
        end = found.start() + len(found[0].rstrip())
        if found.end() < len(text) and not (
            (text[found.end()].islower() and not small_opens) or _goes_on(text, start, found.start(), end, found.end())
        ):
            yield end, found.end()
            start = found.end()


def sentences(text: str, *, longest_quoted: int = 0, small_opens: bool = False) -> Iterator[str]:
    """Yield the sentences of `text`; those in one quotation are kept together, up to `longest_quoted` characters."""
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
    """Whether every quotation opened in `text` is closed in it."""
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


def _goes_on(text: str, start: int, mark: int, end: int, following: int) -> bool:
    """Whether the full stop at `mark` belongs to an abbreviation, an initial or an ordinal number."""
    if text[mark] != "." or (mark >= _SURE and text[mark - _SURE : mark].isalpha()):
        return False
    found = _DOUBTFUL.search(text, max(start, end - _LONGEST), end)
    if found is None or found["never"]:
        return found is not None
    if found["part"]:
        return text.startswith(_following_parts()[found["part"]], following)
    known = topic(Sentences)
    word = _WORD.match(text, following)
    led = _LED.search(text, max(start, end - 2 * _LONGEST), end)
    return bool(word and word[0] in known.ordinal_after) or bool(led and led[1] in known.ordinal_before)


def _abbreviations() -> tuple[str, ...]:
    return topic(Sentences).abbreviations


def _written(abbreviation: str) -> str:
    return r"\.\s?".join(re.escape(part) for part in abbreviation.split(". "))


@from_data
def _following_parts() -> dict[str, tuple[str, ...]]:
    """Map each part of a multi-part abbreviation to the parts that may follow it."""
    parts: dict[str, tuple[str, ...]] = {}
    for abbreviation in _abbreviations():
        for one, other in pairwise(abbreviation.split(". ")):
            parts[one] = (*parts.get(one, ()), f"{other}.")
    return parts


_SURE = 7
"""A word with at least this many letters is no abbreviation."""
_WORD = lazy_re(r"[^\W\d_]+")
_LED = lazy_re(rf"(?<![^\W\d_])([^\W\d_]{{1,20}})\s\d{{1,3}}{_CLOSES}")
# A title, an initial (but the English "I" may end a sentence), a figure, or a part of a multi-part abbreviation.
_DOUBTFUL = lazy_re(
    lambda: (
        rf"(?:(?P<never>\b{either(map(_written, _abbreviations()))}|(?<![\w'’])[A-HJ-ZÄÖÜ])"
        rf"|(?<![\w.,])(?P<figure>\d{{1,3}})|(?<!\w)(?P<part>{'|'.join(map(re.escape, _following_parts()))})){_CLOSES}"
    )
)

"""Prose cut into sentences, so that each can be held to its sources by itself; what is quoted stays whole."""

from __future__ import annotations

from collections.abc import Iterator

from ireneo.patterns import lazy_re

LONGEST_QUOTED = 600
"""Characters up to which the sentences of one quotation are kept together; beyond, its end was forgotten."""

_END = lazy_re(r"(?<![.!?…])[.!?…]+[\"'”’»)\]]*\s+|[。！？]+[」』”’）]*\s*|[।؟۔]+\s*")
_TITLES = "Mr|Mrs|Ms|Dr|St|Sr|Jr|Prof|Capt|Col|Gen|Lt|Sgt|Rev|Hon|Mme|Mlle|Hr|Fr|Nr|No|vs|etc|bzw|ca"
_NO_END = lazy_re(rf"(?:\b(?:{_TITLES})|(?<![\w'’])[A-HJ-Z]|\b[ap]\.m|\bi\.e|\be\.g|\bz\.B)\.[\"'”’»)\]]*\s+$")
"""A title or an initial; the English I ends sentences as well."""
LONGEST_TITLE = 4
"""Letters that may stand before the full stop that ends no sentence."""
_PAIRS = (("“", "”"), ("«", "»"), ("「", "」"), ("『", "』"))


def sentences(text: str) -> list[str]:
    """The sentences of `text` in order, each on one line; those of one quotation stand together."""
    return [" ".join(each.split()) for line in text.splitlines() for each in _whole(_pieces(line.strip())) if each]


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for found in _END.finditer(text):
        # “Where are you?” she asked: a small letter goes on with the sentence.
        if text[found.end() : found.end() + 1].islower() or _NO_END.search(
            text, max(start, found.start() - LONGEST_TITLE), found.end()
        ):
            continue
        yield text[start : found.end()].strip()
        start = found.end()
    if start < len(text):
        yield text[start:].strip()


def _whole(pieces: Iterator[str]) -> Iterator[str]:
    held: list[str] = []
    for piece in pieces:
        held.append(piece)
        joined = " ".join(held)
        if not _is_open(joined):
            yield joined
            held = []
        elif len(joined) > LONGEST_QUOTED:
            yield from held
            held = []
    yield from held


def _is_open(text: str) -> bool:
    """Whether a quotation has begun in `text` and not ended."""
    return text.count('"') % 2 == 1 or any(text.count(begin) > text.count(end) for begin, end in _PAIRS)

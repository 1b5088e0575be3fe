"""The sentences of a story's message, cut so that each can stand by itself: quotations whole, stage directions off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ireneo.patterns import lazy_re

MAX_SENTENCE = 280
"""Characters; a longer sentence is cut at a clause, with a mark."""
MAX_QUOTED = 420
"""Characters up to which the sentences of one quotation are kept together."""

LONGEST_TITLE = 4
"""Letters that may stand before the full stop that ends no sentence."""

_FENCE = lazy_re(r"```.*?(?:```|\Z)", re.DOTALL)
_BREAK = lazy_re(r"\n\s*\n|\n\s*(?:[#>*•|-]|\d{1,3}[.)])\s*")
_END = lazy_re(r"(?<![.!?…])[.!?…]+[\"'”’»)\]*_]*\s+|[。！？]+[」』”’）]*\s*|[।؟۔]+\s*")
_NO_END = lazy_re(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Sr|Jr|Prof|Capt|Col|Gen|Lt|Sgt|Rev|Hon|Mme|Mlle|Hr|Fr|Nr|No|vs|etc|bzw|ca)|"
    r"\b[A-Z]|\b[ap]\.m|\bi\.e|\be\.g|\bz\.B)\.[\"'”’»)\]*_]*\s+$"
)
_ASIDE = lazy_re(r"^(?:[(\[][^()\[\]]{0,60}[)\]]\s*)+|(?:(?:(?<!\s)\s++)?[(\[][^()\[\]]{0,60}[)\]]){1,12}$")
_LEAD = lazy_re(r"^[\s*_#>|~•–—-]+|[\s*_#|~•]+$")


def sentences(text: str) -> Iterator[str]:
    """The sentences of `text` in order, each on one line; code, markup round them and stage directions left out."""
    for paragraph in _BREAK.split(_FENCE.sub("\n\n", text)):
        words = " ".join(paragraph.split())
        if words:
            yield from filter(None, map(_bare, _whole_quotations(_pieces(words))))


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for found in _END.finditer(text):
        after = text[found.end() : found.end() + 1]
        # "Where are you?" she asked: a small letter goes on with the sentence.
        if after.islower() or _NO_END.search(text, max(start, found.start() - LONGEST_TITLE), found.end()):
            continue
        yield text[start : found.end()].strip()
        start = found.end()
    if start < len(text):
        yield text[start:].strip()


def _whole_quotations(pieces: Iterator[str]) -> Iterator[str]:
    """Put pieces together until each quotation that is opened is closed, or the whole would get too long."""
    held = ""
    for piece in pieces:
        joined = f"{held} {piece}" if held else piece
        if held and len(joined) > MAX_QUOTED:
            yield held
            joined = piece
        held = joined
        if balanced(held):
            yield held
            held = ""
    if held:
        yield held


def balanced(text: str) -> bool:
    """Whether every quotation that begins in `text` ends in it."""
    return (
        text.count("“") + text.count("„") <= text.count("”") + (text.count("“") if "„" in text else 0)
        and text.count("«") == text.count("»")
        and text.count('"') % 2 == 0
        and text.count("「") <= text.count("」")
    )


def _bare(sentence: str) -> str:
    return _LEAD.sub("", _ASIDE.sub("", _LEAD.sub("", sentence)))


def clipped(sentence: str, limit: int = MAX_SENTENCE) -> str:
    """Shorten a sentence to `limit` characters: at the end of a clause where there is one, with a mark."""
    if len(sentence) <= limit:
        return sentence
    cut = max(sentence.rfind(sign, limit // 2, limit - 1) for sign in (", ", "; ", ": ", " – ", "—", "，", "、", ". "))
    if cut < 0:
        cut = sentence.rfind(" ", limit // 2, limit - 1)
    return sentence[: cut if cut > 0 else limit - 1].rstrip(" ,;:–—") + "…"

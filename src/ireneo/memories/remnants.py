"""The rest of a memory about several things after one of them ended: other sentences, or other items of a list.

In a quotation, a mark replaces the removed part.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ireneo.language.files import any_of, topic
from ireneo.language.spoken import Facts, Phrasing
from ireneo.language.topics import Connectives, Numbers
from ireneo.language.words import sentences, terms
from ireneo.memories.cues import PIECES
from ireneo.memories.endings import ended_things, is_affix
from ireneo.memories.figures import figures_by_quantity
from ireneo.memories.wording import distinctive_words, unquoted_words
from ireneo.memories.worth import LEAST_LEFT, keep_score
from ireneo.patterns import lazy_re

_FACTS = topic(Facts)
_SHORT = 3
"""The maximum number of words of a list item if no word before it applies to the whole list."""
_LEFT_OUT = "…"
_END_LEFT_OUT = lazy_re(
    lambda: rf"(?:[,;:]? {any_of([*topic(Connectives).additions, *topic(Connectives).contrasts])})?[,;:]? …$"
)
_COUNTED = lazy_re(
    lambda: (
        rf"\b(?:(?P<two>{topic(Numbers).cardinals[0]})|{any_of(topic(Numbers).cardinals)}|\d+) "
        r"(?P<all>(?P<one>[\w-]{1,30})s)(?=[,:] )"
    ),
    re.I,
)
"""A number before what is listed."""
_NAMES_AGAIN = lazy_re(lambda: rf"(?:{any_of(_FACTS.article)})\s(?:\S+\s){{2,}}", re.I)
"""The beginning of a part that repeats the one before it: an article and several words."""


def without_ended(text: str, words: str) -> str | None:
    """Remove from `text` the one of several things that has ended according to `words`.

    None if `text` names no such thing, or nothing else.
    """
    said, own = unquoted_words(words), unquoted_words(text)
    over = set[str]().union(*(named for named, *_ in ended_things(said))) if words else set[str]()
    left = _other_sentences(own, said) if own != text else ""
    left = left or (_other_items(own, over) if over else "")
    if not left or left == own:
        return None
    left = _COUNTED.sub(lambda found: f"a {found['one']}" if found["two"] else found["all"], left)
    if own == text:
        left = left.replace(f"{_LEFT_OUT} ", "")
        return left if left[-1] in ".!?" else f"{left.rstrip(' ,;:')}."
    frame = text if left.startswith(own.split(" ", 1)[0]) else topic(Phrasing).asked.sub("", text, count=1)
    return frame.replace(own, left)


def _other_sentences(own: str, said: str) -> str:
    """The sentences of a quotation that share nothing with what was `said`, if they are well worth keeping alone."""
    told, ended = figures_by_quantity(said).keys(), distinctive_words(said)
    kept, follows, shared = list[str](), False, False
    for piece in sentences(own, small_opens=True):
        shares = any(is_affix(one, each) for one in ended for each in distinctive_words(piece))
        shared |= shares
        # "Biscuit loves it. He swims": the next sentence is about the same one.
        follows = shares or (follows and _FACTS.refers.match(piece) is not None)
        if not (follows or figures_by_quantity(piece).keys() & told) and keep_score(piece) >= LEAST_LEFT:
            kept.append(piece)
    return " ".join(kept) if kept and shared and not _FACTS.refers.match(kept[0]) else ""


def _other_items(own: str, over: set[str]) -> str:
    """The clauses or list items that are not about anything `over`."""
    breaks = [*PIECES.finditer(own)]
    first = own[: breaks[0].start()] if breaks else own
    if len(first.split()) > _SHORT:
        # It mostly contains words that apply to the whole list.
        over = over - {*terms(first)}
    cuts = [0, *(found.end() for found in breaks), len(own)]
    pieces = [own[start:end] for start, end in pairwise(cuts) if own[start:end].strip()]
    gone = [any(one == each or is_affix(one, each) for one in over for each in terms(piece)) for piece in pieces]
    if len(pieces) > 1 and gone[-1] and pieces[-2].endswith(", ") and _NAMES_AGAIN.match(pieces[-1]):
        # "By bicycle, a Brompton that I got": both are the same thing.
        gone[-2] = True
    if all(gone) or not any(gone):
        return ""
    kept, after = list[str](), False
    for piece, is_over in zip(pieces, gone, strict=True):
        after = is_over or (after and bool(_FACTS.refers.match(piece) or _FACTS.depends.match(piece)))
        if not after and (distinctive_words(piece) or not kept or kept[-1] != f"{_LEFT_OUT} "):
            kept.append(piece)
        elif not kept or kept[-1] != f"{_LEFT_OUT} ":
            kept.append(f"{_LEFT_OUT} ")
    left = _END_LEFT_OUT.sub("", "".join(kept).strip()).rstrip(" ,;:")
    return left if distinctive_words(left) else ""

"""The rest of a memory about several things after one of them ended.

From a list of names the person who left is removed; of several sentences, clauses or list items, the unaffected ones
remain. In a quotation, a mark replaces the removed part.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ireneo.language.files import CAPITAL, any_of, topic
from ireneo.language.predicates import predicate
from ireneo.language.spoken import Facts, Phrasing
from ireneo.language.topics import Connectives, Numbers
from ireneo.language.words import sentences, terms, writes_nouns_large
from ireneo.memories.cues import and_words, clause_words, has_cue, relations
from ireneo.memories.endings import NAMES_LISTED, ended_things, is_affix
from ireneo.memories.figures import figures_by_quantity
from ireneo.memories.wording import distinctive_words, unquoted_words
from ireneo.patterns import lazy_re

_FACTS = topic(Facts)
_PHRASING = topic(Phrasing)

_JOINS = lazy_re(lambda: rf", {and_words()} |, | {and_words()} ")
PIECES = lazy_re(lambda: rf"(?:[,;:.!] (?:{clause_words()} )?| {and_words()} )")
"""The boundary between two clauses or list items."""
_PLURAL = lazy_re(r"(?<![\w-])(?P<one>[\w-]{1,30}[^\Wse])s(?P<after>[,:]? ?)$")
_SHORT = 3
"""The maximum number of words of a list item if no word before it applies to the whole list."""
_LEFT_OUT = "…"
_COUNTED = lazy_re(lambda: rf"\b(?:{any_of(topic(Numbers).cardinals)}|\d+) (?=[\w-]+[,:]? ?$)", re.I)
"""A number before the last word of a text."""
_ROW_ENDS = lazy_re(lambda: rf"$|[.,;!]|,? {and_words()} {any_of(topic(Connectives).oneself)}\b", re.I)
_END_LEFT_OUT = lazy_re(
    lambda: rf"(?:[,;:]? {any_of([*topic(Connectives).additions, *topic(Connectives).contrasts])})?[,;:]? …$"
)


def without_ended(text: str, words: str) -> str | None:
    """Remove from `text` the one of several things that has ended according to `words`.

    None if `text` names no such thing, or nothing else.
    """
    said, own = unquoted_words(words), unquoted_words(text)
    named = list(ended_things(said)) if words else []
    over = set[str]().union(*(terms for terms, *_ in named))
    # If somebody is gone, statements about her alone end.
    things = set[str]().union(*(terms for terms, is_gone, _ in named if not is_gone))
    left = _without_ended_names(own, over, quoted=own != text) if over else None
    left = left or _unaffected_sentences(own, words, quoted=own != text)
    if left is None and things and not has_cue("recovered", said):
        left = _without_ended_clauses(own, things)
    left = left or (_part_about_others(own, over) if over and own != text else None)
    if not left or left == own:
        return None
    if own == text:
        left = left.replace(f"{_LEFT_OUT} ", "")
    if own != text:
        frame = text if left.startswith(own.split(" ", 1)[0]) else _PHRASING.asked.sub("", text, count=1)
        return frame.replace(own, left)
    return left if left[-1] in ".!?" else f"{left.rstrip(' ,;:')}."


def _without_ended_names(text: str, over: set[str], *, quoted: bool) -> str | None:
    """A list of names without those that have ended."""
    row = NAMES_LISTED.search(text)
    # In a language that capitalises all nouns a list of names ends as a whole: "Quaddeln und Sesam gehen nicht" is
    # none.
    if row is None or (quoted and writes_nouns_large(text) and not _ROW_ENDS.match(text, row.end())):
        return None
    if _PHRASING.before_places.search(text, 0, row.start()) and not _ROW_ENDS.match(text, row.end()):
        # "We live in Leeds and Biscuit loves it": a place and somebody are no list.
        return None
    names = _JOINS.split(row[0])
    if any(name.casefold() in relations() for name in names):
        # "Ein Hund, Benno": both are the same.
        return None
    kept = [name for name in names if not set(terms(name)) & over]
    if len(kept) == len(names) or not kept:
        return None
    *first, last = kept
    joined = f"{', '.join(first)} and {last}" if first else last
    if quoted:
        joined = row[0]
        for name in set(names) - set(kept):
            joined = joined.replace(name, _LEFT_OUT)
    before = without_count(text[: row.start()])
    if not first and before != text[: row.start()] and not writes_nouns_large(text):
        before = _PLURAL.sub(r"a \g<one>\g<after>", before)
    return f"{before}{joined}{text[row.end() :]}"


def without_count(text: str) -> str:
    """`text` without a number before its last word."""
    return _COUNTED.sub("", text)


def _part_about_others(own: str, over: set[str]) -> str | None:
    """The part of a quotation about others than those `over`: its other sentences, or all but their company."""
    pieces = list(sentences(own, small_opens=True))
    touched = [not over.isdisjoint(terms(piece)) for piece in pieces]
    kept = [
        piece
        for at, piece in enumerate(pieces)
        # "Biscuit loves it. He swims": the next sentence is about the same one.
        if not (touched[at] or (at and touched[at - 1] and _FACTS.refers.match(piece)))
        and (distinctive_words(piece) or figures_by_quantity(piece))
    ]
    if any(touched) and kept:
        return " ".join(kept)
    # "We get the keys on Friday and Biscuit can come along": the first clause isn't about her.
    for cut in PIECES.finditer(own):
        name = own[cut.end() :].split(" ", 1)[0]
        own_clause = name[:1].isupper() and predicate(own[cut.end() :], frozenset({name})) is not None
        if own_clause and not over.isdisjoint(terms(name)) and over.isdisjoint(terms(own[: cut.start()])):
            return own[: cut.start()] if distinctive_words(own[: cut.start()]) else None
    found = next((hit for hit in _COMPANY.finditer(own) if not over.isdisjoint(terms(hit[0]))), None)
    if found is None or not distinctive_words(own[: found.start()]):
        return None
    return f"{own[: found.start()]} {_LEFT_OUT}{own[found.end() :]}"


_COMPANY = lazy_re(lambda: rf"\s{any_of(_PHRASING.company)} (?:\w+ ){{0,3}}?{CAPITAL}[\w-]+")
"""Somebody's company."""


def _unaffected_sentences(own: str, words: str, *, quoted: bool) -> str | None:
    """The sentences not affected by `words`; None if that is none or all of them."""
    said = distinctive_words(words)
    pieces = list(sentences(own, small_opens=True))
    told = figures_by_quantity(words).keys()
    touched = [
        piece for piece in pieces if any(is_affix(one, each) for one in said for each in distinctive_words(piece))
    ]
    kept = [piece for piece in pieces if piece not in touched and not figures_by_quantity(piece).keys() & told]
    kept = [piece for piece in kept if len(distinctive_words(piece)) > 1]
    if not quoted or not touched or not kept or len(kept) == len(pieces) or _FACTS.refers.match(kept[0]):
        return None
    return " ".join(kept)


def _without_ended_clauses(own: str, over: set[str]) -> str | None:
    """The clauses or list items that are not about anything `over`."""
    cuts = [0, *(found.end() for found in PIECES.finditer(own)), len(own)]
    pieces = [own[start:end] for start, end in pairwise(cuts) if own[start:end].strip()]
    gone = [
        any(one == each or is_affix(one, each) for one in over for each in distinctive_words(piece)) for piece in pieces
    ]
    if len(pieces) > 1 and gone[-1] and pieces[-2].endswith(", ") and _NAMES_AGAIN.match(pieces[-1]):
        # "By bicycle, a Brompton that I got": both are the same thing.
        gone[-2] = True
    if all(gone) or not any(gone) or (gone[0] and len(pieces[0].split()) > _SHORT):
        # The first item mostly contains words that apply to the whole list.
        return None
    kept, after = list[str](), False
    for piece, is_over in zip(pieces, gone, strict=True):
        after = is_over or (after and bool(_FACTS.refers.match(piece) or _FACTS.depends.match(piece)))
        if not after and (distinctive_words(piece) or not kept or kept[-1] != f"{_LEFT_OUT} "):
            kept.append(piece)
        elif not kept or kept[-1] != f"{_LEFT_OUT} ":
            kept.append(f"{_LEFT_OUT} ")
    left = _END_LEFT_OUT.sub("", "".join(kept).strip()).rstrip(" ,;:")
    return left if distinctive_words(left) else None


_NAMES_AGAIN = lazy_re(lambda: rf"(?:{any_of(_FACTS.article)})\s(?:\S+\s){{2,}}", re.I)
"""The beginning of a part that repeats the one before it: an article and several words."""

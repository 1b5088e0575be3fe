"""The values that a statement gives an attribute: one, or the items of a list, without what says when or how."""

from __future__ import annotations

import re

from ireneo.language.files import any_of, of_language, topic
from ireneo.language.spoken import Facts, Predication
from ireneo.language.topics import Connectives
from ireneo.memories.cues import cues, has_cue
from ireneo.memories.earnest import Statement
from ireneo.memories.quoting import begins_with_name
from ireneo.patterns import lazy_re

_LONGEST_VALUE = 80
_LONGEST_LISTED = 4
"""The maximum number of words of a later thing in a list."""
_SPLIT = lazy_re(lambda: rf",?\s+{any_of([*topic(Connectives).additions, *topic(Connectives).choices])}\s+|\s*,\s*")
_TO_ME = lazy_re(lambda: rf"\w \w+ {any_of(topic(Connectives).oneself)}$", re.I)


def split_values(raw: str, row: Predication, language: str) -> list[str]:
    """The values in the words that a row of `says` matched; none if the first is no value."""
    if not raw:
        return [""] if row.ends else []
    first, *more = _SPLIT.split(raw) if row.list else [raw]
    # "Climbing, usually on Saturdays", "cheese only at home": what says when or how is no item.
    hangs, adverbs = cues(language).hangs, of_language(Facts, language).adverbs
    more = [each for each in more if not hangs.match(each) and each.split(" ", 1)[0].casefold() not in adverbs]
    more = [each for each in more if not has_cue("only", each)]
    # "Allergic to walnuts, and Bella my cat sleeps here": a clause is not an item of the list.
    ends = (
        at
        for at, each in enumerate(more)
        if len(each.split()) > _LONGEST_LISTED or begins_with_name(each, language) or _TO_ME.search(each)
    )
    clause = next(ends, len(more))
    values = [trim_value(piece, language) for piece in (first, *more[:clause])]
    kept = [value for value in values if value]
    return kept if kept and values[0] else []


def trim_value(raw: str, language: str) -> str:
    """A value without articles and without what follows it in its clause; empty if it is none."""
    rows = cues(language)
    cut = rows.value_ends.search(raw)
    if rows.either.search(raw) or (cut and rows.limits.match(cut[0].strip())):
        return ""
    value = (raw[: cut.start()] if cut else raw).strip(" .,;:!?–—-\"'“”")
    while (article := rows.article.match(value)) and len(value) > article.end():
        value = value[article.end() :]
    words = value.split()
    if not words or len(value) > _LONGEST_VALUE or words[0].casefold() in of_language(Facts, language).no_value:
        return ""
    return value


def body_reacts(row: Predication, statement: Statement) -> bool:
    """Whether somebody's body reacts, if a row of `says` requires it: "can't have nuts, she swells up"."""
    return not row.reacts or has_cue("reacts", f"{statement.sentence} {statement.behind}")

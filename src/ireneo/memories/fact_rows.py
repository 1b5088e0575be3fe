"""How a language says what is so of people: the patterns of its data, made once."""

from __future__ import annotations

import re

from msgspec import Struct

from ireneo.language.files import LANGUAGES, either, from_data, of_language
from ireneo.language.predicates import Predicate
from ireneo.language.spoken import Facts, Predication
from ireneo.patterns import lazy_re


class FactRows(Struct, frozen=True, kw_only=True):
    """What is read of a language's data for facts."""

    says: tuple[tuple[Predication, re.Pattern[str]], ...]
    rules: re.Pattern[str]
    failed: re.Pattern[str]
    relative: re.Pattern[str]
    becomes: tuple[re.Pattern[str], ...]
    value_ends: re.Pattern[str]
    if_so: re.Pattern[str]
    article: re.Pattern[str]
    either: re.Pattern[str]
    limits: re.Pattern[str]
    points: re.Pattern[str]
    idle: re.Pattern[str]
    idle_state: re.Pattern[str]
    address: re.Pattern[str]
    own: re.Pattern[str]
    ailments: re.Pattern[str]
    asks: re.Pattern[str]
    changed: re.Pattern[str]
    happened: re.Pattern[str]
    lasts: re.Pattern[str]
    elided: re.Pattern[str]
    object: re.Pattern[str]
    profession: re.Pattern[str]
    introduces: re.Pattern[str]
    coming: re.Pattern[str]
    over: re.Pattern[str]
    goes_on: re.Pattern[str]
    of_others: re.Pattern[str]


def fits(row: Predication, said: Predicate) -> bool:
    """Whether a clause says in its tense what a row says."""
    if said.over:
        return said.tense != "future"
    if row.tense:
        return said.tense in row.tense.split()
    return said.tense not in ("future", "used")


def fact_rows(language: str) -> FactRows:
    """Those of a language; of one that has none, the English ones."""
    return _all_rows().get(language) or _all_rows()["en"]


@from_data
def _all_rows() -> dict[str, FactRows]:
    return {code: _made(of_language(Facts, code)) for code in LANGUAGES if of_language(Facts, code).says}


def _made(known: Facts) -> FactRows:
    words = "|".join(
        sorted(
            (
                re.escape(form)
                for row in known.relations.values()
                for word in row
                for form in dict.fromkeys((word.replace("-", " "), word.title(), word))
            ),
            key=len,
            reverse=True,
        )
    )
    return FactRows(
        says=tuple((row, lazy_re(row.pattern, re.I)) for row in known.says),
        rules=lazy_re(rf"\W{{0,9}}{either(known.rules)}", re.I),
        failed=lazy_re(either(known.failed), re.I),
        relative=lazy_re(either(each.replace("RELATION", words) for each in known.relative)),
        becomes=tuple(lazy_re(each, re.I) for each in known.becomes),
        value_ends=lazy_re(rf"\s+{either(known.value_ends[:1])}|{either(known.value_ends[1:])}", re.I),
        either=lazy_re(rf"\b{either(known.either)}\b", re.I),
        limits=lazy_re(either(known.limits), re.I),
        if_so=lazy_re(rf"\b{either(known.limits)}\b", re.I),
        article=lazy_re(rf"{either(known.article)}\s+", re.I),
        points=lazy_re(either(known.points), re.I),
        idle=lazy_re(either(known.idle_states), re.I),
        idle_state=lazy_re(either(known.idle_anywhere), re.I),
        address=lazy_re(either(known.address), re.I),
        asks=lazy_re(either(known.asks), re.I),
        own=lazy_re(either(known.own), re.I),
        ailments=lazy_re(either(known.ailments), re.I),
        changed=lazy_re(either(known.changed), re.I),
        happened=lazy_re(either(known.happened), re.I),
        profession=lazy_re(either(known.professions), re.I),
        object=lazy_re(either(known.objects), re.I),
        elided=lazy_re(either(known.elided), re.I),
        lasts=lazy_re(either(known.lasts), re.I),
        introduces=lazy_re(either(known.introduces), re.I),
        goes_on=lazy_re(either(known.goes_on), re.I),
        of_others=lazy_re(either(known.of_others)),
        over=lazy_re(either(known.over), re.I),
        coming=lazy_re(either(known.coming), re.I),
    )

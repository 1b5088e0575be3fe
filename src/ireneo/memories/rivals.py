"""Whether two statements contradict each other: the same subject does the same elsewhere or at another time.

A clause is split into its subject, its verb and the rest, and two of them are compared. Counts in a statement are
read here too: "three hens", "down to two hens".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache

from msgspec import Struct

from ireneo.language.files import CAPITAL, LANGUAGES, any_of, cached_data, of_language, topic
from ireneo.language.predicates import predicate, verb_forms
from ireneo.language.spoken import Facts
from ireneo.language.topics import Numbers, Words
from ireneo.language.words import similar_words, terms
from ireneo.memories.cues import cue_patterns
from ireneo.memories.facts import attribute_of, cardinality_of
from ireneo.memories.wording import distinctive_words
from ireneo.patterns import lazy_re

_ENGLISH = of_language(Facts, "en")
"""The words by which clauses are parsed; only for English."""

OPENING_NAME = lazy_re(rf"{CAPITAL}[\w'’-]*(?: {CAPITAL}[\w-]*)?")
"""The name, or any capitalised first word, at the beginning of a text."""
_PAIR = lazy_re(r"\b([^\W\d_]{2,10}) ([^\W\d_]+)")
_WORD = lazy_re(r"[^\W_]+(?:['’-][^\W_]+)*")

_NEAR = 40
"""How many words of similar meaning are compared for each of two things."""
_NEAR_BOTH = 2
"""From how many common similar words on two things are of one kind."""


class Clause(Struct, frozen=True, kw_only=True):
    """A parsed statement: subject, verb and the rest."""

    subject: frozenset[str]
    """The terms of the subject; empty for the speaker."""
    verb: str
    how: str
    """The kind of the complement: a place, a number, or something else."""
    complement: frozenset[str]
    denied: bool


@lru_cache(2_048)
def clause_of(text: str) -> Clause | None:
    """The clause of a statement; None if its subject or verb is unclear. Cached: each is compared with many."""
    first = OPENING_NAME.match(text)
    names = frozenset({first[0], first[0].split()[0]}) if first else frozenset[str]()
    said = predicate(text, names)
    if said is None:
        return None
    subject = said.subject.strip().casefold()
    rest = said.rest[_match_end(_ASIDES, said.rest) :]
    start = next(iter(_WORD.findall(rest)), "").casefold()
    how = (
        "place" if start in _ENGLISH.places else "number" if start[:1].isdigit() or start in number_words() else "else"
    )
    return Clause(
        subject=frozenset() if _is_speaker(subject) else frozenset(terms(_OWNER.sub("", subject))),
        verb=said.verb,
        how=how,
        complement=distinctive_words(rest),
        denied=said.negated or said.over or said.tense in ("future", "used"),
    )


def _is_speaker(subject: str) -> bool:
    return not subject or subject.removeprefix("the ") in _ENGLISH.speaker


_OWNER = lazy_re(lambda: rf"^(?:the user['’]s|{any_of(_ENGLISH.owners)})\s+", re.I)
"""A possessive before a thing."""
_ASIDES = lazy_re(lambda: rf"(?:{any_of(_ENGLISH.asides)} )*", re.I)
_THING_ENDS = lazy_re(lambda: rf"[,.;:]| {any_of(_ENGLISH.thing_ends)} ", re.I)


def without_owner(text: str) -> int:
    """The offset in a text after a possessive."""
    return _match_end(_OWNER, text)


def _match_end(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0


def are_rivals(now: Clause, before: Clause, persons: set[str]) -> bool:
    """Whether the older of two clauses is false if the newer one, which states a change, is true."""
    if now.denied or before.denied or now.subject != before.subject or not now.complement or not before.complement:
        return False
    if now.how != before.how or now.complement >= before.complement:
        return False
    if not now.subject:
        # Somebody who plays one thing may also play another: both clauses must name the same thing.
        return now.verb == before.verb and bool((now.complement & before.complement) - persons)
    if now.verb == before.verb:
        return now.verb != "be" or now.how == "place"
    takes_place = {now.verb, before.verb} <= _ENGLISH.takes_place
    return takes_place and now.how == "place" and not now.subject & persons


def is_possession(clause: Clause) -> bool:
    """Whether a clause says that somebody has or uses something."""
    return clause.verb in _ENGLISH.held


def states_possession(text: str, thing: Set[str]) -> bool:
    """Whether a statement says which thing somebody has: "my phone is …", "I drive a …"."""
    first = OPENING_NAME.match(text)
    said = predicate(text, frozenset({first[0]}) if first else frozenset())
    if said is None or not thing:
        return False
    subject = said.subject.strip().casefold()
    if not _is_speaker(subject):
        head = _WORD.findall(subject)[-1:]
        return set(terms(" ".join(head))) == thing and said.verb == "be" and not said.negated
    held = _WORD.findall(_THING_ENDS.split(said.rest)[0])
    return said.verb in _ENGLISH.held and said.tense != "past" and set(terms(" ".join(held[-1:]))) == thing


@lru_cache(4_096)
def replaced_things(text: str) -> Sequence[Set[str]]:
    """The terms of each thing of which one has one, and that a statement says was replaced; cached."""
    found: list[Set[str]] = []
    for pattern in cue_patterns("renewed"):
        for each in pattern.finditer(text):
            head = each["what"].split()[-1]
            if cardinality_of(attribute_of(head)) == "one" and head.casefold() not in _common_words():
                found.append(set(terms(head)))
    return [each for each in found if each]


def switched_to(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """The person who now has another thing according to a statement, and the thing; None if there is no such person."""
    return _owner_and_thing("switched", text)


def has_same_kind(text: str, now: tuple[frozenset[str], frozenset[str]]) -> bool:
    """Whether a statement says that somebody uses another thing of the same kind as the one they switched to."""
    before = _owner_and_thing("uses", text)
    return before is not None and before[0] == now[0] and before[1] != now[1] and _are_same_kind(before[1], now[1])


@lru_cache(4_096)
def _owner_and_thing(cue: str, text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    found = next((said for row in cue_patterns(cue) if (said := row.match(text))), None)
    if found is None:
        return None
    who, what = (frozenset(terms(_OWNER.sub("", found[name]))) - _common_words() for name in ("who", "what"))
    # "I" and "the user" are not terms.
    return (who, what) if what else None


def _are_same_kind(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two things are similar in meaning, or both are called by names without meaning."""
    near = [{word for each in thing for word, _ in similar_words(each, _NEAR)} for thing in (one, other)]
    if not near[0] or not near[1]:
        return not near[0] and not near[1]
    return bool(one & near[1] or other & near[0]) or len(near[0] & near[1]) >= _NEAR_BOTH


@lru_cache(4_096)
def counts_by_noun(text: str) -> Mapping[str, Set[str]]:
    """Map each counted term to the number that a statement gives; cached."""
    words = [each[0] for each in _WORD.finditer(text)]
    found: dict[str, set[str]] = {}
    for at, word in enumerate(words[:-1]):
        number = number_words().get(word.casefold(), word if word.isdigit() and len(word) < 3 else "")
        for noun in words[at + 1 : at + 3] if number else ():
            if _is_counted(noun):
                found.setdefault(next(iter(terms(noun)), noun.casefold()), set()).add(number)
                break
            if noun.casefold() in _common_words():
                break
    return found


def _is_counted(noun: str) -> bool:
    low = noun.casefold()
    if low in _unit_words() or low in _common_words() or not low.isalpha() or len(low) < 4:
        return False
    return (low.endswith("s") and not low.endswith("ss") and verb_forms().get(low, ("", ""))[1] != "s") or (
        noun[0].isupper() and low.endswith(("n", "e", "r"))
    )


_TIMES = frozenset("day week month year h min s".split())


def with_digits(text: str, units: Mapping[str, str]) -> str:
    """A text with numbers in words before a unit, except of time, written as digits."""
    known = number_words()

    def to_digits(found: re.Match[str]) -> str:
        number = known.get(found[1].casefold(), "")
        unit = next((units[term] for term in terms(found[2]) if term in units), "")
        return f"{number} {found[2]}" if number and unit and unit not in _TIMES else found[0]

    return _PAIR.sub(to_digits, text)


@cached_data
def number_words() -> dict[str, str]:
    """Numbers up to nineteen by their words."""
    found = dict.fromkeys(topic(Numbers).one, "1")
    for code in LANGUAGES:
        known = of_language(Numbers, code)
        found |= {word: str(value) for value, word in enumerate(known.cardinals, 2)}
        found |= {word: str(value) for value, word in enumerate(known.together, 1)}
    return found


@cached_data
def _unit_words() -> frozenset[str]:
    return frozenset(word for unit, words in topic(Numbers).units.items() for word in (unit, *words))


@cached_data
def _common_words() -> frozenset[str]:
    return topic(Words).stop | topic(Facts).generic

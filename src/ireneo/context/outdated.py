"""What later statements take back, put back or find out, and what is said again: it need not be told as it was."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import Protocol

from msgspec.structs import replace

from ireneo.grounding.claims import artifacts
from ireneo.language.files import either, topic
from ireneo.language.topics import Explaining, Prose
from ireneo.patterns import lazy_re
from ireneo.summaries.summary import ABOUT, Line, SectionName
from ireneo.summaries.tell_code import REMOVED

OWN: frozenset[SectionName] = frozenset({"strategy", "discoveries"})
"""Sections of the agent's sentences, and of what files and pages showed."""
NEAR = 60
"""Messages behind a statement within which it is taken back, or found out what was guessed."""
SHARED, FEWEST_SHARED = 0.5, 2
"""The share of a statement's words that what takes it back has; and how many words a finding shares with a guess."""
GUESSED = 0.5
"""Share of its weight that a guess keeps once something was found out about it."""
TAKEN_BACK = 0.6
"""Share of its weight that a statement keeps which was taken back; it is marked."""
MARK = " (I took this back later.)"
AGAIN, AGAIN_TOGETHER, FEWEST_AGAIN = 0.7, 0.9, 5
"""A statement says again what another one says, or two together, that have this share of its words, weighed by how
rare they are; one of few words says something of its own."""

MOST_TOGETHER = 2

_TAKES_BACK = lazy_re(lambda: rf"\b{either(topic(Prose).takes_back)}(?!\w)", re.IGNORECASE)
_FINDS = lazy_re(lambda: rf"\b{either(topic(Prose).finds)}(?!\w)", re.IGNORECASE)
_GUESSES = lazy_re(lambda: rf"\b{either(topic(Explaining).hedges)}(?!\w)", re.IGNORECASE)
_TAKES_AWAY = lazy_re(lambda: rf"^\W*{either(topic(Prose).takes_away)}(?!\w)", re.IGNORECASE)
_FIGURE = lazy_re(r"\d+(?:[.,]\d+)*")


class ToldLine(Protocol):
    """A statement with its section and its words."""

    @property
    def section(self) -> SectionName:
        """The section that it stands in."""

    @property
    def line(self) -> Line:
        """The statement."""

    @property
    def terms(self) -> frozenset[str]:
        """Its words and names."""

    @property
    def is_note(self) -> bool:
        """Whether a model wrote it, which has seen what came later."""


def outdated(told: Sequence[ToldLine]) -> dict[int, Line | None]:
    """By their places, the statements that later ones outdate: as they are told now, or None where they are not."""
    out: dict[int, Line | None] = {}
    own = [place for place, each in enumerate(told) if _is_own(each)]
    out.update(_guesses(told, own))
    out.update(_taken_back(told, own))
    out.update((place, None) for place in (*_put_back(told, own), *_of_removed_files(told)))
    return out


def _guesses(told: Sequence[ToldLine], own: Sequence[int]) -> Iterator[tuple[int, Line]]:
    """What was guessed before something was found out about it."""
    found = [told[place] for place in own if _FINDS.search(told[place].line.text)]
    for place in own:
        line, words = told[place].line, told[place].terms
        if found and _GUESSES.search(line.text) and not _FINDS.search(line.text):
            later = (each for each in found if 0 < each.line.position - line.position <= NEAR)
            if any(len(words & each.terms) >= FEWEST_SHARED for each in later):
                yield place, replace(line, weight=line.weight * GUESSED)


def _taken_back(told: Sequence[ToldLine], own: Sequence[int]) -> Iterator[tuple[int, Line]]:
    """What the agent took back, by the words of the message in which it did."""
    back = {told[place].line.position for place in own if _TAKES_BACK.search(told[place].line.text)}
    words: dict[int, frozenset[str]] = dict.fromkeys(back, frozenset())
    for place in own:
        if (at := told[place].line.position) in back:
            words[at] |= told[place].terms
    for place in own:
        line, terms = told[place].line, told[place].terms
        near = (words[at] for at in back if 0 < at - line.position <= NEAR)
        if line.position not in back and any(len(terms & each) > max(len(terms) * SHARED, 1) for each in near):
            yield place, replace(line, text=f"{line.text}{MARK}", weight=line.weight * TAKEN_BACK)


def _put_back(told: Sequence[ToldLine], own: Collection[int]) -> Iterator[int]:
    """What was taken away, where later changes have all of its names again."""
    added = [
        (each.line.position, frozenset(artifacts(each.line.text)))
        for each in told
        if each.section == "artifacts" and not each.line.text.startswith(REMOVED)
    ]
    standing = set(own)
    for place, each in enumerate(told):
        text = each.line.text
        code = each.section == "artifacts" and text.startswith(REMOVED)
        if code or (place in standing and _TAKES_AWAY.match(text)):
            names = frozenset(artifacts(text))
            again = frozenset[str]().union(*(new for at, new in added if at > each.line.position))
            if names and names <= again:
                yield place


def _of_removed_files(told: Sequence[ToldLine]) -> Iterator[int]:
    """What was told of files that were removed later."""
    gone: dict[str, int] = {}
    for each in told:
        found = _REMOVES.match(each.line.text) if each.section == "operations" else None
        for path in found["paths"].split() if found else ():
            gone[path] = each.line.position
    if gone:
        for place, each in enumerate(told):
            about = each.line.subject if each.section in ABOUT else ""
            if any(at > each.line.position and about.endswith(path) for path, at in gone.items()):
                yield place


_REMOVES = lazy_re(r"I ran `(?:git )?rm (?:-\S+ )*(?P<paths>[^`&|;*]+)`")


def says_again(one: ToldLine, others: Iterable[ToldLine], rarity: Mapping[str, float]) -> bool:
    """Whether the agent says in `one` what `others` say already: nearly all of its words, and each of its figures."""
    if not _is_own(one) or len(one.terms) < FEWEST_AGAIN:
        return False
    near = [each for each in others if _is_own(each) and abs(each.line.position - one.line.position) <= NEAR]
    figures = frozenset(_FIGURE.findall(one.line.text))
    whole = fsum(map(rarity.__getitem__, one.terms))

    def share(words: frozenset[str]) -> float:
        return fsum(map(rarity.__getitem__, words & one.terms)) / whole if whole else 0.0

    best = sorted((each.terms for each in near), key=share)[-MOST_TOGETHER:]
    return (not figures and share(frozenset[str]().union(*best)) >= AGAIN_TOGETHER) or any(
        share(each.terms) >= AGAIN and figures <= frozenset(_FIGURE.findall(each.line.text)) for each in near
    )


def _is_own(told: ToldLine) -> bool:
    """Whether the agent says it, of nothing that it read."""
    return told.section in OWN and not (told.line.subject or told.is_note)

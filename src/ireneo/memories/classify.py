"""Of which kind a text is, by rules alone: the question that should find it decides.

"What must I not repeat?" goes first, then "how is it done?", then "what happened?"; what answers none of them is taken
for a statement. English only; a text in another language is a statement, unless a caller says otherwise.
"""

from __future__ import annotations

import re

from msgspec import Struct

from ireneo.memories.classify_words import FAILED, HAD, NO_PAST, PRESENT, STEPS, TIMES
from ireneo.memories.recall.word_lists import BASE_FORMS
from ireneo.memories.record import Kind
from ireneo.memories.slots import read_slot
from ireneo.patterns import lazy_re

LONGEST = 2_000
"""Characters of a text that are looked at."""


class Guess(Struct, frozen=True, kw_only=True):
    """What a text seems to be; the slot only of a plain statement."""

    kind: Kind
    subject: str = ""
    attribute: str = ""
    value: str = ""


def classify(text: str, speaker: str = "") -> Guess:
    """The kind of `text`, and its slot where it has one; `speaker` is who "I" is, where that is known."""
    looked_at = text[:LONGEST].replace("’", "'").strip()
    if FAILED.search(looked_at):
        return Guess(kind="failure")
    if _is_procedure(looked_at):
        return Guess(kind="procedural")
    if slot := read_slot(text, speaker):
        return Guess(kind="semantic", subject=slot.subject, attribute=slot.attribute, value=slot.value)
    return Guess(kind="episodic" if _happened(looked_at) else "semantic")


_NUMBERED = lazy_re(r"^[^\S\n]*(?:\d{1,2}[.)]|step \d{1,2}\b[.:)]?)\s+\S", re.I | re.M)
_INLINE_NUMBERS = lazy_re(r"(?:^|\s)(?:step |\()?1[.):] \S.{1,400}\s(?:step |\()?2[.):] \S", re.S | re.I)


def _is_procedure(text: str) -> bool:
    return len(_NUMBERED.findall(text)) >= 2 or bool(_INLINE_NUMBERS.search(text)) or bool(STEPS.search(text))


_BE_PAST = frozenset(("was", "were", "wasn't", "weren't", "had", "hadn't", "got"))
_WORD = lazy_re(r"[a-z]+(?:'[a-z]+)?")
_BEFORE_A_NAME = frozenset("a an the my your his her its our their this that these those of some any no".split())


def _happened(text: str) -> bool:
    """Whether the first verb that is found stands in the past, and tells of an event."""
    words = _WORD.findall(text.lower())
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if word in PRESENT and not (word == "may" and TIMES.search(f"{before} may")):
            return False
        if word in _BE_PAST:
            following = words[at + 1 : at + 3]
            if "born" in following:
                return False
            return (
                word == "got"
                or bool(TIMES.search(text) or HAD.search(text))
                or any(_is_past(each) for each in following)
            )
        if word == "did" or word == "didn't" or (_is_past(word) and at and before not in _BEFORE_A_NAME):
            return True
    return False


def _is_past(word: str) -> bool:
    if word in NO_PAST or word.endswith("s"):
        return False
    return (word in BASE_FORMS) or (len(word) > 3 and word.endswith("ed"))

"""How the words that open a thread are written down, and the words that several kinds share.

In a pattern, the groups `who` and `whom` are the words that say whose thread it is and with whom: "I" and "we" are
whoever speaks, "you" is who is spoken to, a name is a name, and any other word is nobody in particular.
"""

from __future__ import annotations

import re

from msgspec import Struct

from ireneo.patterns import lazy_re
from ireneo.summaries.summary import ThreadKind

_STARTERS = """
The This That These Those And But What Who When Then So If How Why He She We They It You One No Not In At On As My
Our Your His Her Their There Here Now For From With Yes Oh Well Or Yet Nor All Some Mr Mrs Ms Dr Miss Sir Chapter
"""
NAME = (
    rf"(?-i:(?!(?:{'|'.join(_STARTERS.split())})\b)"
    r"[A-ZÀ-Þ](?:['’][A-ZÀ-Þ])?[a-zà-þ]\w*(?:-\w+){0,4}(?:['’](?!s\b|ll\b|d\b|ve\b)\w+){0,4})"
)
"""A proper name; a word that often begins a sentence is none."""
KIN = (
    "(?:father|mother|brother|sister|son|daughter|wife|husband|family|parents?|child|children|uncle|aunt|friends?"
    "|people|king|queen|master|kin|clan|village|crew|dad|mum|mom)"
)
DEED = (
    "(?:killed|murdered|slew|slain|poisoned|betrayed|robbed|stole|kidnapped|hired|cursed|burn(?:ed|t)|forged|hanged"
    "|attacked|freed|released|summoned|broke into|tried to kill)"
)
MONEY = (
    "(?:money|gold|silver|coins?|pounds?|guineas?|shillings?|dollars?|crowns?|pence|francs?|ducats?|sum|fortune"
    "|li(?:fe|ves)"
    "|favou?rs?|drinks?|fealty|wages|rent|horses?|casks?|pieces of eight)"
)
PEOPLE = f"(?:I|we|you|he|she|they|{NAME})"
THEM = f"(?:me|us|you|him|her|them|{NAME})"
POSSESSIVE = "(?:my|our|your|his|her|their)"
HAVE = "(?:'ve|’ve|'d|’d| have| has| had)?"
WILL = (
    "(?:'ll|’ll| will| shall| won't| won’t|'m going to|’m going to| am going to| are going to|'re going to"
    "| would never| 'll)"
)


class Cue(Struct, frozen=True, kw_only=True):
    """What opens a thread of a kind."""

    kind: ThreadKind
    words: tuple[frozenset[str], ...]
    """Of each set, one word stands in whatever the pattern matches: a text that lacks them needs no closer look."""
    pattern: re.Pattern[str]
    weight: float
    """How much such a thread matters, against the others."""
    says: int
    """So many words that say something must stand in the sentence besides the cue's own."""
    told: bool
    """Whether it opens a thread in a narrator's prose, too, and not only where somebody speaks."""


def cue(kind: ThreadKind, words: str, pattern: str, *, weight: float = 1.0, says: int = 0, told: bool = True) -> Cue:
    """Write down a cue; bars stand between the words of a set, and ampersands between the sets."""
    compiled = lazy_re(pattern, re.IGNORECASE)
    return Cue(kind=kind, words=word_sets(words), pattern=compiled, weight=weight, says=says, told=told)


def word_sets(words: str) -> tuple[frozenset[str], ...]:
    """The sets of words that a line such as ``heart & broke|broken`` writes down."""
    return tuple(frozenset(each.strip().split("|")) for each in words.split("&"))


def words_of(text: str) -> frozenset[str]:
    """The words of a text in small letters; what an apostrophe parts counts as two."""
    return frozenset(_WORD.findall(text.lower()))


_WORD = lazy_re(r"\w+")

"""Whether two sentences speak of the same: the stems of the words that say something, and the names."""

from __future__ import annotations

from ireneo.patterns import lazy_re
from ireneo.pyramid.offline.table_talk import EMPTY

_WORD = lazy_re(r"[^\W_][\w’'-]*")
_NAME = lazy_re(r"(?<![.!?…\"“”:(*_] )(?<!^)\b[A-ZÀ-Þ][a-zà-þ][\w’-]+")
_NO_NAMES = frozenset("I’ll I’m I’ve Mr Mrs Ms Dr Sir Lord Lady God Heaven Yes No Oh Well Okay Miss Master".split())


def about(text: str) -> frozenset[str]:
    """The stems of what a text speaks of."""
    words = (word.strip("’'-").removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text.lower()))
    return frozenset(_stem(word) for word in words if len(word) > 1 and word not in EMPTY)


def names(text: str) -> frozenset[str]:
    """The proper names of a text, in small letters; a word that only begins its sentence is none."""
    found = (name.removesuffix("’s") for name in _NAME.findall(text.strip().lstrip("\"“«'‘")))
    return frozenset(name.lower() for name in found if name not in _NO_NAMES)


def _stem(word: str) -> str:
    """A word without its ending, so that `letters` meets `letter` and `killing` meets `killed`."""
    for ending in ("ing", "ies", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word

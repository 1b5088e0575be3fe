"""Whether two texts are plainly in different languages, by their script and their commonest words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from ireneo.patterns import lazy_re

_COMMON: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "English": frozenset("the of and to in that was is for it with as on not this by from had were but".split()),
        "German": frozenset("der die und das ist nicht ich mit den von zu auf ein eine dem wurde war auch".split()),
        "French": frozenset("le la les des est une pas dans que pour avec sur qui été du je et au ce plus".split()),
        "Spanish": frozenset("el los las una que por con del para fue está pero como más se lo en al su yo".split()),
        "Italian": frozenset("il che di una non per con del della sono è stato ho anche gli nel alla più le".split()),
        "Portuguese": frozenset("que não uma com para dos foi está mas como mais ao se em eu os as do da na".split()),
        "Dutch": frozenset("het een van en niet dat is op te met voor zijn was ik maar ook door naar bij aan".split()),
    }
)
_WORD = lazy_re(r"[^\W\d_]+")
_QUOTED = lazy_re(r"`[^`]*`|“[^“”]{0,1000}+”|\"[^\"\n]*\"")
ENOUGH_WORDS = 12
"""A shorter text has no language that could be told."""
ENOUGH_COMMON = 4
SCRIPT_SHARE = 0.3
"""With so many letters of another script a text is in another language, whatever names it mentions."""


def other_language(text: str, source: str) -> str | None:
    """Say which language `text` is in where that is plainly not the one of `source`; None where it may be."""
    words, theirs = _words(text), _words(source)
    if len(words) < ENOUGH_WORDS or len(theirs) < ENOUGH_WORDS:
        return None
    if _foreign(words) > SCRIPT_SHARE > 3 * _foreign(theirs):
        return "another script"
    here, there = _language(words), _language(theirs)
    return here if here and there and here != there else None


def language_of(text: str) -> str | None:
    """Name the language of `text`, such as ``English``; None where its words don't tell."""
    return _language(_words(text))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(_QUOTED.sub(" ", text))]


def _foreign(words: list[str]) -> float:
    """The share of words that are not in Latin letters."""
    return sum(ord(word[0]) > 0x24F for word in words) / len(words)


def _language(words: list[str]) -> str | None:
    counts = Counter(words)
    hits = sorted(((sum(counts[word] for word in known), name) for name, known in _COMMON.items()), reverse=True)
    (most, name), (second, _) = hits[0], hits[1]
    return name if most >= ENOUGH_COMMON and most >= 2 * second else None

"""When two texts say the same: the same words in the same order, but for case, articles, punctuation and contractions.

That is strict on purpose. A text that is taken for another is lost, one that is not is only held twice. So no word is
reduced to its stem ("lives" is not "lived"), none is left out for being common ("to Rome" is not "from Rome", "is" is
not "is not"), and numbers and names must be the same. What is left is an equivalence: three texts that are alike in
pairs are all alike, and so the order in which they come makes no difference.
"""

from __future__ import annotations

import unicodedata

from ireneo.log.ids import digest
from ireneo.patterns import lazy_re

_MARK = lazy_re(r"\[[ms]_[a-z2-7]{3,26}\]")
_CONTRACTIONS = {
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "shan't": "shall not",
    "i'm": "i am",
    "let's": "let us",
    **{f"{who}'s": f"{who} is" for who in ("it", "that", "he", "she", "there", "what", "who", "here")},
}
_ENDINGS = {"n't": " not", "'re": " are", "'ve": " have", "'ll": " will"}
_AROUND = ".,;:!?\"“”„«»‘'`()[]{}*_…"
_DASHES = frozenset({"-", "–", "—", "•", "*", "+", "#", ">"})
_ARTICLES = frozenset({"the", "a", "an"})


def normal(text: str) -> str:
    """The words of `text` as they are compared; never empty unless `text` is blank. Making it twice changes nothing."""
    # In another form a letter may only appear once others have been put together, so folding is repeated.
    folded = _folded(_folded(_MARK.sub(" ", text)))
    words = [form for word in folded.split() for form in _spelled_out(word.strip(_AROUND)).split()]
    said = [word for word in words if word not in _DASHES]
    kept = [word for word in said if word not in _ARTICLES]
    return " ".join(kept or said or folded.split())


def likeness_key(*pieces: str) -> str:
    """``t_`` and 26 characters: the same for texts that say the same, piece by piece."""
    return digest("t", *(normal(piece).encode() for piece in pieces))


def slot(*names: str) -> str:
    """The key that is made of names, which are compared without regard to case and blanks."""
    return "\x1f".join(" ".join(name.casefold().split()) for name in names)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'").casefold()


def _spelled_out(word: str) -> str:
    if word in _CONTRACTIONS:
        return _CONTRACTIONS[word]
    for ending, meant in _ENDINGS.items():
        if word.endswith(ending) and word != ending:
            return word.removesuffix(ending) + meant
    return word

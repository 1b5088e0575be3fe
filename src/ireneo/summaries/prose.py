"""Which sentences of an agent's own prose are worth keeping: what it meant to do, what it found, what it did."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ireneo.patterns import lazy_re

MAX_SENTENCE = 320
"""Characters; a longer sentence is a list or a pasted line, and is cut at a word with a mark."""

_FENCE = lazy_re(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKUP = lazy_re(r"^(?:[#>*+-]+|\d+[.)])\s+|\*\*")
_END = lazy_re(r"(?<=[.!?])\s+(?=[A-Z`\"'(\d/])")
_INTENT = lazy_re(
    r"^(?:THOUGHT:|(?:now|next|first|then|ok(?:ay)?|good|great|perfect|alright|so|and|but)[,.!]?\s+)*"
    r"(?:I'll|I will|let me|let's|I(?: now)? need to|I should|I want to|I(?:'m| am) going to|my plan)\b",
    re.IGNORECASE,
)
_FINDING = lazy_re(
    r"\b(?:found|because|root cause|the (?:issue|problem|bug|reason|error|cause)|turns out|actually|instead|however|"
    r"but|must|only|never|always|missing|wrong|fail(?:s|ed|ing|ure)?|cannot|can't|doesn't|didn't|isn't|not|means|"
    r"so that|since|unless|already|expects?|requires?|should|confirm(?:s|ed)?|see(?:s|ms)?)\b",
    re.IGNORECASE,
)


def sentences(text: str) -> Iterator[str]:
    """The sentences of `text` in order, code blocks left out, markup taken off, each on one line."""
    for raw in _FENCE.sub("\n", text).splitlines():
        line = _MARKUP.sub("", raw.strip()).strip()
        # A table's rule, a lone heading mark: nothing is said there.
        if not any(char.isalpha() for char in line):
            continue
        for sentence in _END.split(line):
            words = " ".join(sentence.split())
            # A lead-in says nothing without what it leads to, and the row of a table nothing without its head.
            if len(words) > 12 and words[-1] != ":" and not words.startswith("|"):
                yield clip(words, MAX_SENTENCE)


def is_intent(sentence: str) -> bool:
    """Whether the sentence says what is going to be done."""
    return bool(_INTENT.search(sentence))


def finding_score(sentence: str) -> int:
    """How many words of the sentence mark a finding, a cause or a constraint."""
    return len(_FINDING.findall(sentence))


def clip(text: str, limit: int) -> str:
    """Shorten `text` to `limit` characters at a word, with a mark that something is missing."""
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", limit // 2, limit - 1)
    return text[: cut if cut > 0 else limit - 1].rstrip(" ,;:") + "…"

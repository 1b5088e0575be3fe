"""Which sentences of an agent's own prose are worth keeping: what it meant to do, what it found, what it did."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ireneo.language.files import either, topic
from ireneo.language.sentences import sentences as split
from ireneo.language.topics import Prose
from ireneo.patterns import lazy_re

MAX_SENTENCE = 320
"""Characters; a longer sentence is a list or a pasted line, and is cut at a word with a mark."""

_FENCE = lazy_re(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKUP = lazy_re(r"^(?:[#>*+-]+|\d+[.)])\s+|\*\*")
_INTENT = lazy_re(
    lambda: rf"^(?:THOUGHT:|{either(topic(Prose).lead)}[,.!]?\s+)*{either(topic(Prose).intent)}\b", re.IGNORECASE
)
_FINDING = lazy_re(lambda: rf"\b{either(topic(Prose).finding)}\b", re.IGNORECASE)


def sentences(text: str) -> Iterator[str]:
    """The sentences of `text` in order, code blocks left out, markup taken off, each on one line."""
    for raw in _FENCE.sub("\n", text).splitlines():
        line = _MARKUP.sub("", raw.strip()).strip()
        # A table's rule, a lone heading mark: nothing is said there.
        if not any(char.isalpha() for char in line):
            continue
        for sentence in split(line):
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

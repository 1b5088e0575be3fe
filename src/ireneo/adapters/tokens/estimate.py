"""A fast estimate of o200k token counts, in pure Python, with nothing to download."""

from __future__ import annotations

import re
from functools import cache

from ireneo.adapters.tokens.pieces import cost

# Letters beyond ASCII, whole blocks at a time; a mark that stands inside words counts as a letter too.
_LETTERS = (
    "\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u2c00-\u2dff\u2e80-\u2fff\u3005-\u3007\u3031-\ud7ff"
    "\uf900-\ufdff\ufe70-\ufefc\uff21-\uff3a\uff41-\uffdc\U00010000-\U0001efff\U00020000-\U000fffff"
)


@cache
def _pattern(letters: str) -> re.Pattern[str]:
    """Compile the cuts that o200k makes before it looks anything up: words, threes of digits, signs, white space."""
    lead = rf"[^\r\n0-9A-Za-z{letters}]?"
    tail = r"(?:'(?:[sdmtSDMT]|ll|ve|re|LL|VE|RE))?"
    # Small letters first: one word in two has no others, and it is found a sixth faster so.
    return re.compile(
        rf"{lead}[a-z{letters}]+{tail}|{lead}[A-Z]+[a-z{letters}]*{tail}"
        rf"|[0-9]{{1,3}}| ?[^\s0-9A-Za-z{letters}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )


_LONGEST_KEPT = 32
_MOST_KEPT = 60_000
_THOUSAND = 1000
_LONG = 1_000_000


class _Costs(dict[str, int]):
    """Remembers what each short piece costs: a text says most of its pieces again and again."""

    def __missing__(self, piece: str) -> int:
        thousandths = cost(piece)
        if len(piece) <= _LONGEST_KEPT:
            if len(self) >= _MOST_KEPT:
                self.clear()
            self[piece] = thousandths
        return thousandths


class EstimatedTokenizer:
    """Estimates o200k counts: over a session one token in a hundred too many, and never two in a hundred too few."""

    name = "estimate"

    def __init__(self) -> None:
        self._costs = _Costs()
        self._short: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Estimate the tokens of `text`; 0 only for an empty text."""
        if not text:
            return 0
        if len(text) > _LONGEST_KEPT:
            return self._count(text)
        # Names are asked for again and again, each time alone.
        known = self._short.get(text)
        if known is None:
            if len(self._short) >= _MOST_KEPT:
                self._short.clear()
            known = self._short[text] = self._count(text)
        return known

    def _count(self, text: str) -> int:
        pattern = _pattern("" if text.isascii() else _LETTERS)
        # The pieces of a long text take many times its room; one at a time they take a little longer.
        pieces = pattern.findall(text) if len(text) <= _LONG else (found[0] for found in pattern.finditer(text))
        return (sum(map(self._costs.__getitem__, pieces)) + _THOUSAND // 2) // _THOUSAND

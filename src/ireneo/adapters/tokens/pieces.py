"""What one piece of text costs, in thousandths of a token.

A piece in the vocabulary is one token. Another costs as many entries as it falls into, longest first, which is close
to the merges that the real thing would make. Rules stand in only where entries would mislead: rulers, random letters.
"""

from __future__ import annotations

import re

from ireneo.adapters.tokens.fingerprint import fingerprint, known
from ireneo.patterns import lazy_re

_TOKEN = 1000
_LONGEST_WORD_PART = 12
_LONGEST_SIGN_PART = 6  # and of Chinese, Japanese and Korean, which put as much into a sign
_LONGEST_WORD = 32
_LONG = 16
_LONG_RUN = lazy_re(r"([\x00-\x7f\u2500-\u259f])\1{16,}")
_SAME = lazy_re(r"[\x00-\x7f\w]+|(.)\1*", re.DOTALL)
_MIXED = lazy_re(r"[A-Z].*[A-Z]", re.DOTALL)
_RULERS = frozenset("-=*#_.")
_BLOCKS = frozenset(map(chr, range(0x2580, 0x25A0)))


def cost(piece: str) -> int:
    """What `piece` costs, in thousandths of a token."""
    if piece.isspace():
        return _white(piece)
    if piece.isascii() and (len(piece) == 1 or piece.isdecimal()):
        return _TOKEN
    # No word of the vocabulary is longer, and a mistake about a long piece would cost most.
    if len(piece) <= _LONGEST_WORD and fingerprint(piece) in known():
        return _TOKEN
    if not piece.isascii() and not any(map(str.isalpha, piece)):
        return _signs(piece)
    return _long(piece) if len(piece) > _LONG else _parts(piece)


def _white(piece: str) -> int:
    """White space, of which there are entries for spaces up to a screen's width, and for the rest up to sixteen."""
    if len(piece) <= _LONG:
        return _TOKEN
    return _TOKEN + len(piece) * (13 if piece.strip(" ") == "" else 63)


def _long(piece: str) -> int:
    """A long piece, where a ruler of one sign is cheap, and letters that are no word are dear."""
    extra = 0

    def shorten(run: re.Match[str]) -> str:
        nonlocal extra
        each = 17 if run[1] in _RULERS else 250 if run[1] in _BLOCKS else 125
        extra += (len(run[0]) - 8) * each
        return run[1] * 8

    short = _LONG_RUN.sub(shorten, piece)
    if len(short) > _LONGEST_WORD and short.isascii() and short[1:].isalpha():
        return extra + _TOKEN + len(short) * 550
    return extra + _parts(short)


def _parts(piece: str) -> int:
    """The entries that `piece` falls into, longest first."""
    entries = known()
    size, total, parts = len(piece), 0, 0
    longest = _LONGEST_WORD_PART if piece[-1] < "\u2e80" and piece[-1].isalpha() else _LONGEST_SIGN_PART
    start = 0
    if size > 2 * longest and piece == piece[0] * size:
        # One sign again and again falls into equal parts up to the last few.
        same = next((many for many in range(longest, 1, -1) if fingerprint(piece[:many]) in entries), 1)
        parts = (size - longest) // same + 1
        total, start = parts * (_TOKEN if same > 1 else _single(piece[0])), parts * same
    while start < size:
        end = min(size, start + longest)
        while end > start + 1 and fingerprint(piece[start:end]) not in entries:
            end -= 1
        total += _TOKEN if end > start + 1 else _single(piece[start])
        start = end
        parts += 1
    # Capitals merge in an order that taking the longest first gets wrong more often than not.
    return max(_TOKEN, total + (150 * (parts - 1) if _MIXED.search(piece) else 0))


def _signs(piece: str) -> int:
    """Signs beyond ASCII, which merge with their own kind only: boxes, emoji."""
    total = sum(_long(run[0]) if len(run[0]) > _LONG else _parts(run[0]) for run in _SAME.finditer(piece))
    # A space in front joins the first byte of a sign that is spelt out, and so costs nothing.
    joins = piece[0] == " " and piece[1] > "\x7f" and fingerprint(piece[1]) not in known()
    return max(_TOKEN, total - _TOKEN if joins else total)


def _single(sign: str) -> int:
    """One sign by itself: an entry, or else spelt out in two bytes or three, of which some are joined."""
    if sign < "\u0800" or fingerprint(sign) in known():
        return _TOKEN
    if "\u0900" <= sign < "\u1100" or "\u3040" <= sign < "\u3100":
        return _TOKEN  # the letters of India and its neighbours, and kana
    if "\u3100" <= sign < "\ua000":
        return 1500  # Chinese characters, the common ones of which are entries
    return 2000 if sign <= "\uffff" else 2200

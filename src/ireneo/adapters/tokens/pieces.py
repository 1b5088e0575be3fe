"""What one piece of text costs, in thousandths of a token.

A piece in the vocabulary is one token. Another costs as many entries as it takes, longest first, which is close
to the merges that the real thing would make; scripts that the fingerprint leaves out cost by the letter.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from ireneo.adapters.tokens.fingerprint import fingerprint, known

_TOKEN = 1000
_LONGEST_WORD_PART = 12
_LONGEST_SIGN_PART = 6
_LONGEST_WORD = 32
_LONG_RUN = re.compile(r"([\x00-\x7f\u2500-\u259f])\1{16,}")
_RULERS = frozenset("-=*#_.")
_MIXED = re.compile(r"[A-Z].*[A-Z]", re.DOTALL)

# First code point of a stretch of scripts, what a piece of it costs, and what each letter adds.
_SCRIPTS = (
    (0x100, 700, 500),  # Latin with rarer marks
    (0x370, 250, 380),  # Greek, Cyrillic, Armenian
    (0x590, 350, 410),  # Hebrew, Arabic, Syriac
    (0x900, 200, 440),  # the scripts of India
    (0xE00, 400, 380),  # Thai
    (0xE80, 600, 570),  # Lao, Tibetan, Burmese
    (0x10A0, 250, 400),  # Georgian
    (0x1100, 500, 1000),  # old Hangul
    (0x1200, 500, 2100),  # Ethiopic and others that are seldom met
    (0x1780, 600, 570),  # Khmer
    (0x1800, 500, 2500),
    (0x1E00, 500, 420),  # Vietnamese
    (0x1F00, 1000, 1200),
    (0x3031, 300, 730),  # kana
    (0x3100, 200, 840),  # Chinese characters
    (0xA000, 500, 2500),
    (0xAC00, 400, 690),  # Hangul
    (0xD7B0, 500, 2500),
)
_STARTS = [start for start, _, _ in _SCRIPTS]


def cost(piece: str) -> int:
    """What `piece` costs, in thousandths of a token."""
    if len(piece) == 1 and piece.isascii():
        return _TOKEN
    if piece.isspace():
        return _white(piece)
    if piece.isdecimal() and piece.isascii():
        return _TOKEN
    if fingerprint(piece) in known():
        return _TOKEN
    if any(letter > "\xff" and letter.isalpha() for letter in piece):
        return _foreign(piece)
    if len(piece) > 16:
        return _long(piece)
    return _parts(piece)


def _white(piece: str) -> int:
    if len(piece) <= 16:
        return _TOKEN
    return _TOKEN + len(piece) * (13 if piece.strip(" ") == "" else 63)


def _long(piece: str) -> int:
    """A long piece is a ruler of one sign, which is cheap, or letters that are no word, which are dear."""
    extra = 0

    def shorten(run: re.Match[str]) -> str:
        nonlocal extra
        extra += (len(run[0]) - 8) * (17 if run[1] in _RULERS else 125)
        return run[1] * 8

    short = _LONG_RUN.sub(shorten, piece)
    if len(short) > _LONGEST_WORD and short[1:].isalpha():
        return extra + _TOKEN + len(short) * 550
    return extra + _parts(short)


def _parts(piece: str) -> int:
    """The fewest entries that `piece` falls into, longest first."""
    entries = known()
    longest = _LONGEST_WORD_PART if piece[-1].isalpha() else _LONGEST_SIGN_PART
    size, total, parts = len(piece), 0, 0
    # A space joins the first byte of the sign behind it.
    start = 1 if size > 1 and piece[0] == " " and piece[1] > "\x7f" else 0
    while start < size:
        end = min(size, start + longest)
        while end > start + 1 and fingerprint(piece[start:end]) not in entries:
            end -= 1
        total += _TOKEN if end > start + 1 else _single(piece[start])
        start = end
        parts += 1
    # Capitals merge in an order that taking the longest first gets wrong more often than not.
    return max(_TOKEN, total + (150 * (parts - 1) if _MIXED.search(piece) else 0))


def _single(sign: str) -> int:
    """One sign by itself; beyond ASCII, those that are no entry are spelt out in bytes."""
    if sign < "\u0800" or fingerprint(sign) in known():
        return _TOKEN
    return 2000 if sign <= "\uffff" else 2400


def _foreign(piece: str) -> int:
    total, base = 0, 0
    for letter in piece:
        code = ord(letter)
        if code < 0x100:
            total += 280 if letter.isalpha() else 50 if letter == " " else 600
            continue
        _, fixed, each = _SCRIPTS[bisect_right(_STARTS, code) - 1]
        base = base or fixed
        total += each
    return max(_TOKEN, total + base)

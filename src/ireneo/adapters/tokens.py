"""Token counts: a fast estimate that needs no library, and exact ones through the extra `tokens`."""

from __future__ import annotations

import re
import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Protocol, cast

from ireneo.errors import MissingExtra
from ireneo.patterns import lazy_re

SPACE = 1 << 24
"""The number of different fingerprints."""

_FILE = "o200k.bin"


def fingerprint(piece: str) -> int:
    """Hash a piece to 24 bits."""
    return zlib.crc32(piece.encode("utf-8", "surrogatepass")) % SPACE


def fingerprints() -> Iterator[int]:
    """The fingerprints of the vocabulary, as the package brings them.

    An entry is stored as 24 bits of its CRC-32 instead of text, so that all take 112 kB. One piece in 175 is mistaken
    for an entry, and a rare entry counts as two tokens; both hardly matter. Written by
    `benchmarks/token_fingerprint.py`.
    """
    return unpack(Path(__file__).with_name(_FILE).read_bytes())


def unpack(packed: bytes) -> Iterator[int]:
    """Decode fingerprints from their differences, stored low bytes first, then high bytes, which compresses best."""
    planes = zlib.decompress(packed)
    count = len(planes) // 2
    pairs = bytearray(len(planes))
    pairs[0::2], pairs[1::2] = planes[:count], planes[count:]
    gaps = array("H", bytes(pairs))
    if sys.byteorder == "big":
        gaps.byteswap()
    return accumulate(gaps)


@cache
def _sorted_fingerprints() -> array[int]:
    """All fingerprints: a set takes three times as long to make, and its numbers ten times the memory."""
    return array("I", fingerprints())


def is_known(piece: str) -> bool:
    """Whether a piece is taken for an entry of the vocabulary."""
    found, known = fingerprint(piece), _sorted_fingerprints()
    at = bisect_left(known, found)
    return at < len(known) and known[at] == found


_TOKEN = 1000
_LONGEST_WORD_PART = 12
_LONGEST_SIGN_PART = 6  # and Chinese, Japanese and Korean, where one character holds as much
_LONGEST_WORD = 32
_LONG = 16
_LONG_RUN = lazy_re(r"([\x00-\x7f\u2500-\u259f])\1{16,}")
_SAME = lazy_re(r"[\x00-\x7f\w]+|(.)\1*", re.DOTALL)
_MIXED = lazy_re(r"[A-Z].*[A-Z]", re.DOTALL)
_RULERS = frozenset("-=*#_.")
_BLOCKS = frozenset(map(chr, range(0x2580, 0x25A0)))


def cost(piece: str) -> int:
    """The cost of a piece in thousandths of a token.

    A piece in the vocabulary is one token. Any other is split into entries, longest first, which is close to the merges
    of the real tokenizer. Rules replace this only if it would mislead: rulers, random letters.
    """
    if piece.isspace():
        return _white_space_cost(piece)
    if piece.isascii() and (len(piece) == 1 or piece.isdecimal()):
        return _TOKEN
    # No word of the vocabulary is longer, and a false match of a long piece would cost most.
    if len(piece) <= _LONGEST_WORD and is_known(piece):
        return _TOKEN
    if not piece.isascii() and not any(map(str.isalpha, piece)):
        return _symbol_cost(piece)
    return _long_cost(piece) if len(piece) > _LONG else _split_cost(piece)


def _white_space_cost(piece: str) -> int:
    """White space: the vocabulary has long runs of spaces, and runs of up to sixteen of the rest."""
    if len(piece) <= _LONG:
        return _TOKEN
    return _TOKEN + len(piece) * (13 if piece.strip(" ") == "" else 63)


def _long_cost(piece: str) -> int:
    """A long piece: repeated characters are cheap, and random letters expensive."""
    extra = 0

    def shorten(run: re.Match[str]) -> str:
        nonlocal extra
        each = 17 if run[1] in _RULERS else 250 if run[1] in _BLOCKS else 125
        extra += (len(run[0]) - 8) * each
        return run[1] * 8

    short = _LONG_RUN.sub(shorten, piece)
    if len(short) > _LONGEST_WORD and short.isascii() and short[1:].isalpha():
        return extra + _TOKEN + len(short) * 550
    return extra + _split_cost(short)


def _split_cost(piece: str) -> int:
    """The cost of the entries that `piece` is split into, longest first."""
    size, total, parts = len(piece), 0, 0
    longest = _LONGEST_WORD_PART if piece[-1] < "\u2e80" and piece[-1].isalpha() else _LONGEST_SIGN_PART
    start = 0
    if size > 2 * longest and piece == piece[0] * size:
        # A repeated character is split into equal parts, except for the last few.
        same = next((many for many in range(longest, 1, -1) if is_known(piece[:many])), 1)
        parts = (size - longest) // same + 1
        total, start = parts * (_TOKEN if same > 1 else _character_cost(piece[0])), parts * same
    while start < size:
        end = min(size, start + longest)
        while end > start + 1 and not is_known(piece[start:end]):
            end -= 1
        total += _TOKEN if end > start + 1 else _character_cost(piece[start])
        start = end
        parts += 1
    # For capitals, longest first is mostly not the order of the real merges.
    return max(_TOKEN, total + (150 * (parts - 1) if _MIXED.search(piece) else 0))


def _symbol_cost(piece: str) -> int:
    """Symbols beyond ASCII, such as boxes and emoji, which only merge with their own kind."""
    total = sum(_long_cost(run[0]) if len(run[0]) > _LONG else _split_cost(run[0]) for run in _SAME.finditer(piece))
    # A leading space merges with the first byte of a symbol that is encoded in bytes.
    joins = piece[0] == " " and piece[1] > "\x7f" and not is_known(piece[1])
    return max(_TOKEN, total - _TOKEN if joins else total)


def _character_cost(sign: str) -> int:
    """A single character: an entry, or two or three bytes, some of which merge."""
    if sign < "\u0800" or is_known(sign):
        return _TOKEN
    if "\u0900" <= sign < "\u1100" or "\u3040" <= sign < "\u3100":
        return _TOKEN  # the letters of India and its neighbours, and kana
    if "\u3100" <= sign < "\ua000":
        return 1500  # Chinese characters, the common ones of which are entries
    return 2000 if sign <= "\uffff" else 2200


# Letters beyond ASCII, in whole blocks; combining marks count as letters.
_LETTERS = (
    "\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u2c00-\u2dff\u2e80-\u2fff\u3005-\u3007\u3031-\ud7ff"
    "\uf900-\ufdff\ufe70-\ufefc\uff21-\uff3a\uff41-\uffdc\U00010000-\U0001efff\U00020000-\U000fffff"
)


@cache
def _split_pattern(letters: str) -> re.Pattern[str]:
    """Compile o200k's first split: words, groups of three digits, symbols, white space."""
    lead = rf"[^\r\n0-9A-Za-z{letters}]?"
    tail = r"(?:'(?:[sdmtSDMT]|ll|ve|re|LL|VE|RE))?"
    # Lower case first: half of all words have nothing else, which makes this a sixth faster.
    return re.compile(
        rf"{lead}[a-z{letters}]+{tail}|{lead}[A-Z]+[a-z{letters}]*{tail}"
        rf"|[0-9]{{1,3}}| ?[^\s0-9A-Za-z{letters}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )


_LONGEST_KEPT = 32
_MOST_KEPT = 60_000
_THOUSAND = 1000
_LONG_TEXT = 1_000_000
_LONGEST_KNOWN = 100_000
_MOST_KNOWN = 20_000


class _Costs(dict[str, int]):
    """A cache of the costs of short pieces, most of which repeat within a text."""

    def __missing__(self, piece: str) -> int:
        thousandths = cost(piece)
        if len(piece) <= _LONGEST_KEPT:
            if len(self) >= _MOST_KEPT:
                self.clear()
            self[piece] = thousandths
        return thousandths


class EstimatedTokenizer:
    """Estimates o200k counts: over a session about 1 % too many, and never 2 % too few."""

    def __init__(self) -> None:
        self._costs = _Costs()
        self._short: dict[str, int] = {}
        self._known: dict[int, int] = {}

    def count(self, text: str) -> int:
        """Estimate the tokens of `text`; 0 only for an empty text."""
        if not text:
            return 0
        if len(text) > _LONGEST_KNOWN:
            return self._count(text)
        if len(text) > _LONGEST_KEPT:
            # Each rebuild of a context counts mostly the same texts. The key is a hash, which takes little memory and
            # keeps no text that is erased elsewhere.
            key = hash(text)
            counted = self._known.get(key)
            if counted is None:
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                counted = self._known[key] = self._count(text)
            return counted
        known = self._short.get(text)
        if known is None:
            if len(self._short) >= _MOST_KEPT:
                self._short.clear()
            known = self._short[text] = self._count(text)
        return known

    def _count(self, text: str) -> int:
        pattern = _split_pattern("" if text.isascii() else _LETTERS)
        # A list of all pieces of a long text takes too much memory; an iterator is a little slower.
        pieces = pattern.findall(text) if len(text) <= _LONG_TEXT else (found[0] for found in pattern.finditer(text))
        return (sum(map(self._costs.__getitem__, pieces)) + _THOUSAND // 2) // _THOUSAND


class Backend(Protocol):
    """The part of the compiled tokenizer that is used."""

    def count(self, text: str) -> int:
        """Count tokens."""

    def encode(self, text: str) -> Sequence[int]:
        """Encode a text."""

    def decode(self, tokens: Sequence[int]) -> str | None:
        """Decode tokens; None if they are not a valid text."""


@cache
def load_backend() -> Backend:
    """Load the compiled o200k tokenizer. Raises MissingExtra."""
    try:
        # Not the package's wrapper, which refuses texts of a million characters and creates an object for each token.
        bindings = import_module("bpe_openai._bindings")
    except ModuleNotFoundError as missing:
        raise MissingExtra("Exact token counts need the extra `tokens`: pip install 'ireneo[tokens]'.") from missing
    return cast(Backend, bindings.tokenizer_for_encoding("o200k_base"))


class ExactTokenizer:
    """Counts o200k tokens exactly. Raises MissingExtra."""

    def __init__(self) -> None:
        self._backend = load_backend()

    def count(self, text: str) -> int:
        """Count the tokens of `text`."""
        try:
            return self._backend.count(text)
        except UnicodeEncodeError:
            # A lone surrogate has no UTF-8; a model is sent the replacement character instead.
            return self._backend.count(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))

"""Which pieces of text are one token: the fingerprint of the 96,000 most useful entries of the o200k vocabulary.

An entry is kept as 24 bits of its CRC-32 and not as text, so that the whole takes 112 kB. One piece in 175 is taken
for an entry by mistake, and a rare entry is taken for two tokens; both are small beside what is counted.
The file is written by `benchmarks/token_fingerprint.py`.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterable
from functools import cache
from itertools import accumulate
from pathlib import Path

SPACE = 1 << 24
"""How many fingerprints there can be."""

_FILE = "o200k.bin"


def fingerprint(piece: str) -> int:
    """Hash a piece to 24 bits."""
    return zlib.crc32(piece.encode("utf-8", "surrogatepass")) % SPACE


@cache
def known() -> frozenset[int]:
    """The fingerprints of the entries; read from the package when first asked for."""
    return unpack(Path(__file__).with_name(_FILE).read_bytes())


def pack(prints: Iterable[int]) -> bytes:
    """Write fingerprints as the gaps between them, all low bytes before all high ones, since those pack best."""
    ordered = sorted(set(prints))
    gaps = [after - before for before, after in zip([0, *ordered], ordered, strict=False)]
    return zlib.compress(bytes(gap & 0xFF for gap in gaps) + bytes(gap >> 8 for gap in gaps), 9)


def unpack(packed: bytes) -> frozenset[int]:
    """Read what `pack` wrote."""
    planes = zlib.decompress(packed)
    count = len(planes) // 2
    pairs = bytearray(len(planes))
    pairs[0::2], pairs[1::2] = planes[:count], planes[count:]
    gaps = array("H", bytes(pairs))
    if sys.byteorder == "big":
        gaps.byteswap()
    return frozenset(accumulate(gaps))

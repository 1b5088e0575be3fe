"""Finds the vectors nearest to a question's.

The comparison is exact; many vectors are first preselected by their signs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ireneo.memories.index import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]
    Rows: TypeAlias = NDArray[np.intp]

EXACT_BELOW = 20_000
"""Up to this many vectors, each is compared exactly, which takes some 2 ms."""
CANDIDATES = 2_000
"""How many vectors the signs select at least for the exact comparison. Of the exact top 20 among 65,000 vectors of
text, 998 in a thousand are then found; with half as many, 994."""
CANDIDATES_EACH = 50
"""How many at least for each result that is wanted, since the hundredth is harder to find than the first."""
ONE_IN = 50
"""At least one in this many is compared exactly, however many there are."""

_GONE = -1
_BLOCK = 1_024
"""How many rows are converted to floats at a time: numpy multiplies bytes slowly, and 1,024 rows fit a core's cache."""
_WORD = 64


class Vectors:
    """The vectors of one space, shelf and embedder, in memory; for one thread at a time.

    A vector takes nine bits for each dimension and twelve more bytes; at most the same amount again is kept free.
    """

    def __init__(self) -> None:
        """Start empty; the first vector determines the length of all."""
        self._rows = 0
        self._gone = 0
        self._dimensions = 0
        self._allocate(0, 0)

    def __len__(self) -> int:
        return self._rows - self._gone

    @property
    def size_bytes(self) -> int:
        """The memory that it takes."""
        return self._bytes.nbytes + self._signs.nbytes + self._documents.nbytes + self._inverse.nbytes

    def change(self, added: Mapping[int, Vector], removed: Iterable[int] = ()) -> None:
        """Store `added`, replacing those of the same documents, and forget `removed`.

        Raises ValueError if the vectors are not all of one length.
        """
        lengths = {len(vector) for vector in added.values()} | ({self._dimensions} if len(self) else set())
        if len(lengths) > 1:
            raise ValueError(f"the vectors of one embedder have {sorted(lengths)} dimensions")
        self._forget({*added, *removed})
        if not added:
            return
        (dimensions,) = lengths
        if dimensions != self._dimensions or self._rows + len(added) > len(self._documents):
            self._make_room(dimensions, len(added))
        new = slice(self._rows, self._rows + len(added))
        rows = np.frombuffer(b"".join(added.values()), np.int8).reshape(len(added), dimensions)
        self._bytes[new] = rows
        self._signs[:, new] = _signs(rows).T
        self._documents[new] = list(added)
        self._inverse[new] = _inverse_lengths(rows)
        self._rows += len(added)

    def nearest(self, query: Vector, k: int) -> list[tuple[int, float]]:
        """The `k` documents nearest to `query` with their cosines, the nearest first, the newer of equal ones first.

        From 20,000 vectors on, candidates are selected by their signs, 64 dimensions at a time, and only those are
        compared. Order and cosines are exact, but once in a hundred times a low-ranked document may be missing. Raises
        ValueError if `query` has another length.
        """
        if not len(self) or k < 1:
            return []
        if len(query) != self._dimensions:
            raise ValueError(f"the question has {len(query)} dimensions, and the vectors have {self._dimensions}")
        asked = np.frombuffer(query, np.int8)
        length = float(_inverse_lengths(asked[np.newaxis])[0])
        rows = self._candidate_rows(asked, k) if self._rows > EXACT_BELOW else np.flatnonzero(self._used_rows())
        cosines = self._dot_products(asked, rows) * self._inverse[rows] * np.float32(length)
        if len(rows) > k:
            # All that are as near as the last of them, so that the choice doesn't depend on their order in memory.
            kept = cosines >= np.partition(cosines, len(rows) - k)[len(rows) - k]
            rows, cosines = rows[kept], cosines[kept]
        documents = self._documents[rows]
        order = np.lexsort((-documents, -cosines))[:k]
        return [(int(documents[each]), float(cosines[each])) for each in order]

    def _candidate_rows(self, asked: NDArray[np.int8], k: int) -> Rows:
        """The rows whose signs differ least from the question's, including all ties with the last."""
        differ = np.zeros(self._rows, np.uint16)
        words, counts = np.empty(self._rows, np.uint64), np.empty(self._rows, np.uint8)
        for signs, word in zip(self._signs, _signs(asked[np.newaxis])[0], strict=True):
            np.bitwise_xor(signs[: self._rows], word, out=words)
            differ += np.bitwise_count(words, out=counts)
        differ[~self._used_rows()] = np.iinfo(np.uint16).max
        wanted = min(max(CANDIDATES, CANDIDATES_EACH * k, self._rows // ONE_IN), len(self))
        most = int(np.searchsorted(np.bincount(differ, minlength=1).cumsum(), wanted))
        return np.flatnonzero(differ <= most)

    def _dot_products(self, asked: NDArray[np.int8], rows: Rows) -> Floats:
        """The dot product of the question with each of `rows`."""
        question = asked.astype(np.float32)
        found = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            np.dot(self._bytes[rows[block]].astype(np.float32), question, out=found[block])
        return found

    def _used_rows(self) -> NDArray[np.bool_]:
        live: NDArray[np.bool_] = self._documents[: self._rows] != _GONE
        return live

    def _forget(self, documents: set[int]) -> None:
        if not documents or not len(self):
            return
        gone = np.isin(self._documents[: self._rows], np.fromiter(documents, np.int64, len(documents)))
        self._documents[: self._rows][gone] = _GONE
        self._gone += int(gone.sum())
        if self._gone > self._rows // 4:
            self._make_room(self._dimensions, 0)

    def _make_room(self, dimensions: int, more: int) -> None:
        """Close the gaps, and make room for `more` rows and a quarter in addition."""
        live = np.flatnonzero(self._used_rows())
        old, signs, documents, inverse = self._bytes, self._signs, self._documents, self._inverse
        self._allocate(dimensions, (len(live) + more) * 5 // 4)
        self._rows, self._gone = len(live), 0
        if len(live):
            self._bytes[: len(live)] = old[live]
            self._signs[:, : len(live)] = signs[:, live]
            self._documents[: len(live)] = documents[live]
            self._inverse[: len(live)] = inverse[live]

    def _allocate(self, dimensions: int, rows: int) -> None:
        self._dimensions = dimensions
        self._bytes = np.zeros((rows, dimensions), np.int8)
        # Stored by word, not by row, so that each pass reads memory sequentially.
        self._signs = np.zeros((-(-dimensions // _WORD), rows), np.uint64)
        self._documents = np.full(rows, _GONE, np.int64)
        self._inverse = np.zeros(rows, np.float32)


def _signs(rows: NDArray[np.int8]) -> NDArray[np.uint64]:
    """A bit for each value that says whether it is above zero, 64 to a word."""
    bits = np.packbits(rows > 0, axis=1)
    whole = np.zeros((len(rows), -(-rows.shape[1] // _WORD) * 8), np.uint8)
    whole[:, : bits.shape[1]] = bits
    return whole.view(np.uint64)


def _inverse_lengths(rows: NDArray[np.int8]) -> Floats:
    """The inverse of each length; 0 for a length of 0, so that the vector is similar to nothing."""
    found = np.zeros(len(rows), np.float32)
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
        np.divide(1.0, lengths, out=found[start : start + _BLOCK], where=lengths > 0)
    return found

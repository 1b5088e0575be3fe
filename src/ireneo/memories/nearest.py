"""Finds the vectors nearest to a question's.

Exactly, or, where there are many, by their signs first and then exactly.
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
"""Vectors up to which each is compared exactly, which takes some 2 ms."""
CANDIDATES = 2_000
"""How many the signs choose for the exact comparison at least. Among 65,000 vectors of text, 998 in a thousand of the
exact top 20 are then found, and with half as many 994."""
CANDIDATES_EACH = 50
"""As many at least for each that is asked for: the hundredth is harder to find than the first."""
ONE_IN = 50
"""At least one of so many is compared exactly, however many there are."""

_GONE = -1
_BLOCK = 1_024
"""Rows that are turned into floats at a time: numpy multiplies bytes slowly, and 1,024 rows fit a core's own cache."""
_WORD = 64


class Vectors:
    """The vectors of one space, shelf and embedder, in memory; for one thread at a time.

    A vector takes nine bits a dimension and twelve bytes besides, and room is kept for as many again at most.
    """

    def __init__(self) -> None:
        """Hold nothing yet; the first vector says how long they are."""
        self._rows = 0
        self._gone = 0
        self._dimensions = 0
        self._take_room(0, 0)

    def __len__(self) -> int:
        return self._rows - self._gone

    @property
    def size_bytes(self) -> int:
        """The memory that it takes."""
        return self._bytes.nbytes + self._signs.nbytes + self._documents.nbytes + self._inverse.nbytes

    def change(self, added: Mapping[int, Vector], removed: Iterable[int] = ()) -> None:
        """Take in `added`, in the place of those of the same documents, and forget `removed`.

        Raises ValueError where the vectors are not all of one length.
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
        """The `k` documents nearest to `query` with their cosines, the nearest first, and of two alike the newer.

        Over 20,000 vectors the best of all are found by their signs, 64 dimensions at a time, and only those are
        compared: the order and the cosines are exact, but in a hundred times one that is far down may be missing.
        Raises ValueError where `query` is of another length.
        """
        if not len(self) or k < 1:
            return []
        if len(query) != self._dimensions:
            raise ValueError(f"the question has {len(query)} dimensions, and the vectors have {self._dimensions}")
        asked = np.frombuffer(query, np.int8)
        length = float(_inverse_lengths(asked[np.newaxis])[0])
        rows = self._likely(asked, k) if self._rows > EXACT_BELOW else np.flatnonzero(self._live())
        cosines = self._products(asked, rows) * self._inverse[rows] * np.float32(length)
        if len(rows) > k:
            # All that are as near as the last of them, so that which are taken doesn't hang on where they stand.
            kept = cosines >= np.partition(cosines, len(rows) - k)[len(rows) - k]
            rows, cosines = rows[kept], cosines[kept]
        documents = self._documents[rows]
        order = np.lexsort((-documents, -cosines))[:k]
        return [(int(documents[each]), float(cosines[each])) for each in order]

    def _likely(self, asked: NDArray[np.int8], k: int) -> Rows:
        """The rows whose signs differ least from those of the question, with all that tie with the last of them."""
        differ = np.zeros(self._rows, np.uint16)
        words, counts = np.empty(self._rows, np.uint64), np.empty(self._rows, np.uint8)
        for signs, word in zip(self._signs, _signs(asked[np.newaxis])[0], strict=True):
            np.bitwise_xor(signs[: self._rows], word, out=words)
            differ += np.bitwise_count(words, out=counts)
        differ[~self._live()] = np.iinfo(np.uint16).max
        wanted = min(max(CANDIDATES, CANDIDATES_EACH * k, self._rows // ONE_IN), len(self))
        most = int(np.searchsorted(np.bincount(differ, minlength=1).cumsum(), wanted))
        return np.flatnonzero(differ <= most)

    def _products(self, asked: NDArray[np.int8], rows: Rows) -> Floats:
        """The dot product of the question with each of `rows`."""
        question = asked.astype(np.float32)
        found = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            np.dot(self._bytes[rows[block]].astype(np.float32), question, out=found[block])
        return found

    def _live(self) -> NDArray[np.bool_]:
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
        """Close the gaps, and make room for `more` rows and a quarter besides."""
        live = np.flatnonzero(self._live())
        old, signs, documents, inverse = self._bytes, self._signs, self._documents, self._inverse
        self._take_room(dimensions, (len(live) + more) * 5 // 4)
        self._rows, self._gone = len(live), 0
        if len(live):
            self._bytes[: len(live)] = old[live]
            self._signs[:, : len(live)] = signs[:, live]
            self._documents[: len(live)] = documents[live]
            self._inverse[: len(live)] = inverse[live]

    def _take_room(self, dimensions: int, rows: int) -> None:
        self._dimensions = dimensions
        self._bytes = np.zeros((rows, dimensions), np.int8)
        # By word, and not by row: so each pass runs along memory.
        self._signs = np.zeros((-(-dimensions // _WORD), rows), np.uint64)
        self._documents = np.full(rows, _GONE, np.int64)
        self._inverse = np.zeros(rows, np.float32)


def _signs(rows: NDArray[np.int8]) -> NDArray[np.uint64]:
    """Which parts are over zero, 64 to a word."""
    bits = np.packbits(rows > 0, axis=1)
    whole = np.zeros((len(rows), -(-rows.shape[1] // _WORD) * 8), np.uint8)
    whole[:, : bits.shape[1]] = bits
    return whole.view(np.uint64)


def _inverse_lengths(rows: NDArray[np.int8]) -> Floats:
    """One over the length of each; 0 for one that has none, so that it is like nothing."""
    found = np.zeros(len(rows), np.float32)
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
        np.divide(1.0, lengths, out=found[start : start + _BLOCK], where=lengths > 0)
    return found

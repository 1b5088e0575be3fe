"""A text's direction in the space of an embedder, as it is kept: one signed byte a dimension."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import isfinite
from typing import TypeAlias

Vector: TypeAlias = bytes
"""As many signed bytes (int8) as the embedder has dimensions, scaled so that the largest of them is 127 or -127.

Only its direction says anything: how alike two are is their dot product over both lengths (the cosine). Scaled to a
length of 127 instead, most of the bytes of 384 would be single digits, and four times as much would be lost to
rounding. All zero where the text has no direction; that is like nothing.
"""

LARGEST = 127


def quantised(values: Sequence[float]) -> Vector:
    """`values` as a vector. Raises ValueError where one of them is no finite number."""
    if not all(isfinite(value) for value in values):
        raise ValueError("an embedding holds what is no finite number")
    largest = max(map(abs, values), default=0.0)
    if largest == 0.0:
        return bytes(len(values))
    scale = LARGEST / largest
    if not isfinite(scale):
        # Numbers so small that their inverse is none: made larger first.
        return quantised([value * 2.0**200 for value in values])
    return array("b", [round(value * scale) for value in values]).tobytes()

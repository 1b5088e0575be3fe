"""The rater of how much sentences of a story matter later: a line through the local model's vectors.

Its weights were fitted to some six hundred sentences of our own (`benchmarks/salience.toml`) by
`benchmarks/salience.py`: half of them say what lasts in a story, the others are dice, rules,
scenery, blows and small talk.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from importlib.util import find_spec

from ireneo.adapters.embed.opening import NEEDED, LocalEmbedder
from ireneo.memories.index import Vector
from ireneo.ports.models import SalienceRater

WEIGHTS = "salience.json"


class LocalRater:
    """A SalienceRater over the local embedder; it reads English."""

    def __init__(self) -> None:
        """Load nothing yet. Raises MissingExtra."""
        self._embedder = LocalEmbedder()

    async def rate(self, sentences: Sequence[str]) -> Sequence[float]:
        """Rate each sentence from 0 to 1; some milliseconds each, in threads. Raises EmbedderError."""
        vectors = await self._embedder.embed(sentences)
        return await asyncio.to_thread(_rate, vectors)


def open_rater() -> SalienceRater | None:
    """Return the rater; None where the extra `local` is not installed. Nothing is loaded before the first sentence."""
    return LocalRater() if all(find_spec(name) is not None for name in NEEDED) else None


@cache
def _weights() -> tuple[float, ...]:
    """Read the weight of each dimension, and what is added."""
    return tuple(json.loads(files(__package__).joinpath(WEIGHTS).read_text()))


def _rate(vectors: Sequence[Vector]) -> list[float]:
    # Imported here since it needs the extra.
    import numpy as np

    rows = np.array([np.frombuffer(each, np.int8) for each in vectors], np.float32)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)
    *weights, constant = _weights()
    said = rows @ np.array(weights, np.float32) + np.float32(constant)
    return [float(each) for each in 1 / (1 + np.exp(-said))]

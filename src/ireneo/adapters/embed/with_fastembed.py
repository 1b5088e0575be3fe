"""Embedders of the package fastembed: ``fastembed:BAAI/bge-small-en-v1.5``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import Lock

from fastembed import TextEmbedding

from ireneo.errors import BadInput, EmbedderError
from ireneo.memories.index import Vector, quantised


class FastEmbedder:
    """An Embedder over a model of fastembed, which fetches the weights when it is first used."""

    def __init__(self, model: str) -> None:
        """Name the model. Raises BadInput where fastembed has none of that name."""
        sizes = {str(each["model"]).casefold(): int(each["dim"]) for each in TextEmbedding.list_supported_models()}
        if model.casefold() not in sizes:
            raise BadInput(f"fastembed has no model {model!r}; TextEmbedding.list_supported_models() names them.")
        self.name = f"fastembed:{model}"
        self.dimensions = sizes[model.casefold()]
        self._model_name = model
        self._model: TextEmbedding | None = None
        self._loading = Lock()

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
        """The vector of each text. Raises EmbedderError."""
        return await asyncio.to_thread(self._embed, texts, query) if texts else []

    def _embed(self, texts: Sequence[str], query: bool) -> list[Vector]:
        try:
            with self._loading:
                self._model = self._model or TextEmbedding(self._model_name)
            given = list(texts)
            rows = self._model.query_embed(given) if query else self._model.embed(given)
            return [quantised(row.tolist()) for row in rows]
        except (OSError, RuntimeError, ValueError) as fault:
            raise EmbedderError(f"{self.name} can't embed: {str(fault)[:200]}") from fault

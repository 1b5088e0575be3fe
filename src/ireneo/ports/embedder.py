"""What the engine needs of an embedder: texts in, their directions out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ireneo.memories.index import Vector


class Embedder(Protocol):
    """A model that gives texts which mean the same nearly the same direction, wherever it runs."""

    @property
    def name(self) -> str:
        """What its vectors are kept under: model, version, dimensions. Another name means other vectors."""

    @property
    def dimensions(self) -> int:
        """Bytes of a vector; 0 where that is not known before the first answer."""

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
        """The vector of each of `texts`, in their order; `query` says that they are questions, and not what is kept.

        A text that is longer than the model reads is cut. Timeouts, batches and bounded retries are the adapter's, and
        it never holds up the event loop. Raises EmbedderError, in which case there is nothing of any of them, and
        MissingExtra where what the embedder needs is not installed.
        """

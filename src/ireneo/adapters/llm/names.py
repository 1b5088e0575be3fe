"""What a model's name says, and where its server is."""

from __future__ import annotations

from typing import Literal, cast, get_args

from msgspec import Struct

from ireneo.errors import BadInput

Provider = Literal["openai", "anthropic", "google", "ollama"]
"""Whose way of talking the server has."""

KEYS: dict[Provider, str] = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "google": "GOOGLE_API_KEY",
}
"""Where the libraries of the providers look for a key."""

OLLAMA = "http://localhost:11434/v1"
"""Where Ollama listens unless it was told otherwise."""


class Place(Struct, frozen=True, kw_only=True):
    """A model, and where it is asked."""

    name: str
    """The whole name, such as ``ollama:llama3:8b``."""
    provider: Provider
    model: str
    """What the server calls it, such as ``llama3:8b``."""
    base_url: str | None
    """None: where the provider is."""
    api_key: str | None
    """None: what the provider's library finds."""


def place_of(name: str, base_url: str | None, api_key: str | None) -> Place:
    """Read a model's name. Raises BadInput."""
    provider, _, model = name.partition(":")
    if provider not in get_args(Provider) or not model.strip():
        raise BadInput(
            f"There is no model {name!r}: write openai:, anthropic:, google: or ollama: and then the model's name, "
            "with a base_url for another server that speaks like OpenAI's or Anthropic's."
        )
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise BadInput(f"The base_url {base_url!r} has to begin with http:// or https://.")
    if base_url is not None and provider == "anthropic":
        # Anthropic's library adds the version itself, where OpenAI's expects it in the address.
        base_url = base_url.rstrip("/").removesuffix("/v1")
    return Place(
        name=name, provider=cast(Provider, provider), model=model.strip(), base_url=base_url, api_key=api_key or None
    )

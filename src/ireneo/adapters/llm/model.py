"""A model behind a provider's API, or behind a server that speaks like one."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import Literal, TypeVar, cast, get_args

from msgspec import Struct

from ireneo.errors import BadInput, MissingExtra, ModelTimeout
from ireneo.ports.models import Prompt, Reply, Usage

Provider = Literal["openai", "anthropic", "google", "ollama"]
"""The API that a server offers."""

KEYS: dict[Provider, str] = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GOOGLE_API_KEY"}
"""The variables in which the providers' libraries look for a key."""

OLLAMA = "http://localhost:11434/v1"
"""Ollama's default address."""


class ModelAddress(Struct, frozen=True, kw_only=True):
    """A model, its server, and how it is asked."""

    name: str
    """The whole name, such as ``ollama:llama3:8b``."""
    provider: Provider
    model: str
    """The server's name for it, such as ``llama3:8b``."""
    base_url: str | None
    """The server's address; None for the provider's own."""
    api_key: str | None
    """The key; with None the one that the provider's library finds."""
    timeout_seconds: float
    """The limit for one ask, including all attempts and pauses."""
    attempts: int
    pause_seconds: float
    """The pause before the second attempt; doubled before each further one."""


class RequestCost(Struct, kw_only=True):
    """The cost of one request so far."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.tokens_in + self.tokens_out


R = TypeVar("R", bound=Struct)


def open_model(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout_seconds: float = 60.0,
    attempts: int = 3,
    pause_seconds: float = 0.5,
) -> ProviderModel:
    """The model called `name`: ``openai:gpt-5-mini``, ``anthropic:claude-haiku-4-5``, ``google:…``, ``ollama:llama3``.

    With `base_url`, a server that speaks like that provider; the key that is set for the provider itself is not sent
    there. Without `api_key`, the key is the one that the provider's library finds. Nothing is loaded or sent before the
    first ask, and there is nothing to close. `timeout_seconds` limits one ask, including all its `attempts`, with
    `pause_seconds` before the second one and twice as much before each further one.

    Raises BadInput for a name of no known model, MissingExtra without the extra `llm`.
    """
    if timeout_seconds <= 0 or attempts < 1 or pause_seconds < 0:
        raise BadInput(
            "A model needs a timeout over 0 seconds, at least one attempt, and a pause that is not negative."
        )
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
    if find_spec("pydantic_ai") is None:
        raise _missing(name)
    return ProviderModel(
        ModelAddress(
            name=name,
            provider=cast(Provider, provider),
            model=model.strip(),
            base_url=base_url,
            api_key=api_key or None,
            timeout_seconds=timeout_seconds,
            attempts=attempts,
            pause_seconds=pause_seconds,
        )
    )


def _missing(name: str) -> MissingExtra:
    return MissingExtra(f"{name} needs the extra `llm`: pip install 'ireneo[llm]'.")


class ProviderModel:
    """A LanguageModel, created by `open_model`; may be used from any task and any event loop."""

    def __init__(self, address: ModelAddress) -> None:
        """Name the model; nothing is loaded yet."""
        self.name = address.name
        self._address = address

    async def check(self) -> None:
        """Check the configuration without a request. Raises BadInput if a key is missing."""
        await self._load()
        from ireneo.adapters.llm import requests

        await requests.check(self._address)

    async def ask(self, prompt: Prompt, reply: type[R]) -> Reply[R]:
        """Ask once, and parse the answer as a `reply`. Raises ModelError, and BadInput if a key is missing."""
        await self._load()
        from ireneo.adapters.llm import requests

        cost = RequestCost()
        try:
            async with asyncio.timeout(self._address.timeout_seconds):
                value = await requests.attempt(self._address, prompt, reply, cost)
        except TimeoutError:
            raise ModelTimeout(
                f"{self.name} did not answer within {self._address.timeout_seconds:g} s.",
                calls=cost.calls,
                tokens=cost.tokens,
            ) from None
        usage = Usage(calls=cost.calls, tokens_in=cost.tokens_in, tokens_out=cost.tokens_out)
        return Reply(value=value, usage=usage, model=self.name)

    async def _load(self) -> None:
        """Import what needs the extra, in a thread, since it takes a second or two."""

        def load() -> None:
            from ireneo.adapters.llm import requests

            requests.load(self._address.provider)

        try:
            await asyncio.to_thread(load)
        except ImportError as missing:
            raise _missing(self.name) from missing

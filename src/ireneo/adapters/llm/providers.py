"""Sets up a model of each provider in the library that talks to them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from httpx2 import AsyncClient
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model
from pydantic_ai.profiles import ModelProfile

from ireneo.adapters.llm.names import KEYS, OLLAMA, Place, Provider
from ireneo.errors import BadInput

_NO_KEY = "no-key"
"""What a server at an address of one's own is sent where it needs no key: the libraries insist on one."""


def build(place: Place, client: AsyncClient) -> Model:
    """The model at `place`, asked through `client`. Raises BadInput where it needs a key and has none."""
    try:
        return _BUILDERS[place.provider](place, client)
    except UserError as missing:
        variable = KEYS.get(place.provider)
        raise BadInput(
            f"{place.name} needs a key: set {variable}, or hand in api_key."
            if variable
            else f"{place.name} can't be set up: {str(missing)[:200]}"
        ) from missing


def load_provider(provider: Provider) -> None:
    """Load what the provider needs, so that no ask has to wait for it. Raises ImportError."""
    for module in _MODULES[provider]:
        import_module(module)


def _openai(place: Place, client: AsyncClient) -> Model:
    from openai import OpenAIError
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if place.base_url is None:
        try:
            return OpenAIChatModel(place.model, provider=OpenAIProvider(api_key=place.api_key, http_client=client))
        except OpenAIError as missing:
            # A key that is set, and empty, is looked at by OpenAI's own library.
            raise UserError(str(missing)) from missing
    # This one never sends the key that is meant for OpenAI to somebody else's server.
    provider = OpenAICompatibleProvider(
        "openai-compatible", base_url=place.base_url, api_key=_key(place), http_client=client
    )
    # OpenAI renamed the limit on tokens: its models that reason refuse the old name, small servers ignore the new one.
    reasons = OpenAIChatModel(place.model, provider=provider).profile.get("supports_thinking", False)
    return OpenAIChatModel(place.model, provider=provider, profile=_limit_is_renamed(reasons))


def _ollama(place: Place, client: AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.ollama import OllamaProvider

    key = _key(place)
    try:
        provider = OllamaProvider(base_url=place.base_url, api_key=key, http_client=client)
    except UserError:
        # No address was handed in, and none is set.
        provider = OllamaProvider(base_url=OLLAMA, api_key=key, http_client=client)
    return OpenAIChatModel(place.model, provider=provider, profile=_limit_is_renamed(False))


def _key(place: Place) -> str | None:
    """The key to send: at an address of one's own never the one that the library finds for the provider."""
    return place.api_key if place.base_url is None else place.api_key or _NO_KEY


def _limit_is_renamed(renamed: bool) -> ModelProfile:
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return OpenAIModelProfile(openai_chat_supports_max_completion_tokens=renamed)


def _anthropic(place: Place, client: AsyncClient) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    key = _key(place)
    return AnthropicModel(
        place.model, provider=AnthropicProvider(api_key=key, base_url=place.base_url, http_client=client)
    )


def _google(place: Place, client: AsyncClient) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    key = _key(place)
    return GoogleModel(place.model, provider=GoogleProvider(api_key=key, base_url=place.base_url, http_client=client))


_BUILDERS: dict[Provider, Callable[[Place, AsyncClient], Model]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
    "ollama": _ollama,
}
_MODULES: dict[Provider, tuple[str, ...]] = {
    "openai": ("pydantic_ai.models.openai", "pydantic_ai.providers.openai_compatible"),
    "anthropic": ("pydantic_ai.models.anthropic", "pydantic_ai.providers.anthropic"),
    "google": ("pydantic_ai.models.google", "pydantic_ai.providers.google"),
    "ollama": ("pydantic_ai.models.openai", "pydantic_ai.providers.ollama"),
}

"""Asking a model through its provider's library, with retries, and reading its answer.

Loaded when a model is first asked: it needs the extra `llm`.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from typing import TypeVar

import httpx2
import msgspec
from httpx2 import AsyncClient
from msgspec import Struct
from pydantic_ai import direct
from pydantic_ai import exceptions as theirs
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings

from ireneo.adapters.llm.model import KEYS, OLLAMA, ModelAddress, Provider, RequestCost
from ireneo.errors import BadInput, BadReply, IreneoError, ModelError, ModelRefused, ModelUnavailable
from ireneo.patterns import lazy_re, readable
from ireneo.ports.models import Prompt

LARGEST_BODY = 4_000_000
"""In bytes; the longest reply that a prompt allows is a hundredth of it."""


def client(timeout_seconds: float) -> httpx2.AsyncClient:
    """A client for one ask.

    Setting one up takes some 30 ms and a handshake, against seconds that a model takes; in return no connection
    outlives its event loop, and nobody has to remember to close one.
    """
    # The limit on the whole ask ends most requests first; these catch what it misses.
    limits = httpx2.Timeout(timeout_seconds + 1, connect=timeout_seconds)
    return httpx2.AsyncClient(timeout=limits, follow_redirects=True, event_hooks={"response": [_cap_response]})


async def _cap_response(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Capped(response.stream)


class _Capped(httpx2.AsyncByteStream):
    """The body of an answer, up to the largest that is read."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > LARGEST_BODY:
                raise BadReply(f"is longer than {LARGEST_BODY:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


FAULTS = (
    theirs.AgentRunError,
    theirs.UserError,
    httpx2.HTTPError,
    BadReply,
    # JSON that isn't what the provider sends breaks the parsing code of its library.
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    AssertionError,
    RecursionError,
)
"""The errors that a request may raise."""

_TOO_MANY, _TIMED_OUT, _SERVER_FAULT = 429, 408, 500
_TURNED_AWAY = (401, 403)


class Failure(Struct, frozen=True, kw_only=True):
    """The meaning of a failed request for the caller."""

    kind: type[IreneoError]
    message: str
    again: bool = False
    """Whether the same request may succeed later."""
    wait_seconds: float = 0.0
    """How long the provider asked to wait."""

    def error(self, cost: RequestCost) -> IreneoError:
        """The error to raise for the failed request."""
        if issubclass(self.kind, ModelError):
            return self.kind(self.message, calls=cost.calls, tokens=cost.tokens)
        return self.kind(self.message)


def failure_of(error: BaseException, name: str, keys: tuple[str, ...]) -> Failure:
    """Classify the error of a request to the model `name`; the message never contains one of `keys`."""
    ours: BaseException | None = error
    while ours is not None and not isinstance(ours, BadReply):
        # Not `__context__`: it may be an earlier error that the caller is already handling.
        ours = ours.__cause__
    if ours is not None:
        return Failure(kind=BadReply, message=f"The answer of {name} {ours}.")
    if isinstance(error, theirs.ModelHTTPError):
        return _status_failure(error, name, keys)
    if isinstance(error, theirs.ModelConnectionError | httpx2.HTTPError):
        said = shown(str(error.__cause__ or error), keys)
        return Failure(kind=ModelUnavailable, message=f"{name} can't be reached: {said}", again=True)
    if isinstance(error, theirs.ContentFilterError):
        return Failure(kind=ModelRefused, message=f"{name} refused to answer: its filter stopped it.")
    if isinstance(error, theirs.UserError):
        return Failure(kind=BadInput, message=f"{name} can't be asked: {shown(str(error), keys)}")
    return Failure(kind=BadReply, message=f"The answer of {name} is not one that its provider would send.")


def _status_failure(error: theirs.ModelHTTPError, name: str, keys: tuple[str, ...]) -> Failure:
    status, said = error.status_code, shown(_provider_message(error.body), keys)
    if isinstance(error, theirs.ModelQuotaExceededError):
        return Failure(kind=ModelUnavailable, message=f"{name} has no quota left ({status}): {said}")
    if status in (_TOO_MANY, _TIMED_OUT) or status >= _SERVER_FAULT:
        what = "is asked too often" if status == _TOO_MANY else "is out of order"
        return Failure(
            kind=ModelUnavailable,
            message=f"{name} {what} ({status}): {said}",
            again=True,
            wait_seconds=error.retry_after or 0.0,
        )
    is_missing = isinstance(error, theirs.ModelNotFoundError)
    return Failure(kind=ModelUnavailable, message=refusal_text(name, status, said, is_missing=is_missing))


def refusal_text(name: str, status: int, said: str, *, is_missing: bool) -> str:
    """Say why the server of `name` refused a request; `is_missing`: it knows no such model or address."""
    if status in _TURNED_AWAY:
        # The server's message may quote the key.
        return f"{name} turned the key away ({status}); check it."
    if is_missing:
        return f"{name} is not to be found ({status}); check the model's name and the base_url: {said}"
    return f"{name} turned the request away ({status}): {said}"


def _provider_message(body: object) -> str:
    """Return the provider's message from the body of an error, wherever it is."""
    for key in ("error", "message"):
        if isinstance(body, dict) and key in body:
            body = body[key]
    return body if isinstance(body, str) else "" if body is None else str(body)


_NO_KEY = "no-key"
"""The key for a server that needs none: the libraries insist on a key."""


def build(address: ModelAddress, client: AsyncClient) -> Model:
    """The model at `address`, asked through `client`. Raises BadInput if it needs a key and has none."""
    try:
        return _BUILDERS[address.provider](address, client)
    except UserError as missing:
        variable = KEYS.get(address.provider)
        raise BadInput(
            f"{address.name} needs a key: set {variable}, or hand in api_key."
            if variable
            else f"{address.name} can't be set up: {str(missing)[:200]}"
        ) from missing


def load(provider: Provider) -> None:
    """Import the provider's library, so that no request has to wait for it."""
    for module in _MODULES[provider]:
        import_module(module)


def _openai(address: ModelAddress, client: AsyncClient) -> Model:
    from openai import OpenAIError
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if address.base_url is None:
        try:
            return OpenAIChatModel(address.model, provider=OpenAIProvider(api_key=address.api_key, http_client=client))
        except OpenAIError as missing:
            # OpenAI's own library checks a key that is set but empty.
            raise UserError(str(missing)) from missing
    # This provider never sends OpenAI's key to another server.
    provider = OpenAICompatibleProvider(
        "openai-compatible", base_url=address.base_url, api_key=_key(address), http_client=client
    )
    # OpenAI renamed the token limit: its reasoning models refuse the old name, and small servers ignore the new one.
    reasons = OpenAIChatModel(address.model, provider=provider).profile.get("supports_thinking", False)
    return OpenAIChatModel(address.model, provider=provider, profile=_limit_is_renamed(reasons))


def _ollama(address: ModelAddress, client: AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.ollama import OllamaProvider

    key = _key(address)
    try:
        provider = OllamaProvider(base_url=address.base_url, api_key=key, http_client=client)
    except UserError:
        # No address was given, and none is configured.
        provider = OllamaProvider(base_url=OLLAMA, api_key=key, http_client=client)
    return OpenAIChatModel(address.model, provider=provider, profile=_limit_is_renamed(False))


def _key(address: ModelAddress) -> str | None:
    """Return the key to send; another server never gets the provider's key that the library finds."""
    return address.api_key if address.base_url is None else address.api_key or _NO_KEY


def _limit_is_renamed(renamed: bool) -> ModelProfile:
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return OpenAIModelProfile(openai_chat_supports_max_completion_tokens=renamed)


def _anthropic(address: ModelAddress, client: AsyncClient) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    key = _key(address)
    return AnthropicModel(
        address.model, provider=AnthropicProvider(api_key=key, base_url=address.base_url, http_client=client)
    )


def _google(address: ModelAddress, client: AsyncClient) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    key = _key(address)
    return GoogleModel(
        address.model, provider=GoogleProvider(api_key=key, base_url=address.base_url, http_client=client)
    )


_BUILDERS: dict[Provider, Callable[[ModelAddress, AsyncClient], Model]] = {
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


R = TypeVar("R", bound=msgspec.Struct)

_LONGEST_TOKEN = 8
"""In characters: no tokenizer averages more than this per token over a whole answer."""
_SLACK = 2_000


async def check(address: ModelAddress) -> None:
    """Build the model only to check its configuration. Raises BadInput if it needs a key and has none."""
    async with client(1.0) as http:
        build(address, http)


async def attempt(address: ModelAddress, prompt: Prompt, reply: type[R], cost: RequestCost) -> R:
    """Ask until there is an answer or asking again can't help; `cost` is kept up to date in either case."""
    until = asyncio.get_running_loop().time() + address.timeout_seconds
    async with client(address.timeout_seconds) as http:
        model = build(address, http)
        while True:
            cost.calls += 1
            try:
                response = await _send(model, prompt, reply, address.timeout_seconds)
            except FAULTS as error:
                failure = failure_of(error, address.name, _keys(address, model))
            else:
                cost.tokens_in += response.usage.input_tokens
                cost.tokens_out += response.usage.output_tokens
                return _read(response, prompt, reply, address.name, cost)
            if not failure.again or cost.calls >= address.attempts:
                raise failure.error(cost) from None
            # Doubled each time, and random, so that callers don't all retry at the same moment.
            pause = address.pause_seconds * 2.0 ** (cost.calls - 1) * random.uniform(0.5, 1.0)
            wait = max(failure.wait_seconds, pause)
            if asyncio.get_running_loop().time() + wait >= until:
                # Waiting for the rest of the time would end in the same way.
                late = f"; it can be asked again in {wait:.0f} s, and there is less time than that."
                raise msgspec.structs.replace(failure, message=failure.message.rstrip(".") + late).error(cost) from None
            await asyncio.sleep(wait)


async def _send(model: Model, prompt: Prompt, reply: type[R], timeout_seconds: float) -> ModelResponse:
    asked = ModelRequest(parts=[SystemPromptPart(prompt.system), UserPromptPart(with_shape(prompt.user, reply))])
    settings = ModelSettings(
        max_tokens=prompt.max_tokens,
        timeout=timeout_seconds + 1,
        # Thinking uses the same token limit, and could leave no tokens for the answer.
        thinking=False,
    )
    if model.system != "google":
        # The attempts are counted here, so the library must make none of its own. Google's makes none by default.
        settings["max_retries"] = 0
    return await direct.model_request(model, [asked], model_settings=settings)


def _read(response: ModelResponse, prompt: Prompt, reply: type[R], name: str, cost: RequestCost) -> R:
    """Read the answer. Raises ModelRefused, BadReply."""
    if response.finish_reason == "content_filter":
        why = (response.provider_details or {}).get("refusal")
        said = f": {shown(why, ())}" if isinstance(why, str) else "."
        raise ModelRefused(f"{name} refused to answer{said}", calls=cost.calls, tokens=cost.tokens)
    text = response.text or ""
    try:
        if response.finish_reason == "length":
            raise BadReply(f"was cut off at {prompt.max_tokens:,} tokens")
        longest = _LONGEST_TOKEN * 2 * prompt.max_tokens + _SLACK
        if response.usage.output_tokens > 2 * prompt.max_tokens or len(text) > longest:
            raise BadReply(f"is far longer than the {prompt.max_tokens:,} tokens that it was given")
        return read_reply(text, reply)
    except BadReply as bad:
        raise BadReply(f"The answer of {name} {shown(str(bad), ())}.", calls=cost.calls, tokens=cost.tokens) from None


def _keys(address: ModelAddress, model: Model) -> tuple[str, ...]:
    """The keys that no message may contain: the one that was given, and the one that the library found."""
    found = getattr(getattr(model, "client", None), "api_key", None)
    return tuple({key for key in (address.api_key, found) if isinstance(key, str) and key})


_SHOWN = 200
_KEY = lazy_re(r"\b(?:sk|pk|key|gsk|xai|AIza)[-_*][\w*.-]{6,}|\bAIza[\w-]{10,}")


def shown(words: str, keys: tuple[str, ...]) -> str:
    """Quote somebody else's text in a message: one short line, without keys."""
    line = " ".join(words.split())
    for key in keys:
        line = line.replace(key, "[key]")
    line = _KEY.sub("[key]", line)
    if len(line) > _SHOWN:
        line = line[: _SHOWN - 1] + "…"
    return line or "no reason was given"


_ASK = "Answer with one JSON object and nothing else: no prose before or after it, no code fence. Its JSON schema:"


def with_shape(user: str, reply: type[msgspec.Struct]) -> str:
    """Append the schema of the reply to a user prompt, as text, so that it works with any server."""
    shape = json.dumps(schema(reply), ensure_ascii=False, separators=(",", ":"))
    return f"{user.rstrip()}\n\n{_ASK}\n{shape}"


def schema(reply: type[msgspec.Struct]) -> object:
    """The JSON schema of `reply` without references, which small models don't follow well."""
    (top,), parts = msgspec.json.schema_components([reply], ref_template="{name}")
    return _whole(top, parts, ())


def _whole(node: object, parts: dict[str, object], inside: tuple[str, ...]) -> object:
    """Inline all references in `node`; a recursive one becomes an object of any kind."""
    if isinstance(node, list):
        return [_whole(each, parts, inside) for each in node]
    if not isinstance(node, dict):
        return node
    name = node.get("$ref")
    if isinstance(name, str):
        return {"type": "object"} if name in inside else _whole(parts[name], parts, (*inside, name))
    # A title only repeats the name of our class. A field may be called title, too.
    return {
        key: {field: _whole(each, parts, inside) for field, each in value.items()}
        if key == "properties" and isinstance(value, dict)
        else _whole(value, parts, inside)
        for key, value in node.items()
        if key != "title"
    }


_THOUGHT = lazy_re(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_MOST_PLACES = 50
"""The number of opening braces that are tried before a text is taken for prose."""


def read_reply(text: str, reply: type[R]) -> R:
    """Parse an answer as a `reply`. Raises BadReply, whose message continues "The answer of the model …"."""
    text = _THOUGHT.sub("", text)
    if not text.strip():
        raise BadReply("is empty")
    objects = _objects(text)
    if not objects:
        raise BadReply("holds no JSON object")
    read = [value for value in (_as(each, reply) for each in objects) if isinstance(value, reply)]
    if not read:
        raise BadReply(f"is JSON of another shape: {_as(objects[0], reply)}")
    # Some models repeat their answer; two different answers are an error.
    if any(value != read[0] for value in read):
        raise BadReply("holds several JSON objects that say different things")
    return read[0]


def _objects(text: str) -> list[dict[str, object]]:
    """The outermost JSON objects in `text`."""
    # Line breaks inside strings are accepted: models write them, and they are unambiguous.
    decoder = json.JSONDecoder(strict=False, parse_constant=_no_number)
    found: list[dict[str, object]] = []
    at = text.find("{")
    for _ in range(_MOST_PLACES):
        if at < 0:
            break
        try:
            value, end = decoder.raw_decode(text, at)
            found.append(value)
        except (ValueError, RecursionError):
            # An object inside invalid JSON would only be a part of an answer.
            end = _closing(text, at)
        at = text.find("{", end)
    return found


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is not a number in JSON")


def _closing(text: str, at: int) -> int:
    """The position after the matching closing brace; the end of the text if there is none."""
    depth = 0
    for brace in re.finditer(r"[{}]", text[at:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return at + brace.end()
    return len(text)


def _as(value: dict[str, object], reply: type[R]) -> R | str:
    """`value` as a `reply`, or why it isn't one."""
    fields = [field.encode_name for field in msgspec.structs.fields(reply)]
    if fields and not any(name in value for name in fields):
        # If every field has a default, any object would be read as an empty answer.
        return f"it has none of {', '.join(fields)}"
    try:
        json.dumps(value, ensure_ascii=False).encode()
        return msgspec.convert(_within_limits(value, schema(reply)), readable(reply))
    except UnicodeEncodeError:
        return "it holds half of a character"
    except (msgspec.ValidationError, RecursionError) as wrong:
        return str(wrong).rstrip(".")


def _within_limits(value: object, shape: object) -> object:
    """Drop items beyond the limits of optional lists, such as a 33rd name, and keep the rest of the answer.

    The first items are kept, except those with a text that is too long; required fields are not changed.
    """
    if not isinstance(shape, dict):
        return value
    if isinstance(value, list) and isinstance(shape.get("items"), dict):
        items = [_within_limits(each, shape["items"]) for each in value]
        if "default" in shape:
            items = [each for each in items if not _has_overlong(each, shape["items"])][: shape.get("maxItems")]
        return items
    fields = shape.get("properties")
    if isinstance(value, dict) and isinstance(fields, dict):
        return {name: _within_limits(each, fields.get(name)) for name, each in value.items()}
    return value


def _has_overlong(value: object, shape: dict[str, object]) -> bool:
    """Whether an item of a list has a text beyond its limit, itself or in one of its fields."""
    most, fields = shape.get("maxLength"), shape.get("properties")
    if isinstance(value, str):
        return isinstance(most, int) and len(value) > most
    if isinstance(value, dict) and isinstance(fields, dict):
        return any(_has_overlong(each, fields[name]) for name, each in value.items() if name in fields)
    return False

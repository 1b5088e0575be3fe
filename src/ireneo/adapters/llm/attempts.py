"""Asks a model, again where that may help, and reads its answer."""

from __future__ import annotations

import asyncio
import random
from typing import TypeVar

import msgspec
from pydantic_ai import direct
from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from ireneo.adapters.llm.asking import with_shape
from ireneo.adapters.llm.failures import FAULTS, Failure, failure_of, raised
from ireneo.adapters.llm.names import Place
from ireneo.adapters.llm.patience import Patience, Tally
from ireneo.adapters.llm.providers import build, load_provider
from ireneo.adapters.llm.reading import read_reply
from ireneo.adapters.llm.transport import client
from ireneo.adapters.llm.words import shown
from ireneo.errors import BadReply, ModelRefused
from ireneo.ports.llm import Prompt

R = TypeVar("R", bound=msgspec.Struct)

_LONGEST_TOKEN = 8
"""Characters; over a whole answer no tokenizer gets by with fewer tokens."""
_SLACK = 2_000


def load(place: Place) -> None:
    """Load what the model's provider needs; this module has loaded the rest. Raises ImportError."""
    load_provider(place.provider)


async def check(place: Place) -> None:
    """Set the model up and let go of it. Raises BadInput where it needs a key and has none."""
    async with client(1.0) as http:
        build(place, http)


async def attempt(place: Place, prompt: Prompt, reply: type[R], patience: Patience, tally: Tally) -> R:
    """Ask until there is an answer, or asking again can't help; `tally` is kept up to date whatever happens."""
    until = asyncio.get_running_loop().time() + patience.timeout_seconds
    async with client(patience.timeout_seconds) as http:
        model = build(place, http)
        while True:
            tally.calls += 1
            try:
                response = await _send(model, prompt, reply, patience)
            except FAULTS as error:
                failure = failure_of(error, place.name, _keys(place, model))
            else:
                tally.tokens_in += response.usage.input_tokens
                tally.tokens_out += response.usage.output_tokens
                return _read(response, prompt, reply, place.name, tally)
            wait = max(failure.wait_seconds, _pause(patience, tally.calls))
            if not failure.again or tally.calls >= patience.attempts:
                raise raised(failure, tally.calls, tally.tokens) from None
            if asyncio.get_running_loop().time() + wait >= until:
                # Sitting out the rest of the time would end in the same.
                raise raised(_too_late(failure, wait), tally.calls, tally.tokens) from None
            await asyncio.sleep(wait)


async def _send(model: Model, prompt: Prompt, reply: type[R], patience: Patience) -> ModelResponse:
    asked = ModelRequest(parts=[SystemPromptPart(prompt.system), UserPromptPart(with_shape(prompt.user, reply))])
    settings = ModelSettings(
        max_tokens=prompt.max_tokens,
        timeout=patience.timeout_seconds + 1,
        # Thinking is paid out of the same tokens as the answer, and would leave none for it.
        thinking=False,
    )
    if model.system != "google":
        # The attempts are counted here, so the library makes none of its own. Google's makes none unasked.
        settings["max_retries"] = 0
    return await direct.model_request(model, [asked], model_settings=settings)


def _read(response: ModelResponse, prompt: Prompt, reply: type[R], name: str, tally: Tally) -> R:
    """Read the answer. Raises ModelRefused, BadReply."""
    if response.finish_reason == "content_filter":
        why = (response.provider_details or {}).get("refusal")
        said = f": {shown(why, ())}" if isinstance(why, str) else "."
        raise ModelRefused(f"{name} refused to answer{said}", calls=tally.calls, tokens=tally.tokens)
    text = response.text or ""
    try:
        if response.finish_reason == "length":
            raise BadReply(f"was cut off at {prompt.max_tokens:,} tokens")
        if response.usage.output_tokens > 2 * prompt.max_tokens or len(text) > _longest(prompt):
            raise BadReply(f"is far longer than the {prompt.max_tokens:,} tokens that it was given")
        return read_reply(text, reply)
    except BadReply as bad:
        raise BadReply(f"The answer of {name} {shown(str(bad), ())}.", calls=tally.calls, tokens=tally.tokens) from None


def _longest(prompt: Prompt) -> int:
    return _LONGEST_TOKEN * 2 * prompt.max_tokens + _SLACK


def _pause(patience: Patience, calls: int) -> float:
    """How long to wait before the next attempt: twice as long each time, and never for all at the same moment."""
    return patience.pause_seconds * 2.0 ** (calls - 1) * random.uniform(0.5, 1.0)


def _too_late(failure: Failure, wait: float) -> Failure:
    message = f"{failure.message.rstrip('.')}; it can be asked again in {wait:.0f} s, and there is less time than that."
    return msgspec.structs.replace(failure, message=message)


def _keys(place: Place, model: Model) -> tuple[str, ...]:
    """The keys that no message may hold: the one that was handed in, and the one that the library found."""
    found = getattr(getattr(model, "client", None), "api_key", None)
    return tuple({key for key in (place.api_key, found) if isinstance(key, str) and key})

"""What the engine needs of a language model: a prompt with its typed reply in, the reply and its usage out."""

from __future__ import annotations

from typing import Generic, Literal, Protocol, TypeVar

from msgspec import Struct

Task = Literal["turn", "goal", "story", "reflect", "classify", "lessons", "act"]
"""What a model is asked for; each task may have a model of its own, since a small literal one is right for memory."""

R = TypeVar("R", bound=Struct)


class Prompt(Struct, frozen=True, kw_only=True):
    """What a model is asked, rendered."""

    task: Task
    name: str
    """The prompt and its version, such as ``turn-1``."""
    system: str
    user: str
    max_tokens: int
    """What the reply may cost."""


class Usage(Struct, frozen=True, kw_only=True):
    """What was billed, failed attempts included as far as the provider told."""

    calls: int = 1
    tokens_in: int = 0
    tokens_out: int = 0


class Reply(Struct, Generic[R], frozen=True, kw_only=True):
    """A model's answer, parsed."""

    value: R
    usage: Usage
    model: str
    """The model's name, such as ``openai:gpt-5-mini``."""


class LanguageModel(Protocol):
    """A model, wherever it runs."""

    async def ask(self, prompt: Prompt, reply: type[R]) -> Reply[R]:
        """Ask once, and read the answer as a `reply`.

        Timeouts and bounded retries are the adapter's. Raises ModelError: ModelTimeout, ModelUnavailable (no
        connection, 429, 5xx, a wrong key), ModelRefused, BadReply (empty, cut off, not what was asked for).
        """

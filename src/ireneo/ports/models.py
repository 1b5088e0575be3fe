"""What the engine needs beside a store: a model, an embedder, a tokenizer, a redactor, a clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Generic, Literal, Protocol, TypeVar

from msgspec import Struct

from ireneo.memories.index import Vector


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The time, with its zone."""


class Tokenizer(Protocol):
    """Counts what a text costs a model to read."""

    name: str

    def count(self, text: str) -> int:
        """Count the tokens of `text`."""


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


Task = Literal["notes", "story", "reflect", "facts", "lessons", "act"]
"""What a model is asked for; each task may have a model of its own, since a small literal one is right for memory."""

R = TypeVar("R", bound=Struct)


class Prompt(Struct, frozen=True, kw_only=True):
    """What a model is asked, rendered."""

    task: Task
    name: str
    """The prompt and its version, such as ``notes-1``."""
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


class Redactor(Protocol):
    """Takes the secrets out of the texts of one message, which are handed to it in their order.

    It remembers what it found, so that a password that was named once is found again where it stands bare; equal
    texts in an equal order give equal texts. Each message has a redactor of its own: what becomes of it then depends
    on nothing but itself, so that it has one id through whichever door it comes.
    """

    def redact(self, text: str, name: str = "") -> str:
        """`text` with a mark such as ``[REDACTED password]`` for each secret; the very same object where it has none.

        `name` is what the text stands under, where that may give it away: a key of an object, an option of a command.
        """

    def redact_record(self, text: str, name: str = "") -> str:
        """The same for what a provider or a log wrote beside a message.

        No id comes of it, so it may go by what was looked through in other messages: a log writes a whole file down
        again with each edit.
        """

    def know(self, secrets: Mapping[str, str]) -> None:
        """Take these for found, each with its kind: they are looked for where they stand bare."""

    @property
    def secrets(self) -> Mapping[str, str]:
        """The secrets that were found so far, each with its kind."""

"""The ports besides the store: a model, an embedder, a tokenizer, a redactor, a clock; log files and workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from os import PathLike
from typing import BinaryIO, Generic, Literal, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from ireneo.memories.index import Vector


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The current time, with its zone."""


class Tokenizer(Protocol):
    """Counts tokens."""

    def count(self, text: str) -> int:
        """Count the tokens of `text`."""


class Embedder(Protocol):
    """A model that maps texts of similar meaning to vectors of similar direction, wherever it runs."""

    @property
    def name(self) -> str:
        """The name under which its vectors are stored: model, version, dimensions. Other vectors need another name."""

    @property
    def dimensions(self) -> int:
        """The length of a vector in bytes; 0 if it is unknown before the first answer."""

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
        """Return the vector of each text, in order; `query` marks texts as questions rather than stored content.

        Texts longer than the model reads are cut. The adapter does timeouts, batching and bounded retries, and never
        blocks the event loop. Raises EmbedderError, then without any result, and MissingExtra if a package is missing.
        """


Task = Literal["notes", "story", "reflect", "facts", "lessons", "act"]
"""The tasks of models; each may use a model of its own, since a small one that keeps to the text suits memory."""

R = TypeVar("R", bound=Struct)


class Prompt(Struct, frozen=True, kw_only=True):
    """A rendered prompt."""

    task: Task
    name: str
    """The prompt and its version, such as ``notes-1``."""
    system: str
    user: str
    max_tokens: int
    """The limit of the reply."""


class Usage(Struct, frozen=True, kw_only=True):
    """The billed usage, including failed attempts as far as the provider reported them."""

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
        """Ask once, and parse the answer as a `reply`.

        The adapter does timeouts and bounded retries. Raises ModelError: ModelTimeout, ModelUnavailable (no
        connection, 429, 5xx, wrong key), ModelRefused, BadReply (empty, truncated, not the requested shape).
        """


class Redactor(Protocol):
    """Removes secrets from the texts of one message, which are given to it in order.

    It remembers what it found, so that a password that was named once is recognised where it appears alone; equal texts
    in equal order give equal results. Each message has a redactor of its own, so that its id depends on nothing else.
    """

    def redact(self, text: str, name: str = "") -> str:
        """Replace each secret by a mark such as ``[REDACTED password]``; return the same object if there is none.

        `name` is the label of the text, which may reveal a secret: a key of an object, an option of a command.
        """

    def redact_record(self, text: str, name: str = "") -> str:
        """Redact the data that a provider or a log stored with a message.

        No id depends on it, so it may use results from other messages: logs repeat a whole file with each edit.
        """

    @property
    def secrets(self) -> Mapping[str, str]:
        """The secrets found so far, each with its kind."""


# Log files, and the workers that analyse them.


class LogSource(Protocol):
    """An open log file, however it is compressed."""

    label: str
    """The name of the file in messages to the user."""
    stem: str
    """The name of sessions in it that have no id of their own."""
    damage: str | None
    """Why its lines ended before the file did."""

    @property
    def left_out(self) -> Sequence[int]:
        """The numbers of the lines that are too long to be read."""

    @property
    def size(self) -> int:
        """The size of the file on disk, in bytes."""

    @property
    def bytes_read(self) -> int:
        """How many bytes of the log on disk were read so far."""

    def sample(self) -> bytes:
        """The beginning of the file, which `lines` yields again. Raises BadInput."""

    def digest(self) -> str:
        """A digest of its content; empty if it can't be read twice."""

    def raw(self) -> bytes:
        """All of its bytes, as they are on disk."""

    def lines(self) -> Iterator[bytes]:
        """Iterate over its lines."""

    def label_of(self, session: str) -> Mapping[str, object] | None:
        """The label of one of its sessions, for example from an index next to the file: verdict, reward, lessons."""

    @property
    def is_labelled(self) -> bool:
        """Whether there may be such labels, which only a process on the same disk can read."""

    def close(self) -> None:
        """Close it."""


LogPlace: TypeAlias = str | PathLike[str] | BinaryIO
"""The place of a log: a file, a folder of events, or an open seekable file."""

OpensLog: TypeAlias = Callable[[LogPlace], LogSource]
"""Opens a log. Raises BadInput if it can't be read."""


class Workers(Protocol):
    """Running worker processes, here or elsewhere; they share nothing, not even a disk, and may die at any time."""

    @property
    def width(self) -> int:
        """How many tasks to submit at a time."""

    async def run(self, task: bytes) -> bytes | None:
        """Run a task and return its answer, retrying on another worker if one dies; None if all that tried it died.

        Raises BadInput if no worker can be reached (any more).
        """


OpensWorkers: TypeAlias = Callable[[str], AbstractAsyncContextManager[Workers]]
"""Opens the workers at an address. Raises BadInput for an invalid address, MissingExtra."""

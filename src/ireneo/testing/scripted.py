"""A model that answers as a test tells it to, and a clock that a test moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeAlias, TypeVar

import msgspec

from ireneo.errors import BadReply
from ireneo.ports.models import Prompt, Reply, Usage

R = TypeVar("R", bound=msgspec.Struct)

Scripted: TypeAlias = "msgspec.Struct | Mapping[str, object] | str | Exception"
"""One answer: a reply, or the JSON object of one, as a dictionary or as text; or the error that asking ends in."""

Script: TypeAlias = "Sequence[Scripted] | Callable[[Prompt], Scripted]"
"""The answers in order, or what makes each from the prompt."""

_LETTERS_PER_TOKEN = 4


class ScriptedLLM:
    """A LanguageModel for tests: it answers from a script, and remembers what it was asked.

    What doesn't fit the reply that is asked for is a BadReply, as it is from a real model. Being asked more often
    than the script has answers is a fault of the test, and so an AssertionError. A token is four characters.
    """

    def __init__(self, script: Script, *, name: str = "scripted") -> None:
        """Take the script; `name` is what the replies say they come from."""
        self.name = name
        self.prompts: list[Prompt] = []
        """What it was asked, in order."""
        self._script = script

    async def ask(self, prompt: Prompt, reply: type[R]) -> Reply[R]:
        """Answer with the script's next answer."""
        self.prompts.append(prompt)
        answer = self._next(prompt)
        if isinstance(answer, Exception):
            raise answer
        tokens_in = tokens(prompt.system) + tokens(prompt.user)
        text = answer if isinstance(answer, str) else msgspec.json.encode(answer).decode()
        try:
            value = answer if isinstance(answer, reply) else msgspec.json.decode(text, type=reply)
        except msgspec.DecodeError as wrong:
            spent = tokens_in + tokens(text)
            raise BadReply(f"The answer of {self.name} does not fit: {wrong}.", calls=1, tokens=spent) from wrong
        return Reply(value=value, usage=Usage(tokens_in=tokens_in, tokens_out=tokens(text)), model=self.name)

    def _next(self, prompt: Prompt) -> Scripted:
        if callable(self._script):
            return self._script(prompt)
        asked = len(self.prompts)
        assert asked <= len(self._script), f"{self.name} was asked {asked} times, and has {len(self._script)} answers."
        return self._script[asked - 1]


def tokens(text: str) -> int:
    """How many tokens a ScriptedLLM takes a text for."""
    return -(-len(text) // _LETTERS_PER_TOKEN)


class ManualClock:
    """A Clock that stands still until it is moved."""

    def __init__(self, at: datetime | None = None) -> None:
        """Stand at `at`; at noon of the first day of 2026 in UTC, where no time is given."""
        self._at = at or datetime(2026, 1, 1, 12, tzinfo=UTC)

    def now(self) -> datetime:
        """The time that it was set to."""
        return self._at

    def move(self, by: timedelta) -> None:
        """Go on by so much, or back."""
        self._at += by

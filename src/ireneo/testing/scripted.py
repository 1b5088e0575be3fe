"""A model that answers from a script, and a clock that stands still, for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeAlias, TypeVar

import msgspec

from ireneo.errors import BadReply
from ireneo.patterns import readable
from ireneo.ports.models import Prompt, Reply, Usage

R = TypeVar("R", bound=msgspec.Struct)

Scripted: TypeAlias = "msgspec.Struct | Mapping[str, object] | str | Exception"
"""One answer: a reply; a reply as a JSON object, in a dictionary or a text; or an error to raise."""

Script: TypeAlias = "Sequence[Scripted] | Callable[[Prompt], Scripted]"
"""The answers in order, or a function that makes the answer to a prompt."""

_LETTERS_PER_TOKEN = 4


class ScriptedLLM:
    """A `LanguageModel` for tests: it answers from a script, and records its prompts.

    As with a real model, an answer that doesn't fit the requested reply raises BadReply. A test that asks more often
    than the script has answers fails with an AssertionError. Four characters count as a token.
    """

    def __init__(self, script: Script, *, name: str = "scripted") -> None:
        """Answer from `script`; `name` is the model's name in the replies."""
        self.name = name
        self.prompts: list[Prompt] = []
        """The prompts that the model was asked, in order."""
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
            value = answer if isinstance(answer, reply) else msgspec.json.decode(text, type=readable(reply))
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
    """Return how many tokens a `ScriptedLLM` counts for a text."""
    return -(-len(text) // _LETTERS_PER_TOKEN)


class ManualClock:
    """A `Clock` that stands still until it is moved."""

    def __init__(self, at: datetime | None = None) -> None:
        """Start at `at`, by default at noon on 1 January 2026, UTC."""
        self._at = at or datetime(2026, 1, 1, 12, tzinfo=UTC)

    def now(self) -> datetime:
        """Return the time that the clock was set to."""
        return self._at

    def move(self, by: timedelta) -> None:
        """Move the clock forward, or back."""
        self._at += by

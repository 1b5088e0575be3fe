"""A model that answers as its mood is, and a memory that has it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import msgspec
from tests.property.invariants.promises import TOKENS
from tests.story_parts import replied

from ireneo import Memory
from ireneo.engine.models import Limits, Models
from ireneo.engine.resources import Resources
from ireneo.errors import BadReply, ModelRefused, ModelTimeout, ModelUnavailable, SpendingLimit
from ireneo.ports.models import Prompt, Reply
from ireneo.ports.store import Store
from ireneo.testing.scripted import ManualClock, Scripted, ScriptedLLM

from .material import MARK

R = TypeVar("R", bound=msgspec.Struct)

ERROR_TEXT = "Error: 529 Overloaded at the harbour."
MOODS = ("fine", "fine", "fails", "refuses", "times out", "rubbish", "error text", "invents", "out of money")
UNLIMITED = Limits(calls_per_session=None, tokens_per_session=None, calls_per_day=None, tokens_per_day=None)


def retold(shown: str) -> dict[str, object]:
    """A text of what is shown: some of its sentences, word for word."""
    sentences = shown.replace("\n", " ").split(". ")
    told = [sentence.split(": ")[-1] for sentence in sentences if MARK.search(sentence) and '"' not in sentence][-6:]
    return {"text": ". ".join([*told, ""]).strip() or "Rain came in from Marrow.", "names": ["Holm", "Vera"]}


class FickleLLM:
    """A LanguageModel whose mood a test sets; it remembers what it was asked."""

    def __init__(self) -> None:
        self.mood = "fine"
        self.before: Callable[[], None] = lambda: None
        """What happens while it thinks."""
        self.waits: asyncio.Event | None = None
        """What it waits for, where it is slow."""
        self.running = 0
        self._inner = ScriptedLLM(self._answer)

    @property
    def prompts(self) -> list[Prompt]:
        """What it was asked."""
        return self._inner.prompts

    async def ask(self, prompt: Prompt, reply: type[R]) -> Reply[R]:
        """Answer in its mood."""
        self.running += 1
        try:
            await asyncio.sleep(0)
            if self.waits is not None:
                await self.waits.wait()
            self.before()
            return await self._inner.ask(prompt, reply)
        finally:
            self.running -= 1

    def _answer(self, prompt: Prompt) -> Scripted:
        answers: dict[str, Scripted] = {
            "fails": ModelUnavailable("The model can't be reached."),
            "refuses": ModelRefused("The model refused."),
            "times out": ModelTimeout("The model did not answer in time."),
            "bad reply": BadReply("The answer was cut off."),
            "out of money": SpendingLimit("The limit is reached."),
            "rubbish": "<html>502 Bad Gateway</html>",
            "error text": {"text": ERROR_TEXT, "names": []},
            "invents": {"text": "Zarkon zq99x99q burned Wexcombe in 1777. He laughed.", "names": ["Zarkon"]},
        }
        return answers.get(self.mood) or replied(prompt, retold)


def memory_with(store: Store, model: FickleLLM, clock: ManualClock | None = None) -> Memory:
    """A memory over an open store, with a model."""
    means = Resources(
        store=store,
        count=TOKENS.count,
        clock=clock or ManualClock(),
        models=Models.of(model),
        limits=UNLIMITED,
        listen=False,
    )
    return Memory(means, "mine")

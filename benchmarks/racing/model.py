"""A model that takes its sentences from what it is shown, and its time."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from ireneo.ports.models import Prompt, Reply, Usage
from racing.ledger import Ledger
from racing.tale import WORD

R = TypeVar("R", bound=msgspec.Struct)

MOST_SENTENCES = 8
HANGS, STALLS = 0.01, 0.004
"""So often an answer takes far longer than a lease lasts; and so often the whole process stands still meanwhile."""
_SECTION = re.compile(r"<(messages|parts)>\n(.*)\n</\1>", re.DOTALL)
_PART = re.compile(r"^=== Part \d+\n", re.M)
_ASKED = re.compile(r"^\d+\. of parts? (\d+)(?: to (\d+) as one)?: ", re.M)
_LABEL = re.compile(r"^(?:\[\d+\]|\w+:) ")
_NAMES = re.compile(r" \(names: [^)]*\)$")
_END = re.compile(r"(?<=[.?!]) +")


class ScriptedModel:
    """A LanguageModel that writes down when it is asked for what, and when it has answered."""

    def __init__(self, ledger: Ledger, chance: random.Random, longest_seconds: float) -> None:
        """Take up to `longest_seconds` for an answer, and now and then much more."""
        self.last = ""
        """The name of the text that it was asked for last."""
        self._ledger = ledger
        self._chance = chance
        self._longest = longest_seconds

    async def ask(self, prompt: Prompt, reply: type[R]) -> Reply[R]:
        """Answer with sentences from the prompt's messages."""
        words = WORD.findall(section_of(prompt.user))
        self.last = f"{prompt.name} {words[0]} {words[-1]}" if words else f"{prompt.name} {hash(prompt.user)}"
        self._ledger.called("asked", self.last)
        await self._think()
        value = msgspec.convert(
            reply_to(prompt.user, lambda told: {"text": " ".join(chosen(told)), "facts": []}), reply
        )
        self._ledger.called("answered", self.last)
        return Reply(value=value, usage=Usage(tokens_in=len(prompt.user) // 4, tokens_out=100), model="scripted")

    async def _think(self) -> None:
        luck = self._chance.random()
        if luck < STALLS:
            # Nothing else runs in this process, so that no heartbeat renews the lease.
            time.sleep(self._chance.uniform(0.6, 1.2))
        elif luck < STALLS + HANGS:
            await asyncio.sleep(self._chance.uniform(1.0, 2.0))
        else:
            await asyncio.sleep(0.005 + (self._longest - 0.005) * self._chance.random() ** 3)


def section_of(user: str) -> str:
    """The messages or parts that a prompt shows; all of it, where it shows neither."""
    shown = _SECTION.findall(user)
    return shown[-1][1] if shown else user


def reply_to(user: str, write: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """What `write` makes of the section that a prompt shows, or of each stretch of it that a text is asked for."""
    told = section_of(user)
    parts = _PART.split(told)[1:]
    if not parts:
        return write(told)
    asked = [(int(first), int(last or first)) for first, last in _ASKED.findall(user)]
    return {
        "texts": [
            {"number": number, **write("".join(parts[first - 1 : last]))}
            for number, (first, last) in enumerate(asked, 1)
        ]
    }


def chosen(told: str) -> list[str]:
    """Some sentences of what was shown, in order, from its beginning to its end."""
    plain = [_NAMES.sub("", _LABEL.sub("", line)) for line in told.splitlines()]
    found = [sentence for line in plain for sentence in _END.split(line) if WORD.search(sentence)]
    if len(found) <= MOST_SENTENCES:
        return found
    return [found[place * len(found) // MOST_SENTENCES] for place in range(MOST_SENTENCES)]

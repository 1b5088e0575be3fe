"""What a message costs a model to read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from ireneo.log.message import Call, Media, Opaque, Part, Result, Text, Thinking, as_read

Count = Callable[[str], int]
"""Counts the tokens of a text."""


class Recount:
    """Counts texts that are said again and again; it remembers those of this turn and of the one before."""

    def __init__(self, count: Count) -> None:
        """Begin with nothing."""
        self._count = count
        self._before: dict[str, int] = {}
        self._now: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Count the tokens of `text`."""
        known = self._now.get(text)
        if known is None:
            known = self._before.get(text)
            self._now[text] = known = self._count(text) if known is None else known
        return known

    def turn(self) -> None:
        """Begin the next turn."""
        self._before, self._now = self._now, {}

    def clear(self) -> None:
        """Let go of everything."""
        self._before, self._now = {}, {}


MESSAGE_TOKENS = 4
"""A message's role and its frame in the provider's template."""
CALL_TOKENS = 8
"""A call's or a result's id and frame."""
IMAGE_TOKENS = 1_500
"""A full-size image; providers scale larger ones down to about this."""
BYTES_PER_TOKEN = 4
"""Of a document or a sound whose length in tokens only its provider knows."""


def weigh(parts: Sequence[Part], count: Count) -> tuple[int, int]:
    """Count the tokens of a message's parts: (all but its thinking, its thinking)."""
    tokens, thinking = MESSAGE_TOKENS, 0
    for part in parts:
        if isinstance(part, Thinking):
            thinking += count(part.text) if part.text else len(part.sealed or "") // BYTES_PER_TOKEN
        else:
            tokens += _of_part(part, count)
    return tokens, thinking


def _of_part(part: Part, count: Count) -> int:
    if isinstance(part, Text):
        return count(as_read(part))
    if isinstance(part, Call):
        return CALL_TOKENS + count(part.name) + count(arguments_text(part))
    if isinstance(part, Result):
        return CALL_TOKENS + sum(_of_part(inner, count) for inner in part.parts)
    if isinstance(part, Media):
        size = len(part.data or part.url or "")
        return IMAGE_TOKENS if part.media_type.startswith("image/") else size // BYTES_PER_TOKEN
    if isinstance(part, Opaque):
        return count(json.dumps(part.payload, ensure_ascii=False))
    return 0


def arguments_text(call: Call) -> str:
    """A call's arguments as the model reads them."""
    if isinstance(call.arguments, str):
        return call.arguments
    return json.dumps(call.arguments, ensure_ascii=False)


def strings(value: object) -> Iterator[str]:
    """Every string among a call's arguments, however deep: what the agent wrote, without the names its tool gave."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from strings(item)

"""A stored session as the material of learning: its main path, in windows that one head and one memory can hold."""

from __future__ import annotations

from collections.abc import AsyncIterator

from msgspec.structs import replace

from ireneo.engine.cleaning import Cleaning
from ireneo.log.branch import Head, SessionKey
from ireneo.log.message import Call, Draft, Message, Part, Result, Text
from ireneo.ports.store import Store

PAGE = 1_000
"""Messages that are read at one time."""
WINDOW_MESSAGES = 20_000
WINDOW_CHARACTERS = 16_000_000
"""A window ends at the first turn behind so much; a session of a year is learned from piece by piece."""
MOST_RESULT = 40_000
"""Characters of a text that are looked at, half of them from its end: there it says what came of it."""


async def windows(store: Store, key: SessionKey, head: Head, cleaning: Cleaning) -> AsyncIterator[list[Message]]:
    """What was spoken on the path to `head`, in order, without secrets, long texts without their middle.

    What a harness put in, and another tool's compaction, is evidence for nothing and is left out.
    """
    window: list[Message] = []
    size = 0
    for first in range(0, head.position + 1, PAGE):
        async with store.read() as tx:
            page = await tx.log.path(key, head.id, first, min(first + PAGE - 1, head.position))
        for message in page:
            full = size >= WINDOW_CHARACTERS or len(window) >= WINDOW_MESSAGES
            twice = size >= 2 * WINDOW_CHARACTERS or len(window) >= 2 * WINDOW_MESSAGES
            if window and ((full and message.opens_turn) or (twice and message.role == "assistant")):
                yield window
                window, size = [], 0
            if message.draft.origin == "spoken" and not message.erased:
                clean = cleaning.message(message)
                short = replace(clean, draft=shortened(clean.draft))
                window.append(short)
                size += sum(_size(part) for part in short.parts)
    if window:
        yield window


def shortened(draft: Draft) -> Draft:
    """`draft` with the middle of its long texts left out."""
    if all(_size(part) <= MOST_RESULT for part in draft.parts):
        return draft
    return replace(draft, parts=tuple(_shortened(part) for part in draft.parts))


def _shortened(part: Part) -> Part:
    if isinstance(part, Text):
        return replace(part, text=_ends(part.text))
    if isinstance(part, Result):
        parts = tuple(replace(each, text=_ends(each.text)) if isinstance(each, Text) else each for each in part.parts)
        return replace(part, parts=parts)
    if isinstance(part, Call):
        if isinstance(part.arguments, str):
            return replace(part, arguments=_ends(part.arguments))
        given = {name: _ends(value) if isinstance(value, str) else value for name, value in part.arguments.items()}
        return replace(part, arguments=given)
    return part


def _ends(text: str) -> str:
    half = MOST_RESULT // 2
    return text if len(text) <= MOST_RESULT else f"{text[:half]}\n…\n{text[-half:]}"


def _size(part: Part) -> int:
    if isinstance(part, Text):
        return len(part.text)
    if isinstance(part, Result):
        return len(part.text)
    if isinstance(part, Call):
        given = [part.arguments] if isinstance(part.arguments, str) else part.arguments.values()
        return sum(len(value) for value in given if isinstance(value, str))
    return 0

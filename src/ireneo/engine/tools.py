"""A session's memory as plain functions, to be given to an agent as tools: text in, text out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ireneo.context.offline.prose import clip
from ireneo.context.summary import Summary
from ireneo.context.weigh import arguments_text
from ireneo.errors import BadInput, MessageNotFound
from ireneo.log.message import Message, texts
from ireneo.memories.record import Record
from ireneo.pyramid.allot import tell_blocks

if TYPE_CHECKING:
    from ireneo.engine.session import Session

Tool: TypeAlias = Callable[..., Awaitable[str]]

PAGE_CHARACTERS = 12_000
"""What one answer brings into the context, about 3,000 tokens; the rest is opened message by message."""
PIECE_CHARACTERS = 1_500
SOURCES = 8
"""So many ids of what a memory was drawn from are named."""


def tools(session: Session) -> Sequence[Tool]:
    """`expand` and `dispute`, as functions whose names, arguments and docstrings a model can be shown."""

    async def expand(id: str) -> str:
        """Open what a summary or a shortened message stands for.

        Args:
            id: What the text says it is opened with, such as s_8f2k3ab or m_c0ffee1; also a memory.
        """
        try:
            opened = await session.expand(id)
        except MessageNotFound as missing:
            # What a brief or a recall shows has an id too, and an agent can't know in which of the two it stands.
            known = await session.memory_named(id)
            return _remembered(known) if known else str(missing)
        except BadInput as fault:
            return str(fault)
        if opened.parts and not opened.messages:
            return _parts(opened.parts)
        whole = opened.summary is None
        return _page(opened.messages, len(opened.messages) if whole else None)

    async def dispute(id: str, reason: str) -> str:
        """Say that a summary of your earlier work is wrong, after you opened it and saw that it is.

        Args:
            id: The summary's id, such as s_8f2k3ab.
            reason: What is wrong with it, and what the messages show instead.
        """
        try:
            await session.dispute(id, reason)
        except BadInput as fault:
            return str(fault)
        return f"{id} is shown as disputed from now on, and is written again from its sources."

    return (expand, dispute)


def _remembered(record: Record) -> str:
    """A memory, and what it was drawn from."""
    state = f", {record.state}: {record.reason}" if record.reason else f", {record.state}"
    sources = f"\nDrawn from {' '.join(f'[{name}]' for name in record.sources[:SOURCES])}" if record.sources else ""
    return clip(f"[{record.id}] {record.kind} memory{state}\n{record.text}{sources}", PAGE_CHARACTERS)


def _parts(parts: Sequence[Summary]) -> str:
    """The finer summaries of a long stretch of a story, each with the id by which it is opened further."""
    return "\n\n".join(tell_blocks(parts, PAGE_CHARACTERS, len))


def _page(messages: Sequence[Message], whole: int | None) -> str:
    """The messages as text: one alone with all that fits on a page, of several the beginning of each."""
    limit = PAGE_CHARACTERS if whole == 1 else PIECE_CHARACTERS
    out: list[str] = []
    left = PAGE_CHARACTERS
    for place, message in enumerate(messages):
        # Words that have an author begin with the name.
        who = "" if message.draft.author else f"{message.role}: "
        text = f"[{message.id}] {who}{clip(_words(message), limit)}"
        left -= len(text)
        if left < 0 and out:
            out.append(f"({len(messages) - place} more messages; open the next one with {message.id})")
            break
        out.append(text)
    return "\n\n".join(out)


def _words(message: Message) -> str:
    said = list(texts(message.parts))
    said += [f"{call.name} {arguments_text(call)}" for call in message.draft.calls]
    return "\n".join(said)

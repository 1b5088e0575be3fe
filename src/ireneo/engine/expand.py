"""Open what a context abbreviates: the messages behind a block or a mark, also as tools for an agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from ireneo.context.story_blocks import tell_blocks
from ireneo.engine.tree import MIN_ID_LENGTH, messages_named, only_match
from ireneo.errors import BadInput, MessageNotFound, SummaryNotFound
from ireneo.log.message import Draft, Message, MessageId, arguments_text, heard_by, names_of, texts
from ireneo.log.tree import SessionKey
from ireneo.memories.record import Record
from ireneo.ports.store import Transaction
from ireneo.short_repr import ShortRepr
from ireneo.summaries.policy import seen_by
from ireneo.summaries.steps import clip
from ireneo.summaries.summary import Summary, SummaryId

MOST_OPENED = 2_000
"""A story's block of more messages is opened part by part."""


class Expanded(ShortRepr, frozen=True, kw_only=True):
    """What an id opens."""

    summary: Summary | None
    """The block, where it is one."""
    messages: tuple[Message, ...]
    """The messages that it covers, or the message itself, with native payloads and log records.

    Empty where a story's block covers more than 2,000: then it is opened by its parts."""
    parts: tuple[Summary, ...] = ()
    """Of a story's block: the finer ones under it."""


def expand(tx: Transaction, key: SessionKey, name: str, viewpoint: str = "") -> Expanded:
    """Open a summary or a message by its id or abbreviation.

    With a `viewpoint` only that character's summaries, and messages that she heard.
    """
    if name.startswith("s_"):
        return _summary(tx, key, name, viewpoint)
    found = messages_named(name, tx.log.find(key, [name])) if name else []
    found = [each for each in found if not viewpoint or heard_by(each.draft, viewpoint)]
    if not found and len(name) >= MIN_ID_LENGTH and tx.memories.get(key.space, [name]):
        # Memories have ids like messages.
        raise MessageNotFound(
            f"{name} is a memory, and no message of session {key.session}; open it from the memory (`lookup`)."
        )
    if not found:
        raise MessageNotFound(f"There is no message {name} in session {key.session}.")
    return Expanded(summary=None, messages=tuple(_whole(tx, key, found)))


def find_summary(tx: Transaction, key: SessionKey, name: str) -> Summary:
    """The summary with that id or abbreviation. Raises SummaryNotFound, and BadInput for several."""
    found = {summary.id: summary for summary in tx.summaries.find(key, name)} if name else {}
    if not found:
        raise SummaryNotFound(f"There is no summary {name} in session {key.session}.")
    return found[SummaryId(only_match(name, found, "summary"))]


def _summary(tx: Transaction, key: SessionKey, name: str, viewpoint: str) -> Expanded:
    summary = find_summary(tx, key, name)
    if viewpoint and not set(names_of(seen_by(summary.summarizer))) & set(names_of(viewpoint)):
        raise SummaryNotFound(f"{name} is not what {viewpoint} remembers; open what her own context shows.")
    parts = tuple(tx.summaries.get(key, summary.sources)) if summary.level == "story" else ()
    if parts and summary.messages > MOST_OPENED:
        return Expanded(summary=summary, messages=(), parts=parts)
    messages = tx.log.path(key, summary.last, summary.first_position, summary.last_position)
    if character := seen_by(summary.summarizer):
        # A character's memory opens only to what she was present for.
        messages = [message for message in messages if heard_by(message.draft, character)]
    return Expanded(summary=summary, messages=tuple(_whole(tx, key, messages)), parts=parts)


def _whole(tx: Transaction, key: SessionKey, messages: Sequence[Message]) -> list[Message]:
    """The messages with native payloads and log records."""
    drafts: Mapping[MessageId, Draft] = tx.log.drafts(key, [message.id for message in messages])
    return [replace(message, draft=drafts[message.id]) for message in messages]


Tool: TypeAlias = Callable[..., Awaitable[str]]

PAGE_CHARACTERS = 12_000
"""Most characters of a tool's answer, about 3,000 tokens."""
PIECE_CHARACTERS = 1_500
SOURCES = 8
"""Most sources of a memory that are named."""


def tools(
    opened_by: Callable[[str], Awaitable[Expanded]],
    disputed_by: Callable[[str, str], Awaitable[object]],
    memory_named: Callable[[str], Awaitable[Record | None]],
) -> Sequence[Tool]:
    """`expand` and `dispute`, as functions whose names, arguments and docstrings a model can be shown."""

    async def expand(id: str) -> str:
        """Open what a summary or a shortened message stands for.

        Args:
            id: What the text says it is opened with, such as s_8f2k3ab or m_c0ffee1; also a memory.
        """
        try:
            try:
                opened = await opened_by(id)
            except MessageNotFound as missing:
                # Briefs and recalls show ids of memories as well, which an agent can't tell apart.
                known = await memory_named(id)
                return _memory_text(known) if known else str(missing)
        except BadInput as fault:
            return str(fault)
        if opened.parts and not opened.messages:
            return "\n\n".join(tell_blocks(opened.parts, PAGE_CHARACTERS, len))
        whole = opened.summary is None
        return _message_page(opened.messages, len(opened.messages) if whole else None)

    async def dispute(id: str, reason: str) -> str:
        """Say that a summary of your earlier work is wrong, after you opened it and saw that it is.

        Args:
            id: The summary's id, such as s_8f2k3ab.
            reason: What is wrong with it, and what the messages show instead.
        """
        try:
            await disputed_by(id, reason)
        except BadInput as fault:
            return str(fault)
        return f"{id} is shown as disputed from now on, and is written again from its sources."

    return (expand, dispute)


def _memory_text(record: Record) -> str:
    """A memory, and what it was drawn from."""
    state = f", {record.state}: {record.reason}" if record.reason else f", {record.state}"
    sources = f"\nDrawn from {' '.join(f'[{name}]' for name in record.sources[:SOURCES])}" if record.sources else ""
    return clip(f"[{record.id}] {record.kind} memory{state}\n{record.text}{sources}", PAGE_CHARACTERS)


def _message_page(messages: Sequence[Message], whole: int | None) -> str:
    """The messages as text: one alone up to a page, of several the beginning of each."""
    limit = PAGE_CHARACTERS if whole == 1 else PIECE_CHARACTERS
    out: list[str] = []
    left = PAGE_CHARACTERS
    for place, message in enumerate(messages):
        # Authored text begins with the name.
        who = "" if message.draft.author else f"{message.role}: "
        text = f"[{message.id}] {who}{clip(_plain_words(message), limit)}"
        left -= len(text)
        if left < 0 and out:
            out.append(f"({len(messages) - place} more messages; open the next one with {message.id})")
            break
        out.append(text)
    return "\n\n".join(out)


def _plain_words(message: Message) -> str:
    calls = (f"{call.name} {arguments_text(call)}" for call in message.draft.calls)
    return "\n".join([*texts(message.parts), *calls])

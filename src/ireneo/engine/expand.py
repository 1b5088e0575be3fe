"""Open what a context shows only in short: the raw messages behind a block or a mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.policy import seen_by
from ireneo.context.summary import Summary, SummaryId
from ireneo.engine.naming import LEAST, messages_named, the_one
from ireneo.errors import MessageNotFound, SummaryNotFound
from ireneo.log.branch import SessionKey
from ireneo.log.message import Draft, Message, MessageId, heard_by
from ireneo.ports.store import Store
from ireneo.ports.transition import Transaction

MOST_OPENED = 2_000
"""Messages; a block of a story that covers more is opened part by part."""


class Expanded(Struct, frozen=True, kw_only=True):
    """What stands behind an id."""

    summary: Summary | None
    """The block, where the id names one."""
    messages: tuple[Message, ...]
    """The messages that it covers, or the message itself; whole, with what their provider and their log wrote.

    None where a block of a story covers more than 2,000: its parts say what it was made from.
    """
    parts: tuple[Summary, ...] = ()
    """Of a block of a story: the finer ones under it, by whose ids it is opened further."""


async def expand(store: Store, key: SessionKey, name: str) -> Expanded:
    """Open a summary or a message by its id, or by the beginning of it that a context shows."""
    async with store.read() as tx:
        if name.startswith("s_"):
            return await _summary(tx, key, name)
        found = messages_named(name, await tx.log.find(key, [name])) if name else []
        if not found:
            raise MessageNotFound(await _missing(tx, key, name))
        return Expanded(summary=None, messages=tuple(await _whole(tx, key, found)))


async def find_summary(tx: Transaction, key: SessionKey, name: str) -> Summary:
    """The summary of that id, or the only one whose id begins so. Raises SummaryNotFound, and BadInput for several."""
    found = {summary.id: summary for summary in await tx.summaries.find(key, name)} if name else {}
    if not found:
        raise SummaryNotFound(f"There is no summary {name} in session {key.session}.")
    return found[SummaryId(the_one(name, found, "summary"))]


async def _missing(tx: Transaction, key: SessionKey, name: str) -> str:
    """Why nothing was found: a memory is called as messages are, and stands in no session."""
    if len(name) >= LEAST and await tx.memories.get(key.space, [name]):
        return f"{name} is a memory, and no message of session {key.session}; open it from the memory (`open_id`)."
    return f"There is no message {name} in session {key.session}."


async def _summary(tx: Transaction, key: SessionKey, name: str) -> Expanded:
    summary = await find_summary(tx, key, name)
    parts = tuple(await tx.summaries.get(key, summary.sources)) if summary.level == "story" else ()
    if parts and summary.messages > MOST_OPENED:
        return Expanded(summary=summary, messages=(), parts=parts)
    messages = await tx.log.path(key, summary.last, summary.first_position, summary.last_position)
    if character := seen_by(summary.family):
        # What one character remembers opens to what she was there for, and to nothing else.
        messages = [message for message in messages if heard_by(message.draft, character)]
    return Expanded(summary=summary, messages=tuple(await _whole(tx, key, messages)), parts=parts)


async def _whole(tx: Transaction, key: SessionKey, messages: Sequence[Message]) -> list[Message]:
    """The messages with their native payloads and log records."""
    drafts: Mapping[MessageId, Draft] = await tx.log.natives(key, [message.id for message in messages])
    return [replace(message, draft=drafts[message.id]) for message in messages]

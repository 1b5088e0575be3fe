"""What an offer names as its sources: that it is there, and whether a person or a tool said it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ireneo.context.summary import SummaryId
from ireneo.errors import BadInput
from ireneo.log.branch import SessionKey
from ireneo.log.echo import said_in
from ireneo.log.message import Message, MessageId, texts
from ireneo.memories.offer import Offer
from ireneo.memories.recall.words import terms
from ireneo.ports.transition import Transaction


async def grounded(tx: Transaction, space: str, offer: Offer) -> tuple[Offer, bool]:
    """`offer` without the sources that are none, and whether a message by a user or of a tool is among the rest.

    What a harness put in, another tool's compaction, or what memory recalled, is nobody's word, and what was erased is
    none. Raises BadInput where a source is not there.
    """
    if offer.memories:
        there = {each.id for each in await tx.memories.get(space, offer.memories)}
        _check("memory", [name for name in offer.memories if name not in there])
    if not offer.messages and not offer.summaries:
        return offer, False
    sessions = await _sessions(tx, space, offer)
    if offer.summaries:
        await _check_summaries(tx, sessions, offer)
    messages, where = await _messages(tx, sessions, offer.messages)
    _check("message", [name for name in offer.messages if name not in messages])
    spoken = tuple(name for name in offer.messages if _says(messages[name], offer.text))
    heard = any(messages[name].role in ("user", "tool") for name in spoken)
    if not offer.session and len(where) == 1:
        # What nobody said where it comes from comes from where its messages stand.
        offer = replace(offer, session=where[0])
    return replace(offer, messages=spoken), heard


def is_source(message: Message) -> bool:
    """Whether a message may speak for a memory."""
    return message.draft.origin == "spoken" and not message.erased


def _says(message: Message, text: str) -> bool:
    """Whether somebody says in it what `text` tells: where memory put something into it, in the rest of it."""
    if not is_source(message):
        return False
    said = said_in(message.draft)
    if said is message.draft:
        return True
    wanted = set(terms(text))
    left = {term for each in texts(said.parts) for term in terms(each)}
    return bool(wanted) and 2 * len(wanted & left) >= len(wanted)


async def _sessions(tx: Transaction, space: str, offer: Offer) -> list[SessionKey]:
    """Where the sources are looked for: in the offer's session, and else in all of the space, the newest first."""
    named = [SessionKey(space, offer.session)] if offer.session else []
    if named and await tx.sessions.get(named[0]) is None:
        named = []
    return named or [each.key for each in await tx.sessions.list(space)]


async def _messages(
    tx: Transaction, sessions: Sequence[SessionKey], wanted: Sequence[MessageId]
) -> tuple[Mapping[MessageId, Message], list[str]]:
    """The messages that are named, and the sessions in which they were found."""
    found: dict[MessageId, Message] = {}
    where: list[str] = []
    for key in sessions:
        left = [name for name in wanted if name not in found]
        if not left:
            break
        there = {each.id: each for each in await tx.log.find(key, left)}
        where += [key.session] if any(name in there for name in left) else []
        found.update(there)
    return found, where


async def _check_summaries(tx: Transaction, sessions: Sequence[SessionKey], offer: Offer) -> None:
    left = set(offer.summaries)
    for key in sessions:
        if not left:
            break
        left -= {each.id for each in await tx.summaries.get(key, [SummaryId(name) for name in left])}
    _check("summary", sorted(left))


def _check(what: str, missing: Sequence[str]) -> None:
    if missing:
        raise BadInput(f"There is no {what} {missing[0]!r} in this space; name only sources that are stored.")

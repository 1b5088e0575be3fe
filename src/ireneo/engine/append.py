"""Append messages to a session's branch."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ireneo.context.weigh import Count, weigh
from ireneo.engine.projects import LOOKED_AT, place_session
from ireneo.errors import MessageNotFound
from ireneo.log.branch import ROOT, Head, SessionKey, chain, head_of
from ireneo.log.message import Draft, Message, MessageId
from ireneo.ports.store import Store, Transaction


class Appended(Struct, frozen=True, kw_only=True):
    """What an append did."""

    ids: tuple[MessageId, ...]
    """The names of the messages, in order, whether they are new or were there."""
    new: int
    """How many of them were not stored before."""


async def append(
    store: Store,
    key: SessionKey,
    branch: str,
    drafts: Sequence[Draft],
    count: Count,
    *,
    source: str | None,
    after: str | None = None,
    project: str = "",
) -> Appended:
    """Append `drafts` after the branch's head, or after the message `after`, and move the branch to the last of them.

    With `after`, offering the same again changes nothing: the same messages after the same past are the same. The
    branch is moved only where that takes it on from where it stands. `project` is the one that the session works on,
    where that is told; raises BadInput where it is known to be of another.
    """
    async with store.write() as tx:
        is_new = await tx.sessions.create(key, source)
        head = await tx.log.head(key, branch)
        place = head if after is None else await _place(tx, key, after)
        messages = chain(place, drafts, lambda parts: weigh(parts, count))
        if not messages:
            return Appended(ids=(), new=0)
        new = await tx.log.insert(key, messages)
        last = messages[-1]
        if await _goes_on(tx, key, head, last) or not await _lies_behind(tx, key, head, last):
            await tx.log.move(key, branch, last.id)
        if is_new or project or any(each.record for each in drafts[:LOOKED_AT]):
            await place_session(tx, key, project, drafts)
    return Appended(ids=tuple(message.id for message in messages), new=new)


async def _place(tx: Transaction, key: SessionKey, after: str) -> Head | None:
    """The head that `after` names: a message by id, or the place before the first one."""
    if after == ROOT:
        return None
    found = await tx.log.find(key, [after])
    if not found:
        raise MessageNotFound(f"There is no message {after} in session {key.session}.")
    return head_of(found[0])


async def _goes_on(tx: Transaction, key: SessionKey, head: Head | None, last: Message) -> bool:
    """Whether `last` comes after `head` on one path."""
    if head is None:
        return True
    if last.position <= head.position:
        return False
    at = await tx.log.path(key, last.id, head.position, head.position)
    return bool(at) and at[0].id == head.id


async def _lies_behind(tx: Transaction, key: SessionKey, head: Head | None, last: Message) -> bool:
    """Whether the path to `head` goes through `last`, so that nothing was said that is not there already."""
    if head is None or last.position > head.position:
        return False
    at = await tx.log.path(key, head.id, last.position, last.position)
    return bool(at) and at[0].id == last.id

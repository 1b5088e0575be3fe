"""Append messages to a session's branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from ireneo.context.weigh import Count, weigh
from ireneo.engine.cleaning import Cleaning, chain_named
from ireneo.engine.naming import messages_named
from ireneo.engine.projects import LOOKED_AT, place_session
from ireneo.errors import MessageNotFound
from ireneo.log.branch import ROOT, Head, SessionKey, head_of
from ireneo.log.message import Draft, Message, MessageId, opens_turn
from ireneo.ports.store import Store, Transaction


class Appended(Struct, frozen=True, kw_only=True):
    """What an append did."""

    ids: tuple[MessageId, ...]
    """The names of the messages, in order, whether they are new or were there."""
    new: int
    """How many of them were not stored before."""
    redacted: Mapping[str, int] = field(default_factory=dict)
    """How many different secrets of each kind were taken out; never what they were."""


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
    now: datetime | None = None,
    cleaning: Cleaning,
) -> Appended:
    """Append `drafts`, cleaned, after the branch's head or after the message `after`, and move the branch to the last.

    With `after`, offering the same again changes nothing: the same messages after the same past are the same. The
    branch is moved only where that takes it on from where it stands. `project` is the one that the session works on,
    where that is told; raises BadInput where it is known to be of another.

    What bears no time of its own is said `now`. Only what may be a history of another day, new messages of more than
    one turn, gets none.
    """
    choices = [cleaning.choices(draft) for draft in drafts]
    async with store.write() as tx:
        is_new = await tx.sessions.create(key, source)
        head = await tx.log.head(key, branch)
        place = head if after is None else await _place(tx, key, after)
        messages = await chain_named(tx, key, place, choices, cleaning, lambda parts: weigh(parts, count))
        if now is not None:
            messages = _dated(messages, place, head, now)
        if not messages:
            return Appended(ids=(), new=0)
        new = await tx.log.insert(key, messages)
        last = messages[-1]
        if await _goes_on(tx, key, head, last) or not await _lies_behind(tx, key, head, last):
            await tx.log.move(key, branch, last.id)
        if is_new or project or any(each.record for each in drafts[:LOOKED_AT]):
            await place_session(tx, key, project, drafts)
    return Appended(ids=tuple(message.id for message in messages), new=new, redacted=cleaning.found)


def _dated(messages: Sequence[Message], place: Head | None, head: Head | None, now: datetime) -> list[Message]:
    """`messages`, which stand after `place`, with `now` for the time of those that go on from `head`."""
    first = place.position + 1 if place else 0
    stored = max(0, head.position + 1 - first) if head else 0
    if sum(opens_turn(each.draft) for each in messages[stored:]) > 1:
        return list(messages)
    return [
        replace(each, draft=replace(each.draft, at=now)) if number >= stored and each.draft.at is None else each
        for number, each in enumerate(messages)
    ]


async def _place(tx: Transaction, key: SessionKey, after: str) -> Head | None:
    """The head that `after` names: a message by id, or the place before the first one."""
    if after == ROOT:
        return None
    found = messages_named(after, await tx.log.find(key, [after])) if after else []
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

"""Move through a session's tree: go back, and go on in another way."""

from __future__ import annotations

from ireneo.engine.naming import messages_named
from ireneo.errors import BadInput, MessageNotFound
from ireneo.log.branch import ROOT, Head, SessionKey, head_of
from ireneo.log.message import Message
from ireneo.ports.store import Store
from ireneo.ports.transition import Transaction


async def rewind(store: Store, key: SessionKey, branch: str, to: str) -> Head | None:
    """Move `branch` back to the message `to` (or before the first: ``root``); what came after it stays in the log."""
    async with store.write() as tx:
        if to == ROOT:
            await tx.log.move(key, branch, None)
            return None
        message = await find_on_path(tx, key, branch, to)
        await tx.log.move(key, branch, message.id)
    return head_of(message)


async def fork(store: Store, key: SessionKey, branch: str, name: str, at: str | None) -> Head | None:
    """Make the branch `name`, which stands at the message `at` of `branch` (its head, where none is given)."""
    async with store.write() as tx:
        if name in await tx.sessions.branches(key):
            raise BadInput(f"Session {key.session} has a branch {name!r} already; choose another name.")
        if at is None:
            head = await tx.log.head(key, branch)
        else:
            head = head_of(await find_on_path(tx, key, branch, at))
        await tx.log.move(key, name, head.id if head else None)
    return head


async def find_on_path(tx: Transaction, key: SessionKey, branch: str, name: str) -> Message:
    """The message that `name` names (an id, its beginning, or the id that its log gave it), on the branch's path.

    A log may give several messages one id: then the one on the branch's path is meant, the last of them. Raises
    MessageNotFound, and BadInput where it is the beginning of several ids.
    """
    found = messages_named(name, await tx.log.find(key, [name])) if name else []
    if not found:
        raise MessageNotFound(f"There is no message {name} in session {key.session}.")
    head = await tx.log.head(key, branch)
    for message in reversed(found):
        if head is None or message.position > head.position:
            continue
        at = await tx.log.path(key, head.id, message.position, message.position)
        if at and at[0].id == message.id:
            return message
    return found[-1]

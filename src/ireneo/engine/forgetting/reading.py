"""Read all that a session holds, each message once, whichever path it is on."""

from __future__ import annotations

from collections.abc import AsyncIterator

from msgspec.structs import replace

from ireneo.context.summary import Summary
from ireneo.engine.limbs import limbs
from ireneo.log.annotation import Annotation
from ireneo.log.branch import Head, SessionKey
from ireneo.log.message import Message
from ireneo.ports.transition import Transaction

CHUNK = 500
"""What is read at a time."""


async def heads_of(tx: Transaction, key: SessionKey) -> list[Head]:
    """Where the paths of a session end: its branches, and the ends that were abandoned."""
    branches = await tx.sessions.branches(key)
    return [*(head for head in branches.values() if head is not None), *await tx.upkeep.ends(key)]


async def all_messages(tx: Transaction, key: SessionKey, *, whole: bool = False) -> AsyncIterator[Message]:
    """Every message of a session; with `whole`, as its provider and its log wrote it besides."""
    for limb in await limbs(tx, key, [("", head) for head in await heads_of(tx, key)]):
        for first in range(limb.first, limb.head.position + 1, CHUNK):
            last = min(first + CHUNK - 1, limb.head.position)
            read = await tx.log.path(key, limb.head.id, first, last)
            drafts = await tx.log.natives(key, [message.id for message in read]) if whole else {}
            for message in read:
                yield replace(message, draft=drafts[message.id]) if message.id in drafts else message


async def all_summaries(tx: Transaction, key: SessionKey) -> AsyncIterator[Summary]:
    """Every summary of a session."""
    ids = await tx.upkeep.summaries(key)
    for start in range(0, len(ids), CHUNK):
        for summary in await tx.summaries.get(key, ids[start : start + CHUNK]):
            yield summary


async def all_annotations(tx: Transaction, key: SessionKey) -> list[Annotation]:
    """Every annotation of a session, on whatever path."""
    found: dict[str, Annotation] = {each.id: each for each in await tx.annotations.on_path(key, None)}
    for head in await heads_of(tx, key):
        found.update((each.id, each) for each in await tx.annotations.on_path(key, head.id))
    return list(found.values())

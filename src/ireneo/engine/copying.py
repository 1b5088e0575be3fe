"""Copy spaces from one store to another: messages, everything derived from them, and memories.

Every step is idempotent: what the target has is not changed, so an interrupted copy is simply run again. The copy is
read back from both sides and compared. Ids stay the same, since they are content hashes. Leases and vectors aren't
copied; `work` makes vectors again.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import date

import msgspec
from msgspec import Struct

from ireneo.engine.tree import all_annotations, whole_messages
from ireneo.errors import StoreError
from ireneo.log.message import Head, Message, MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.record import Record
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import SessionInfo, Spent, Store, Transaction

PAGE = 500
"""Messages, summaries or memories per transaction."""
BEFORE = date(1970, 1, 1)
"""The day to which copied spending is booked, so that it doesn't use up any daily limit."""


class CopyTally(Struct, kw_only=True):
    """Counts of what was copied and found equal on both sides."""

    spaces: int = 0
    sessions: int = 0
    messages: int = 0
    summaries: int = 0
    memories: int = 0
    runs: int = 0
    new_messages: int = 0
    """Messages that the target did not have."""


async def copy_store(
    source: Store,
    target: Store,
    spaces: Sequence[str] | None = None,
    *,
    on_session: Callable[[str], None] | None = None,
) -> CopyTally:
    """Copy spaces (by default all) and compare; `on_session` receives each session's name before it is copied.

    Raises StoreError if the sides differ afterwards: then another process wrote meanwhile, or `target` holds data that
    `source` does not.
    """
    tally = CopyTally()
    for space in await source.read(lambda tx: tx.upkeep.spaces()) if spaces is None else spaces:
        for info in reversed(await source.read(lambda tx, space: tx.sessions.list(space), space)):
            if on_session is not None:
                on_session(f"{space}: {info.key.session}")
            await _copy_session(source, target, info, tally)
        await _copy_learned(source, target, space, tally)
        tally.spaces += 1
    return tally


def _path_ends(tx: Transaction, key: SessionKey) -> list[Head]:
    """The ends of all paths, the abandoned first: equal hits rank by when they were stored."""
    on_branches = [head for head in tx.sessions.branches(key).values() if head is not None]
    return list({head.id: head for head in (*tx.upkeep.abandoned_heads(key), *on_branches)}.values())


def _message_page(tx: Transaction, key: SessionKey, to: MessageId, first: int) -> list[Message]:
    """The next messages of a path, with their native payloads and log records."""
    return whole_messages(tx, key, tx.log.path(key, to, first, first + PAGE - 1))


def _store_messages(tx: Transaction, key: SessionKey, messages: Sequence[Message]) -> int:
    new = tx.log.insert(key, messages)
    erased = [message for message in messages if message.erased]
    if erased:
        tx.erasure.messages(key, erased)
    return new


async def _copy_session(source: Store, target: Store, info: SessionInfo, tally: CopyTally) -> None:
    key = info.key
    await target.write(lambda tx: tx.sessions.create(key, info.source))
    heads = await source.read(_path_ends, key)
    for head in heads:
        for first in range(0, head.position + 1, PAGE):
            messages = await source.read(_message_page, key, head.id, first)
            tally.new_messages += await target.write(_store_messages, key, messages)
    await _copy_derived(source, target, info)
    for head in heads:
        for first in range(0, head.position + 1, PAGE):
            if await source.read(_digest, key, head.id, first) != await target.read(_digest, key, head.id, first):
                raise StoreError(f"Positions {first} and on of session {key.session!r} differ after the copy.")
    here, there = await source.read(_session_totals, key), await target.read(_session_totals, key)
    if here != there:
        raise StoreError(
            f"Session {key.session!r} differs after the copy; copy again when nobody writes, into a store of its own."
        )
    tally.sessions += 1
    tally.messages += here.messages
    tally.summaries += len(here.summaries)


async def _copy_derived(source: Store, target: Store, info: SessionInfo) -> None:
    """Copy what belongs to the messages: branches, summaries, marks, annotations, project and spending."""
    key = info.key
    names = await source.read(lambda tx: tx.upkeep.summaries(key))
    for first in range(0, len(names), PAGE):
        some = names[first : first + PAGE]
        summaries = await source.read(lambda tx, some: tx.summaries.get(key, some), some)
        await target.write(lambda tx, summaries: tx.summaries.put(key, summaries), summaries)
    branches = await source.read(lambda tx: tx.sessions.branches(key))
    rebuilds = await source.read(lambda tx: tx.rebuilds.of_session(key))
    notes = await source.read(all_annotations, key)
    marks = await source.read(lambda tx: tx.read_marks.of_session(key))
    spent = await source.read(lambda tx: tx.spending.of_session(key))

    def store_derived(tx: Transaction) -> None:
        for branch, head in branches.items():
            tx.log.move(key, branch, None if head is None else head.id)
        for rebuild in rebuilds:
            tx.rebuilds.put(key, rebuild)
        tx.annotations.put(key, notes)
        for reader, to in marks:
            tx.read_marks.put(key, to, reader)
        if info.project is not None:
            tx.sessions.set_project(key, info.project)
        known = tx.spending.of_session(key)
        left = Spent(calls=spent.calls - known.calls, tokens=spent.tokens - known.tokens)
        if left.calls > 0 or left.tokens > 0:
            tx.spending.add(key, BEFORE, left)

    await target.write(store_derived)


def _digest(tx: Transaction, key: SessionKey, to: MessageId, first: int) -> str:
    return hashlib.sha256(repr(_message_page(tx, key, to, first)).encode("utf-8", "surrogatepass")).hexdigest()


class _SessionTotals(Struct, frozen=True, kw_only=True):
    """The values that must be equal on both sides, besides the messages of a session."""

    messages: int
    tokens: int
    branches: dict[str, Head | None]
    ends: frozenset[MessageId]
    summaries: tuple[str, ...]
    notes: frozenset[str]


def _session_totals(tx: Transaction, key: SessionKey) -> _SessionTotals:
    info = tx.sessions.get(key)
    return _SessionTotals(
        messages=info.messages if info else 0,
        tokens=info.tokens if info else 0,
        branches=dict(tx.sessions.branches(key)),
        ends=frozenset(head.id for head in _path_ends(tx, key)),
        summaries=tuple(tx.upkeep.summaries(key)),
        notes=frozenset(note.id for note in all_annotations(tx, key)),
    )


async def _memory_pages(store: Store, space: str) -> AsyncIterator[Sequence[Record]]:
    """The memories of a space, page by page."""
    wanted = MemoryFilter()
    while records := await store.read(lambda tx, wanted: tx.memories.list(space, wanted, PAGE), wanted):
        yield records
        wanted = MemoryFilter(after=(records[-1].at, records[-1].id))


async def _copy_learned(source: Store, target: Store, space: str, tally: CopyTally) -> None:
    """Copy memories, scratchpads, runs with their observations, and the ledger of learned files."""
    async for records in _memory_pages(source, space):
        await target.write(lambda tx, records: tx.memories.put(space, records), records)
        tally.memories += len(records)
    for run in await source.read(lambda tx: tx.runs.list(space)):
        seen = await source.read(lambda tx, session: tx.runs.of_run(space, session), run.session)
        await target.write(lambda tx, run, seen: tx.runs.put(space, run, seen), run, seen)
        tally.runs += 1
    pads = await source.read(lambda tx: tx.pads.list(space))
    files = await source.read(lambda tx: tx.ledger.list(space))

    def store_learned(tx: Transaction) -> None:
        for pad in reversed(pads):
            tx.pads.write(space, pad)
        for file in files:
            tx.ledger.mark(space, file)

    await target.write(store_learned)
    if await _digest_learned(source, space) != await _digest_learned(target, space):
        raise StoreError(
            f"What space {space!r} has learned differs after the copy; copy again when nobody writes, into a store of "
            "its own."
        )


async def _digest_learned(store: Store, space: str) -> str:
    digest = hashlib.sha256()
    async for records in _memory_pages(store, space):
        digest.update(msgspec.json.encode(records))
    others = await store.read(lambda tx: [tx.runs.list(space), tx.pads.list(space), tx.ledger.list(space)])
    digest.update(msgspec.json.encode(others))
    return digest.hexdigest()

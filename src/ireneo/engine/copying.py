"""Copy a space from one store to another: what was said, what was made of it, and what was learned.

Every step may be taken again: what is there already is left as it is, so a copy that was broken off is begun anew and
goes on. What is copied is then read on both sides and compared. Ids stay, since they are made of what they name. Left
out is what follows from the rest or holds for a moment only: vectors, which `work` makes again, and leases.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import StoreError
from ireneo.lessons.run import LearnedRun, Observation
from ireneo.log.message import Head, Message, MessageId
from ireneo.log.tree import Annotation, SessionKey
from ireneo.memories.record import Record
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import SessionInfo, Spent, Store, Transaction
from ireneo.summaries.summary import Summary, SummaryId

PAGE = 500
"""So many messages or memories are read and written at a time."""
BEFORE = date(1970, 1, 1)
"""The day on which what was spent before counts: on none on which there is a limit."""
Telling: TypeAlias = "Callable[[str], None]"


class CopyTally(Struct, kw_only=True):
    """What was copied, and found to be the same on both sides."""

    spaces: int = 0
    sessions: int = 0
    messages: int = 0
    summaries: int = 0
    memories: int = 0
    runs: int = 0
    new_messages: int = 0
    """Of the messages, those that were not there yet."""


async def copy_store(
    source: Store, target: Store, spaces: Sequence[str] | None = None, *, on_session: Telling | None = None
) -> CopyTally:
    """Copy spaces (all of them, where none are named), and compare; `on_session` hears of each session before it.

    Raises StoreError where something is not the same on both sides: then another wrote meanwhile, or `target` holds
    what `source` does not.
    """
    tally = CopyTally()
    for space in await source.read(lambda tx: tx.upkeep.spaces()) if spaces is None else spaces:
        for info in reversed(await source.read(_sessions, space)):
            if on_session is not None:
                on_session(f"{space}: {info.key.session}")
            await _copy_session(source, target, info, tally)
        await _copy_learned(source, target, space, tally)
        tally.spaces += 1
    return tally


def _sessions(tx: Transaction, space: str) -> Sequence[SessionInfo]:
    return tx.sessions.list(space)


def _summaries(tx: Transaction, key: SessionKey, names: Sequence[SummaryId]) -> Sequence[Summary]:
    return tx.summaries.get(key, names)


def _put_summaries(tx: Transaction, key: SessionKey, found: Sequence[Summary]) -> int:
    return tx.summaries.put(key, found)


def _put_memories(tx: Transaction, space: str, found: Sequence[Record]) -> int:
    return tx.memories.put(space, found)


def _shown_by(tx: Transaction, space: str, session: str) -> Sequence[Observation]:
    return tx.runs.of_run(space, session)


def _put_run(tx: Transaction, space: str, run: LearnedRun, seen: Sequence[Observation]) -> None:
    tx.runs.put(space, run, seen)


def _heads(tx: Transaction, key: SessionKey) -> list[Head]:
    """Where every path of a session ends, on a branch or on none."""
    on_branches = [head for head in tx.sessions.branches(key).values() if head is not None]
    return list({head.id: head for head in (*tx.upkeep.abandoned_heads(key), *on_branches)}.values())


def _page(tx: Transaction, key: SessionKey, to: MessageId, first: int) -> list[Message]:
    """The next messages of a path, with all that the provider and the log wrote of them."""
    messages = tx.log.path(key, to, first, first + PAGE - 1)
    whole = tx.log.drafts(key, [message.id for message in messages])
    return [replace(message, draft=whole[message.id]) for message in messages]


def _store(tx: Transaction, key: SessionKey, messages: Sequence[Message]) -> int:
    new = tx.log.insert(key, messages)
    erased = [message for message in messages if message.erased]
    if erased:
        tx.erasure.messages(key, erased)
    return new


async def _copy_session(source: Store, target: Store, info: SessionInfo, tally: CopyTally) -> None:
    key = info.key
    await target.write(lambda tx: tx.sessions.create(key, info.source))
    heads = await source.read(_heads, key)
    for head in heads:
        for first in range(0, head.position + 1, PAGE):
            messages = await source.read(_page, key, head.id, first)
            tally.new_messages += await target.write(_store, key, messages)
    await _copy_made(source, target, info, heads)
    for head in heads:
        for first in range(0, head.position + 1, PAGE):
            if await source.read(_digest, key, head.id, first) != await target.read(_digest, key, head.id, first):
                raise StoreError(f"Positions {first} and on of session {key.session!r} differ after the copy.")
    here, there = await source.read(_summed, key), await target.read(_summed, key)
    if here != there:
        raise StoreError(
            f"Session {key.session!r} differs after the copy; copy again when nobody writes, into a store of its own."
        )
    tally.sessions += 1
    tally.messages += here.messages
    tally.summaries += len(here.summaries)


async def _copy_made(source: Store, target: Store, info: SessionInfo, heads: Sequence[Head]) -> None:
    """What hangs on the messages: branches, summaries, marks and notes, and what was spent."""
    key = info.key
    names = await source.read(lambda tx: tx.upkeep.summaries(key))
    for first in range(0, len(names), PAGE):
        some = names[first : first + PAGE]
        summaries = await source.read(_summaries, key, some)
        await target.write(_put_summaries, key, summaries)
    branches = await source.read(lambda tx: tx.sessions.branches(key))
    rebuilds = await source.read(lambda tx: tx.rebuilds.of_session(key))
    notes = await source.read(_notes, key, heads)
    marks = await source.read(lambda tx: tx.read_marks.of_session(key))
    spent = await source.read(lambda tx: tx.spending.of_session(key))

    def make(tx: Transaction) -> None:
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

    await target.write(make)


def _notes(tx: Transaction, key: SessionKey, heads: Sequence[Head]) -> list[Annotation]:
    found = {note.id: note for to in (None, *(head.id for head in heads)) for note in tx.annotations.on_path(key, to)}
    return list(found.values())


def _digest(tx: Transaction, key: SessionKey, to: MessageId, first: int) -> str:
    return hashlib.sha256(repr(_page(tx, key, to, first)).encode("utf-8", "surrogatepass")).hexdigest()


class _Summed(Struct, frozen=True, kw_only=True):
    """What must be the same of a session on both sides, beside its messages."""

    messages: int
    tokens: int
    branches: dict[str, Head | None]
    ends: frozenset[MessageId]
    summaries: tuple[str, ...]
    notes: frozenset[str]


def _summed(tx: Transaction, key: SessionKey) -> _Summed:
    info = tx.sessions.get(key)
    heads = _heads(tx, key)
    return _Summed(
        messages=info.messages if info else 0,
        tokens=info.tokens if info else 0,
        branches=dict(tx.sessions.branches(key)),
        ends=frozenset(head.id for head in heads),
        summaries=tuple(tx.upkeep.summaries(key)),
        notes=frozenset(note.id for note in _notes(tx, key, heads)),
    )


def _pages_of(space: str) -> Iterator[Callable[[Transaction], Sequence[Record]]]:
    """What reads the memories of a space page by page, each behind the last of the one before."""
    wanted = MemoryFilter()
    while True:
        found: list[Record] = []

        def read(tx: Transaction, wanted: MemoryFilter = wanted, found: list[Record] = found) -> Sequence[Record]:
            found += tx.memories.list(space, wanted, PAGE)
            return found

        yield read
        if len(found) < PAGE:
            return
        wanted = MemoryFilter(after=(found[-1].at, found[-1].id))


async def _copy_learned(source: Store, target: Store, space: str, tally: CopyTally) -> None:
    """What was learned in a space: memories, scratchpads, runs with what they show, and the files that were read."""
    for page in _pages_of(space):
        records = await source.read(page)
        await target.write(_put_memories, space, records)
        tally.memories += len(records)
    for run in await source.read(lambda tx: tx.runs.list(space)):
        seen = await source.read(_shown_by, space, run.session)
        await target.write(_put_run, space, run, seen)
        tally.runs += 1
    pads = await source.read(lambda tx: tx.pads.list(space))
    files = await source.read(lambda tx: tx.ledger.list(space))

    def keep(tx: Transaction) -> None:
        for pad in reversed(pads):
            tx.pads.write(space, pad)
        for file in files:
            tx.ledger.mark(space, file)

    await target.write(keep)
    if await _digest_learned(source, space) != await _digest_learned(target, space):
        raise StoreError(
            f"What space {space!r} has learned differs after the copy; copy again when nobody writes, into a store of "
            "its own."
        )


async def _digest_learned(store: Store, space: str) -> str:
    digest = hashlib.sha256()
    for page in _pages_of(space):
        digest.update(msgspec.json.encode(await store.read(page)))
    digest.update(await store.read(_kept, space))
    return digest.hexdigest()


def _kept(tx: Transaction, space: str) -> bytes:
    return msgspec.json.encode([tx.runs.list(space), tx.pads.list(space), tx.ledger.list(space)])

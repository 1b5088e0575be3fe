"""Export memories to files and import them, and copy spaces; all may be repeated without duplicating anything."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.remember import settle_drafts
from ireneo.engine.resources import Resources
from ireneo.engine.scope import drafts_per_project
from ireneo.engine.tree import all_annotations, heads_of, whole_messages
from ireneo.errors import BadInput, StoreError
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.exchange import (
    MemoryEntry,
    UnreadableEntry,
    detect_file_type,
    drafts_of,
    edit_draft,
    file_name,
    has_evidence,
    is_imported_elsewhere,
    is_reworded,
    objection_draft,
    read_line,
    read_markdown,
    with_usage,
    write_line,
    write_markdown,
)
from ireneo.memories.kinds import KINDS
from ireneo.memories.record import Evidence, MemoryDraft, Record
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import SessionInfo, Spent, Store, Transaction
from ireneo.short_repr import ShortRepr

BATCH = 200
"""Memories stored, or compared with files, in one transaction."""
LINES = "memories.jsonl"
FileState = Literal["new", "same", "changed", "edited"]
Took = Literal["new", "grown", "edited", "known", "forgotten"]
FileFormat = Literal["markdown", "jsonl"]


class MemoryFile(Struct, frozen=True, kw_only=True):
    """A file of memories: one as Markdown, or lines of JSON."""

    path: str
    """Relative to the folder of all files."""
    data: bytes


class Exported(ShortRepr, frozen=True, kw_only=True):
    """A file to be written."""

    path: str
    data: bytes
    memories: int
    stands: FileState
    """How the file relates to the existing one. ``edited``: the existing file has edits that were not imported yet."""


class MemoryFault(Struct, frozen=True, kw_only=True):
    """An entry that could not be read."""

    path: str
    line: int
    message: str


class MemoriesImported(ShortRepr, frozen=True, kw_only=True):
    """The result of an import."""

    new: int = 0
    """Memories that were not stored before."""
    grown: int = 0
    """Stored memories that got new evidence from the files."""
    edited: int = 0
    """Memories whose words were edited since they were exported."""
    known: int = 0
    """Memories that were stored already, and did not change."""
    forgotten: int = 0
    """Memories that are not stored, since messages that they were drawn from were erased here."""
    faults: tuple[MemoryFault, ...] = ()

    @property
    def memories(self) -> int:
        """The number of memories that could be read."""
        return self.new + self.grown + self.edited + self.known + self.forgotten


async def export_memories(
    resources: Resources,
    space: str,
    to: FileFormat,
    there: Callable[[str], bytes | None],
    on_progress: Callable[[Exported], object] | None = None,
) -> Sequence[Exported]:
    """Return every memory as a file (see `Memory.export_memories`), those of one file in order of `recorded`."""
    if to not in ("markdown", "jsonl"):
        raise BadInput(f"There is no format {to!r} for memories; take 'markdown' or 'jsonl'.")

    stored = await resources.store.read(lambda tx: tx.memories.list(space, MemoryFilter()))
    records = sorted((each for each in stored if each.state != "erased"), key=lambda each: (each.recorded, each.id))
    if to == "jsonl":
        lines = await asyncio.to_thread(lambda: "".join(f"{write_line(each)}\n" for each in records))
        return [Exported(path=LINES, data=lines.encode(), memories=len(records), stands="new")]
    now = resources.clock.now()

    def compare(tx: Transaction, files: Sequence[_File]) -> list[Exported]:
        return [
            Exported(path=path, data=data, memories=1, stands=_file_state(tx, space, data, held, now))
            for path, data, held in files
        ]

    out: list[Exported] = []
    taken: set[str] = set()
    for start in range(0, len(records), BATCH):
        # The existing files are read outside of any transaction.
        files = await asyncio.to_thread(_files, records[start : start + BATCH], there, taken)
        for each in await resources.store.read(compare, files):
            out.append(each)
            if on_progress is not None:
                on_progress(each)
    return out


_File: TypeAlias = tuple[str, bytes, bytes | None]
"""A path, the content for it, and its current content."""


def _files(records: Sequence[Record], there: Callable[[str], bytes | None], taken: set[str]) -> list[_File]:
    files: list[_File] = []
    for record in records:
        path = file_name(record)
        path = file_name(record, whole_id=True) if path in taken else path
        taken.add(path)
        files.append((path, write_markdown(record).encode(), there(path)))
    return files


async def import_memories(
    resources: Resources,
    space: str,
    files: Iterable[MemoryFile],
    on_progress: Callable[[MemoriesImported], object] | None = None,
) -> MemoriesImported:
    """Store the memories in files, batch by batch (see `Memory.import_memories`)."""
    done: Counter[str] = Counter()
    now = resources.clock.now()
    entries, faults = await asyncio.to_thread(_read_entries, resources, files, now)
    for start in range(0, len(entries), BATCH):
        batch = entries[start : start + BATCH]
        done.update(
            await resources.store.write(lambda tx, batch: [_store_entry(tx, space, each, now) for each in batch], batch)
        )
        if on_progress is not None:
            on_progress(MemoriesImported(**done, faults=tuple(faults)))
    return MemoriesImported(**done, faults=tuple(faults))


def _read_entries(
    resources: Resources, files: Iterable[MemoryFile], now: datetime
) -> tuple[list[MemoryEntry], list[MemoryFault]]:
    """The entries of the files with secrets redacted, in the order of storing; and those that could not be read."""
    entries: list[MemoryEntry] = []
    faults: list[MemoryFault] = []
    for file in files:
        for each in _file_entries(file, now):
            if isinstance(each, UnreadableEntry):
                faults.append(MemoryFault(path=file.path, line=each.line, message=each.message))
            else:
                entries.append(replace(each, record=resources.cleaning().struct(each.record)))
    # Conclusions come after the memories from which they were drawn.
    return sorted(entries, key=lambda each: (each.record.recorded, each.record.id)), faults


def _file_entries(file: MemoryFile, now: datetime) -> Iterator[MemoryEntry | UnreadableEntry]:
    if detect_file_type(file.data) != "jsonl":
        yield read_markdown(file.data, now)
        return
    for number, line in enumerate(file.data.split(b"\n"), start=1):
        if line.strip():
            yield read_line(line, number, now)


def _store_entry(tx: Transaction, space: str, entry: MemoryEntry, now: datetime) -> Took:
    told = entry.record
    known = _stored_memory(tx, space, told.id)
    left = tuple(each for each in told.evidence if not _was_erased(tx, space, each))
    if len(left) < len(told.evidence):
        # Erased content doesn't come back; the stored memory is based on something else.
        if known is None or not left:
            return "forgotten"
        told = replace(told, evidence=left)
        entry = replace(entry, record=told)
    if is_reworded(entry, known):
        return _store_edited(tx, space, entry, known, now)
    if not told.evidence:
        word = edit_draft(entry, known, now)
        if has_evidence(_find_same_statement(tx, space, word), word):
            return "known"
        (done,) = settle_drafts(tx, space, [word])
        return "new" if len(done.record.evidence) == 1 else "grown"
    grown = settle_record(tx, space, told, is_new=known is None)
    if known is None:
        return "new"
    return "known" if known == grown else "grown"


def _was_erased(tx: Transaction, space: str, piece: Evidence) -> bool:
    """Whether a message that a piece of evidence names was erased here."""
    if not (piece.session and piece.messages):
        return False
    return any(each.erased for each in tx.log.find(SessionKey(space, piece.session), piece.messages))


def settle_record(tx: Transaction, space: str, told: Record, *, is_new: bool) -> Record:
    """Store the evidence of a memory from elsewhere, with what else it carries; returns the memory as it is then."""
    record = settle_drafts(tx, space, drafts_of(told), judged=True)[-1].record
    grown = with_usage(record, told, is_new=is_new)
    if grown != record:
        tx.memories.put(space, [grown])
    return grown


def _store_edited(tx: Transaction, space: str, entry: MemoryEntry, known: Record | None, now: datetime) -> Took:
    """Store edited words, and retire the memory that they replace."""
    word = edit_draft(entry, known, now)
    before = _find_same_statement(tx, space, word)
    if is_imported_elsewhere(before, word, told=entry.record):
        return "known"
    done = settle_drafts(tx, space, [word] if known is None else drafts_per_project(tx, space, known, word))[-1]
    if known is None:
        return "edited"
    if done.record.id == known.id:
        # Its signature or value identifies it: it is the same memory in other words.
        tx.memories.put(space, [replace(done.record, text=word.text)])
        return "edited"
    old = _stored_memory(tx, space, known.id)
    if old is not None and old.state == "active":
        settle_drafts(tx, space, drafts_per_project(tx, space, old, objection_draft(old, now)))
    return "edited"


def _stored_memory(tx: Transaction, space: str, id: str) -> Record | None:
    found = tx.memories.get(space, [id]) if id else ()
    return next((each for each in found if each.id == id), None)


def _find_same_statement(tx: Transaction, space: str, word: MemoryDraft) -> Record | None:
    """The memory that says what `word` says, if there is one."""
    row = KINDS[word.kind]
    under = tx.memories.of_key(space, word.kind, row.key(word))
    return next((each for each in under if each.state != "erased" and row.same(each, word)), None)


def _file_state(tx: Transaction, space: str, data: bytes, held: bytes | None, now: datetime) -> FileState:
    """How an existing file relates to what is to be written in its place."""
    if held is None:
        return "new"
    if held == data:
        return "same"
    entry = read_markdown(held, now)
    if isinstance(entry, UnreadableEntry):
        return "edited"
    known = _stored_memory(tx, space, entry.record.id)
    if not is_reworded(entry, known):
        return "changed"
    word = edit_draft(entry, known, now)
    return (
        "changed" if is_imported_elsewhere(_find_same_statement(tx, space, word), word, told=entry.record) else "edited"
    )


# Copies of spaces in another store: messages, everything derived from them, and memories.
#
# Every step is idempotent: what the target has is not changed, so an interrupted copy is simply run again. The copy is
# read back from both sides and compared. Ids stay the same, since they are content hashes. Leases and vectors aren't
# copied; `work` makes vectors again.

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
    # The abandoned paths first, since equal hits rank by when they were stored.
    for head in reversed(await source.read(heads_of, key)):
        for first in range(0, head.position + 1, PAGE):
            messages = await source.read(_message_page, key, head.id, first)
            tally.new_messages += await target.write(_store_messages, key, messages)
            if messages != await target.read(_message_page, key, messages[-1].id, first):
                raise StoreError(f"Positions {first} and on of session {key.session!r} differ after the copy.")
    await _copy_derived(source, target, info, tally)
    if await source.read(_session_totals, key) != await target.read(_session_totals, key):
        raise StoreError(
            f"Session {key.session!r} differs after the copy; copy again when nobody writes, into a store of its own."
        )
    tally.sessions += 1
    tally.messages += info.messages


async def _copy_derived(source: Store, target: Store, info: SessionInfo, tally: CopyTally) -> None:
    """Copy what belongs to the messages: branches, summaries, marks, annotations, project and spending."""
    key = info.key
    names = await source.read(lambda tx: tx.upkeep.summaries(key))
    for first in range(0, len(names), PAGE):
        some = names[first : first + PAGE]
        summaries = await source.read(lambda tx, some: tx.summaries.get(key, some), some)
        await target.write(lambda tx, summaries: tx.summaries.put(key, summaries), summaries)
    tally.summaries += len(names)
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


def _session_totals(tx: Transaction, key: SessionKey) -> object:
    """The values that must be equal on both sides, besides the messages of a session."""
    info = tx.sessions.get(key)
    return (
        info and (info.messages, info.tokens),
        dict(tx.sessions.branches(key)),
        {head.id for head in heads_of(tx, key)},
        tx.upkeep.summaries(key),
        {note.id for note in all_annotations(tx, key)},
    )


async def _copy_learned(source: Store, target: Store, space: str, tally: CopyTally) -> None:
    """Copy memories, scratchpads, runs with their observations, and the ledger of learned files."""
    wanted = MemoryFilter()
    while records := await source.read(_memory_page, space, wanted):
        await target.write(lambda tx, records: tx.memories.put(space, records), records)
        tally.memories += len(records)
        wanted = MemoryFilter(after=(records[-1].at, records[-1].id))
    runs = await source.read(lambda tx: tx.runs.list(space))
    for run in runs:
        seen = await source.read(lambda tx, session: tx.runs.of_run(space, session), run.session)
        await target.write(lambda tx, run, seen: tx.runs.put(space, run, seen), run, seen)
    tally.runs += len(runs)
    pads = await source.read(lambda tx: tx.pads.list(space))
    files = await source.read(lambda tx: tx.ledger.list(space))

    def store_others(tx: Transaction) -> None:
        for pad in reversed(pads):
            tx.pads.write(space, pad)
        for file in files:
            tx.ledger.mark(space, file)

    await target.write(store_others)
    if not await _has_same_learned(source, target, space):
        raise StoreError(
            f"What space {space!r} has learned differs after the copy; copy again when nobody writes, into a store of "
            "its own."
        )


def _memory_page(tx: Transaction, space: str, wanted: MemoryFilter) -> Sequence[Record]:
    return tx.memories.list(space, wanted, PAGE)


async def _has_same_learned(source: Store, target: Store, space: str) -> bool:
    wanted = MemoryFilter()
    while (records := await source.read(_memory_page, space, wanted)) == await target.read(_memory_page, space, wanted):
        if not records:
            others = [
                await store.read(lambda tx: (tx.runs.list(space), tx.pads.list(space), tx.ledger.list(space)))
                for store in (source, target)
            ]
            return others[0] == others[1]
        wanted = MemoryFilter(after=(records[-1].at, records[-1].id))
    return False

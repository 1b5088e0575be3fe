"""Take memories out into files, and files in: as often as one likes, and nothing is there twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.remember import settle_drafts
from ireneo.engine.resources import Resources
from ireneo.engine.scope import told_there
from ireneo.errors import BadInput
from ireneo.memories.exchange import (
    MemoryEntry,
    UnreadableEntry,
    against,
    carried,
    drafts_of,
    file_name,
    is_reworded,
    is_taken,
    read_line,
    read_markdown,
    recognised,
    said_before,
    word_of,
    write_line,
    write_markdown,
)
from ireneo.memories.kinds import KINDS
from ireneo.memories.record import MemoryDraft, Record
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import Transaction

BATCH = 200
"""Memories that are stored, or compared with files, in one transaction: others get their turn in between."""
LINES = "memories.jsonl"
FileState = Literal["new", "same", "changed", "edited"]
Took = Literal["new", "grown", "edited", "known"]
FileFormat = Literal["markdown", "jsonl"]


class MemoryFile(Struct, frozen=True, kw_only=True):
    """A file of memories: one as Markdown, or lines of JSON."""

    path: str
    """Relative to the folder that holds them all."""
    data: bytes


class Exported(Struct, frozen=True, kw_only=True):
    """A file to be written."""

    path: str
    data: bytes
    memories: int
    stands: FileState
    """How it stands to the file that is there. ``edited``: that one has words that were not imported yet."""


class MemoryFault(Struct, frozen=True, kw_only=True):
    """A memory that could not be read."""

    path: str
    line: int
    message: str


class MemoriesImported(Struct, frozen=True, kw_only=True):
    """What an import of memories did."""

    new: int = 0
    """Memories that were not there before."""
    grown: int = 0
    """Those that were, and for which the files had evidence that was not."""
    edited: int = 0
    """Those whose words were changed by hand since they were exported."""
    known: int = 0
    """Those that were there already, just so."""
    faults: tuple[MemoryFault, ...] = ()

    @property
    def memories(self) -> int:
        """How many could be read."""
        return self.new + self.grown + self.edited + self.known


async def export_memories(
    resources: Resources,
    space: str,
    to: FileFormat,
    there: Callable[[str], bytes | None],
    on_progress: Callable[[Exported], object] | None = None,
) -> Sequence[Exported]:
    """Every memory of a space as a file: one each as Markdown, or one of JSON lines for all, in order of `recorded`.

    `there` gives what stands under a path already. Raises BadInput for a format that there is not.
    """
    if to not in ("markdown", "jsonl"):
        raise BadInput(f"There is no format {to!r} for memories; take 'markdown' or 'jsonl'.")

    records = await resources.store.read(_in_order, space)
    if to == "jsonl":
        lines = await asyncio.to_thread(lambda: "".join(f"{write_line(each)}\n" for each in records))
        return [Exported(path=LINES, data=lines.encode(), memories=len(records), stands="new")]
    out: list[Exported] = []
    taken: set[str] = set()
    for start in range(0, len(records), BATCH):
        # What stands there is read from files, so it is asked outside of any transaction.
        files = await asyncio.to_thread(_files, records[start : start + BATCH], there, taken)
        for each in await resources.store.read(_exported, space, files, resources.clock.now()):
            out.append(each)
            if on_progress is not None:
                on_progress(each)
    return out


def _in_order(tx: Transaction, space: str) -> list[Record]:
    records = [each for each in tx.memories.list(space, MemoryFilter()) if each.state != "erased"]
    return sorted(records, key=lambda each: (each.recorded, each.id))


_File: TypeAlias = tuple[str, bytes, bytes | None]
"""Where a memory is to be written, what, and what stands there."""


def _files(records: Sequence[Record], there: Callable[[str], bytes | None], taken: set[str]) -> list[_File]:
    files: list[_File] = []
    for record in records:
        path = file_name(record)
        path = file_name(record, whole_id=True) if path in taken else path
        taken.add(path)
        files.append((path, write_markdown(record).encode(), there(path)))
    return files


def _exported(tx: Transaction, space: str, files: Sequence[_File], now: datetime) -> list[Exported]:
    return [
        Exported(path=path, data=data, memories=1, stands=_stands(tx, space, data, held, now))
        for path, data, held in files
    ]


async def import_memories(
    resources: Resources,
    space: str,
    files: Iterable[MemoryFile],
    on_progress: Callable[[MemoriesImported], object] | None = None,
) -> MemoriesImported:
    """Store what files tell; what they tell for the second time changes nothing.

    A file that was reworded by hand is its user's word, told now: it takes the place of what it said before. What
    can't be read is told, and the rest is stored.
    """
    done: Counter[str] = Counter()
    now = resources.clock.now()
    entries, faults = await asyncio.to_thread(_read, resources, files, now)
    for start in range(0, len(entries), BATCH):
        batch = entries[start : start + BATCH]
        done.update(
            await resources.store.write(lambda tx, batch: [_take(tx, space, each, now) for each in batch], batch)
        )
        if on_progress is not None:
            on_progress(MemoriesImported(**done, faults=tuple(faults)))
    return MemoriesImported(**done, faults=tuple(faults))


def _read(
    resources: Resources, files: Iterable[MemoryFile], now: datetime
) -> tuple[list[MemoryEntry], list[MemoryFault]]:
    """What files tell, without its secrets, in the order in which it is stored; and what could not be read."""
    entries: list[MemoryEntry] = []
    faults: list[MemoryFault] = []
    for file in files:
        for each in _entries(file, now):
            if isinstance(each, UnreadableEntry):
                faults.append(MemoryFault(path=file.path, line=each.line, message=each.message))
            else:
                entries.append(replace(each, record=resources.cleaning().struct(each.record)))
    # What was drawn from another memory comes behind it.
    return sorted(entries, key=lambda each: (each.record.recorded, each.record.id)), faults


def _entries(file: MemoryFile, now: datetime) -> Iterator[MemoryEntry | UnreadableEntry]:
    if recognised(file.data) != "jsonl":
        yield read_markdown(file.data, now)
        return
    for number, line in enumerate(file.data.split(b"\n"), start=1):
        if line.strip():
            yield read_line(line, number, now)


def _take(tx: Transaction, space: str, entry: MemoryEntry, now: datetime) -> Took:
    """Store one memory; says what became of it."""
    told = entry.record
    known = _known(tx, space, told.id)
    if is_reworded(entry, known):
        return _reword(tx, space, entry, known, now)
    if not told.evidence:
        return _say(tx, space, entry, known, now)
    settled = settle_drafts(tx, space, drafts_of(told), judged=True)
    record = settled[-1].record
    grown = carried(record, told, is_new=known is None)
    if grown != record:
        tx.memories.put(space, [grown])
    if known is None:
        return "new"
    return "known" if known == grown else "grown"


def _say(tx: Transaction, space: str, entry: MemoryEntry, known: Record | None, now: datetime) -> Took:
    """Store what a person wrote into a file of their own."""
    word = word_of(entry, known, now)
    if said_before(_saying(tx, space, word), word):
        return "known"
    (done,) = settle_drafts(tx, space, [word])
    return "new" if len(done.record.evidence) == 1 else "grown"


def _reword(tx: Transaction, space: str, entry: MemoryEntry, known: Record | None, now: datetime) -> Took:
    """Store what a person made of a memory's words, and let go of what it said before."""
    word = word_of(entry, known, now)
    before = _saying(tx, space, word)
    if is_taken(before, word, told=entry.record):
        return "known"
    done = settle_drafts(tx, space, [word] if known is None else told_there(tx, space, known, word))[-1]
    if known is None:
        return "edited"
    if done.record.id == known.id:
        # Its signature or its value makes it what it is: it is the same memory in other words.
        tx.memories.put(space, [replace(done.record, text=word.text)])
        return "edited"
    old = _known(tx, space, known.id)
    if old is not None and old.state == "active":
        settle_drafts(tx, space, told_there(tx, space, old, against(old, now)))
    return "edited"


def _known(tx: Transaction, space: str, id: str) -> Record | None:
    found = tx.memories.get(space, [id]) if id else ()
    return next((each for each in found if each.id == id), None)


def _saying(tx: Transaction, space: str, word: MemoryDraft) -> Record | None:
    """The memory that says what `word` says, where there is one."""
    row = KINDS[word.kind]
    under = tx.memories.of_key(space, word.kind, row.key(word))
    return next((each for each in under if each.state != "erased" and row.same(each, word)), None)


def _stands(tx: Transaction, space: str, data: bytes, held: bytes | None, now: datetime) -> FileState:
    """How a file stands to what is to be written in its place."""
    if held is None:
        return "new"
    if held == data:
        return "same"
    entry = read_markdown(held, now)
    if isinstance(entry, UnreadableEntry):
        return "edited"
    known = _known(tx, space, entry.record.id)
    if not is_reworded(entry, known):
        return "changed"
    word = word_of(entry, known, now)
    return "changed" if is_taken(_saying(tx, space, word), word, told=entry.record) else "edited"

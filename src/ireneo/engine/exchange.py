"""Take memories out into files, and files in: as often as one likes, and nothing is there twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.remember import settle_drafts
from ireneo.engine.resources import Resources
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
    means: Resources,
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

    def look(tx: Transaction) -> list[Record]:
        return [each for each in tx.memories.list(space, MemoryFilter()) if each.state != "erased"]

    records = await means.store.read(look)
    records.sort(key=lambda each: (each.recorded, each.id))
    if to == "jsonl":
        lines = "".join(f"{write_line(each)}\n" for each in records)
        return [Exported(path=LINES, data=lines.encode(), memories=len(records), stands="new")]
    out: list[Exported] = []
    taken: set[str] = set()
    for start in range(0, len(records), BATCH):
        files: list[tuple[str, bytes, bytes | None]] = []
        for record in records[start : start + BATCH]:
            path = file_name(record)
            path = file_name(record, whole_id=True) if path in taken else path
            taken.add(path)
            # It reads files, so it is asked outside of any transaction.
            files.append((path, write_markdown(record).encode(), there(path)))
        now = means.clock.now()

        def look_2(
            tx: Transaction, files: list[tuple[str, bytes, bytes | None]], now: datetime
        ) -> list[Literal["new", "same", "changed", "edited"]]:
            return [_stands(tx, space, data, held, now) for _, data, held in files]

        stands = await means.store.read(look_2, files, now)
        # Whoever takes the files may do anything meanwhile, with this store as well.
        for (path, data, _), how in zip(files, stands, strict=True):
            out.append(Exported(path=path, data=data, memories=1, stands=how))
            if on_progress is not None:
                on_progress(out[-1])
    return out


async def import_memories(
    means: Resources,
    space: str,
    files: Iterable[MemoryFile],
    on_progress: Callable[[MemoriesImported], object] | None = None,
) -> MemoriesImported:
    """Store what files tell; what they tell for the second time changes nothing.

    A file that was reworded by hand is its user's word, told now: it takes the place of what it said before. What
    can't be read is told, and the rest is stored.
    """
    done: Counter[str] = Counter()
    faults: list[MemoryFault] = []
    now = means.clock.now()
    # What was drawn from another memory comes behind it.
    entries = iter(sorted(_read(files, now, faults), key=lambda each: (each.record.recorded, each.record.id)))
    while batch := list(islice(entries, BATCH)):

        def keep(tx: Transaction, batch: list[MemoryEntry]) -> None:
            for entry in batch:
                done[_take(tx, space, _cleaned(means, entry), now)] += 1

        await means.store.write(keep, batch)
    return MemoriesImported(**done, faults=tuple(faults))


def _cleaned(means: Resources, entry: MemoryEntry) -> MemoryEntry:
    record = means.cleaning().struct(entry.record)
    return entry if record is entry.record else replace(entry, record=record)


def _read(files: Iterable[MemoryFile], now: datetime, faults: list[MemoryFault]) -> Iterator[MemoryEntry]:
    for file in files:
        for each in _entries(file, now):
            if isinstance(each, UnreadableEntry):
                faults.append(MemoryFault(path=file.path, line=each.line, message=each.message))
            else:
                yield each


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
    (done,) = settle_drafts(tx, space, [word])
    if known is None:
        return "edited"
    if done.record.id == known.id:
        # Its signature or its value makes it what it is: it is the same memory in other words.
        tx.memories.put(space, [replace(done.record, text=word.text)])
        return "edited"
    old = _known(tx, space, known.id)
    if old is not None and old.state == "active":
        settle_drafts(tx, space, [against(old, now)])
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

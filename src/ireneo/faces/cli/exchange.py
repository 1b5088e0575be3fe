"""`ireneo export`, and the part of `ireneo import` that takes memories in."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

import ireneo
from ireneo.errors import BadInput, IreneoError
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.files import LOG_SUFFIXES, LogFile
from ireneo.faces.cli.options import DEFAULT_SPACE, STDIN, AsJson, Db, Space
from ireneo.faces.cli.place import is_there, shown
from ireneo.faces.cli.stored import TRIAL, reading, writing
from ireneo.faces.cli.warnings import warn
from ireneo.faces.cli.words import counted

if TYPE_CHECKING:
    from ireneo.types import Exported, MemoriesImported, MemoryFault, MemoryFile

Target = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="A folder for Markdown, a file each; FILE.jsonl, or - for standard output, for lines of JSON.",
    ),
]
MARKDOWN = ".md"
LINES = {".jsonl", ".ndjson"}


def export(path: Target, as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE) -> None:
    """Write all memories into files.

    Made to be read, edited and kept in git; `ireneo import` takes them in again.
    """
    target = Path(path)
    if path == STDIN or target.suffix in LINES:
        _export_lines(path, db, space, as_json=as_json)
    elif target.exists() and not target.is_dir():
        raise BadInput(f"{path} is a file; name a folder, or a file that ends with .jsonl.")
    else:
        _export_folder(target, db, space, as_json=as_json)


def _export_lines(path: str, db: Path | None, space: str, *, as_json: bool) -> None:
    async def work(memory: ireneo.Memory) -> Exported:
        return await anext(memory.export_memories("jsonl"))

    made = reading(db, space, work)
    if path == STDIN:
        sys.stdout.buffer.write(made.data)
        sys.stdout.buffer.flush()
        return
    _write(Path(path), made.data)
    if as_json:
        write_json({"path": path, "memories": made.memories})
        return
    sys.stdout.write(f"  {counted(made.memories, 'memory', 'memories')} → {path}\n")


def _export_folder(folder: Path, db: Path | None, space: str, *, as_json: bool) -> None:
    def there(path: str) -> bytes | None:
        file = folder / path
        return file.read_bytes() if file.is_file() else None

    async def work(memory: ireneo.Memory) -> tuple[Counter[str], set[Path]]:
        done: Counter[str] = Counter()
        written = set()
        async for each in memory.export_memories("markdown", there=there):
            done[each.stands] += 1
            written.add(folder / each.path)
            if each.stands == "edited":
                warn(f"{folder / each.path} has edits that were not imported; it was left as it is.")
            elif each.stands != "same":
                _write(folder / each.path, each.data)
        return done, written

    done, written = reading(db, space, work)
    others = sorted(set(memory_files([str(folder)])) - {str(path) for path in written})
    if as_json:
        stands = {name: done[name] for name in ("new", "changed", "same", "edited")}
        write_json({"path": str(folder), "memories": done.total(), **stands, "others": others})
    else:
        _tell(folder, done, others)
    if done["edited"]:
        raise typer.Exit(1)


def _tell(folder: Path, done: Counter[str], others: Sequence[str]) -> None:
    if not done:
        sys.stdout.write("  There is no memory to write yet; `ireneo remember` and `ireneo learn` make some.\n")
        return
    words = {"new": "new", "changed": "changed", "same": "as they were", "edited": "left with their edits"}
    parts = ", ".join(f"{done[stands]:,} {word}" for stands, word in words.items() if done[stands])
    sys.stdout.write(f"  {counted(done.total(), 'memory', 'memories')} → {folder}{f': {parts}' if parts else ''}\n")
    if others:
        more = ", …" if len(others) > 1 else ""
        sys.stdout.write(f"  {counted(len(others), 'file')} there of no memory that is kept: {others[0]}{more}\n")


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            half.write_bytes(data)
            half.replace(path)
        finally:
            half.unlink(missing_ok=True)
    except OSError as fault:
        raise IreneoError(f"{path} can't be written: {fault.strerror}.") from fault


def memory_files(given: Sequence[str]) -> list[str]:
    """Those of the files, and of the files in the folders, that hold memories."""
    return [file for each in given for file in _inside(each) if _holds_memories(file)]


def _inside(given: str) -> Iterator[str]:
    if given == STDIN or not Path(given).is_dir():
        yield given
        return
    inside = sorted(path for path in Path(given).rglob("*") if path.is_file())
    yield from (str(path) for path in inside if path.suffix == MARKDOWN or path.suffix in LOG_SUFFIXES)


def _holds_memories(given: str) -> bool:
    try:
        with LogFile(given) as file:
            return ireneo.Memory.reads_memories(file.sample())
    except BadInput:
        # Whoever reads it next says so.
        return False


def take_memories(files: Sequence[str], path: Path, space: str, *, keep_secrets: bool = False) -> MemoriesImported:
    """Store the memories in files. No database is made where none can be read."""
    if is_there(path):
        return _take(files, path, space, keep_secrets)
    unread: list[MemoryFault] = []
    for place, file in enumerate(files):
        tried = _take([file], TRIAL, space, keep_secrets)
        if tried.memories:
            return _take(files, path, space, keep_secrets)
        unread += tried.faults
        if place == len(files) - 1:
            return replace(tried, faults=tuple(unread))
    raise AssertionError("there is at least one file")


def _take(files: Sequence[str], path: Path, space: str, keep_secrets: bool) -> MemoriesImported:
    async def work(memory: ireneo.Memory) -> MemoriesImported:
        return await memory.import_memories(_read(files))

    return writing(path, space, work, keep_secrets=keep_secrets)


def _read(files: Sequence[str]) -> Iterator[MemoryFile]:
    # Only who takes memories in pays for the names.
    from ireneo.types import MemoryFile

    for given in files:
        with LogFile(given) as file:
            yield MemoryFile(path=file.label, data=file.read())


def told_of(done: MemoriesImported, path: Path) -> str:
    """What an import of memories did, for a reader."""
    words = (
        (done.new, "new"),
        (done.grown, "with more evidence"),
        (done.edited, "edited"),
        (done.known, "known already"),
    )
    parts = ", ".join(f"{number:,} {word}" for number, word in words if number)
    return f"  {counted(done.memories, 'memory', 'memories')} → {shown(path)}{f': {parts}' if parts else ''}\n"

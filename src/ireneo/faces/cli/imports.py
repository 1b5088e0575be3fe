"""`ireneo import` and `export`: logs and memories into a database, and memories out of it."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct, field

import ireneo
from ireneo.errors import BadInput, IreneoError
from ireneo.faces.cli.files import (
    SHOWN,
    FoundLog,
    SearchCounts,
    log_file,
    opened,
    search,
    tell_reading,
    warn,
    warn_of_faults,
)
from ireneo.faces.cli.options import (
    AUTO,
    STDIN,
    TRIAL,
    AsJson,
    Format,
    KeepSecrets,
    Stored,
    argument,
    option,
    reading,
    writing,
)
from ireneo.faces.cli.output import ReadingBar, counted, picked, secrets_told, tell, write_json
from ireneo.faces.cli.place import Database, database, is_there, shown
from ireneo.plumbing import LOG_SUFFIXES, holds_memories

if TYPE_CHECKING:
    from ireneo.sync import Memory
    from ireneo.types import Imported, MemoriesImported, MemoryFault, MemoryFile, Reading

Target = Annotated[
    str,
    argument("PATH", "A folder for Markdown, a file each; FILE.jsonl, or - for standard output, for lines of JSON."),
]
MARKDOWN = ".md"
LINES = {".jsonl", ".ndjson"}


def export(path: Target, as_json: AsJson = False, *, stored: Stored) -> None:
    """Write all memories into files.

    Made to be read, edited and kept in git; `ireneo import` takes them in again.
    """
    target = Path(path)
    if path == STDIN or target.suffix in LINES:
        _export_lines(path, stored, as_json=as_json)
    elif target.exists() and not target.is_dir():
        raise BadInput(f"{path} is a file; name a folder, or a file that ends with .jsonl.")
    else:
        _export_folder(target, stored, as_json=as_json)


def _export_lines(path: str, stored: Stored, *, as_json: bool) -> None:
    with reading(stored) as memory:
        (made,) = memory.export_memories("jsonl")
    if path == STDIN:
        sys.stdout.buffer.write(made.data)
        sys.stdout.buffer.flush()
        return
    _write(Path(path), made.data)
    if as_json:
        write_json({"path": path, "memories": made.memories})
        return
    tell(f"{counted(made.memories, 'memory', 'memories')} → {path}")


def _export_folder(folder: Path, stored: Stored, *, as_json: bool) -> None:
    def there(path: str) -> bytes | None:
        file = folder / path
        return file.read_bytes() if file.is_file() else None

    done: Counter[str] = Counter()
    written = set()
    with reading(stored) as memory:
        files = memory.export_memories("markdown", there=there)
    for each in files:
        done[each.stands] += 1
        written.add(folder / each.path)
        if each.stands == "edited":
            warn(f"{folder / each.path} has edits that were not imported; it was left as it is.")
        elif each.stands != "same":
            _write(folder / each.path, each.data)
    others = sorted(set(memory_files([str(folder)])) - {str(path) for path in written})
    if as_json:
        stands = {name: done[name] for name in ("new", "changed", "same", "edited")}
        write_json({"path": str(folder), "memories": done.total(), **stands, "others": others})
    else:
        _tell_exported(folder, done, others)
    if done["edited"]:
        raise typer.Exit(1)


def _tell_exported(folder: Path, done: Counter[str], others: Sequence[str]) -> None:
    if not done:
        tell("There is no memory to write yet; `ireneo remember` and `ireneo learn` make some.")
        return
    words = {"new": "new", "changed": "changed", "same": "as they were", "edited": "left with their edits"}
    parts = ", ".join(f"{done[stands]:,} {word}" for stands, word in words.items() if done[stands])
    tell(f"{counted(done.total(), 'memory', 'memories')} → {folder}{f': {parts}' if parts else ''}")
    if others:
        more = ", …" if len(others) > 1 else ""
        tell(f"{counted(len(others), 'file')} there of no memory that is kept: {others[0]}{more}")


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
    found: list[str] = []
    for each in given:
        inside = [each]
        if each != STDIN and Path(each).is_dir():
            paths = sorted(path for path in Path(each).rglob("*") if path.is_file())
            inside = [str(path) for path in paths if path.suffix == MARKDOWN or path.suffix in LOG_SUFFIXES]
        for name in inside:
            # What can't be read is told by whoever reads it next.
            with suppress(BadInput), log_file(name) as file:
                if holds_memories(file.sample()):
                    found.append(name)
    return found


Logs = Annotated[
    list[str],
    argument(
        "LOG…", "Files (plain, .gz or .xz), folders to search, or - for standard input: logs, and memories as exported."
    ),
]

Into = Annotated[
    str | None,
    option(
        "--session -s",
        "NAME",
        "Take all of it into one session, one log behind the other, in the order given.",
        shown="a session for each run of a log",
    ),
]


class ImportTally(Struct, kw_only=True):
    """What an import did so far."""

    sessions: int = 0
    new: int = 0
    unread: int = 0
    memories: int = 0
    passed: int = 0
    """Files of a folder that hold no log."""
    redacted: Counter[str] = field(default_factory=Counter)
    """The secrets of each kind that were taken out."""
    taken: list[dict[str, object]] = field(default_factory=list)
    """What became of each session."""
    quiet: bool = False
    """It is told as JSON at the end, and nothing before that."""
    kept: list[str] = field(default_factory=list)
    """The branches on which what was said here is kept, where a chat goes on otherwise."""
    unredacted: int = 0
    """Messages that stand there with their secrets since an earlier import."""


def import_logs(
    logs: Logs,
    session: Into = None,
    keep_secrets: KeepSecrets = False,
    as_json: AsJson = False,
    *,
    stored: Stored,
    format: Format = AUTO,
) -> None:
    """Take agents' logs, chats, stories and exported memories in.

    What is there already is left as it is: import as often as you like. A chat that was edited stands as it is now.
    Keys, tokens and passwords become marks.
    """
    if format != AUTO:
        ireneo.log_format(format)
    tally = ImportTally(quiet=as_json)
    memories = memory_files(logs) if format == AUTO else []
    searched = SearchCounts()
    found = list(search(logs, format, searched, frozenset(memories)))
    tally.unread, tally.passed = searched.unread, searched.passed
    path, space = database(stored.db), stored.space
    if session is not None and tally.unread:
        raise BadInput("Nothing was stored, since each log of one session stands on those before it.")
    if memories:
        _take_memories(memories, path, space, tally, keep_secrets)
    if found:
        with writing(path, space, keep_secrets=keep_secrets) as memory:
            _take_logs(memory, found, tally, session, format)
    if tally.passed and not as_json:
        tell(f"{counted(tally.passed, 'file')} without a session passed over")
    if not tally.sessions and not tally.memories:
        raise BadInput(f"Nothing could be read in {', '.join(logs)}; `ireneo formats` lists what can.")
    if as_json:
        about = {"database": str(path), "sessions": tally.taken} | picked(tally, "new memories unread passed kept")
        write_json(about | {"redacted": dict(tally.redacted), "unredacted": tally.unredacted})
    else:
        if tally.sessions:
            tell(f"{counted(tally.sessions, 'session')}, {counted(tally.new, 'new message')} → {shown(path)}")
        for line in secrets_told(tally.redacted, tally.unredacted):
            tell(line)
    if tally.unread:
        raise typer.Exit(1)


def _take_memories(files: Sequence[str], path: Database, space: str, tally: ImportTally, keep_secrets: bool) -> None:
    """Store the memories in files. No database is made where none can be read."""
    # Only who takes memories in pays for the names.
    from ireneo.types import MemoryFile

    def read(files: Sequence[str]) -> Iterator[MemoryFile]:
        for given in files:
            with log_file(given) as file:
                yield MemoryFile(path=file.label, data=file.read())

    def take(files: Sequence[str], path: Database) -> MemoriesImported:
        with writing(path, space, keep_secrets=keep_secrets) as memory:
            return memory.import_memories(read(files))

    faults: list[MemoryFault] = []

    def can_be_read(file: str) -> bool:
        tried = take([file], TRIAL)
        faults.extend(tried.faults)
        return tried.memories > 0

    done = take(files, path) if is_there(path) or any(map(can_be_read, files)) else None
    faults = list(done.faults) if done else faults
    for fault in faults[:SHOWN]:
        warn(f"{fault.path}:{fault.line}: {fault.message}")
    if len(faults) > SHOWN:
        warn(f"{counted(len(faults) - SHOWN, 'fault')} more.")
    tally.unread += len(faults)
    if done and done.memories:
        tally.memories += done.memories
        words = ((done.new, "new"), (done.grown, "with more evidence"), (done.edited, "edited"))
        parts = ", ".join(f"{number:,} {word}" for number, word in (*words, (done.known, "known already")) if number)
        if not tally.quiet:
            tell(f"{counted(done.memories, 'memory', 'memories')} → {shown(path)}{f': {parts}' if parts else ''}")


def _take_logs(memory: Memory, found: Sequence[FoundLog], tally: ImportTally, session: str | None, format: str) -> None:
    with ReadingBar(sum(each.size for each in found)) as bar:
        # Into one session they go together, since each stands on those before it.
        for logs in [found] if session is not None else [[each] for each in found]:
            _take_together(memory, logs, tally, bar, session, format)


def _take_together(
    memory: Memory, logs: Sequence[FoundLog], tally: ImportTally, bar: ReadingBar, session: str | None, format: str
) -> None:
    """Take some logs in by one call, count their sessions, and say what became of each."""
    # Imported when used, as all of the library is.
    from ireneo.types import Reading

    first = log = logs[0]

    def step(done: Reading | Imported) -> None:
        nonlocal log
        if isinstance(done, Reading):
            log = next((each for each in logs if each.given == done.label), log)
            tally.unread += tell_reading(done, bar)
        else:
            _count(done, log, tally, bar, session)

    try:
        report = memory.import_file(
            *(opened(each.given) for each in logs),
            format=first.log if session is None or format != AUTO else None,
            name=first.name if session is None else "",
            session=session,
            # A session that was opened and left again is no fault of a folder that is searched.
            skip_empty=first.searched,
            on_progress=step,
        )
        tally.passed += len(report.empty)
        for each in report.sessions:
            if each.kept and not tally.quiet:
                bar.write(f"  What was said here since stands on {each.session}@{each.kept}.")
            tally.kept += [f"{each.session}@{each.kept}"] if each.kept else []
    except BadInput as fault:
        warn(str(fault))
        tally.unread += 1
    if tally.unread and log is not logs[-1]:
        warn("The logs behind it were left out, since each log of one session stands on those before it.")


def _count(done: Imported, log: FoundLog, tally: ImportTally, bar: ReadingBar, session: str | None) -> None:
    warn_of_faults(log.given, [(fault.line, fault.message) for fault in done.faults])
    tally.sessions = 1 if session else tally.sessions + 1
    tally.new += done.new
    tally.redacted.update(done.redacted)
    tally.unredacted += done.unredacted
    name = session or done.session
    tally.taken.append({"session": name, "log": log.name} | picked(done, "messages new tokens"))
    if not tally.quiet:
        stored = f"{done.new:,} new of {counted(done.messages, 'message')}"
        named = done.session if session is None else f"{session} ← {log.name}"
        bar.write(f"  {stored:<30}{done.tokens:>11,} tokens  {named}")

"""`ireneo import` and `export`: logs and memories into a database, and memories out of it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import field

import ireneo
from ireneo.errors import BadInput
from ireneo.faces.cli.files import (
    FoundLog,
    LogTally,
    log_file,
    open_input,
    resumable,
    search,
    warn,
    warn_of_faults,
    write_file,
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
    open_existing,
    open_memory,
    option,
    resolve_project,
    some_of,
)
from ireneo.faces.cli.output import Answer, ReadingBar, counted, cut, echo, pick_attributes, secret_lines
from ireneo.faces.cli.place import Database, database, exists, shown
from ireneo.plumbing import LOG_SUFFIXES, holds_memories, is_story, project_here

if TYPE_CHECKING:
    from ireneo.sync import Memory
    from ireneo.types import Imported, MemoriesImported, MemoryFile, Reading

Target = Annotated[
    str,
    argument("PATH", "A folder for Markdown, a file each; FILE.jsonl, or - for standard output, for lines of JSON."),
]

FILES = frozenset(".md .markdown .txt .json .yaml .yml .toml .csv .html .pdf .gz .xz .zip .db .sqlite".split())
"""Endings that only files have: a name with one of them is not meant for a folder."""


def export(path: Target, *, stored: Stored) -> Answer | None:
    """Write all memories into files. Made to be read, edited and kept in git; `ireneo import` reads them again."""
    if not path:
        raise BadInput("The path is empty; name a folder, or a file that ends with .jsonl.")
    target = Path(path)
    if path == STDIN or target.suffix in (".jsonl", ".ndjson"):
        with open_existing(stored) as memory:
            (made,) = memory.export_memories("jsonl")
        if path == STDIN:
            sys.stdout.buffer.write(made.data)
            sys.stdout.buffer.flush()
            return None
        _write(Path(path), made.data)
        many = counted(made.memories, "memory")
        return Answer({"path": path, "memories": made.memories}, f"{many} → {path}")
    if target.exists() and not target.is_dir():
        raise BadInput(f"{path} is a file; name a folder, or a file that ends with .jsonl.")
    if not target.exists() and target.suffix.lower() in FILES:
        raise BadInput(
            f"{path} is named like a file, and Markdown is written as a folder with a file for each memory: name a"
            f" folder such as {target.stem}, or for a single file one that ends with .jsonl."
        )
    return _export_folder(target, stored)


def _export_folder(folder: Path, stored: Stored) -> Answer:
    def there(path: str) -> bytes | None:
        file = folder / path
        return file.read_bytes() if file.is_file() else None

    done: Counter[str] = Counter()
    written = set()
    with open_existing(stored) as memory:
        files = memory.export_memories("markdown", there=there)
    for each in files:
        done[each.stands] += 1
        written.add(str(folder / each.path))
        if each.stands == "edited":
            warn(f"{folder / each.path} has edits that were not imported; it was left as it is.")
        elif each.stands != "same":
            _write(folder / each.path, each.data)
    others = sorted(set(memory_files([str(folder)])) - written)
    words = {"new": "new", "changed": "changed", "same": "unchanged", "edited": "left with their edits"}
    data: dict[str, object] = {"path": str(folder), "memories": done.total(), **{name: done[name] for name in words}}
    lines = ["There is no memory to write yet; `ireneo remember` and `ireneo learn` make some."]
    if done:
        parts = ", ".join(f"{done[name]:,} {word}" for name, word in words.items() if done[name])
        lines = [f"{counted(done.total(), 'memory')} → {folder}: {parts}"]
        more = ", …" if len(others) > 1 else ""
        lines += [f"{counted(len(others), 'file')} there without a stored memory: {others[0]}{more}"] if others else []
    return Answer(data | {"others": others}, lines, failed=bool(done["edited"]))


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise BadInput(f"{path} can't be written: {fault.strerror}.") from fault
    write_file(path, data)


def memory_files(given: Sequence[str]) -> list[str]:
    """Return the files that hold memories, among the given files and the files in the given folders."""
    found: list[str] = []
    for each in given:
        inside = [each]
        if each != STDIN and Path(each).is_dir():
            paths = sorted(path for path in Path(each).rglob("*") if path.is_file())
            inside = [str(path) for path in paths if path.suffix == ".md" or path.suffix in LOG_SUFFIXES]
        for name in inside:
            # A file that can't be read is reported when it is read next.
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
        "Import everything into one session, one log after the other, in the order given.",
        shown="a session for each run of a log",
    ),
]


Home = Annotated[
    str | None,
    option(
        "--project -p", "NAME", "The project, or its folder, of what tells no folder itself.", shown="this folder's"
    ),
]


class ImportTally(LogTally, kw_only=True):
    """What an import did so far."""

    sessions: int = 0
    new: int = 0
    memories: int = 0
    taken: list[dict[str, object]] = field(default_factory=list)
    """How each session was imported."""
    projects: list[str] = field(default_factory=list)
    """The projects of these sessions; an empty name for no project."""
    kept: list[str] = field(default_factory=list)
    """Branches with messages that were appended here, while the imported chat went on differently."""
    quiet: bool = False
    """Whether nothing is printed before the end."""


def import_logs(
    logs: Logs,
    session: Into = None,
    project: Home = None,
    keep_secrets: KeepSecrets = False,
    as_json: AsJson = False,
    *,
    stored: Stored,
    format: Format = AUTO,
) -> Answer:
    """Import agents' logs, chats, stories and exported memories.

    What is stored already is left as it is: import as often as you like. A chat that was edited is stored as it is now.
    Keys, tokens and passwords are replaced by marks. What tells no folder itself belongs to the project of this one.
    """
    if format != AUTO:
        ireneo.log_format(format)
    tally = ImportTally(quiet=as_json)
    memories = memory_files(logs) if format == AUTO else []
    found = list(search(logs, format, tally, frozenset(memories)))
    path, space = database(stored.db), stored.space
    # As with `remember`: a log that names no folder belongs to the project in which it is imported.
    home = project_here(str(Path.cwd()) if project is None else resolve_project(project))
    if session is not None and tally.unread:
        raise BadInput("Nothing was stored, since each log of one session continues those before it.")
    if memories:
        _import_memories(memories, path, space, tally, keep_secrets)
    if found:
        with (
            resumable(lambda: f"{counted(tally.sessions, 'session')} whole, {counted(tally.new, 'new message')}"),
            open_memory(path, space, keep_secrets=keep_secrets) as memory,
            ReadingBar(sum(each.size for each in found)) as bar,
        ):
            # Logs of one session are imported together, since each continues those before it.
            for together in [found] if session is not None else [[each] for each in found]:
                _import_together(memory, together, tally, bar, session, format, home)
            taken = {each["session"] for each in tally.taken}
            tally.projects = sorted({each.project or "" for each in memory.sessions() if each.key.session in taken})
    if tally.passed and not as_json:
        echo(f"{counted(tally.passed, 'file')} without a session skipped")
    if not tally.sessions and not tally.memories:
        raise BadInput(f"Nothing could be read in {', '.join(logs)}; `ireneo formats` lists what can.")
    lines: list[str] = []
    if tally.sessions:
        lines.append(f"{counted(tally.sessions, 'session')}, {counted(tally.new, 'new message')} → {shown(path)}")
        lines += _places(tally.projects)
        stories = all(is_story(each.log.name) for each in found)
        told = "summarises more than 250 messages, and remembers what one person tells an assistant, not characters"
        told = told if stories else "reads what users say in it, `ireneo learn` what its runs teach"
        lines += [f"`ireneo work` {told}"] if tally.new else []
    lines += secret_lines(tally.redacted, tally.unredacted)
    data: dict[str, object] = {"database": str(path), "sessions": tally.taken}
    data |= pick_attributes(tally, "projects new memories unread passed kept redacted unredacted")
    return Answer(data, lines, failed=bool(tally.unread))


def _places(projects: Sequence[str]) -> list[str]:
    """Say into which projects sessions were imported."""
    named = [each for each in projects if each]
    if not named:
        return []
    without = ", or none" if len(named) < len(projects) else ""
    return [f"of project{'s' * (len(named) > 1)} {some_of(named)}{without}"]


def _import_memories(files: Sequence[str], path: Database, space: str, tally: ImportTally, keep_secrets: bool) -> None:
    """Store the memories in files. No database is created if none of them can be read."""
    from ireneo.types import MemoryFile

    def read() -> Iterator[MemoryFile]:
        for given in files:
            with log_file(given) as file:
                yield MemoryFile(path=file.label, data=file.read())

    def import_into(path: Database) -> MemoriesImported:
        with open_memory(path, space, keep_secrets=keep_secrets) as memory:
            return memory.import_memories(read())

    done = import_into(path if exists(path) else TRIAL)
    if done.memories and not exists(path):
        done = import_into(path)
    for fault in done.faults[:20]:
        warn(f"{fault.path}:{fault.line}: {fault.message}")
    if len(done.faults) > 20:
        warn(f"{counted(len(done.faults) - 20, 'fault')} more.")
    tally.unread += len(done.faults)
    if done.memories:
        tally.memories += done.memories
        words = ((done.new, "new"), (done.grown, "with more evidence"), (done.edited, "edited"))
        rest = ((done.known, "known already"), (done.forgotten, "forgotten here, and left out"))
        parts = ", ".join(f"{number:,} {word}" for number, word in (*words, *rest) if number)
        if not tally.quiet:
            echo(f"{counted(done.memories, 'memory')} → {shown(path)}{f': {parts}' if parts else ''}")


def _import_together(
    memory: Memory,
    logs: Sequence[FoundLog],
    tally: ImportTally,
    bar: ReadingBar,
    session: str | None,
    format: str,
    home: str,
) -> None:
    """Import some logs by one call, count their sessions, and report the result for each log."""
    from ireneo.types import Reading

    first = log = logs[0]

    def report(step: Reading | Imported) -> None:
        nonlocal log
        if isinstance(step, Reading):
            log = next((each for each in logs if each.given == step.label), log)
            tally.count_read(step, bar)
        else:
            _count(step, log, tally, bar, session)

    try:
        done = memory.import_file(
            *(open_input(each.given) for each in logs),
            format=first.log if session is None or format != AUTO else None,
            name=first.name if session is None else "",
            session=session,
            project=home,
            # An empty session in a folder that is searched is not an error: somebody opened it and left.
            skip_empty=first.searched,
            on_progress=report,
        )
        tally.passed += len(done.empty)
        for each in done.sessions:
            if each.kept and not tally.quiet:
                bar.write(f"  What was said here since is on the branch {each.session}@{each.kept}.")
            tally.kept += [f"{each.session}@{each.kept}"] if each.kept else []
            if each.carried and not tally.quiet:
                bar.write(f"  {counted(each.carried, 'note')} by hand went along to the edited messages.")
            for words in each.unplaced:
                warn(f"Written by hand at a message that is gone; see whether it still holds: “{cut(words, 80)}”.")
            for words in each.lost:
                warn(f"Messages under a summary of yours have changed; it is shown no longer: “{cut(words, 80)}”.")
    except BadInput as fault:
        warn(str(fault))
        tally.unread += 1
    if tally.unread and log is not logs[-1]:
        warn("The logs after it were left out, since each log of one session continues those before it.")


def _count(done: Imported, log: FoundLog, tally: ImportTally, bar: ReadingBar, session: str | None) -> None:
    warn_of_faults(log.given, [(fault.line, fault.message) for fault in done.faults])
    tally.sessions = 1 if session else tally.sessions + 1
    tally.new += done.new
    tally.count_secrets(done)
    name = session or done.session
    tally.taken.append({"session": name, "log": log.name} | pick_attributes(done, "messages new tokens"))
    if not tally.quiet:
        stored = f"{done.new:,} new of {counted(done.messages, 'message')}"
        named = done.session if session is None else f"{session} ← {log.name}"
        bar.write(f"  {stored:<30}{done.tokens:>11,} tokens  {named}")

"""`ireneo import`: take logs into a database."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct, field

import ireneo
from ireneo.errors import BadInput, UnreadableLog
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.exchange import memory_files, take_memories, told_of
from ireneo.faces.cli.files import LogFile
from ireneo.faces.cli.options import AUTO, DEFAULT_SPACE, AsJson, Db, Format, KeepSecrets, Space
from ireneo.faces.cli.place import shown
from ireneo.faces.cli.redacted import secrets_told
from ireneo.faces.cli.screens.progress import ReadingBar
from ireneo.faces.cli.searched import Found, Searched, reported, search
from ireneo.faces.cli.stored import database, writing
from ireneo.faces.cli.warnings import SHOWN, warn, warn_of_damage, warn_of_faults
from ireneo.faces.cli.words import counted

Logs = Annotated[
    list[str],
    typer.Argument(
        metavar="LOG…",
        help="Files (plain, .gz or .xz), folders to search, or - for standard input: logs, and memories as exported.",
    ),
]

Into = Annotated[
    str | None,
    typer.Option(
        "--session",
        "-s",
        metavar="NAME",
        help="Take all of it into one session, one log behind the other, in the order given.",
        show_default="a session for each run of a log",
    ),
]


class Taken(Struct, frozen=True, kw_only=True):
    """What became of one session."""

    session: str
    log: str
    """What the log is called that it came from."""
    messages: int
    new: int
    tokens: int


class Tally(Struct, kw_only=True):
    """What an import did so far."""

    sessions: int = 0
    new: int = 0
    unread: int = 0
    memories: int = 0
    passed: int = 0
    """Files of a folder that hold no log."""
    redacted: Counter[str] = field(default_factory=Counter)
    """The secrets of each kind that were taken out."""
    taken: list[Taken] = field(default_factory=list)
    quiet: bool = False
    """It is told as JSON at the end, and nothing before that."""
    unredacted: int = 0
    """Messages that stand there with their secrets since an earlier import."""


def import_logs(
    logs: Logs,
    session: Into = None,
    keep_secrets: KeepSecrets = False,
    as_json: AsJson = False,
    db: Db = None,
    space: Space = DEFAULT_SPACE,
    format: Format = AUTO,
) -> None:
    """Take agents' logs, stories and exported memories in.

    What is there already is left as it is: import as often as you like. Keys, tokens and passwords become marks.
    """
    if format != AUTO:
        ireneo.log_format(format)
    tally = Tally(quiet=as_json)
    memories = memory_files(logs) if format == AUTO else []
    searched = Searched()
    found = list(search(logs, format, searched, frozenset(memories)))
    tally.unread, tally.passed = searched.unread, searched.passed
    path = database(db)
    if session is not None and tally.unread:
        raise BadInput("Nothing was stored, since each log of one session stands on those before it.")
    if memories:
        _take_memories(memories, path, space, tally, keep_secrets)
    if found:
        writing(path, space, lambda memory: _take(memory, found, tally, session), keep_secrets=keep_secrets)
    if tally.passed and not as_json:
        sys.stdout.write(f"  {counted(tally.passed, 'file')} without a session passed over\n")
    if not tally.sessions and not tally.memories:
        raise BadInput(f"Nothing could be read in {', '.join(logs)}; `ireneo formats` lists what can.")
    if as_json:
        write_json(_answer(tally, path))
    else:
        _tell(tally, path)
    if tally.unread:
        raise typer.Exit(1)


def _answer(tally: Tally, path: Path) -> dict[str, object]:
    return {
        "database": str(path),
        "sessions": tally.taken,
        "new": tally.new,
        "memories": tally.memories,
        "unread": tally.unread,
        "passed": tally.passed,
        "redacted": dict(tally.redacted),
        "unredacted": tally.unredacted,
    }


def _tell(tally: Tally, path: Path) -> None:
    if tally.sessions:
        stored = f"{counted(tally.sessions, 'session')}, {counted(tally.new, 'new message')}"
        sys.stdout.write(f"  {stored} → {shown(path)}\n")
    for line in secrets_told(tally.redacted, tally.unredacted):
        sys.stdout.write(f"  {line}\n")


def _take_memories(files: Sequence[str], path: Path, space: str, tally: Tally, keep_secrets: bool) -> None:
    done = take_memories(files, path, space, keep_secrets=keep_secrets)
    for fault in done.faults[:SHOWN]:
        warn(f"{fault.path}:{fault.line}: {fault.message}")
    if len(done.faults) > SHOWN:
        warn(f"{counted(len(done.faults) - SHOWN, 'fault')} more.")
    tally.memories += done.memories
    tally.unread += len(done.faults)
    if done.memories and not tally.quiet:
        sys.stdout.write(told_of(done, path))


async def _take(memory: ireneo.Memory, found: Sequence[Found], tally: Tally, session: str | None) -> None:
    importing = memory.import_log if session is None else memory.joined(session).import_log
    with ReadingBar(sum(each.size for each in found)) as bar:
        for each in found:
            if session is not None and tally.unread:
                warn("The logs behind it were left out, since each log of one session stands on those before it.")
                break
            try:
                with LogFile(each.given) as file:
                    try:
                        async for done in importing(reported(file, bar), each.log, name=each.name):
                            warn_of_faults(file.label, [(fault.line, fault.message) for fault in done.faults])
                            tally.sessions = 1 if session else tally.sessions + 1
                            tally.new += done.new
                            tally.redacted.update(done.redacted)
                            tally.unredacted += done.unredacted
                            name = session or done.session
                            tally.taken.append(
                                Taken(
                                    session=name,
                                    log=each.name,
                                    messages=done.messages,
                                    new=done.new,
                                    tokens=done.tokens,
                                )
                            )
                            if tally.quiet:
                                continue
                            stored = f"{done.new:,} new of {counted(done.messages, 'message')}"
                            named = done.session if session is None else f"{session} ← {each.name}"
                            bar.write(f"  {stored:<30}{done.tokens:>11,} tokens  {named}")
                    finally:
                        warn_of_damage(file)
                    tally.unread += file.damage is not None
            except BadInput as fault:
                # A session that was opened and left again is no fault of a folder that is searched.
                if each.searched and str(fault) == str(UnreadableLog()):
                    tally.passed += 1
                else:
                    warn(f"{each.given}: {fault}")
                    tally.unread += 1
            bar.finished(each.size)

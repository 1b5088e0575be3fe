"""The guard for hooks: check a call against a cache of the known traps, and make the brief for the start of a session.

A hook is a new process for each call, so imports are most of its cost. A call without a word of any trap is answered at
once; only for others are the traps and the end of the session's log read. A brief is made without `Memory`, which loads
all verbs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ireneo.adapters.kept_traps import read_trap_index
from ireneo.lessons.needles import VERSION, contains_any

if TYPE_CHECKING:
    from os import PathLike

    from ireneo.lessons.guard import GuardAdvice, SessionSoFar, TrapIndex

TRANSCRIPT_BYTES = 200_000
"""Bytes read from the end of a transcript."""
BUSY_SECONDS = 2.0
"""Most time that the store waits for other writers, if the cache can't be used."""


def check_call(
    path: str | PathLike[str],
    space: str,
    tool: str,
    arguments: Mapping[str, object],
    *,
    session: str = "",
    folder: str = "",
    transcript: str | PathLike[str] | None = None,
) -> GuardAdvice | None:
    """Check before a call whether it steps into a known trap, like `Memory.check` for the database at `path`.

    `folder` is the working directory of the call, `transcript` the session so far, as Claude Code writes it. Raises
    what `ireneo.open` raises, if the cache can't be used.
    """

    def look_back() -> SessionSoFar:
        return so_far(transcript, session, folder)

    kept = _kept(path, space)
    if kept is None:
        return _asked_of_the_store(path, space, tool, arguments, look_back, folder)
    needles, record = kept
    if not contains_any(needles, tool, arguments):
        return None
    index = _index(record)
    if index is None:
        return _asked_of_the_store(path, space, tool, arguments, look_back, folder)
    from ireneo.lessons.guard import advice
    from ireneo.lessons.run import project_here

    project = project_here(folder) if folder else None
    return advice(index.traps, tool, arguments, look_back, project=project)


def _kept(path: str | PathLike[str], space: str) -> tuple[tuple[str, ...], str] | None:
    """Read the cached traps without opening the store; None for a database on a server."""
    return None if str(path).startswith("postgres") and "://" in str(path) else read_trap_index(path, space, VERSION)


def _index(record: str) -> TrapIndex | None:
    """Decode the cached traps; None if they are damaged, which opening the store then reports."""
    import msgspec

    from ireneo.lessons.guard import TrapIndex
    from ireneo.patterns import readable

    try:
        return msgspec.json.decode(record, type=readable(TrapIndex))
    except msgspec.DecodeError:
        return None


def _asked_of_the_store(
    path: str | PathLike[str],
    space: str,
    tool: str,
    arguments: Mapping[str, object],
    look_back: Callable[[], SessionSoFar],
    folder: str,
) -> GuardAdvice | None:
    """Check against the lessons in the store, and refresh the cache for the next call."""
    import asyncio
    from contextlib import suppress

    from ireneo.adapters.opening import open_store
    from ireneo.engine.check import check, store_traps
    from ireneo.errors import StoreError
    from ireneo.lessons.run import project_here

    async def ask() -> GuardAdvice | None:
        store = await open_store(os.fspath(path), busy_seconds=BUSY_SECONDS)
        try:
            with suppress(StoreError):
                # A read-only or busy store can still answer.
                await store.write(store_traps, space)
            project = project_here(folder) if folder else None
            return await store.read(check, space, tool, arguments, look_back=look_back, project=project)
        finally:
            await store.close()

    return asyncio.run(ask())


def has_lessons(path: str | PathLike[str], space: str, folder: str) -> bool:
    """Whether there may be lessons for work in `folder`."""
    kept = _kept(path, space)
    if kept is None:
        return True
    if not kept[1]:
        return False
    from ireneo.lessons.run import project_here

    index = _index(kept[1])
    return index is None or index.anywhere or project_here(folder) in index.projects


def brief(path: str | PathLike[str], space: str, folder: str, budget: int) -> str:
    """Return the brief for work in `folder`, like `Memory.brief` for the database at `path`; empty without lessons.

    Raises what `ireneo.open` raises.
    """
    if not has_lessons(path, space, folder):
        return ""
    import asyncio

    from ireneo.adapters.opening import open_store
    from ireneo.adapters.tokens import EstimatedTokenizer
    from ireneo.engine.brief import BriefCue
    from ireneo.engine.brief import brief as compose
    from ireneo.engine.resources import Resources, SystemClock
    from ireneo.engine.scope import project_asked
    from ireneo.engine.searching import VectorCache

    async def ask() -> str:
        store = await open_store(os.fspath(path))
        try:
            resources = Resources(store=store, count=EstimatedTokenizer().count, clock=SystemClock())
            cue = BriefCue(project=project_asked(folder))
            return (await compose(resources, space, VectorCache(), cue, None, budget)).markdown
        finally:
            await store.close()

    return asyncio.run(ask())


def so_far(transcript: str | PathLike[str] | None, session: str = "", folder: str = "") -> SessionSoFar:
    """Read the end of a transcript: the answered calls, the user's last words, and the warnings given so far."""
    from ireneo.lessons.guard import PastCall, SessionSoFar, shown_lesson_ids

    lines = last_lines(transcript) if transcript else []
    begun: dict[str, tuple[str, dict[str, object]]] = {}
    calls: list[PastCall] = []
    asked = ""
    for line in lines:
        for block in _blocks(line):
            match block:
                case {"type": "tool_use", "id": str(id), "name": str(name), "input": dict(given)}:
                    begun[id] = name, given
                case {"type": "tool_result", "tool_use_id": str(id)} if id in begun:
                    name, given = begun.pop(id)
                    calls.append(PastCall(tool=name, arguments=given, failed=block.get("is_error") is True))
                case {"type": "user text", "text": str(text)}:
                    asked = text
    told = shown_lesson_ids(b"\n".join(lines).decode(errors="replace"))
    return SessionSoFar(calls=tuple(calls), asked=asked, told=told, folder=folder, session=session)


def _blocks(line: bytes) -> list[dict[str, object]]:
    """Return the parts of the message on a line of a transcript; empty if there is none."""
    if b'"message"' not in line:
        return []
    try:
        entry = json.loads(line)
    except ValueError:
        return []
    match entry:
        case {"type": "assistant" | "user" as role, "message": {"content": content}} if not entry.get("isMeta"):
            given = content if isinstance(content, list) else [{"type": "text", "text": content}]
            blocks = [each for each in given if isinstance(each, dict)]
            # Text inserted by the harness begins with a tag or another mark.
            return [{**each, "type": "user text"} if role == "user" and _is_typed(each) else each for each in blocks]
    return []


def _is_typed(block: dict[str, object]) -> bool:
    text = block.get("text")
    return block.get("type") == "text" and isinstance(text, str) and not text.lstrip().startswith(("<", "Caveat:"))


def last_lines(path: str | PathLike[str]) -> list[bytes]:
    """Return the last whole lines of a file; empty if it can't be read."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            start = max(0, size - TRANSCRIPT_BYTES)
            file.seek(start)
            lines = file.read().split(b"\n")
    except OSError:
        return []
    return lines[1:] if start else lines

"""The guard as a hook asks it before each call: from what is kept for it, without the engine.

A hook is a process of its own, and there is one for each call: what is imported here is most of what it costs. So a
call in which no trap's word stands is answered at once; only for the others the traps are read, and the end of the
session's log.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ireneo.adapters.kept_traps import read_kept
from ireneo.lessons.needles import VERSION, says_any

if TYPE_CHECKING:
    from os import PathLike

    from ireneo.lessons.guard import GuardAdvice, SessionSoFar

TRANSCRIPT_BYTES = 200_000
"""So much of the end of a transcript is read."""
BUSY_SECONDS = 2.0
"""So long the store waits for others, where what is kept doesn't do."""


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
    """Say before a call is made whether it steps into a known trap, as `Memory.check` does for the database at `path`.

    `folder` is where it would be made, `transcript` the session so far, as Claude Code writes it. Raises what
    `ireneo.open` raises, where what is kept can't be read alone.
    """

    def look_back() -> SessionSoFar:
        return so_far(transcript, session, folder)

    kept = _kept(path, space)
    if kept is None:
        return _asked_of_the_store(path, space, tool, arguments, look_back, folder)
    needles, record = kept
    if not says_any(needles, tool, arguments):
        return None
    import msgspec

    from ireneo.lessons.guard import TrapIndex, advice
    from ireneo.lessons.run import project_here

    traps = msgspec.json.decode(record, type=TrapIndex).traps
    project = project_here(folder) if folder else None
    return advice(traps, tool, arguments, look_back, project=project)


def _kept(path: str | PathLike[str], space: str) -> tuple[tuple[str, ...], str] | None:
    """What can be read of a file without opening the store; None of what lies on a server."""
    return None if str(path).startswith("postgres") and "://" in str(path) else read_kept(path, space, VERSION)


def _asked_of_the_store(
    path: str | PathLike[str],
    space: str,
    tool: str,
    arguments: Mapping[str, object],
    look_back: Callable[[], SessionSoFar],
    folder: str,
) -> GuardAdvice | None:
    """The same from the lessons themselves, which are compiled for the next one who asks."""
    import asyncio
    from contextlib import suppress

    from ireneo.adapters.opening import open_store
    from ireneo.engine.check import check, keep_traps
    from ireneo.errors import StoreError
    from ireneo.lessons.run import project_here

    async def ask() -> GuardAdvice | None:
        store = await open_store(os.fspath(path), busy_seconds=BUSY_SECONDS)
        try:
            with suppress(StoreError):
                # One that may only be read, or is busy, is answered all the same.
                await store.write(keep_traps, space)
            project = project_here(folder) if folder else None
            return await store.read(check, space, tool, arguments, look_back=look_back, project=project)
        finally:
            await store.close()

    return asyncio.run(ask())


def has_lessons(path: str | PathLike[str], space: str, folder: str) -> bool:
    """Whether there may be a lesson for who works in `folder`."""
    kept = _kept(path, space)
    if kept is None:
        return True
    if not kept[1]:
        return False
    import msgspec

    from ireneo.lessons.guard import TrapIndex
    from ireneo.lessons.run import project_here

    index = msgspec.json.decode(kept[1], type=TrapIndex)
    return index.anywhere or project_here(folder) in index.projects


def so_far(transcript: str | PathLike[str] | None, session: str = "", folder: str = "") -> SessionSoFar:
    """What the end of a transcript shows: the calls that were answered, what the user said last, and what was told."""
    from ireneo.lessons.guard import PastCall, SessionSoFar, told_in

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
    told = told_in(b"\n".join(lines).decode(errors="replace"))
    return SessionSoFar(calls=tuple(calls), asked=asked, told=told, folder=folder, session=session)


def _blocks(line: bytes) -> list[dict[str, object]]:
    """The parts of the message that a line of a transcript holds; none where it holds none."""
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
            # Only what a person types begins without a mark of the harness.
            return [{**each, "type": "user text"} if role == "user" and _is_typed(each) else each for each in blocks]
    return []


def _is_typed(block: dict[str, object]) -> bool:
    text = block.get("text")
    return block.get("type") == "text" and isinstance(text, str) and not text.lstrip().startswith(("<", "Caveat:"))


def last_lines(path: str | PathLike[str]) -> list[bytes]:
    """The last whole lines of a file; none where it can't be read."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            start = max(0, size - TRANSCRIPT_BYTES)
            file.seek(start)
            lines = file.read().split(b"\n")
    except OSError:
        return []
    # The line that was cut through is none.
    return lines[1:] if start else lines

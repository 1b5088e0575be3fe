"""The guard as a PreToolUse hook of Claude Code: what stands on standard input, and the answer.

It never stops a call and never fails: what goes wrong is a line on standard error. The session so far is read from the
end of the transcript where it is not stored, which it hardly ever is while it goes on.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ireneo.errors import IreneoError, UnreadableLog
from ireneo.faces.cli.place import existing
from ireneo.guard import check_call

if TYPE_CHECKING:
    from ireneo.types import GuardAdvice

TRANSCRIPT_BYTES = 1_500_000
"""So much of the end of a transcript is read."""
BUSY_SECONDS = 5.0
EVENT = "PreToolUse"


class HookCall(Struct, kw_only=True):
    """What Claude Code tells a hook before a call; of what else it tells, nothing is used."""

    tool_name: str
    tool_input: dict[str, object] = {}
    session_id: str = ""
    transcript_path: str = ""
    cwd: str = ""


def answer(given: bytes, db: Path | None, space: str) -> str:
    """What is written to standard output: a caution as context for the model, or nothing."""
    try:
        asked = msgspec.json.decode(given, type=HookCall)
        return asyncio.run(asyncio.wait_for(_answered(asked, existing(db), space), BUSY_SECONDS))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
        return _told(f"standard input holds no call as Claude Code's hooks tell it: {fault}.")
    except TimeoutError:
        return _told(f"the database was busy for {BUSY_SECONDS:.0f} seconds; the call was not checked.")
    except (IreneoError, OSError, RuntimeError) as fault:
        # A home that nobody has is no fault of the call either.
        return _told(f"{fault} The call was not checked.")


async def _answered(asked: HookCall, path: Path, space: str) -> str:
    transcript = Path(asked.transcript_path).expanduser()
    try:
        found = await _checked(path, space, asked, tail(transcript) if transcript.is_file() else None)
    except UnreadableLog as fault:
        _told(f"{fault} The call was checked without the session so far.")
        found = await _checked(path, space, asked, None)
    if found is None:
        return ""
    said = f"Ireneo, from past runs: {found.markdown}"
    told = {
        "systemMessage": f"ireneo: {found.text}",
        "hookSpecificOutput": {"hookEventName": EVENT, "additionalContext": said},
    }
    return msgspec.json.encode(told).decode() + "\n"


async def _checked(path: Path, space: str, asked: HookCall, transcript: Iterator[bytes] | None) -> GuardAdvice | None:
    return await check_call(
        path,
        space,
        asked.tool_name,
        asked.tool_input,
        session=asked.session_id,
        project=asked.cwd,
        transcript=transcript,
    )


def tail(path: Path) -> Iterator[bytes]:
    """The last lines of a transcript."""
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        start = max(0, file.tell() - TRANSCRIPT_BYTES)
        file.seek(start)
        if start:
            # The line that was cut through.
            file.readline()
        yield from file


def _told(sentence: str) -> str:
    sys.stderr.write(f"ireneo: {sentence}\n")
    return ""

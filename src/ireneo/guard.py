"""The guard alone: what a hook asks before each call, without all else that a memory can do.

A hook is a process of its own, and there is one for each call: what is imported here is most of what it costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from os import PathLike, fspath
from typing import TYPE_CHECKING

from ireneo.adapters.sqlite.store import open_sqlite
from ireneo.engine.check import Situations, check, situation_of_log
from ireneo.formats.logs.claude_code import ClaudeCode
from ireneo.log.message import Call

if TYPE_CHECKING:
    from ireneo.lessons.guard import GuardAdvice


async def check_call(
    path: str | PathLike[str],
    space: str,
    tool: str,
    arguments: Mapping[str, object],
    *,
    session: str = "",
    project: str = "",
    transcript: Iterable[bytes] | None = None,
) -> GuardAdvice | None:
    """Say before a call is made whether one like it has failed, as `Memory.check` does for the database at `path`.

    `transcript` are the lines of the session so far, as Claude Code writes them; without it `session` is looked for in
    the database. Raises UnreadableLog for a transcript without a message, and what `ireneo.open` raises.
    """
    store = await open_sqlite(fspath(path))
    try:
        so_far = None if transcript is None else situation_of_log(ClaudeCode(), transcript, session)
        call = Call(id="", name=tool, arguments=dict(arguments))
        situations, now = Situations(), datetime.now(UTC)
        return await store.read(
            check, now, situations, space, call, session=session or None, so_far=so_far, project=project or None
        )
    finally:
        await store.close()

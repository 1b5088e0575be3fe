"""`ireneo sessions` and `ireneo formats`: what there is, and what can be read."""

from __future__ import annotations

from collections.abc import Sequence

import ireneo
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.options import DEFAULT_SPACE, AsJson, Db, Space
from ireneo.faces.cli.stored import reading


def sessions(as_json: AsJson = False, db: Db = None, space: Space = DEFAULT_SPACE) -> None:
    """List sessions, the one added to last first."""
    infos = reading(db, space, _sessions)
    if as_json:
        write_json([_answer(info) for info in infos])
    else:
        from ireneo.faces.cli.screens.lists import show_sessions

        show_sessions(infos, space)


def formats(as_json: AsJson = False) -> None:
    """List the formats that Ireneo reads and writes."""
    if as_json:
        logs = [{"name": log.name, "chat": log.chat} for log in ireneo.LOG_FORMATS]
        write_json({"logs": logs, "chats": list(ireneo.CHAT_FORMATS)})
        return
    from ireneo.faces.cli.screens.lists import show_formats

    show_formats()


async def _sessions(memory: ireneo.Memory) -> Sequence[ireneo.SessionInfo]:
    return await memory.sessions()


def _answer(info: ireneo.SessionInfo) -> dict[str, object]:
    return {
        "id": info.key.session,
        "source": info.source,
        "messages": info.messages,
        "tokens": info.tokens,
        "first_at": info.first_at,
        "last_at": info.last_at,
    }

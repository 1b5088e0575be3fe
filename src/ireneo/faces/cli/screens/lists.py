"""Lists: the sessions of a space, and the formats."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

import ireneo
from ireneo.faces.cli.screens.columns import Column, show_columns
from ireneo.faces.cli.screens.console import console

_SESSIONS = (
    Column("session", widest=80),
    Column("messages", right=True),
    Column("tokens", right=True),
    Column("first"),
    Column("last"),
    Column("source", widest=80),
)


def show_sessions(infos: Sequence[ireneo.SessionInfo], space: str) -> None:
    """One row a session."""
    screen = console()
    if not infos:
        screen.print(f"There is no session in space {space} yet; fill it with `ireneo import LOG`.")
        return
    rows = [
        [
            Text(info.key.session, style="bold"),
            Text(f"{info.messages:,}"),
            Text(f"{info.tokens:,}"),
            Text(_day(info.first_at)),
            Text(_day(info.last_at)),
            Text((info.source or "").partition(":")[0], style="dim"),
        ]
        for info in infos
    ]
    show_columns(screen, _SESSIONS, rows)


def show_formats() -> None:
    """The log formats, then the chat formats."""
    screen = console()
    logs = [[Text(log.name, style="bold"), Text(log.chat)] for log in ireneo.LOG_FORMATS]
    show_columns(screen, (Column("logs in (--format)"), Column("becomes, unless --to says otherwise")), logs)
    screen.print()
    chats = [[Text(name, style="bold")] for name in ireneo.CHAT_FORMATS]
    show_columns(screen, (Column("messages in and out (--to)"),), chats)


def _day(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d}"

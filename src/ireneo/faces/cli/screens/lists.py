"""Lists: the sessions of a space, and the formats."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

import ireneo
from ireneo.faces.cli.screens.columns import MARGIN, Column, show_columns, show_labelled
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


def show_pins(pins: Sequence[tuple[str, str, str]], title: str) -> None:
    """One row a pin: what releases it, where it was set, and its words, all of them."""
    screen = console()
    if not pins:
        screen.print(f"No pin stands in {title}.", soft_wrap=True)
        return
    headings = ("released by", "set by", "words")
    named, placed = (max(len(row[column]) for row in (headings, *pins)) for column in range(2))
    for number, (id, place, words) in enumerate((headings, *pins)):
        label = f"{id:<{named}}  {place:<{placed}}"
        text = Text(words, style="" if number else "dim")
        show_labelled(screen, label, text, width=len(label) + len(MARGIN) * 2)


def _day(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d}"

"""The sections that the commands stand in, also on a page of help without boxes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol, cast

from typer.core import TyperGroup

LOG, RULES, MEMORIES, LESSONS, UPKEEP = (
    "The log, and contexts from it",
    "Rules and summaries",
    "Memories",
    "Lessons of runs",
    "Setting up and looking after",
)


class _Formatter(Protocol):
    """As much as is used of what writes a plain page of help."""

    width: int

    def section(self, name: str) -> AbstractContextManager[None]: ...

    def write_dl(self, rows: Sequence[tuple[str, str]]) -> None: ...


class Sections(TyperGroup):
    """The commands by what they are about, also where no boxes are drawn."""

    def format_commands(self, ctx: object, formatter: object) -> None:
        """List the commands, those of one panel together."""
        page = cast("_Formatter", formatter)
        widest = max(map(len, self.commands), default=0)
        panels: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            told = command.get_short_help_str(page.width - 6 - widest)
            panels.setdefault(getattr(command, "rich_help_panel", None) or "Commands", []).append(
                (name.ljust(widest), told)
            )
        for panel, rows in panels.items():
            with page.section(panel):
                page.write_dl(rows)

"""The terminal: its width and colours, columns of text, and progress on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

from msgspec import Struct
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

    from ireneo import WorkResult
    from ireneo.types import Examined

PLAIN_WIDTH = 100
"""Columns where nobody says how many there are."""


def console(*, stderr: bool = False) -> Console:
    """Standard output (or standard error), as wide as it is; plain where it is no terminal."""
    out = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = PLAIN_WIDTH
    return out


def is_coloured(screen: Console) -> bool:
    """Whether colours tell things apart there."""
    return screen.is_terminal and screen.color_system is not None and not screen.no_color


MARGIN = "  "
GAP = "  "
NARROWEST = 12


class Column(Struct, frozen=True):
    """A column by its heading."""

    heading: str
    right: bool = False
    widest: int = 60


def show_columns(screen: Console, columns: Sequence[Column], rows: Sequence[Sequence[Text]]) -> None:
    """Show `rows` under the columns' headings, each on one line."""
    headings = [Text(column.heading, style="dim") for column in columns]
    widths = [
        min(max(cell_len(row[index].plain) for row in [headings, *rows]), column.widest)
        for index, column in enumerate(columns)
    ]
    fixed = len(MARGIN) + sum(widths[:-1]) + len(GAP) * (len(widths) - 1)
    widths[-1] = max(min(widths[-1], screen.width - fixed), NARROWEST)
    for row in [headings, *rows]:
        screen.print(_line(columns, row, widths), no_wrap=True, overflow="ellipsis", crop=True)


def show_labelled(screen: Console, label: str, text: Text, *, width: int) -> None:
    """Show `text` behind a dim label that takes `width` columns; further lines of it stand under its first."""
    for number, line in enumerate(text.wrap(screen, max(screen.width - width, NARROWEST))):
        line.rstrip()
        head = (MARGIN + label if number == 0 else "").ljust(width)
        screen.print(Text.assemble((head, "dim"), line), no_wrap=True, crop=False, overflow="ignore")


def _line(columns: Sequence[Column], row: Sequence[Text], widths: Sequence[int]) -> Text:
    line = Text(MARGIN)
    for index, (column, cell, width) in enumerate(zip(columns, row, widths, strict=True)):
        shown = cell.copy()
        shown.truncate(width, overflow="ellipsis")
        gap = " " * (width - cell_len(shown.plain))
        line.append(gap if column.right else "")
        line.append_text(shown)
        if index < len(columns) - 1:
            line.append("" if column.right else gap)
            line.append(GAP)
    return line


class ReadingBar:
    """A bar of the bytes read; without a terminal there is none, and lines are written all the same."""

    def __init__(self, total: int, *, in_bytes: bool = True) -> None:
        """Make ready to read so many bytes, or, without `in_bytes`, so many sessions."""
        self._total = total
        self._done = 0
        self._bar: Progress | None = _reading(in_bytes) if sys.stderr.isatty() else None

    def __enter__(self) -> ReadingBar:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("", total=max(self._total, 1))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def reading(self, name: str, bytes_read: int) -> None:
        """Say how far the file is read that is being read."""
        if self._bar is not None:
            self._bar.update(self._task, description=name, completed=self._done + bytes_read)

    def finished(self, size: int) -> None:
        """Say that a file of so many bytes is done, or so many sessions."""
        self._done += size
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done)

    def write(self, line: str) -> None:
        """Write a line of the result on standard output, above the bar where both are on one terminal."""
        if self._bar is not None and sys.stdout.isatty():
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            sys.stdout.write(f"{line}\n")


def _reading(in_bytes: bool) -> Progress:
    # Only a terminal pays for the drawing.
    from rich.progress import DownloadColumn, MofNCompleteColumn, TimeRemainingColumn

    return _bar(DownloadColumn() if in_bytes else MofNCompleteColumn(), TimeRemainingColumn())


def _bar(*measures: ProgressColumn) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        TextColumn("  {task.description}", markup=False),
        BarColumn(complete_style="color(68)", finished_style="color(71)"),
        *measures,
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
    )


@contextmanager
def writing_bar(total: int) -> Iterator[Callable[[str], None]]:
    """A bar of what a model has written, which is told of each as it comes; none where there is no terminal."""
    if not total or not sys.stderr.isatty():
        yield lambda what: None
        return
    from rich.progress import MofNCompleteColumn, TimeElapsedColumn

    with _bar(MofNCompleteColumn(), TimeElapsedColumn()) as bar:
        task = bar.add_task("asking", total=total)
        yield lambda what: bar.update(task, description=what, advance=1)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say on standard error that something goes on, where it may take long; nothing where that is no terminal.

    The first context of a long session writes the summaries of all that came before.
    """
    if not sys.stderr.isatty():
        yield
        return

    with console(stderr=True).status(what):
        yield


@contextmanager
def catching_up() -> Iterator[Callable[[WorkResult], None]]:
    """A bar of the messages of a story that are summarised, told how far it is and how many are behind.

    There is none where there is no terminal, and none before something was done.
    """
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.progress import MofNCompleteColumn, TimeRemainingColumn

    with _bar(MofNCompleteColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task("summarising", total=None, visible=False)

        def step(done: WorkResult) -> None:
            messages = done.last_position + 1
            bar.update(task, completed=messages, total=messages + done.behind, visible=True)

        yield step


@contextmanager
def working() -> Iterator[Callable[[WorkResult], None]]:
    """A bar for the story that is worked on: how far it is, how many messages are behind and how many texts due."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.progress import TextColumn, TimeElapsedColumn

    with _bar(TextColumn("{task.fields[left]}"), TimeElapsedColumn()) as bar:
        task = bar.add_task("looking for work", total=None, left="")

        def step(done: WorkResult) -> None:
            due = f"{done.due:,} texts due" if done.due else "up to date"
            left = f"{done.behind:,} messages behind" if done.behind else due
            messages = done.last_position + 1
            bar.update(task, description=done.session, completed=messages, total=messages + done.behind, left=left)

        yield step


@contextmanager
def checking_bar(total: int) -> Iterator[Callable[[Examined], None]]:
    """A bar of the messages that were looked at; none where there is no terminal."""
    if not total or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.progress import MofNCompleteColumn, TimeRemainingColumn

    with _bar(MofNCompleteColumn(), TimeRemainingColumn()) as bar:
        # Before the first message the file itself is looked over, and nobody knows how far that is.
        task = bar.add_task("the file", total=None)
        yield lambda done: bar.update(task, completed=done.messages, total=total, description="messages")

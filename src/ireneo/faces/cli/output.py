"""How commands speak: JSON, words, times and columns on a screen, a question at the terminal, progress beside it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from types import TracebackType
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

import ireneo
from ireneo.errors import BadInput
from ireneo.patterns import lazy_re

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

    from ireneo import WorkResult
    from ireneo.types import Examined

_STEERING = lazy_re(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

SHORT = 9
"""Characters of an id that name it."""


def printable(text: str) -> str:
    """`text` without what a tool may have written into its output to steer a terminal or turn its letters around."""
    return _STEERING.sub("", text)


def one_line(text: str) -> str:
    """`text` on one line, printable."""
    return " ".join(printable(text).split())


def cut(text: str, most: int) -> str:
    """As much of a line as `most` characters hold."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def short(id: str) -> str:
    """As much of an id as names it."""
    return id[:SHORT]


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun, in the singular or the plural."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def share(part: float) -> str:
    """A share as a percentage; only all of it is 100 %."""
    return f"{min(round(part * 100), 99) if part < 1 else 100} %"


_DAYS = {"today": 0, "yesterday": 1}


def begins(given: str | None) -> datetime | None:
    """The moment that is meant; a day alone is its beginning. Raises BadInput."""
    return _moment(given, time.min)


def asked(given: str | None) -> datetime | None:
    """The moment that a question is about; a day alone is its end, so that all of the day counts. Raises BadInput."""
    return _moment(given, time.max)


def said(moment: datetime) -> str:
    """A moment for a screen, in the local zone, with its offset."""
    local = moment.astimezone()
    offset = f"{local:%z}"
    day = f"{local:%Y-%m-%d}" if local.time() in (time.min, time.max) else f"{local:%Y-%m-%d %H:%M}"
    return f"{day} ({offset[:3]}:{offset[3:5]})"


def day_of(moment: datetime | None) -> str:
    """The local day of a moment, for a column."""
    return "" if moment is None else f"{moment.astimezone():%Y-%m-%d}"


def _moment(given: str | None, of_day: time) -> datetime | None:
    if given is None:
        return None
    word = given.strip().lower()
    if word == "now":
        return datetime.now().astimezone()
    try:
        day = _day(word)
        moment = datetime.fromisoformat(given.strip()) if day is None else datetime.combine(day, of_day)
        # A time without a zone is the local one: so people write them, and so they are said back.
        return moment if moment.tzinfo else moment.astimezone()
    except (ValueError, OverflowError):
        raise BadInput(
            f"{given!r} is no time; write 2026-05-03, '2026-05-03 18:30', 2026-05-03T18:30+02:00, today or yesterday."
        ) from None


def _day(word: str) -> date | None:
    if word in _DAYS:
        return datetime.now().astimezone().date() - timedelta(days=_DAYS[word])
    return date.fromisoformat(word) if len(word) <= len("2026-05-03") else None


def write_json(answer: object) -> None:
    """Write `answer`: on one line for a program, indented for someone at a terminal."""
    text = msgspec.json.encode(answer)
    if sys.stdout.isatty():
        text = msgspec.json.format(text)
    sys.stdout.buffer.write(text + b"\n")
    sys.stdout.buffer.flush()


def picked(of: object, names: str) -> dict[str, object]:
    """What `of` has under `names`, as JSON shows it."""
    return {name: getattr(of, name) for name in names.split()}


def tell(sentence: str) -> None:
    """Say on standard output what was done."""
    sys.stdout.write(f"  {printable(sentence)}\n")


def context_answer(context: ireneo.Context) -> dict[str, object]:
    """A context as JSON; the system prompt stands apart only where its format keeps it apart."""
    names = ["budget tokens tokens_before format messages", "view violations repaired pins behind"]
    if context.system is not None:
        names.insert(1, "system")
    names += [name for name in ("unkept", "explained") if getattr(context, name)]
    return picked(context, " ".join(names))


def agreed(question: str, *, what: str) -> bool:
    """Whether someone at the terminal says yes. Raises BadInput where nobody is there: `what` is taken out for good."""
    if not can_ask():
        raise BadInput(f"It takes {what} out for good, and there is nobody to ask; add --yes if that is meant.")
    sys.stderr.write(f"  {printable(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def can_ask() -> bool:
    """Whether somebody is at the terminal."""
    return sys.stdin.isatty()


def secrets_told(redacted: Mapping[str, int], unredacted: int = 0) -> Iterator[str]:
    """A line such as ``3 secrets redacted: github-token 1, password 2``, and one on what was stored before; or none."""
    if redacted:
        told = ", ".join(f"{kind} {number:,}" for kind, number in sorted(redacted.items()))
        yield f"{counted(sum(redacted.values()), 'secret')} redacted: {told}"
    if unredacted:
        stand = "stands" if unredacted == 1 else "stand"
        yield (
            f"{counted(unredacted, 'message')} {stand} there with secrets since before, and stay so; "
            "`ireneo doctor --secrets` tells what they are, and with --repair takes them out"
        )


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
def working(processes: int) -> Iterator[Callable[[int, WorkResult], None]]:
    """A bar for what each process works on: how far it is, how many messages are behind and how many texts due."""
    if not sys.stderr.isatty():
        yield lambda number, done: None
        return
    from rich.progress import TextColumn, TimeElapsedColumn

    with _bar(TextColumn("{task.fields[left]}"), TimeElapsedColumn()) as bar:
        tasks = [bar.add_task("looking for work", total=None, left="") for _ in range(processes)]

        def step(number: int, done: WorkResult) -> None:
            due = f"{done.due:,} texts due" if done.due else "up to date"
            left = f"{done.behind:,} messages behind" if done.behind else due
            messages = done.last_position + 1
            total = messages + done.behind
            bar.update(tasks[number], description=done.session, completed=messages, total=total, left=left)

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

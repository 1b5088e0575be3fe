"""How commands write: JSON, text, times and columns, questions at the terminal, progress bars."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import date, datetime, time, timedelta
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, TextIO

import msgspec
from msgspec import Struct
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ireneo.errors import BadInput, IreneoError
from ireneo.patterns import lazy_re

if TYPE_CHECKING:
    from rich.progress import Progress

_STEERING = lazy_re(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """Return `text` without terminal control sequences and marks that reorder its characters."""
    return _STEERING.sub("", text)


def one_line(text: str) -> str:
    """Return printable `text` on one line, with single spaces."""
    return " ".join(printable(text).split())


def cut(text: str, most: int) -> str:
    """Shorten a line to `most` characters, with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def cut_within(name: str, most: int) -> str:
    """Shorten a name in its middle to `most` characters, since names often differ only at one of their ends."""
    if len(name) <= most:
        return name
    tail = (most - 1) // 2
    return f"{name[: most - 1 - tail]}…{name[len(name) - tail :]}"


def short(id: str) -> str:
    """Return the beginning of an id, which is enough to open it."""
    return id[:9]


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, in the singular or the plural."""
    regular = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural or regular}"


def share(part: float) -> str:
    """Return a share as a percentage; anything less than all is shown as 99 % at most."""
    return f"{min(round(part * 100), 99) if part < 1 else 100} %"


_DAYS = {"today": 0, "yesterday": 1}


def day_start(given: str | None) -> datetime | None:
    """Parse a time; a day alone means its start. Raises BadInput."""
    return _moment(given, time.min)


def day_end(given: str | None) -> datetime | None:
    """Parse a time; a day alone means its end, so that a question covers all of it. Raises BadInput."""
    return _moment(given, time.max)


def local_time(moment: datetime) -> str:
    """Format a moment in the local time zone, with its offset."""
    local = moment.astimezone()
    offset = f"{local:%z}"
    day = f"{local:%Y-%m-%d}" if local.time() in (time.min, time.max) else f"{local:%Y-%m-%d %H:%M}"
    return f"{day} ({offset[:3]}:{offset[3:5]})"


def day_of(moment: datetime | None) -> str:
    """Format the local day of a moment; empty for None."""
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
        # A time without a zone is taken as local and shown without one.
        return moment if moment.tzinfo else moment.astimezone()
    except (ValueError, OverflowError):
        raise BadInput(
            f"{given!r} is not a time; write 2026-05-03, '2026-05-03 18:30', 2026-05-03T18:30+02:00, today or "
            "yesterday."
        ) from None


def _day(word: str) -> date | None:
    if word in _DAYS:
        return datetime.now().astimezone().date() - timedelta(days=_DAYS[word])
    return date.fromisoformat(word) if len(word) <= len("2026-05-03") else None


def write_json(value: object) -> None:
    """Write a value as JSON: on one line for a program, indented on a terminal."""
    text = msgspec.json.encode(value)
    if sys.stdout.isatty():
        text = msgspec.json.format(text)
    sys.stdout.buffer.write(text + b"\n")
    sys.stdout.buffer.flush()


def pick_attributes(of: object, names: str) -> dict[str, object]:
    """Return the attributes of `of` that `names` lists, separated by spaces."""
    return {name: getattr(of, name) for name in names.split()}


def echo(sentence: str) -> None:
    """Write an indented line to standard output, without control characters."""
    sys.stdout.write(f"  {printable(sentence)}\n")


class Answer(Struct, frozen=True):
    """The result of a command: data for --json, and for a reader lines or a function that draws it."""

    data: object
    shown: Callable[[], object] | Sequence[str] | str
    failed: bool = False
    """Whether the command exits with 1."""
    fault: IreneoError | None = None
    """The error that ended the command early; it is raised once the results so far are written."""

    def show(self) -> None:
        """Write it for a reader."""
        if callable(self.shown):
            self.shown()
        else:
            for line in [self.shown] if isinstance(self.shown, str) else self.shown:
                echo(line)


def plain(text: str) -> Callable[[], object]:
    """Return a function that writes `text` to standard output as it is."""
    return lambda: sys.stdout.write(text)


def confirm(question: str, *, what: str) -> bool:
    """Ask at the terminal before `what` is deleted for good. Raises BadInput where nobody can be asked."""
    if not is_interactive():
        raise BadInput(f"This deletes {what} for good, and there is nobody to ask; add --yes if that is meant.")
    sys.stderr.write(f"  {printable(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def is_interactive() -> bool:
    """Whether standard input is a terminal."""
    return sys.stdin.isatty()


def secret_lines(redacted: Mapping[str, int], unredacted: int = 0) -> Iterator[str]:
    """Yield a line such as ``3 secrets redacted: github-token 1, password 2``, and one on those stored before."""
    if redacted:
        kinds = ", ".join(f"{kind} {number:,}" for kind, number in sorted(redacted.items()))
        yield f"{counted(sum(redacted.values()), 'secret')} redacted: {kinds}"
    if unredacted:
        holds = "holds" if unredacted == 1 else "hold"
        yield (
            f"{counted(unredacted, 'message')} stored earlier still {holds} secrets; `ireneo doctor --secrets` lists "
            "them, and with --repair removes them"
        )


PLAIN_WIDTH = 100
"""The columns of a line if the output is not a terminal."""


def console(*, stderr: bool = False) -> Console:
    """Return a console on standard output or standard error; plain where it is no terminal."""
    out = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = PLAIN_WIDTH
    return out


def is_coloured(screen: Console) -> bool:
    """Whether the console shows colours."""
    return screen.is_terminal and screen.color_system is not None and not screen.no_color


MARGIN = "  "
GAP = "  "
NARROWEST = 12


class Column(Struct, frozen=True):
    """A column of a table."""

    heading: str
    right: bool = False
    widest: int = 60
    within: bool = False
    """Whether cells are cut in their middle, because either end may be what differs."""
    wraps: bool = False
    """Of the last column: whether a cell goes on over several lines, and is not cut."""


def show_columns(
    screen: Console, columns: Sequence[Column], rows: Sequence[Sequence[Text]], *, above: Sequence[str] = ()
) -> None:
    """Print a table, each row on one line unless its last cell wraps; on a narrow screen the widest columns are cut.

    The text `above` a row is printed unless the row before has the same. If more than the last column would be lost,
    each row becomes several lines: its first cell, then the others behind their headings.
    """
    headings = [Text(column.heading, style="dim") for column in columns]
    widths = [
        min(max(cell_len(row[index].plain) for row in [headings, *rows]), column.widest)
        for index, column in enumerate(columns)
    ]
    gaps = len(MARGIN) + len(GAP) * (len(widths) - 1)
    least = min(widths[-1], NARROWEST)
    while len(widths) > 1 and gaps + sum(widths[:-1]) + least > screen.width and max(widths[:-1]) > NARROWEST:
        widths[widths.index(max(widths[:-1]))] -= 1
    left = screen.width - gaps - sum(widths[:-1])
    if left < -sum(widths[-2:-1]):
        for number, (first, *cells) in enumerate(rows):
            _show_above(screen, above, number)
            named = [
                Text.assemble(name, " ", cell) for name, cell in zip(headings[1:], cells, strict=True) if cell.plain
            ]
            lines = in_lines(named, screen.width - 2 * len(MARGIN))
            for line in (first, *(Text.assemble(MARGIN, each) for each in lines)):
                screen.print(Text.assemble(MARGIN, line), no_wrap=True, overflow="ellipsis", crop=True)
        return
    widths[-1] = max(min(widths[-1], left), min(least, 1))
    for number, row in enumerate([headings, *rows], start=-1):
        _show_above(screen, above, number)
        first, *more = row[-1].wrap(screen, widths[-1]) or [row[-1]] if columns[-1].wraps else [row[-1]]
        for cells in ([*row[:-1], first], *([*([Text()] * (len(row) - 1)), each] for each in more)):
            screen.print(_line(columns, cells, widths), no_wrap=True, overflow="ellipsis", crop=True)


def _show_above(screen: Console, above: Sequence[str], number: int) -> None:
    if above and number >= 0 and (number == 0 or above[number] != above[number - 1]):
        screen.print(Text(f"{MARGIN}{above[number]}", style="dim"), no_wrap=True, overflow="ellipsis", crop=True)


def show_labelled(screen: Console, label: str, text: Text, *, width: int) -> None:
    """Print `text` with a hanging indent of `width` columns, behind a dim label."""
    for number, line in enumerate(text.wrap(screen, max(screen.width - width, NARROWEST))):
        line.rstrip()
        head = (MARGIN + label if number == 0 else "").ljust(width)
        screen.print(Text.assemble((head, "dim"), line), no_wrap=True, crop=False, overflow="ignore")


def show_title(screen: Console, title: str) -> None:
    """Print a title between empty lines, cut to one line."""
    screen.print()
    screen.print(Text(f"{MARGIN}{title}", style="bold"), overflow="ellipsis", no_wrap=True)
    screen.print()


def write(screen: Console, text: str, style: str = "") -> None:
    """Print a text literally, in one style; the terminal breaks its lines."""
    screen.print(Text(text, style=style), soft_wrap=True)


def in_lines(entries: Iterable[Text], width: int) -> list[Text]:
    """Put entries side by side on lines of at most `width` columns, without breaking any entry."""
    lines: list[Text] = []
    for entry in entries:
        if lines and lines[-1].cell_len + 3 + entry.cell_len <= width:
            lines[-1] = Text.assemble(lines[-1], "   ", entry)
        else:
            lines.append(entry)
    return lines


def _line(columns: Sequence[Column], row: Sequence[Text], widths: Sequence[int]) -> Text:
    line = Text(MARGIN)
    for index, (column, cell, width) in enumerate(zip(columns, row, widths, strict=True)):
        shown = cell.copy()
        if column.within and cell_len(cell.plain) > width:
            shown.plain = cut_within(cell.plain, width)
        shown.truncate(width, overflow="ellipsis")
        gap = " " * (width - cell_len(shown.plain))
        line.append(gap if column.right else "")
        line.append_text(shown)
        if index < len(columns) - 1:
            line.append("" if column.right else gap)
            line.append(GAP)
    return line


FIRST_SECONDS, MOST_SECONDS = 10.0, 60.0
"""Without a terminal on standard error: seconds until the first progress line, and the most seconds between two."""
_hushed = ContextVar("hushed", default=False)


@contextmanager
def quiet_progress(wanted: bool) -> Iterator[None]:
    """Suppress progress lines, for a program that reads JSON."""
    before = _hushed.set(wanted)
    try:
        yield
    finally:
        _hushed.reset(before)


class _LinesAtTimes:
    """Writes a progress line to standard error from time to time, so that a long command doesn't look dead in a log."""

    def __init__(self, what: str) -> None:
        self.task = self.what = what
        self._ended = Event()
        # In a thread of its own, as the lines matter most when nothing is reported for minutes.
        self._thread = Thread(target=self._tell, args=(sys.stderr,), daemon=True)

    def __enter__(self) -> _LinesAtTimes:
        if not _hushed.get():
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _tell(self, stream: TextIO) -> None:
        begun, wait = monotonic(), FIRST_SECONDS
        while not self._ended.wait(wait):
            minutes, seconds = divmod(round(monotonic() - begun), 60)
            # If nobody reads standard error any more, the work goes on.
            with suppress(OSError, ValueError):
                stream.write(f"ireneo: {one_line(self.what)}, {minutes}:{seconds:02} so far\n")
                stream.flush()
            wait = min(wait * 2, MOST_SECONDS)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show on standard error that something slow is running; without a terminal, write a line from time to time."""
    with console(stderr=True).status(what) if sys.stderr.isatty() else _LinesAtTimes(what.rstrip(" …")):
        yield


class ProgressBars:
    """A bar on standard error for each task; without a terminal there, the newest report from time to time."""

    def __init__(
        self, *tasks: str, total: int | None = None, shown: bool = True, elapsed: bool = False, in_bytes: bool = False
    ) -> None:
        """Begin `tasks` of `total` steps each; with `elapsed` the time so far is shown in place of the time left."""
        self._total = total
        self._done = 0
        self._bar: Progress | None = None
        self._lines = _LinesAtTimes(tasks[0]) if shown and not sys.stderr.isatty() else None
        if shown and self._lines is None:
            from rich import progress

            self._bar = progress.Progress(
                progress.TextColumn("  {task.description}", markup=False),
                progress.BarColumn(complete_style="color(68)", finished_style="color(71)"),
                progress.DownloadColumn() if in_bytes else progress.MofNCompleteColumn(),
                progress.TimeElapsedColumn() if elapsed else progress.TimeRemainingColumn(),
                progress.TextColumn("{task.fields[note]}", markup=False),
                console=console(stderr=True),
                transient=True,
                redirect_stdout=False,
            )
            self._ids = [self._bar.add_task(task, total=total, note="") for task in tasks]

    def __enter__(self) -> Self:
        if display := self._bar or self._lines:
            display.__enter__()
        return self

    def __exit__(self, *fault: Any) -> None:  # noqa: ANN401 (what rich takes)
        if display := self._bar or self._lines:
            display.__exit__(*fault)

    def update(self, task: int = 0, **changes: Any) -> None:  # noqa: ANN401 (what rich takes)
        """Change a task as `rich.progress.Progress.update` does; a `note` is shown after the bar."""
        if self._bar is not None:
            self._bar.update(self._ids[task], **changes)
        if self._lines is not None:
            self._done = changes.get("completed", self._done + changes.get("advance", 0))
            told = str(changes.get("description", self._lines.task))
            if total := changes.get("total", self._total):
                told += self._format_done(total)
            self._lines.what = f"{told}, {changes['note']}" if changes.get("note") else told

    def _format_done(self, total: int) -> str:
        return f" {self._done:,} of {total:,}"


class ReadingBar(ProgressBars):
    """The progress over files of `total` bytes, or over sessions."""

    def __init__(self, total: int, *, in_bytes: bool = True) -> None:
        super().__init__("reading", total=max(total, 1), in_bytes=in_bytes)
        self._finished = 0

    def reading(self, name: str, bytes_read: int) -> None:
        """Show how much of the current file is read."""
        self.update(description=f"reading {name}", completed=self._finished + bytes_read)

    def finished(self, size: int) -> None:
        """Count a file of `size` bytes, or `size` sessions, as done."""
        self._finished += size
        self.update(completed=self._finished)

    def _format_done(self, total: int) -> str:
        return f", {share(self._done / total)} done"

    def write(self, line: str) -> None:
        """Write a line to standard output, above the bar where both are on one terminal."""
        if self._bar is not None and sys.stdout.isatty():
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            sys.stdout.write(f"{line}\n")

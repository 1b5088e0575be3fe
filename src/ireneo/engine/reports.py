"""The reports of methods that do long work, and how their progress is reported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from typing import TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.imports import Imported
from ireneo.engine.learn import LearnedSession
from ireneo.engine.work import WorkResult
from ireneo.ports.models import LogSource
from ireneo.short_repr import ShortRepr

T = TypeVar("T")

OnProgress: TypeAlias = Callable[[T], object] | None
"""A function that is called with each step as it is done; an error that it raises ends the work."""


async def run_steps(steps: AsyncGenerator[T, None], *listeners: OnProgress[T]) -> None:
    """Run all of `steps`, passing each one to the `listeners`. The generator is closed in any case."""
    async with aclosing(steps):
        async for step in steps:
            for listener in listeners:
                if listener is not None:
                    listener(step)


class Examined(Struct, frozen=True, kw_only=True):
    """The progress of a check of the store."""

    messages: int
    """How many messages were checked so far."""


def counting(on_progress: OnProgress[Examined]) -> Callable[[int], None]:
    """Return a function that adds up checked messages, and reports the sum to `on_progress`.

    The function is called in the thread of a transaction, and waits until the caller's event loop has called
    `on_progress`.
    """
    loop = asyncio.get_running_loop()
    messages = 0

    async def report_sum() -> None:
        if on_progress is not None:
            on_progress(Examined(messages=messages))

    def add_messages(more: int) -> None:
        nonlocal messages
        messages += more
        if on_progress is not None:
            asyncio.run_coroutine_threadsafe(report_sum(), loop).result()

    return add_messages


class Reading(Struct, frozen=True, kw_only=True):
    """The progress of reading a file."""

    label: str
    bytes_read: int
    size: int
    """The file's size on the disk, in bytes."""
    is_over: bool = False
    """Whether the whole file has been read."""
    left_out: tuple[int, ...] = ()
    """At the end: the numbers of the lines that were too long to be read."""
    damage: str = ""
    """At the end: why nothing more could be read, if an archive is cut off."""


class ImportReport(ShortRepr, frozen=True, kw_only=True):
    """The result of an import."""

    sessions: tuple[Imported, ...] = ()
    left_out: tuple[int, ...] = ()
    """The numbers of the lines that were too long to be read."""
    damage: str = ""
    """Why a file ended early, if one did; what came before that was stored."""
    empty: tuple[str, ...] = ()
    """The files that were skipped because they hold no message."""

    @property
    def messages(self) -> int:
        """The number of messages in the files."""
        return sum(each.messages for each in self.sessions)

    @property
    def new(self) -> int:
        """The number of those messages that were not stored before."""
        return sum(each.new for each in self.sessions)


class LearnReport(ShortRepr, frozen=True, kw_only=True):
    """The result of learning."""

    sessions: tuple[LearnedSession, ...] = ()
    imported: ImportReport = ImportReport()
    """The result of the import, if a log file was learned from."""
    is_known: bool = False
    """Whether exactly this file was learned from before, so that nothing was done."""

    @property
    def new(self) -> int:
        """The number of lessons that were not known before."""
        return sum(each.new for each in self.sessions)

    @property
    def tokens_in(self) -> int:
        """The tokens that the model read."""
        return sum(each.tokens_in for each in self.sessions)

    @property
    def tokens_out(self) -> int:
        """The tokens that the model wrote."""
        return sum(each.tokens_out for each in self.sessions)


class SummariseReport(Struct, frozen=True, kw_only=True):
    """The result of asking a model for summaries."""

    summaries: tuple[WorkResult, ...] = ()

    @property
    def failed(self) -> int:
        """The number of summaries that the model failed to write."""
        return sum(each.did == "failed" for each in self.summaries)

    @property
    def tokens_in(self) -> int:
        """The tokens that the model read."""
        return sum(each.tokens_in for each in self.summaries)

    @property
    def tokens_out(self) -> int:
        """The tokens that the model wrote."""
        return sum(each.tokens_out for each in self.summaries)


class WorkReport(Struct, frozen=True, kw_only=True):
    """The result of background work, in numbers."""

    summaries: int = 0
    """Summaries that were made without a model."""
    texts: int = 0
    """Summaries that a model was asked for, and that were stored."""
    failed: int = 0
    """Pieces of work that failed, and will be tried again."""
    passed_over: tuple[WorkResult, ...] = ()
    """Sessions that work met an error in, and the errors; each is tried again when it changes."""
    taken_over: int = 0
    """Pieces of work that another worker had finished meanwhile."""
    memories: int = 0
    """Memories that were made or changed."""
    ended: int = 0
    """How many of these hold no longer."""
    episodes: int = 0
    """Episodes that were reflected on."""
    archived: int = 0
    """Memories that were archived."""
    vectors: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was due."""
        return self == WorkReport()

    def with_result(self, done: WorkResult) -> WorkReport:
        """Return the report with one more piece of work added."""
        more: dict[str, int] = {"tokens_in": done.tokens_in, "tokens_out": done.tokens_out}
        if done.did == "caught_up":
            more["summaries"] = done.summaries
        elif done.did == "passed_over":
            return replace(self, passed_over=(*self.passed_over, done))
        elif done.did in ("failed", "taken_over"):
            more[done.did] = 1
        elif done.did in ("listened", "remembered", "reflected"):
            more |= {"memories": done.memories, "ended": done.ended, "episodes": done.episodes}
        elif done.did == "archived":
            more["archived"] = done.memories
        elif done.did == "embedded":
            more["vectors"] = done.memories
        else:
            more["texts"] = 1
        return replace(self, **{name: getattr(self, name) + number for name, number in more.items()})


async def work_report(steps: AsyncGenerator[WorkResult, None], on_progress: OnProgress[WorkResult]) -> WorkReport:
    """Run all of `steps`, and return their sum."""
    report = WorkReport()

    def add(done: WorkResult) -> None:
        nonlocal report
        report = report.with_result(done)

    await run_steps(steps, add, on_progress)
    return report


REPORTED_BYTES = 1 << 16
"""How much of a file is read between two reports."""


def read_with_progress(file: LogSource, on_progress: Callable[[Reading], object] | None) -> Iterator[bytes]:
    """Yield the lines of a file, and report to `on_progress` how far it has been read."""
    size, left = file.size, 0
    for line in file.lines():
        left -= len(line)
        if left < 0 and on_progress is not None:
            on_progress(Reading(label=file.label, bytes_read=file.bytes_read, size=size))
            left = REPORTED_BYTES
        yield line


def finished_reading(file: LogSource) -> Reading:
    """Return the report on a file that has been read to its end."""
    left_out, damage = tuple(file.left_out), file.damage or ""
    return Reading(
        label=file.label, bytes_read=file.size, size=file.size, is_over=True, left_out=left_out, damage=damage
    )

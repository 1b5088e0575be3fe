"""What long work reports on its way, and what it came to in the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from typing import TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.imports import Imported
from ireneo.engine.learn import LearnedSession
from ireneo.engine.merging import MergedLessons
from ireneo.engine.work import WorkResult
from ireneo.ports.files import LogSource
from ireneo.short_repr import ShortRepr

T = TypeVar("T")

OnProgress: TypeAlias = Callable[[T], object] | None
"""Called with each step as it is done; what it raises ends the work."""


async def run_steps(steps: AsyncGenerator[T, None], *listeners: OnProgress[T]) -> None:
    """Do all of `steps`, and tell those who listen; what they hold is let go of at once, however it ends."""
    async with aclosing(steps):
        async for step in steps:
            for listener in listeners:
                if listener is not None:
                    listener(step)


class Examined(Struct, frozen=True, kw_only=True):
    """How far a look over the store is."""

    messages: int
    """How many messages were looked at so far."""


def counting(on_progress: OnProgress[Examined]) -> Callable[[int], None]:
    """Add up how many more messages were looked at each time, for who listens.

    What this gives is called in the thread of a transaction, which waits until the caller's loop has told.
    """
    loop = asyncio.get_running_loop()
    messages = 0

    async def tell() -> None:
        if on_progress is not None:
            on_progress(Examined(messages=messages))

    def told(more: int) -> None:
        nonlocal messages
        messages += more
        if on_progress is not None:
            asyncio.run_coroutine_threadsafe(tell(), loop).result()

    return told


class Reading(Struct, frozen=True, kw_only=True):
    """How far a file is read."""

    label: str
    bytes_read: int
    size: int
    """How long it is, in bytes as it lies there."""
    is_over: bool = False
    """Whether there is nothing more to read in it."""
    left_out: tuple[int, ...] = ()
    """At its end: the numbers of the lines that are too long to be read."""
    damage: str = ""
    """At its end: why there is no more, where an archive breaks off."""


class ImportReport(ShortRepr, frozen=True, kw_only=True):
    """What an import did."""

    sessions: tuple[Imported, ...] = ()
    left_out: tuple[int, ...] = ()
    """The numbers of lines that are too long to be read."""
    damage: str = ""
    """Why a file ended early, where one did; what stood before that was stored."""
    empty: tuple[str, ...] = ()
    """The files without a message that were passed over."""

    @property
    def messages(self) -> int:
        """How many messages there were to be read."""
        return sum(each.messages for each in self.sessions)

    @property
    def new(self) -> int:
        """How many of them were not stored before."""
        return sum(each.new for each in self.sessions)


class LearnReport(ShortRepr, frozen=True, kw_only=True):
    """What was learned."""

    sessions: tuple[LearnedSession, ...] = ()
    imported: ImportReport = ImportReport()
    """What was taken in first, where it was learned from a file."""
    is_known: bool = False
    """Whether just this file was learned from before, so that nothing was done."""
    merged: MergedLessons = MergedLessons()
    """What came of looking at the new lessons beside the known ones."""

    @property
    def new(self) -> int:
        """How many lessons were not known before."""
        return sum(each.new for each in self.sessions)

    @property
    def tokens_in(self) -> int:
        """What a model was given to read, in tokens."""
        return sum(each.tokens_in for each in self.sessions) + self.merged.tokens_in

    @property
    def tokens_out(self) -> int:
        """What a model wrote, in tokens."""
        return sum(each.tokens_out for each in self.sessions) + self.merged.tokens_out


class SummariseReport(Struct, frozen=True, kw_only=True):
    """What became of the summaries that a model was asked for."""

    summaries: tuple[WorkResult, ...] = ()

    @property
    def failed(self) -> int:
        """How many of them no model wrote."""
        return sum(each.did == "failed" for each in self.summaries)

    @property
    def tokens_in(self) -> int:
        """What the model was given to read, in tokens."""
        return sum(each.tokens_in for each in self.summaries)

    @property
    def tokens_out(self) -> int:
        """What the model wrote, in tokens."""
        return sum(each.tokens_out for each in self.summaries)


class WorkReport(Struct, frozen=True, kw_only=True):
    """What the work behind conversations came to."""

    summaries: int = 0
    """Summaries that were made without a model."""
    texts: int = 0
    """Summaries that a model was asked for and that were stored."""
    failed: int = 0
    """Pieces of work that failed, and will be tried again."""
    taken_over: int = 0
    """Pieces of work that another writer had stored meanwhile."""
    memories: int = 0
    """Memories that were made or changed."""
    episodes: int = 0
    """Episodes that were looked back on."""
    archived: int = 0
    """Memories that were put away."""
    vectors: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was due."""
        return self == WorkReport()

    def plus(self, done: WorkResult) -> WorkReport:
        """The same with one more piece of work."""
        more: dict[str, int] = {"tokens_in": done.tokens_in, "tokens_out": done.tokens_out}
        if done.did == "caught_up":
            more["summaries"] = done.summaries
        elif done.did in ("failed", "taken_over"):
            more[done.did] = 1
        elif done.did in ("listened", "remembered", "reflected"):
            more |= {"memories": done.memories, "episodes": done.episodes}
        elif done.did == "archived":
            more["archived"] = done.memories
        elif done.did == "embedded":
            more["vectors"] = done.memories
        else:
            more["texts"] = 1
        return replace(self, **{name: getattr(self, name) + number for name, number in more.items()})


async def work_report(steps: AsyncGenerator[WorkResult, None], on_progress: OnProgress[WorkResult]) -> WorkReport:
    """Do all of the work, and add it up."""
    report = WorkReport()

    def add(done: WorkResult) -> None:
        nonlocal report
        report = report.plus(done)

    await run_steps(steps, add, on_progress)
    return report


REPORTED_BYTES = 1 << 16
"""How much of a file is read before it is told how far the reading is."""


def read_on(file: LogSource, on_progress: Callable[[Reading], object] | None) -> Iterator[bytes]:
    """The lines of a file; who listens is told how far it is, and at the end what could not be read."""
    size, left = file.size, 0
    for line in file.lines():
        left -= len(line)
        if left < 0 and on_progress is not None:
            on_progress(Reading(label=file.label, bytes_read=file.bytes_read, size=size))
            left = REPORTED_BYTES
        yield line


def ended(file: LogSource) -> Reading:
    """What there is to say of a file that was read."""
    left_out, damage = tuple(file.left_out), file.damage or ""
    return Reading(
        label=file.label, bytes_read=file.size, size=file.size, is_over=True, left_out=left_out, damage=damage
    )

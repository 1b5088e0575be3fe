"""A worker that waits for more reads and writes little until something changes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TypeVar

import pytest
from tests.property.verbs import LetterEmbedder
from tests.unit.test_fading import EVENTS
from tests.unit.test_forget import NOON, keep, kept, talk

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.sql.memories import SqlMemories
from ireneo.engine.memory import Memory
from ireneo.engine.resources import Resources
from ireneo.memories.record import Record
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.store import HearsOfWork
from ireneo.testing.scripted import ManualClock

T = TypeVar("T")


class EnoughError(Exception):
    """No more rounds are wanted."""


class Watched(InMemoryStore):
    """A store that counts what writes, and calls something before the next write and at the end of each round."""

    def __init__(self) -> None:
        super().__init__()
        self.written = 0
        self.before_write: Callable[[], Awaitable[object]] | None = None
        self.after_round: Callable[[], object] = lambda: None

    async def write(self, function: Callable[..., T], /, *args: object, **kwargs: object) -> T:
        before, self.before_write = self.before_write, None
        if before is not None:
            await before()
        self.written += 1
        return await super().write(function, *args, **kwargs)

    @asynccontextmanager
    async def hearing(self, space: str) -> AsyncIterator[HearsOfWork]:
        async def wait(seconds: float, told_seconds: float) -> None:
            self.after_round()

        yield wait


def memory_over(store: Watched, clock: ManualClock) -> Memory:
    return Memory(
        Resources(store=store, count=lambda text: len(text.split()), clock=clock, embedder=LetterEmbedder()), "mine"
    )


async def test_a_worker_that_has_nothing_to_do_reads_no_memories_and_writes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, clock = Watched(), ManualClock(NOON)
    memory = memory_over(store, clock)
    await talk(memory)
    await keep(store, *EVENTS)
    whole: list[MemoryFilter] = []
    read = SqlMemories.list

    def noted(self: SqlMemories, space: str, wanted: MemoryFilter, limit: int | None = None) -> Sequence[Record]:
        whole.extend([wanted] if limit is None else [])
        return read(self, space, wanted, limit)

    monkeypatch.setattr(SqlMemories, "list", noted)
    rounds: list[tuple[int, int]] = []

    def after_round() -> None:
        rounds.append((store.written, len(whole)))
        if len(rounds) == 4:
            clock.move(timedelta(seconds=50))
        elif len(rounds) == 5:
            clock.move(timedelta(hours=2))
        elif len(rounds) == 6:
            raise EnoughError

    store.after_round = after_round
    with pytest.raises(EnoughError):
        await memory.work(until_idle=False)
    assert rounds[0] == rounds[1] == rounds[2] == rounds[3] == rounds[4]
    assert rounds[5][1] > rounds[4][1], "what fades with time is looked for now and then"


async def test_a_memory_that_is_used_while_others_are_archived_stays() -> None:
    store = Watched()
    memory = memory_over(store, ManualClock(NOON))
    await keep(store, *EVENTS)
    store.before_write = lambda: memory.used(["m_a"])
    assert await memory.archive(3) == ["m_c"]
    assert not (await kept(store))["m_a"].archived

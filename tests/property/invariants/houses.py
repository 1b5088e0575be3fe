"""Where the sessions live while they are tested: each kind of store, opened as often as there are processes."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from tests.databases import new_database
from tests.examples import times

import ireneo
from ireneo import Draft, Memory, chat_format
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.engine.resources import Resources
from ireneo.ports.store import Store
from ireneo.testing.scripted import ManualClock

from .promises import TOKENS

STORES = ("in memory", "sqlite")
every_store = pytest.mark.parametrize("store", STORES)
stores = st.sampled_from(STORES)
"""The store of an example, where what is promised doesn't depend on it: the same examples in both would show twice what
`test_both_stores_give_the_same_contexts` shows once."""


def memory_over(store: Store, space: str = "mine", clock: ManualClock | None = None) -> Memory:
    """A memory over an open store, without a model."""
    return Memory(Resources(store=store, count=TOKENS.count, clock=clock or ManualClock()), space)


def calm(examples: int, **more: int) -> settings:
    """The same examples on every run; `IRENEO_EXAMPLES=4` looks through four times as many."""
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(
        max_examples=times(examples),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=checks,
        **more,  # type: ignore[arg-type]
    )


class House:
    """One store; each memory over it is what another process would have."""

    def __init__(self, kind: str, folder: Path, stack: AsyncExitStack) -> None:
        self.kind = kind
        self.folder = folder
        self._path = new_database(folder / "memory.db") if kind == "sqlite" else folder / "memory.db"
        self._stack = stack
        self._shared = InMemoryStore()

    async def memory(self, space: str = "mine") -> Memory:
        """A memory that knows nothing but what is stored."""
        if self.kind == "in memory":
            return memory_over(self._shared, space)
        return await self._stack.enter_async_context(ireneo.open(self._path, space=space, durability="normal"))

    async def store(self) -> Store:
        """The store itself, to look into it or to put something between."""
        if self.kind == "in memory":
            return self._shared
        store = await open_sqlite(self._path, durability="normal")
        self._stack.push_async_callback(store.close)
        return store


@asynccontextmanager
async def housed(kind: str = "in memory") -> AsyncIterator[House]:
    """An empty store of that kind."""
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            yield House(kind, Path(folder), stack)


@asynccontextmanager
async def opened(kind: str = "in memory") -> AsyncIterator[tuple[House, Memory]]:
    """An empty store of that kind, and a memory over it."""
    async with housed(kind) as house:
        yield house, await house.memory()


def live_in(kind: str, work: Callable[[House], Awaitable[None]]) -> None:
    """Do `work` with an empty store of that kind."""

    async def within() -> None:
        async with housed(kind) as house:
            await work(house)

    asyncio.run(within())


def written_in(name: str, drafts: Sequence[Draft]) -> list[dict[str, object]]:
    """The message list of a provider that says what `drafts` say, with the system prompt in its place."""
    payload = chat_format(name).encode(drafts)
    prompt = [] if payload.system is None else [{"role": "system", "content": payload.system}]
    return [*prompt, *payload.messages] if name == "openai" else payload.messages


def transcript(name: str, drafts: Sequence[Draft]) -> list[bytes]:
    """A log that holds the session, as lines."""
    payload = chat_format(name).encode(drafts)
    run: dict[str, object] = {"id": "run", "messages": payload.messages}
    if payload.system is not None:
        run["system"] = payload.system
    return [json.dumps(run).encode()]

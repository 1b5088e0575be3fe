"""No verb holds a connection of the store while it waits: for another one, for its caller, for a model."""

from __future__ import annotations

import asyncio
import inspect
import random
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.databases import in_memory, new_database
from tests.examples import TIMES
from tests.property.verbs import READING, RUN, STORY, VERBS, furnish, memory_with_all, tried

from ireneo import Memory, Session
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.ports.store import Store

STUCK_SECONDS = 60
"""What takes longer hangs: all of it takes a few seconds."""
STORES = ("in memory", "sqlite")


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with something of everything, closed; made while whoever is waited for uses it."""
    path = new_database(tmp_path_factory.mktemp("furnished") / "memory.db")

    async def make() -> None:
        store = await open_sqlite(path, durability="normal", readers=1)
        async with asyncio.timeout(STUCK_SECONDS):
            await furnish(memory_with_all(store, looking(store)), messages=40)
        await store.close()

    asyncio.run(make())
    return path


def looking(store: Store) -> Callable[[], Awaitable[None]]:
    """What a model or an embedder does with the store before it answers."""

    async def look() -> None:
        await store.read(lambda tx: tx.sessions.list("mine"))
        await store.write(lambda tx: tx.sessions.list("mine"))

    return look


@asynccontextmanager
async def opened(kind: str, furnished: Path, folder: Path) -> AsyncIterator[Store]:
    """A store of its own with what is in `furnished`, in which one task reads at a time."""
    if kind == "in memory":
        yield in_memory(furnished)
        return
    path = folder / "memory.db"
    shutil.copyfile(furnished, path)
    store = await open_sqlite(path, durability="normal", readers=1)
    try:
        yield store
    finally:
        await store.close()


def with_all(kind: str, furnished: Path, folder: Path, work: Callable[[Memory], Awaitable[None]]) -> None:
    """Do `work` on a furnished memory; whoever a model or an embedder waits for may use the store meanwhile."""

    async def main() -> None:
        async with opened(kind, furnished, folder) as store, asyncio.timeout(STUCK_SECONDS):
            await work(memory_with_all(store, looking(store)))

    asyncio.run(main())


def test_every_verb_of_the_public_page_is_tried() -> None:
    def verbs(kind: type) -> set[str]:
        found = inspect.getmembers(kind, inspect.iscoroutinefunction)
        return {name for name, _ in found if not name.startswith("_")}

    assert verbs(Memory) - {"close"} - set(VERBS) == set()
    assert {f"Session.{name}" for name in verbs(Session)} - set(VERBS) == set()


def test_every_verb_does_with_one_connection_to_read(furnished: Path, tmp_path: Path) -> None:
    """Of a file: a store in memory has no connections to wait for."""

    async def work(memory: Memory) -> None:
        for verb in VERBS.values():
            await verb(memory)

    with_all("sqlite", furnished, tmp_path, work)


def test_eight_that_work_at_once_end(furnished: Path, tmp_path: Path) -> None:
    async def work(memory: Memory) -> None:
        recalled: list[asyncio.Task[object]] = []

        def ask(_: object) -> None:
            recalled.append(asyncio.create_task(memory.recall("Fairhaven")))

        await asyncio.gather(*(memory.work(until_idle=True, on_progress=ask) for _ in range(8)))
        await asyncio.gather(*recalled)

    with_all("sqlite", furnished, tmp_path, work)


def test_whoever_is_told_of_progress_may_use_the_memory(furnished: Path, tmp_path: Path) -> None:
    async def work(memory: Memory) -> None:
        begun: list[asyncio.Task[object]] = []

        def tell(_: object) -> None:
            begun.append(asyncio.create_task(memory.recall("Anna")))
            begun.append(asyncio.create_task(memory.remember(f"Something was told for the {len(begun)}th time.")))

        run, story = await memory.session(RUN), await memory.session(STORY)
        exports = [memory.export_memories(on_progress=tell) for _ in range(4)]
        others = [
            memory.work(until_idle=True, on_progress=tell),
            memory.embed(on_progress=tell),
            memory.learn([RUN], on_progress=tell),
            run.summarise(2_000, on_progress=tell),
            story.catch_up(preset="story", on_progress=tell),
        ]
        exported, _ = await asyncio.gather(asyncio.gather(*exports), asyncio.gather(*others))
        assert min(map(len, exported)) >= 4
        assert len(begun) >= 2 * 4 * 4
        await asyncio.gather(*begun)

    with_all("sqlite", furnished, tmp_path, work)


@pytest.mark.parametrize("store", STORES)
def test_all_verbs_at_once_that_are_broken_off_leave_the_store_to_the_next(
    store: str, furnished: Path, tmp_path: Path
) -> None:
    names = sorted(VERBS)

    async def work(memory: Memory) -> None:
        chance = random.Random(7)
        for _ in range(TIMES):
            chance.shuffle(names)
            tasks = [asyncio.create_task(tried(VERBS[name], memory)) for name in names]
            for _ in range(40):
                await asyncio.sleep(chance.random() / 40)
                chance.choice(tasks).cancel()
            done = await asyncio.gather(*tasks, return_exceptions=True)
            faults = [each for each in done if isinstance(each, Exception)]
            assert not faults, faults
        for verb in READING.values():
            await tried(verb, memory)

    with_all(store, furnished, tmp_path, work)

"""What is said to who opens a memory in another way than it is meant."""

from __future__ import annotations

import asyncio

import pytest
from tests.property.verbs import memory_with_all

import ireneo
from ireneo.adapters.in_memory import InMemoryStore


def test_a_memory_that_was_not_entered_says_how_to_enter_it() -> None:
    opening = ireneo.open(":memory:")
    with pytest.raises(AttributeError, match=r"no 'recall'; use `async with ireneo.open\(…\) as memory:`"):
        getattr(opening, "recall")  # noqa: B009

    async def listed() -> int:
        async with opening as memory:
            return len(await memory.sessions())

    assert asyncio.run(listed()) == 0


@pytest.mark.parametrize("name", ["", " "])
def test_a_session_has_a_name(name: str) -> None:
    async def asked() -> None:
        async with ireneo.open(":memory:") as memory:
            await memory.session(name)

    with pytest.raises(ireneo.BadInput, match="`id` is empty"):
        asyncio.run(asked())


class Stuck(InMemoryStore):
    """A store whose transactions of a memory never begin."""

    async def read(self, *_: object, **__: object) -> None:
        await asyncio.Event().wait()


async def test_a_memory_that_is_cancelled_while_it_closes_is_closed_all_the_same() -> None:
    store = Stuck()
    closing = asyncio.create_task(memory_with_all(store).close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    with pytest.raises(ireneo.StoreError, match="closed"):
        await InMemoryStore.read(store, lambda tx: tx.sessions.list("mine"))

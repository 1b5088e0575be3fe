"""Leases as a worker holds them: renewed, overtaken, put off, given back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.engine.models import FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS, Worker
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Lease
from ireneo.testing.scripted import ManualClock

KEY = SessionKey("mine", "run")
BEAT = 0.02


class Bench:
    """A store with a session, and a clock."""

    def __init__(self) -> None:
        self.store = InMemoryStore()
        self.clock = ManualClock()

    def worker(self, seconds: float = 180.0, *, leases: bool = True) -> Worker:
        return Worker(self.store, self.clock, lease_seconds=seconds, leases=leases)

    async def leases(self) -> Sequence[Lease]:
        return await self.store.read(lambda tx: tx.leases.of_session(KEY))

    def later(self, seconds: float) -> None:
        self.clock.move(timedelta(seconds=seconds))


@pytest.fixture
async def bench() -> Bench:
    made = Bench()
    await made.store.write(lambda tx: tx.sessions.create(KEY, None))
    return made


async def test_while_one_works_another_has_no_lease(bench: Bench) -> None:
    async with bench.worker().leased(KEY, "text") as first:
        assert first is not None
        async with bench.worker().leased(KEY, "text") as second:
            assert second is None
        async with bench.worker().leased(KEY, "other") as other:
            assert other is not None
    assert await bench.leases() == []


async def test_the_heartbeat_makes_a_lease_last(bench: Bench) -> None:
    worker = bench.worker(BEAT * 3)
    async with worker.leased(KEY, "text") as lease:
        assert lease is not None
        for _ in range(3):
            bench.later(BEAT * 2)
            await asyncio.sleep(BEAT * 3)
        assert (await bench.leases())[0].until > lease.until
        async with bench.worker().leased(KEY, "text") as other:
            assert other is None


async def test_one_who_was_overtaken_disturbs_nobody(bench: Bench) -> None:
    slow, quick = bench.worker(BEAT * 3), bench.worker()
    async with slow.leased(KEY, "text") as old:
        assert old is not None
        bench.later(1_000)
        async with quick.leased(KEY, "text") as new:
            assert new is not None
            assert new.token > old.token
            # Beats of the one that was overtaken, and its end, leave the new lease as it is.
            await asyncio.sleep(BEAT * 4)
            await slow.failed(old, "too late")
            await bench.store.write(slow.done, old)
            (held,) = await bench.leases()
            assert (held.holder, held.token, held.failures) == (quick.name, new.token, 0)


async def test_work_that_fails_waits_longer_each_time(bench: Bench) -> None:
    worker = bench.worker()
    for times in range(1, 14):
        async with worker.leased(KEY, "text") as lease:
            assert lease is not None
            await worker.failed(lease, f"It failed {times} times.")
        (kept,) = await bench.leases()
        assert (kept.holder, kept.failures, kept.error) == ("", times, f"It failed {times} times.")
        assert kept.retry_at is not None
        wait = (kept.retry_at - bench.clock.now()).total_seconds()
        assert wait == min(FIRST_WAIT_SECONDS * 2 ** (times - 1), LONGEST_WAIT_SECONDS)
        bench.later(wait - 1)
        async with worker.leased(KEY, "text") as early:
            assert early is None
        bench.later(1)


async def test_a_block_that_breaks_gives_its_lease_back(bench: Bench) -> None:
    with pytest.raises(KeyError):
        async with bench.worker().leased(KEY, "text"):
            raise KeyError("broken")
    assert await bench.leases() == []


async def test_a_block_that_is_cancelled_gives_its_lease_back_and_is_cancelled(bench: Bench) -> None:
    async def hold() -> None:
        async with bench.worker(BEAT).leased(KEY, "text"):
            await asyncio.sleep(60)

    task = asyncio.create_task(hold())
    await asyncio.sleep(BEAT * 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await bench.leases() == []


async def test_who_is_cancelled_just_as_the_work_ends_is_cancelled(bench: Bench) -> None:
    async def hold() -> str:
        async with bench.worker().leased(KEY, "text"):
            asyncio.get_running_loop().call_soon(task.cancel)
        await asyncio.sleep(0)
        return "never cancelled"

    task = asyncio.create_task(hold())
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await bench.leases() == []


async def test_without_leases_nothing_is_stored(bench: Bench) -> None:
    worker = bench.worker(leases=False)
    async with worker.leased(KEY, "text") as lease:
        assert lease is not None
        assert await bench.leases() == []
        await worker.failed(lease, "It failed.")
    assert await bench.leases() == []

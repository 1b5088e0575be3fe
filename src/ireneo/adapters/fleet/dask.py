"""Workers of a Dask cluster. The scheduler needs no Ireneo, only they do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager

import dask.config
import distributed

from ireneo.errors import BadInput

CONNECT_SECONDS = 10
WORKER_SECONDS = 30
"""So long is waited for a first worker, and for another where all of them went."""
TASK_BYTES = 1 << 27
"""A task may be as large as a log is, without a word from Dask."""


class DaskWorkers:
    """The workers of one cluster."""

    def __init__(self, client: distributed.Client, address: str, expression: str, given: Mapping[str, object]) -> None:
        """Evaluate `expression` there, which is over ``task`` and what is `given`."""
        self.width = 2
        self._client = client
        self._address = address
        self._expression = expression
        self._given = given

    async def look(self) -> None:
        """Wait for a worker. Raises BadInput where none comes."""
        try:
            await self._client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except (TimeoutError, OSError) as fault:
            raise BadInput(f"No worker is connected to {self._address}; start some with `dask worker`.") from fault
        await self._count()

    async def _count(self) -> None:
        self.width = 2 * sum((await self._client.nthreads()).values()) + 2

    async def run(self, task: bytes) -> bytes | None:
        """The answer to a task; None where the scheduler gave it up, since one worker after another died of it."""
        # By the name of a builtin: the scheduler unpacks what is called, and may not have this package.
        future = self._client.submit(eval, self._expression, {**self._given, "task": task}, pure=False)
        answer = asyncio.ensure_future(_answer(future))
        try:
            await self._count()  # Others may have come.
            while not (await asyncio.wait({answer}, timeout=WORKER_SECONDS))[0]:
                await self.look()
            return answer.result()
        except distributed.KilledWorker:
            return None
        except ImportError as fault:
            raise BadInput(
                f"A worker of {self._address} has no Ireneo of this release ({fault}); install the same on each."
            ) from fault
        except (OSError, CancelledError) as fault:
            raise BadInput(
                f"The scheduler {self._address} is gone; run it again, and what was learned is not read again."
            ) from fault
        finally:
            answer.cancel()


async def _answer(future: distributed.Future) -> bytes:
    answer = await future
    assert isinstance(answer, bytes)
    return answer


@asynccontextmanager
async def dask_workers(
    address: str, server: str, expression: str, given: Mapping[str, object]
) -> AsyncIterator[DaskWorkers]:
    """The workers of the scheduler at `server`, for the time of a block."""
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": f"{TASK_BYTES}B"}):
        try:
            client = await distributed.Client(server, asynchronous=True, timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as fault:
            raise BadInput(f"There is no Dask scheduler at {address}; start one with `dask scheduler`.") from fault
        async with client:
            workers = DaskWorkers(client, address, expression, given)
            await workers.look()
            yield workers

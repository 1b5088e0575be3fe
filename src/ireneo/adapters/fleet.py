"""Workers that analyse logs: processes on this machine, or those of a Dask cluster."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, BinaryIO

from ireneo.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    import distributed

    from ireneo.ports.models import Workers

LOCAL, CLUSTER = "local:", "dask://"
"""The schemes of addresses."""
MAX_PROCESSES = 256


def open_workers(address: str, module: str, given: Mapping[str, object]) -> AbstractAsyncContextManager[Workers]:
    """Open the workers at an address.

    A worker calls ``module.analyse(task, **given)`` for each task; ``module.serve(**given)`` does that in a process of
    this machine (see `serve`). Raises BadInput, MissingExtra.
    """
    if address.startswith(LOCAL):
        number = address.removeprefix(LOCAL)
        if not number.isdecimal() or not 1 <= int(number) <= MAX_PROCESSES:
            raise BadInput(f"{address} says no number of processes; give {LOCAL}4, say, up to {MAX_PROCESSES}.")
        # Modules are looked up where this process finds them.
        code = f"import sys; sys.path[:] = {sys.path!r}; from {module} import serve; serve(**{dict(given)!r})"
        return local_workers(int(number), code)
    server = address.removeprefix(CLUSTER).strip("/")
    if not address.startswith(CLUSTER) or not server:
        raise BadInput(f"{address} is not an address of workers; give {LOCAL}4 or {CLUSTER}scheduler:8786.")
    if find_spec("distributed") is None:
        raise MissingExtra(f"{address} needs an extra: pip install 'ireneo[dask]'.")
    names = ", ".join(f"{name}={name}" for name in given)
    called = f"__import__({module!r}, fromlist=['analyse']).analyse(task, {names})"
    return dask_workers(address, f"tcp://{server}", called, given)


MAX_DEATHS = 2
"""A task is given up after this many workers died while running it."""
LENGTH_BYTES = 8
PIECE_BYTES = 1 << 20


class LocalWorkers:
    """Processes on this machine, each behind a pair of pipes, with one task at a time; dead ones are replaced.

    `concurrent.futures` does not fit: its pool runs the caller's main module again in each process, and doesn't say
    which task a worker died of.
    """

    def __init__(self, processes: int, code: str) -> None:
        """Run `code` in each process, which calls `serve`; a process is started when it is first needed."""
        self.width = 2 * processes + 2
        self._code = code
        self._free: asyncio.Queue[Process | None] = asyncio.Queue()
        for _ in range(processes):
            self._free.put_nowait(None)
        self._running: set[Process] = set()

    async def run(self, task: bytes) -> bytes | None:
        """Run a task and return its answer; None if two processes died of it."""
        for _ in range(MAX_DEATHS):
            process = await self._free.get()
            try:
                if process is None or process.returncode is not None:
                    process = await self._start()
                answer = await _ask_process(process, task)
            except BaseException:
                # Cancelled in the middle of a task: nobody wants the answer any more.
                await self._end(process)
                self._free.put_nowait(None)
                raise
            if answer is not None:
                self._free.put_nowait(process)
                return answer
            await self._end(process)
            self._free.put_nowait(None)
        return None

    async def close(self) -> None:
        """End all processes."""
        for process in list(self._running):
            await self._end(process)

    async def _start(self) -> Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", self._code, stdin=PIPE, stdout=PIPE, limit=PIECE_BYTES
        )
        self._running.add(process)
        return process

    async def _end(self, process: Process | None) -> None:
        if process is not None:
            self._running.discard(process)
            if process.returncode is None:
                process.kill()
            await process.wait()


async def _ask_process(process: Process, task: bytes) -> bytes | None:
    """The answer of a process; None if it died."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(len(task).to_bytes(LENGTH_BYTES) + task)
        await process.stdin.drain()
        length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES))
        return await process.stdout.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


@asynccontextmanager
async def local_workers(processes: int, code: str) -> AsyncIterator[LocalWorkers]:
    """Processes for the duration of a block."""
    workers = LocalWorkers(processes, code)
    try:
        yield workers
    finally:
        await workers.close()


def serve(tasks: BinaryIO, answers: BinaryIO, answer: Callable[[bytes], bytes]) -> None:
    """Answer tasks until the input ends, which it also does when the parent process dies."""
    while len(length := tasks.read(LENGTH_BYTES)) == LENGTH_BYTES:
        size = int.from_bytes(length)
        if len(task := tasks.read(size)) < size:
            return
        told = answer(task)
        answers.write(len(told).to_bytes(LENGTH_BYTES) + told)
        answers.flush()


CONNECT_SECONDS = 10
WORKER_SECONDS = 30
"""How long to wait for a first worker, or for another one after all have gone."""
TASK_BYTES = 1 << 27
"""Dask warns of tasks larger than this; a task contains a whole log."""


class DaskWorkers:
    """The workers of one cluster. Its scheduler needs no Ireneo, only the workers do."""

    def __init__(self, client: distributed.Client, address: str, expression: str, given: Mapping[str, object]) -> None:
        """Evaluate `expression` on the workers, with ``task`` and the names in `given`."""
        self.width = 2
        self._client = client
        self._address = address
        self._expression = expression
        self._given = given

    async def look(self) -> None:
        """Wait for a worker. Raises BadInput if none comes."""
        try:
            await self._client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except (TimeoutError, OSError) as fault:
            raise BadInput(f"No worker is connected to {self._address}; start some with `dask worker`.") from fault
        await self._count()

    async def _count(self) -> None:
        self.width = 2 * sum((await self._client.nthreads()).values()) + 2

    async def run(self, task: bytes) -> bytes | None:
        """Run a task and return its answer; None if the scheduler gave it up after several workers died of it."""
        import distributed

        # `eval` is pickled by name: the scheduler unpickles the function, and may not have this package.
        future = self._client.submit(eval, self._expression, {**self._given, "task": task}, pure=False)
        answer = asyncio.ensure_future(_answer(future))
        try:
            await self._count()  # More workers may have joined.
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
    """The workers of the scheduler at `server`, for the duration of a block."""
    import dask.config
    import distributed

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": f"{TASK_BYTES}B"}):
        try:
            client = await distributed.Client(server, asynchronous=True, timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as fault:
            raise BadInput(f"There is no Dask scheduler at {address}; start one with `dask scheduler`.") from fault
        async with client:
            workers = DaskWorkers(client, address, expression, given)
            await workers.look()
            yield workers

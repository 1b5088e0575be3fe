"""Workers as processes on this machine, each behind a pair of pipes.

A process of its own and no pool of `concurrent.futures`: that runs the caller's main module again in each of them, and
doesn't say which task a worker died of.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import BinaryIO

DEATHS = 2
"""A task that so many workers died of is given to no more."""
LENGTH_BYTES = 8
PIECE_BYTES = 1 << 20


class LocalWorkers:
    """So many processes, each of which has one task at a time; who dies is replaced."""

    def __init__(self, processes: int, code: str) -> None:
        """Run `code` in each, which calls `serve`."""
        self.width = 2 * processes + 2
        self._code = code
        self._free: asyncio.Queue[Process | None] = asyncio.Queue()
        for _ in range(processes):
            self._free.put_nowait(None)  # Started when it is first needed.
        self._running: set[Process] = set()

    async def run(self, task: bytes) -> bytes | None:
        """The answer to a task; None where two processes died of it."""
        for _ in range(DEATHS):
            process = await self._free.get()
            try:
                if process is None or process.returncode is not None:
                    process = await self._start()
                answer = await _asked(process, task)
            except BaseException:
                # Broken off in the middle: what it would answer is for nobody any more.
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
        """End all of them."""
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


async def _asked(process: Process, task: bytes) -> bytes | None:
    """The answer of a process; None where it died of the task."""
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
    """Processes for the time of a block."""
    workers = LocalWorkers(processes, code)
    try:
        yield workers
    finally:
        await workers.close()


def serve(tasks: BinaryIO, answers: BinaryIO, answer: Callable[[bytes], bytes]) -> None:
    """Answer tasks until there are no more, which is also when whoever asks has died."""
    while len(length := tasks.read(LENGTH_BYTES)) == LENGTH_BYTES:
        size = int.from_bytes(length)
        if len(task := tasks.read(size)) < size:
            return
        told = answer(task)
        answers.write(len(told).to_bytes(LENGTH_BYTES) + told)
        answers.flush()

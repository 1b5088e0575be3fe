"""Run transactions in threads: each connection has one at a time, and who waits is served in order.

A transaction is a function, called in a thread with a connection to itself, so that neither a disk nor what the
function computes ever holds an event loop. It belongs to no loop: several may share a store, each in its thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import Generic, TypeVar

from ireneo.errors import StoreError

C = TypeVar("C")
T = TypeVar("T")

NESTED = (
    "A transaction of the store is open here already; return from its function before you open another: as many such "
    "as there are connections would wait for each other for ever."
)
CLOSED = "The store is closed; open it again."
LAZY = (
    "A transaction's function returns what it read, and not {0}, which would run when the transaction is over; give a "
    "plain function, and await outside of it."
)


class Cancellation:
    """A transaction that somebody waits for, until that is cancelled or the transaction is over."""

    def __init__(self) -> None:
        """Begin with somebody who waits."""
        self.cancelled = threading.Event()
        """Set once nobody waits for it any more: what it waits for itself ends at once, and it is rolled back."""
        self.over = False
        self._commits = False
        self._guard = threading.Lock()

    def cancel(self) -> None:
        """Say that nobody waits for it any more; a commit that has begun goes on."""
        with self._guard:
            if not self._commits:
                self.cancelled.set()

    def check(self) -> None:
        """Raise CancelledError where nobody waits for it any more."""
        if self.cancelled.is_set():
            raise CancelledError

    def begin_commit(self) -> None:
        """Raise CancelledError where nobody waits for it any more; from now on it can't be cancelled."""
        with self._guard:
            self.check()
            self._commits = True


_INSIDE: ContextVar[tuple[tuple[Nesting, Cancellation], ...]] = ContextVar("ireneo transactions", default=())


class Nesting:
    """Knows in which transactions of a store whoever asks is, and refuses another one there.

    Who holds one connection and waits for another one is no fault that shows at once: it takes as many of them as
    there are connections. So it is refused always, and not only when it would hang. A function is known by its context
    variables, which go with what it starts in other threads and loops.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._tasks: set[asyncio.Task[object] | None] = set()

    def check(self) -> None:
        """Raise StoreError inside a transaction of this store."""
        if asyncio.current_task() in self._tasks or any(
            nesting is self and not job.over for nesting, job in _INSIDE.get()
        ):
            raise StoreError(NESTED)

    def inside(self, job: Cancellation) -> None:
        """Note in this context that `job` has begun in it."""
        _INSIDE.set((*_INSIDE.get(), (self, job)))

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Have a transaction open for the length of the block. Raises StoreError where the task has one already."""
        self.check()
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            yield
        finally:
            # The task that entered, which need not be the one that leaves: a generator may be closed by another.
            self._tasks.discard(task)


class Pool(Generic[C]):
    """A few connections, and as many threads to work on them."""

    def __init__(self, connections: Sequence[C], retire: Callable[[C], None], nesting: Nesting, name: str) -> None:
        """Work on `connections`; `retire` is called with one that comes back after the pool was closed."""
        self._idle = list(connections)
        self._retire = retire
        self._nesting = nesting
        self._threads = ThreadPoolExecutor(max_workers=len(self._idle), thread_name_prefix=name)
        self._closed = False
        self._guard = threading.Lock()

    async def run(self, work: Callable[[C, Cancellation], T]) -> T:
        """Call `work` in a thread as soon as a connection is free, and give what it returns.

        A task that is cancelled meanwhile leaves at once. What has not begun never does; what has is told so by its
        job, and the connection is lent on when it is through with it. Raises StoreError when the pool is closed, and
        inside of other work for this store.
        """
        self._nesting.check()
        job = Cancellation()
        with self._guard:
            if self._closed:
                raise StoreError(CLOSED)
            future = self._threads.submit(copy_context().run, self._work, work, job)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            job.cancel()
            raise

    def close(self) -> Sequence[C]:
        """Lend no more; gives what nobody has at the moment."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        self._threads.shutdown(wait=False)
        return idle

    def _work(self, work: Callable[[C, Cancellation], T], job: Cancellation) -> T:
        with self._guard:
            if self._closed:
                raise StoreError("The store was closed while this was waiting for it.")
            # The one that came back last, so that those beyond the need are never opened.
            connection = self._idle.pop()
        self._nesting.inside(job)
        try:
            return work(connection, job)
        finally:
            job.over = True
            self._give(connection)

    def _give(self, connection: C) -> None:
        with self._guard:
            if not self._closed:
                self._idle.append(connection)
                return
        self._retire(connection)


def check_plain(function: Callable[..., object]) -> None:
    """Raise StoreError for a function whose body would run when its transaction is over."""
    for kind, name in (
        (iscoroutinefunction, "a coroutine"),
        (isasyncgenfunction, "a generator"),
        (isgeneratorfunction, "a generator"),
    ):
        if kind(function):
            raise StoreError(LAZY.format(name))


def check_result(result: object) -> None:
    """Raise StoreError where a transaction's function gave something that would run when the transaction is over."""
    if isinstance(result, Generator | AsyncGenerator):
        raise StoreError(LAZY.format("a generator"))
    if isinstance(result, Awaitable):
        if asyncio.iscoroutine(result):
            # Else Python would warn of it as well, and later.
            result.close()
        raise StoreError(LAZY.format("a coroutine"))

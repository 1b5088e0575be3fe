"""Run transactions in threads: each connection runs one at a time, and waiting ones are served in order.

A transaction is a function that is called in a thread with a connection of its own, so that neither the disk nor what
the function computes ever blocks an event loop. Several event loops, each in a thread, may share a store.
"""

from __future__ import annotations

import asyncio
import threading
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar, copy_context
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import Concatenate, Generic, ParamSpec, TypeVar

from ireneo.errors import StoreError
from ireneo.ports.store import HearsOfWork, Transaction

C = TypeVar("C")
P = ParamSpec("P")
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
    """Whether a transaction should be rolled back because the task that waited for it was cancelled."""

    def __init__(self) -> None:
        """Start without a request."""
        self.requested = threading.Event()
        """Set when the transaction should stop waiting for locks and roll back."""
        self._commits = False
        self._guard = threading.Lock()

    def request(self) -> None:
        """Cancel the transaction unless its commit has begun."""
        with self._guard:
            if not self._commits:
                self.requested.set()

    def check(self) -> None:
        """Raise CancelledError if the transaction was cancelled."""
        if self.requested.is_set():
            raise CancelledError

    def begin_commit(self) -> None:
        """Raise CancelledError if the transaction was cancelled; otherwise it can't be from now on."""
        with self._guard:
            self.check()
            self._commits = True


_INSIDE: ContextVar[tuple[Cancellation, ...]] = ContextVar("ireneo transactions", default=())
"""The transactions that this code was called in, or was started from."""


class ReentryGuard:
    """Refuses a transaction of a store inside another one.

    Holding one connection while waiting for another only deadlocks once as many transactions do so as there are
    connections. So it is always refused. Context variables tell what runs inside a transaction: they are passed on
    to the threads and event loops that a function starts.
    """

    def __init__(self) -> None:
        """Start with no open transaction."""
        self._open: set[Cancellation] = set()

    def check(self) -> None:
        """Raise StoreError inside a transaction of this store."""
        if not self._open.isdisjoint(_INSIDE.get()):
            raise StoreError(NESTED)

    @contextmanager
    def inside(self, transaction: Cancellation) -> Iterator[None]:
        """Mark `transaction` as open in this context for the duration of the block."""
        self._open.add(transaction)
        _INSIDE.set((*_INSIDE.get(), transaction))
        try:
            yield
        finally:
            self._open.discard(transaction)


class Pool(Generic[C]):
    """A few connections, and as many threads that use them."""

    def __init__(self, connections: Sequence[C], retire: Callable[[C], None], guard: ReentryGuard, name: str) -> None:
        """Use `connections`; `retire` closes one that is returned after the pool was closed."""
        self._idle = list(connections)
        self._retire = retire
        self._guard = guard
        self._threads = ThreadPoolExecutor(max_workers=len(self._idle), thread_name_prefix=name)
        self._closed = False
        self._lock = threading.Lock()

    async def run(self, work: Callable[[C, Cancellation], T]) -> T:
        """Call `work` in a thread as soon as a connection is free, and return its result.

        A cancelled task returns at once: work that has not started never does, and running work is told through its
        `Cancellation` and keeps the connection until it ends. Raises StoreError if the pool is closed, and inside other
        work for the same store.
        """
        self._guard.check()
        cancellation = Cancellation()
        with self._lock:
            if self._closed:
                raise StoreError(CLOSED)
            future = self._threads.submit(copy_context().run, self._work, work, cancellation)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            cancellation.request()
            raise

    def close(self) -> Sequence[C]:
        """Accept no more work, and return the connections that are not in use."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        self._threads.shutdown(wait=False)
        return idle

    def _work(self, work: Callable[[C, Cancellation], T], cancellation: Cancellation) -> T:
        with self._lock:
            if self._closed:
                raise StoreError("The store was closed while this was waiting for it.")
            # The most recently used one, so that connections beyond the need are never opened.
            connection = self._idle.pop()
        try:
            with self._guard.inside(cancellation):
                return work(connection, cancellation)
        finally:
            self._give_back(connection)

    def _give_back(self, connection: C) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        self._retire(connection)


class PooledStore(Generic[C]):
    """A store that runs each transaction in a thread on a connection of its own: one connection writes, a few read."""

    def __init__(self, writer: C, readers: Sequence[C], retire: Callable[[C], None], name: str) -> None:
        """Use these connections, which `retire` closes; `name` is the prefix of the threads' names."""
        guard = ReentryGuard()
        self._retire = retire
        self._writers = Pool([writer], retire, guard, name)
        self._readers = Pool(readers, retire, guard, name)

    async def read(self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `function` with a consistent snapshot."""
        return await self._readers.run(self._transacting(function, args, kwargs, writes=False))

    async def write(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call `function` in a transaction, alone among the writers of this process, and commit durably."""
        return await self._writers.run(self._transacting(function, args, kwargs, writes=True))

    @asynccontextmanager
    async def hearing(self, space: str) -> AsyncIterator[HearsOfWork]:
        """Give a function that just sleeps: other processes can't notify this one, so the caller polls."""

        async def wait(seconds: float, told_seconds: float) -> None:
            await asyncio.sleep(seconds)

        yield wait

    async def close(self) -> None:
        """Close idle connections now, and those in use when their transaction ends."""
        for connection in (*self._readers.close(), *self._writers.close()):
            await asyncio.to_thread(self._retire, connection)

    @abstractmethod
    def _transaction(
        self, connection: C, cancellation: Cancellation, *, writes: bool
    ) -> AbstractContextManager[Transaction]:
        """Begin a transaction, which is committed at the end of the block, or rolled back if that raises."""

    def _transacting(
        self, function: Callable[..., T], args: tuple[object, ...], kwargs: dict[str, object], *, writes: bool
    ) -> Callable[[C, Cancellation], T]:
        for is_lazy, what in (
            (iscoroutinefunction, "a coroutine"),
            (isasyncgenfunction, "a generator"),
            (isgeneratorfunction, "a generator"),
        ):
            if is_lazy(function):
                raise StoreError(LAZY.format(what))

        def work(connection: C, cancellation: Cancellation) -> T:
            with self._transaction(connection, cancellation, writes=writes) as transaction:
                cancellation.check()
                result = function(transaction, *args, **kwargs)
                _check_result(result)
            return result

        return work


def _check_result(result: object) -> None:
    """Raise StoreError if a transaction's function returned something that would run after the transaction."""
    if isinstance(result, Generator | AsyncGenerator):
        raise StoreError(LAZY.format("a generator"))
    if isinstance(result, Awaitable):
        if asyncio.iscoroutine(result):
            # Otherwise Python would warn later that it was never awaited.
            result.close()
        raise StoreError(LAZY.format("a coroutine"))

"""Run transactions in threads: each connection has one at a time, and who waits is served in order.

A transaction is a function, called in a thread with a connection to itself, so that neither a disk nor what the
function computes ever holds an event loop. It belongs to no loop: several may share a store, each in its thread.
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
    """Whether a transaction is to be broken off, since whoever waited for it was cancelled."""

    def __init__(self) -> None:
        """Begin with a transaction that somebody waits for."""
        self.requested = threading.Event()
        """Set once nobody waits for it: what it waits for itself ends at once, and it is rolled back."""
        self._commits = False
        self._guard = threading.Lock()

    def request(self) -> None:
        """Break the transaction off, unless its commit has begun."""
        with self._guard:
            if not self._commits:
                self.requested.set()

    def check(self) -> None:
        """Raise CancelledError where the transaction is to be broken off."""
        if self.requested.is_set():
            raise CancelledError

    def begin_commit(self) -> None:
        """Raise CancelledError where the transaction is to be broken off; from now on it can't be."""
        with self._guard:
            self.check()
            self._commits = True


_INSIDE: ContextVar[tuple[Cancellation, ...]] = ContextVar("ireneo transactions", default=())
"""The transactions that this code was called in, or was started from."""


class ReentryGuard:
    """Refuses a transaction of a store inside another one.

    Who holds one connection and waits for another one is no fault that shows at once: it takes as many of them as
    there are connections. So it is refused always, and not only when it would hang. What is inside is known by its
    context variables, which go with whatever a function starts in other threads and loops.
    """

    def __init__(self) -> None:
        """Begin with none open."""
        self._open: set[Cancellation] = set()

    def check(self) -> None:
        """Raise StoreError inside a transaction of this store."""
        if not self._open.isdisjoint(_INSIDE.get()):
            raise StoreError(NESTED)

    @contextmanager
    def inside(self, transaction: Cancellation) -> Iterator[None]:
        """Have `transaction` open for the length of the block, in this context."""
        self._open.add(transaction)
        _INSIDE.set((*_INSIDE.get(), transaction))
        try:
            yield
        finally:
            self._open.discard(transaction)


class Pool(Generic[C]):
    """A few connections, and as many threads to work on them."""

    def __init__(self, connections: Sequence[C], retire: Callable[[C], None], guard: ReentryGuard, name: str) -> None:
        """Work on `connections`; `retire` is called with one that comes back after the pool was closed."""
        self._idle = list(connections)
        self._retire = retire
        self._guard = guard
        self._threads = ThreadPoolExecutor(max_workers=len(self._idle), thread_name_prefix=name)
        self._closed = False
        self._lock = threading.Lock()

    async def run(self, work: Callable[[C, Cancellation], T]) -> T:
        """Call `work` in a thread as soon as a connection is free, and give what it returns.

        A task that is cancelled meanwhile leaves at once. What has not begun never does; what has is told so, and its
        connection is lent on when it is through with it. Raises StoreError when the pool is closed, and inside of
        other work for the same store.
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
        """Lend no more; gives what nobody has at the moment."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        self._threads.shutdown(wait=False)
        return idle

    def _work(self, work: Callable[[C, Cancellation], T], cancellation: Cancellation) -> T:
        with self._lock:
            if self._closed:
                raise StoreError("The store was closed while this was waiting for it.")
            # The one that came back last, so that those beyond the need are never opened.
            connection = self._idle.pop()
        try:
            with self._guard.inside(cancellation):
                return work(connection, cancellation)
        finally:
            self._give(connection)

    def _give(self, connection: C) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        self._retire(connection)


class OpenTransaction:
    """A transaction, until its function has returned."""

    def __init__(self, *, writes: bool) -> None:
        """Begin one; `writes` says whether it may change anything."""
        self.writes = writes
        self.is_over = False

    def check(self, *, writes: bool = False) -> None:
        """Raise StoreError where it is over or, for what `writes`, where it only reads."""
        if self.is_over:
            raise StoreError("The transaction is over; open another with store.read() or store.write().")
        if writes and not self.writes:
            raise StoreError("This transaction only reads; write inside store.write().")


class PooledStore(Generic[C]):
    """A store that runs each transaction in a thread, on a connection to itself: one connection writes, a few read."""

    def __init__(self, writer: C, readers: Sequence[C], retire: Callable[[C], None], name: str) -> None:
        """Work on these connections; `retire` lets go of one. The threads are called `name`."""
        guard = ReentryGuard()
        self._retire = retire
        self._writers = Pool([writer], retire, guard, name)
        self._readers = Pool(readers, retire, guard, name)

    async def read(self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """A snapshot: all that is read inside belongs together."""
        return await self._readers.run(self._transacting(function, args, kwargs, writes=False))

    async def write(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """One transaction, alone among the writers of this process; durable once it has returned."""
        return await self._writers.run(self._transacting(function, args, kwargs, writes=True))

    @asynccontextmanager
    async def hearing(self, space: str) -> AsyncIterator[HearsOfWork]:
        """Nobody tells of what others commit: who waits looks every so often."""

        async def wait(seconds: float, told_seconds: float) -> None:
            await asyncio.sleep(seconds)

        yield wait

    async def close(self) -> None:
        """Let go of the connections: idle ones now, one that a transaction is on as soon as that is over."""
        for connection in (*self._readers.close(), *self._writers.close()):
            await asyncio.to_thread(self._retire, connection)

    @abstractmethod
    def _transaction(
        self, connection: C, cancellation: Cancellation, *, writes: bool
    ) -> AbstractContextManager[Transaction]:
        """Begin one on `connection`; what it wrote is committed when the block ends, and gone where that raises."""

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
    """Raise StoreError where a transaction's function gave something that would run when the transaction is over."""
    if isinstance(result, Generator | AsyncGenerator):
        raise StoreError(LAZY.format("a generator"))
    if isinstance(result, Awaitable):
        if asyncio.iscoroutine(result):
            # Else Python would warn of it as well, and later.
            result.close()
        raise StoreError(LAZY.format("a coroutine"))

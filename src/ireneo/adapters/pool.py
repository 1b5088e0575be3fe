"""Lend what one task may have at a time, in the order in which it was asked for."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from ireneo.errors import StoreError

T = TypeVar("T")


class Pool(Generic[T]):
    """A few things, each lent to one task at a time; who waits is served first come, first served.

    It belongs to no event loop: each waiter is woken in its own, so that a pool may serve several loops, one after
    the other or each in its thread. (asyncio's primitives stay with the first loop in which somebody waited.)
    """

    def __init__(self, things: Sequence[T], retire: Callable[[T], None]) -> None:
        """Lend `things`; `retire` is called with one that comes back after the pool was closed."""
        self._idle = list(things)
        self._retire = retire
        self._waiting: deque[asyncio.Future[T]] = deque()
        self._closed = False
        self._guard = threading.Lock()

    async def take(self) -> T:
        """Wait for a thing; hand it back with `give`. Raises StoreError when the pool is closed."""
        with self._guard:
            if self._closed:
                raise StoreError("The store is closed; open it again.")
            if self._idle:
                # The one that came back last, so that those beyond the need are never opened.
                return self._idle.pop()
            waiter: asyncio.Future[T] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            with self._guard:
                if waiter in self._waiting:
                    self._waiting.remove(waiter)
            # It may have been handed over in the same moment.
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self.give(waiter.result())
            raise

    def give(self, thing: T) -> None:
        """Hand a thing back, to the one who has waited longest."""
        with self._guard:
            while self._waiting:
                waiter = self._waiting.popleft()
                loop = waiter.get_loop()
                if not loop.is_closed():
                    loop.call_soon_threadsafe(self._deliver, waiter, thing)
                    return
            if not self._closed:
                self._idle.append(thing)
                return
        self._retire(thing)

    def close(self) -> Sequence[T]:
        """Lend no more; gives what nobody has at the moment."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
            waiting, self._waiting = self._waiting, deque()
        for waiter in waiting:
            loop = waiter.get_loop()
            if not loop.is_closed():
                loop.call_soon_threadsafe(_refuse, waiter)
        return idle

    def _deliver(self, waiter: asyncio.Future[T], thing: T) -> None:
        if waiter.done():
            self.give(thing)
        else:
            waiter.set_result(thing)


def _refuse(waiter: asyncio.Future[T]) -> None:
    if not waiter.done():
        waiter.set_exception(StoreError("The store was closed while this was waiting for it."))

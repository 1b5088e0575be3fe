"""Transactions as blocks whose calls are awaited: for code that does not hand a function to the store yet.

Gone as soon as nobody calls `store.read()` or `store.write()` without a function.
"""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import CancelledError
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Concatenate, ParamSpec, TypeVar, overload

from ireneo.adapters.pool import ReentryGuard
from ireneo.ports.store import Transaction

P = ParamSpec("P")
T = TypeVar("T")

_Call = tuple[Callable[[], object], "asyncio.Future[object]"]


class _Calls:
    """What is asked of a transaction from outside of its thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[_Call | bool] = queue.SimpleQueue()
        self.begun: asyncio.Future[Transaction] = self._loop.create_future()

    def serve(self, tx: Transaction) -> None:
        """Do in the transaction's thread what is asked, until it is to end."""
        self._loop.call_soon_threadsafe(self._settle, self.begun, tx, None)
        while not isinstance(call := self._waiting.get(), bool):
            work, future = call
            with suppress(Exception):
                self._do(work, future)
        if not call:
            raise CancelledError

    def end(self, *, commit: bool) -> None:
        """Commit, or roll back."""
        self._waiting.put(commit)

    async def ask(self, work: Callable[[], object]) -> object:
        """Have `work` done in the transaction's thread."""
        future: asyncio.Future[object] = self._loop.create_future()
        self._waiting.put((work, future))
        return await future

    def _do(self, work: Callable[[], object], future: asyncio.Future[object]) -> None:
        try:
            self._tell(future, work(), None)
        except BaseException as fault:
            self._tell(future, None, fault)
            raise

    def _tell(self, future: asyncio.Future[object], result: object, fault: BaseException | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._settle, future, result, fault)

    @staticmethod
    def _settle(future: asyncio.Future[Any], result: object, fault: BaseException | None) -> None:
        if future.done():
            return
        if fault is not None:
            future.set_exception(fault)
        else:
            future.set_result(result)


class _Awaited:
    """A transaction, or one of its ports, whose calls are awaited."""

    def __init__(self, inner: object, calls: _Calls, over: list[bool]) -> None:
        self._inner = inner
        self._calls = calls
        self._over = over

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (as the transaction has it)
        found = getattr(self._inner, name)
        if not callable(found):
            return _Awaited(found, self._calls, self._over)

        async def call(*args: object, **kwargs: object) -> object:
            if self._over:
                # It raises what a transaction raises that is over.
                return found(*args, **kwargs)
            return await self._calls.ask(lambda: found(*args, **kwargs))

        return call


@asynccontextmanager
async def block(guard: ReentryGuard, run: Callable[..., Coroutine[Any, Any, None]]) -> AsyncIterator[Any]:
    """A transaction for the length of a block."""
    with guard.entered():
        calls, over = _Calls(), list[bool]()
        running = asyncio.create_task(run(calls.serve))
        either: list[asyncio.Future[Any]] = [running, calls.begun]
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not calls.begun.done():
                running.result()
            yield _Awaited(calls.begun.result(), calls, over)
        except BaseException:
            over.append(True)
            calls.end(commit=False)
            running.add_done_callback(lambda done: done.cancelled() or done.exception())
            running.cancel()
            raise
        over.append(True)
        calls.end(commit=True)
        await running


class TransitionalStore:
    """A store whose transactions are functions, and blocks as well."""

    def __init__(self) -> None:
        self._guard = ReentryGuard()

    @overload
    def read(self) -> AbstractAsyncContextManager[Any]: ...
    @overload
    def read(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, T]: ...
    def read(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[misc]
        """A snapshot: all that is read inside belongs together."""
        return self._read(*args, **kwargs) if args else block(self._guard, self._read)

    @overload
    def write(self) -> AbstractAsyncContextManager[Any]: ...
    @overload
    def write(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, T]: ...
    def write(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[misc]
        """One transaction, alone among writers, and durable once it has returned."""
        return self._write(*args, **kwargs) if args else block(self._guard, self._write)

    async def _read(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        raise NotImplementedError

    async def _write(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        raise NotImplementedError

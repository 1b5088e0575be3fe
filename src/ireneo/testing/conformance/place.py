"""A store as most checks see it: by plain calls, each a transaction of its own, or all of them in one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast

from ireneo.ports.store import Store, Transaction

P = ParamSpec("P")
R = TypeVar("R")
Plain = Callable[["Place"], None]
"""The steps of a check that needs no other task."""

WRITES = frozenset(
    "insert move create set_project put add take take_first renew fail release forget drop write remove mark rebuild "
    "drop_branch discard prune repair keep".split()
)
"""The methods of ports that write; of the one that erases all do but one."""


class Place(Transaction, Protocol):
    """The ports of a store, and functions over them that belong together."""

    def read(self, fn: Callable[Concatenate[Transaction, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call `fn` in one transaction that reads."""

    def write(self, fn: Callable[Concatenate[Transaction, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call `fn` in one transaction that writes."""


async def call_by_call(store: Store, steps: Plain) -> None:
    """Take the steps in a thread beside the store's loop, each call of a port in a transaction of its own."""
    await asyncio.to_thread(steps, cast(Place, _Apart(store, asyncio.get_running_loop())))


async def in_one(store: Store, steps: Plain) -> None:
    """Take the steps in a single transaction."""
    await store.write(lambda tx: steps(cast(Place, _Together(tx))))


class _Apart:
    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop

    def read(self, fn: Callable[Concatenate[Transaction, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return asyncio.run_coroutine_threadsafe(self._store.read(fn, *args, **kwargs), self._loop).result()

    def write(self, fn: Callable[Concatenate[Transaction, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return asyncio.run_coroutine_threadsafe(self._store.write(fn, *args, **kwargs), self._loop).result()

    def __getattr__(self, port: str) -> _Port:
        return _Port(self, port)


class _Port:
    def __init__(self, place: _Apart, port: str) -> None:
        self._place = place
        self._port = port

    def __getattr__(self, method: str) -> Callable[..., object]:
        writes = method in WRITES if self._port != "erasure" else method != "count"
        transaction = self._place.write if writes else self._place.read

        def call(*args: object, **kwargs: object) -> object:
            return transaction(lambda tx: getattr(getattr(tx, self._port), method)(*args, **kwargs))

        return call


class _Together:
    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def read(self, fn: Callable[Concatenate[Transaction, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return fn(self._tx, *args, **kwargs)

    write = read

    def __getattr__(self, port: str) -> object:
        return getattr(self._tx, port)

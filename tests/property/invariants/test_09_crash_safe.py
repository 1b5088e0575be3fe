"""Stopped at any call, nothing is half written, and the next run goes on. (Processes that are killed: tests/e2e.)"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ireneo import ROOT, Memory
from ireneo.ports.store import Store, Transaction

from .houses import House, calm, every_store, live_in
from .journeys import Look, looks
from .material import Teller, scripts
from .promises import TOKENS, bounded, exactly_once


class StoppedError(Exception):
    """The process ends here."""


class Fuse:
    """Burns down call by call, and stops everything when it is through."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def burn(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise StoppedError


class Port:
    """A port of which each call burns the fuse first."""

    def __init__(self, port: object, fuse: Fuse) -> None:
        self._port, self._fuse = port, fuse

    def __getattr__(self, name: str) -> object:
        self._fuse.burn()
        return getattr(self._port, name)


class Fused:
    """A transaction with a fuse."""

    def __init__(self, tx: Transaction, fuse: Fuse) -> None:
        self.log, self.sessions = Port(tx.log, fuse), Port(tx.sessions, fuse)
        self.summaries, self.rebuilds = Port(tx.summaries, fuse), Port(tx.rebuilds, fuse)


class FusedStore:
    """A store with a fuse."""

    def __init__(self, store: Store, fuse: Fuse) -> None:
        self._store, self._fuse = store, fuse

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Fused]:
        self._fuse.burn()
        async with self._store.read() as tx:
            yield Fused(tx, self._fuse)

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Fused]:
        self._fuse.burn()
        async with self._store.write() as tx:
            yield Fused(tx, self._fuse)
            self._fuse.burn()

    async def close(self) -> None:
        """The store under it is closed by its house."""


@every_store
@calm(25)
@given(steps=scripts(max_size=3), more=scripts(max_size=3), look=looks, calls=st.integers(0, 30))
def test_an_append_that_is_stopped_leaves_all_or_nothing(
    store: str, steps: list[str], more: list[str], look: Look, calls: int
) -> None:
    async def work(house: House) -> None:
        teller = Teller()
        told, later = teller.tell(steps), teller.tell(more)
        await (await (await house.memory()).session("run")).append(told)
        fused = Memory(FusedStore(await house.store(), Fuse(calls)), TOKENS, "mine")  # type: ignore[arg-type]
        stopped = False
        try:
            session = await fused.session("run")
            await session.append(later)
            await look.at(session)
        except StoppedError:
            stopped = True
        session = await (await house.memory()).session("run")
        path = await session.messages()
        assert len(path) in ((len(told), len(told) + len(later)) if stopped else (len(told) + len(later),))
        # The next run offers all that it has, and goes on as if nothing had been.
        await session.append([*told, *later], after=ROOT)
        path = await session.messages()
        assert [message.parts for message in path] == [draft.parts for draft in (*told, *later)]
        context = await look.at(session)
        exactly_once(context, path)
        bounded(context, look.budget)

    live_in(store, work)


@every_store
def test_the_fuse_does_stop_an_append(store: str) -> None:
    async def work(house: House) -> None:
        fused = Memory(FusedStore(await house.store(), Fuse(3)), TOKENS, "mine")  # type: ignore[arg-type]
        with pytest.raises(StoppedError):
            await (await fused.session("run")).append("one")
        assert await (await (await house.memory()).session("run")).messages() == ()

    live_in(store, work)

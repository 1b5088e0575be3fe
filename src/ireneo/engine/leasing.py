"""Hold a lease for long work: take it, renew it by a heartbeat, and release it with the outcome."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import secrets
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from ireneo.errors import StoreError
from ireneo.log.tree import SessionKey
from ireneo.ports.models import Clock
from ireneo.ports.store import Lease, Store, Transaction

LEASE_SECONDS = 180.0
"""The default duration of a lease: longer than a slow model call, which must not outlive it."""
VISIT = "visit"
"""The name of the lease on visiting a whole session."""
VISIT_SECONDS = 15.0
"""The maximum number of seconds for which others avoid a session whose visitor died."""
BEATS = 3
"""Renewals within the duration of a lease."""
FIRST_WAIT_SECONDS = 30.0
LONGEST_WAIT_SECONDS = 6 * 3600.0
"""Work that fails is tried again after 30 seconds, then after twice as long each time, up to a quarter of a day."""


class Worker:
    """Takes leases under a unique name."""

    def __init__(
        self, store: Store, clock: Clock, *, lease_seconds: float = LEASE_SECONDS, leases: bool = True
    ) -> None:
        """Give the worker a unique name; without `leases` it works as if it were alone."""
        self.name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"
        self._store = store
        self._clock = clock
        self._seconds = lease_seconds
        self._leases = leases
        self._over: set[tuple[SessionKey, int]] = set()
        """Leases that were released while their ``async with`` body ran, by session and token."""

    @asynccontextmanager
    async def leased(self, key: SessionKey, work: str, most_seconds: float = math.inf) -> AsyncIterator[Lease | None]:
        """Hold the lease on `work` while the ``async with`` body runs.

        Yields None if another worker holds it, or if it must not be tried again yet. The body releases the lease
        itself: by `done`, in the transaction that stores the result, or by `failed`; an exception releases it at once.
        The lease of a worker that died expires after `lease_seconds`, or after `most_seconds` if that is less: use it
        for work without a model, which others can soon take over.
        """
        seconds = min(self._seconds, most_seconds)

        def take(tx: Transaction) -> Lease | None:
            # Read inside the transaction: a short lease could expire while the transaction waits for the store.
            now = self._clock.now()
            return tx.leases.take(key, work, self.name, now, now + timedelta(seconds=seconds))

        if not self._leases:
            yield Lease(key=key, work=work, holder=self.name, token=0, until=self._clock.now())
            return
        async with self._hold(await self._store.write(take), seconds) as lease:
            yield lease

    @asynccontextmanager
    async def visiting(self, space: str, sessions: Sequence[str]) -> AsyncIterator[str | None]:
        """Reserve the first free session of `sessions` while the ``async with`` body runs; None if all are taken.

        This only spreads the workers over the sessions; each piece of work there has its own lease.
        """
        seconds = min(self._seconds, VISIT_SECONDS)

        def take(tx: Transaction) -> Lease | None:
            now = self._clock.now()
            return tx.leases.take_first(space, sessions, VISIT, self.name, now, now + timedelta(seconds=seconds))

        if not self._leases:
            yield sessions[0]
            return
        async with self._hold(await self._store.write(take), seconds) as lease:
            yield lease.key.session if lease else None

    @asynccontextmanager
    async def _hold(self, lease: Lease | None, seconds: float) -> AsyncIterator[Lease | None]:
        """Renew a lease while the block runs, and release it unless the block did."""
        if lease is None:
            yield None
            return
        beating = asyncio.create_task(self._renew_until_cancelled(lease, seconds))
        broken_off = True
        try:
            yield lease
            broken_off = False
        finally:
            if broken_off:
                # A release within the block was undone with its transaction.
                self._over.discard((lease.key, lease.token))
            beating.cancel()
            try:
                # It is not awaited itself: a cancellation in the meantime would look like the end of the heartbeat.
                await asyncio.wait([beating])
            finally:
                await self._release(lease)

    async def _release(self, lease: Lease) -> None:
        """Release what the block still holds, so that an error or a cancellation blocks nobody."""
        if (lease.key, lease.token) in self._over:
            self._over.remove((lease.key, lease.token))
            return
        await self._store.write(lambda tx: tx.leases.release(lease))

    def renew(self, tx: Transaction, lease: Lease) -> bool:
        """Renew a lease before something costly is done under it; False if it was overtaken."""
        return not self._leases or tx.leases.renew(lease, self._expiry(self._seconds))

    def done(self, tx: Transaction, lease: Lease) -> None:
        """Release a lease in the transaction that stores the result, overtaken or not."""
        if self._leases:
            tx.leases.release(lease)
            self._over.add((lease.key, lease.token))

    async def failed(self, lease: Lease, error: str, *, wait_seconds: float | None = None) -> None:
        """Release the lease of work that failed, and schedule the retry."""
        wait = min(FIRST_WAIT_SECONDS * 2**lease.failures, LONGEST_WAIT_SECONDS)
        wait = wait if wait_seconds is None else wait_seconds
        if not self._leases:
            return
        retry_at = self._clock.now() + timedelta(seconds=wait)
        await self._store.write(lambda tx: tx.leases.fail(lease, error, retry_at))
        self._over.add((lease.key, lease.token))

    async def _renew_until_cancelled(self, lease: Lease, seconds: float) -> None:
        """Renew the lease until cancelled or overtaken; a busy store is asked again at the next beat."""
        while True:
            await asyncio.sleep(seconds / BEATS)
            with contextlib.suppress(StoreError):
                if not await self._store.write(lambda tx: tx.leases.renew(lease, self._expiry(seconds))):
                    return

    def _expiry(self, seconds: float) -> datetime:
        return self._clock.now() + timedelta(seconds=seconds)

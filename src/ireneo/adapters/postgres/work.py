"""Work that is shared by many machines: who has which session, and how those who wait hear that there is more to do."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from datetime import datetime
from typing import cast

import psycopg

from ireneo.adapters.postgres.connection import SQL, PostgresDatabase, heedful
from ireneo.adapters.sql.database import microseconds, time_of, utc, write_json, writes
from ireneo.adapters.sql.leases import FAR, FAR_LEASE, SqlLeases, check_holder
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Lease


class PostgresLeases(SqlLeases):
    """The leases in a PostgreSQL database: who looks for one that is free waits for nobody."""

    @writes
    def take_first(
        self, space: str, sessions: Sequence[str], work: str, holder: str, now: datetime, until: datetime
    ) -> Lease | None:
        """See `ireneo.ports.store.LeasesPort`."""
        check_holder(holder)
        # One statement, which passes over what others have: so it needs no space to itself.
        database = cast("PostgresDatabase", self._database).of(space, alone=False)
        at, end = microseconds(utc(now)), microseconds(utc(until))
        row = database.row(
            "take_first_lease",
            sessions=write_json(sessions),
            work=work,
            holder=holder,
            now=at,
            tomorrow=microseconds(utc(now) + FAR),
            until=end,
            far=max(2 * end - at, microseconds(utc(until) + FAR_LEASE)),
        )
        if row is None:
            return None
        session, token, failures, error = row
        return Lease(
            key=SessionKey(space, session),
            work=work,
            holder=holder,
            token=token,
            until=time_of(end),
            failures=failures,
            error=error,
        )


SPREAD_SECONDS = 0.05
"""Those who are woken together look after a pause of up to so long: what belongs together has come by then, and they
don't all begin at once."""


class WorkBell:
    """Hears of what is committed in a space, on a connection of its own."""

    def __init__(self, url: str, space: str) -> None:
        """Hear nothing yet."""
        self._url = url
        self._space = space
        self._driver: psycopg.AsyncConnection[tuple[object, ...]] | None = None

    async def wait(self, seconds: float, told_seconds: float) -> None:
        """Wait until something is heard, and at most `told_seconds`; where nothing can be heard, `seconds`."""
        try:
            if self._driver is None:
                # What was committed before now is not told of: it is looked for at once.
                await self._open()
                return
            async for _ in self._driver.notifies(timeout=told_seconds, stop_after=1):
                await asyncio.sleep(random.uniform(0, SPREAD_SECONDS))
            async for _ in self._driver.notifies(timeout=0):
                pass
        except (psycopg.Error, OSError):
            # A server that is away, or a pooler that lets nobody listen.
            await self.close()
            await asyncio.sleep(seconds)

    async def _open(self) -> None:
        self._driver = await psycopg.AsyncConnection.connect(
            heedful(self._url), autocommit=True, application_name="ireneo work"
        )
        cursor = await self._driver.execute(SQL["channel_of_work"], {"space": self._space})
        row = await cursor.fetchone()
        await self._driver.execute(f"LISTEN {row[0] if row else ''}".encode())

    async def close(self) -> None:
        """Hear no more."""
        driver, self._driver = self._driver, None
        if driver is not None:
            await driver.close()

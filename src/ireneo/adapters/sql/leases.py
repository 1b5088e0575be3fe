"""Leases, and spending on models, in a database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from msgspec.structs import replace

from ireneo.adapters.sql.database import Port, Row, microseconds, reads, time_of, utc, writes
from ireneo.adapters.sql.log import find_session, need_session
from ireneo.errors import BadInput
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Lease, LeasesPort, SpendingPort, Spent

NOBODY = ""
"""The holder of a row that only keeps failures."""

FAR = timedelta(days=1)
"""A retry this far ahead is ignored: it was set before the clock was set back."""

FAR_LEASE = timedelta(minutes=10)
"""How much longer than the requested lease another one may last, before the clock is assumed to have been set back."""


class SqlLeases(Port, LeasesPort):
    """`ireneo.ports.store.LeasesPort` in a database."""

    @writes
    def take(self, key: SessionKey, work: str, holder: str, now: datetime, until: datetime) -> Lease | None:
        return self._take(need_session(self._db(key.space), key), key, work, holder, now, until)

    @writes
    def take_first(
        self, space: str, sessions: Sequence[str], work: str, holder: str, now: datetime, until: datetime
    ) -> Lease | None:
        for key in (SessionKey(space, session) for session in sessions):
            found = find_session(self._db(space), key)
            lease = None if found is None else self._take(found, key, work, holder, now, until)
            if lease is not None:
                return lease
        return None

    def _take(
        self, session: int, key: SessionKey, work: str, holder: str, now: datetime, until: datetime
    ) -> Lease | None:
        check_holder(holder)
        found = self._find(session, key, work)
        if found is not None and not _may_take(found, holder, utc(now), utc(until)):
            return None
        lease = Lease(
            key=key,
            work=work,
            holder=holder,
            token=self._db(key.space).number("next_token", key=session),
            until=utc(until),
            failures=found.failures if found else 0,
            error=found.error if found else "",
        )
        self._put(session, lease)
        return lease

    @writes
    def renew(self, lease: Lease, until: datetime) -> bool:
        session, found = self._find_held(lease)
        if found is not None:
            self._put(session, replace(found, until=utc(until)))
        return found is not None

    @writes
    def release(self, lease: Lease) -> bool:
        session, found = self._find_held(lease)
        return found is not None and self._db(lease.key.space).change("delete_lease", key=session, work=lease.work) > 0

    @writes
    def fail(self, lease: Lease, error: str, retry_at: datetime) -> bool:
        session, found = self._find_held(lease)
        if found is not None:
            failures = found.failures + 1
            self._put(session, replace(found, holder=NOBODY, failures=failures, error=error, retry_at=utc(retry_at)))
        return found is not None

    @reads
    def of_session(self, key: SessionKey) -> Sequence[Lease]:
        rows = self._db(key.space).rows("list_leases", key=find_session(self._db(key.space), key))
        return [_lease(key, row) for row in rows]

    @writes
    def forget(self, key: SessionKey, work: str) -> bool:
        return self._db(key.space).change("delete_lease", key=need_session(self._db(key.space), key), work=work) > 0

    def _find_held(self, lease: Lease) -> tuple[int, Lease | None]:
        """The session's key, and the stored lease unless it was taken over or released."""
        session = need_session(self._db(lease.key.space), lease.key)
        found = self._find(session, lease.key, lease.work)
        held = found is not None and (found.token, found.holder) == (lease.token, lease.holder)
        return session, found if held and lease.holder != NOBODY else None

    def _find(self, session: int, key: SessionKey, work: str) -> Lease | None:
        row = self._db(key.space).row("read_lease", key=session, work=work)
        return None if row is None else _lease(key, row)

    def _put(self, session: int, lease: Lease) -> None:
        self._db(lease.key.space).send(
            "put_lease",
            key=session,
            work=lease.work,
            holder=lease.holder,
            token=lease.token,
            until=microseconds(lease.until),
            failures=lease.failures,
            error=lease.error,
            retry_at=None if lease.retry_at is None else microseconds(lease.retry_at),
        )


def check_holder(holder: str) -> None:
    """Raise BadInput for an empty name."""
    if holder == NOBODY:
        raise BadInput("A lease needs a holder; give it a name that no other process has.")


def _may_take(found: Lease, holder: str, now: datetime, until: datetime) -> bool:
    """Whether `holder` may take the stored lease `found`: its own, a free one, or one that has run out.

    PostgreSQL's `take_first_lease` (`adapters/postgres/queries/ports.sql`) has the same rule in SQL.
    """
    if found.retry_at is not None and now < found.retry_at < now + FAR:
        return False
    if found.holder in (NOBODY, holder) or found.until <= now:
        return True
    return found.until - until > max(until - now, FAR_LEASE)


def _lease(key: SessionKey, row: Row) -> Lease:
    work, holder, token, until, failures, error, retry_at = row
    return Lease(
        key=key,
        work=work,
        holder=holder,
        token=token,
        until=time_of(until),
        failures=failures,
        error=error,
        retry_at=None if retry_at is None else time_of(retry_at),
    )


class SqlSpending(Port, SpendingPort):
    """`ireneo.ports.store.SpendingPort` in a database."""

    @writes
    def add(self, key: SessionKey, day: date, spent: Spent) -> None:
        row = {"space": key.space, "session": key.session, "day": day.isoformat()}
        self._db(key.space).send("add_spent", **row, calls=spent.calls, tokens=spent.tokens)

    @reads
    def of_session(self, key: SessionKey) -> Spent:
        ((calls, tokens),) = self._db(key.space).rows("spent_of_session", space=key.space, session=key.session)
        return Spent(calls=calls, tokens=tokens)

    @reads
    def of_day(self, space: str, day: date) -> Spent:
        ((calls, tokens),) = self._db(space).rows("spent_of_day", space=space, day=day.isoformat())
        return Spent(calls=calls, tokens=tokens)

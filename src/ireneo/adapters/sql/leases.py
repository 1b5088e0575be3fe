"""Who is at which work, and what was spent on models, in a database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from ireneo.adapters.rules import check_holder, failed, is_held, may_take, renewed, taken
from ireneo.adapters.sql.database import Port, Row, reads, writes
from ireneo.adapters.sql.log import find_session, need_session
from ireneo.adapters.sql.rows import microseconds, time_of
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Lease, LeasesPort, SpendingPort, Spent


class SqlLeases(Port, LeasesPort):
    """`ireneo.ports.store.LeasesPort` in a database."""

    @writes
    def take(self, key: SessionKey, work: str, holder: str, now: datetime, until: datetime) -> Lease | None:
        session = need_session(self._database, key)
        check_holder(holder)
        found = self._find(session, key, work)
        if not may_take(found, holder, now, until):
            return None
        lease = taken(found, key, work, holder, self._database.number("next_token", key=session), until)
        self._put(session, lease)
        return lease

    @writes
    def renew(self, lease: Lease, until: datetime) -> bool:
        session, found = self._held(lease)
        if found is not None:
            self._put(session, renewed(found, until))
        return found is not None

    @writes
    def release(self, lease: Lease) -> bool:
        session, found = self._held(lease)
        return found is not None and self._database.change("delete_lease", key=session, work=lease.work) > 0

    @writes
    def fail(self, lease: Lease, error: str, retry_at: datetime) -> bool:
        session, found = self._held(lease)
        if found is not None:
            self._put(session, failed(found, error, retry_at))
        return found is not None

    @reads
    def of_session(self, key: SessionKey) -> Sequence[Lease]:
        rows = self._database.rows("list_leases", key=find_session(self._database, key))
        return [_lease(key, row) for row in rows]

    @writes
    def forget(self, key: SessionKey, work: str) -> bool:
        return self._database.change("delete_lease", key=need_session(self._database, key), work=work) > 0

    def _held(self, lease: Lease) -> tuple[int, Lease | None]:
        """The session, and what is stored of the lease where it is held still."""
        session = need_session(self._database, lease.key)
        found = self._find(session, lease.key, lease.work)
        return session, found if is_held(found, lease) else None

    def _find(self, session: int, key: SessionKey, work: str) -> Lease | None:
        row = self._database.row("read_lease", key=session, work=work)
        return None if row is None else _lease(key, row)

    def _put(self, session: int, lease: Lease) -> None:
        self._database.change(
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
        self._database.change("add_spent", **row, calls=spent.calls, tokens=spent.tokens)

    @reads
    def of_session(self, key: SessionKey) -> Spent:
        ((calls, tokens),) = self._database.rows("spent_of_session", space=key.space, session=key.session)
        return Spent(calls=calls, tokens=tokens)

    @reads
    def of_day(self, space: str, day: date) -> Spent:
        ((calls, tokens),) = self._database.rows("spent_of_day", space=space, day=day.isoformat())
        return Spent(calls=calls, tokens=tokens)

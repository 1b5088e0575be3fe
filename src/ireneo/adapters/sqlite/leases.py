"""Who is at which work, and what was spent on models, in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import TypeAlias, cast

import apsw

from ireneo.adapters.rules import check_holder, failed, is_held, may_take, renewed, taken
from ireneo.adapters.sqlite.connection import SQL, Port, microseconds, reads, time_of, writes
from ireneo.adapters.sqlite.log import find_session, need_session
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Lease, LeasesPort, SpendingPort, Spent

_Row: TypeAlias = tuple[str, str, int, int, int, str, int | None]


class SqliteLeases(Port, LeasesPort):
    """`ireneo.ports.store.LeasesPort` in SQLite."""

    @writes
    def take(self, key: SessionKey, work: str, holder: str, now: datetime, until: datetime) -> Lease | None:
        session = need_session(self._database, key).key
        check_holder(holder)
        found = _find(self._database, session, key, work)
        if not may_take(found, holder, now, until):
            return None
        ((token,),) = self._rows("next_token", key=session)
        lease = taken(found, key, work, holder, token, until)
        _put(self._database, session, lease)
        return lease

    @writes
    def renew(self, lease: Lease, until: datetime) -> bool:
        session = need_session(self._database, lease.key).key
        found = _held(self._database, session, lease)
        if found is not None:
            _put(self._database, session, renewed(found, until))
        return found is not None

    @writes
    def release(self, lease: Lease) -> bool:
        session = need_session(self._database, lease.key).key
        if _held(self._database, session, lease) is None:
            return False
        self._rows("delete_lease", key=session, work=lease.work)
        return True

    @writes
    def fail(self, lease: Lease, error: str, retry_at: datetime) -> bool:
        session = need_session(self._database, lease.key).key
        found = _held(self._database, session, lease)
        if found is not None:
            _put(self._database, session, failed(found, error, retry_at))
        return found is not None

    @reads
    def of_session(self, key: SessionKey) -> Sequence[Lease]:
        session = find_session(self._database, key)
        if session is None:
            return []
        return [_lease(key, cast(_Row, row)) for row in self._rows("list_leases", key=session.key)]

    @writes
    def forget(self, key: SessionKey, work: str) -> bool:
        self._rows("delete_lease", key=need_session(self._database, key).key, work=work)
        return self._database.changes() > 0


def _held(database: apsw.Connection, session: int, lease: Lease) -> Lease | None:
    found = _find(database, session, lease.key, lease.work)
    return found if is_held(found, lease) else None


def _find(database: apsw.Connection, session: int, key: SessionKey, work: str) -> Lease | None:
    row = database.execute(SQL["read_lease"], {"key": session, "work": work}).fetchone()
    return None if row is None else _lease(key, cast(_Row, row))


def _put(database: apsw.Connection, session: int, lease: Lease) -> None:
    database.execute(
        SQL["put_lease"],
        {
            "key": session,
            "work": lease.work,
            "holder": lease.holder,
            "token": lease.token,
            "until": microseconds(lease.until),
            "failures": lease.failures,
            "error": lease.error,
            "retry_at": None if lease.retry_at is None else microseconds(lease.retry_at),
        },
    )


def _lease(key: SessionKey, row: _Row) -> Lease:
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


class SqliteSpending(Port, SpendingPort):
    """`ireneo.ports.store.SpendingPort` in SQLite."""

    @writes
    def add(self, key: SessionKey, day: date, spent: Spent) -> None:
        self._rows(
            "add_spent",
            space=key.space,
            session=key.session,
            day=day.isoformat(),
            calls=spent.calls,
            tokens=spent.tokens,
        )

    @reads
    def of_session(self, key: SessionKey) -> Spent:
        ((calls, tokens),) = self._rows("spent_of_session", space=key.space, session=key.session)
        return Spent(calls=calls, tokens=tokens)

    @reads
    def of_day(self, space: str, day: date) -> Spent:
        ((calls, tokens),) = self._rows("spent_of_day", space=space, day=day.isoformat())
        return Spent(calls=calls, tokens=tokens)

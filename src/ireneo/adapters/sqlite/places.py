"""Where a message stands in its session's tree, and which stretches a path to it is made of."""

from __future__ import annotations

from datetime import datetime

import apsw
from msgspec import Struct

from ireneo.adapters.chain import not_stored
from ireneo.adapters.sqlite.queries import SQL
from ireneo.adapters.sqlite.rows import read_time
from ireneo.errors import SessionNotFound
from ireneo.log.message import MessageId
from ireneo.log.tree import PathRange, SessionKey


class SessionRow(Struct, frozen=True, kw_only=True):
    """A session's number, by which every other table knows it, and the times between which it lies."""

    key: int
    span: tuple[datetime | None, datetime | None]


class Place(Struct, frozen=True, kw_only=True):
    """Where a message stands: its segment, its position, and whether the segment goes on after it."""

    segment: int
    position: int
    goes_on: bool


def find_session(database: apsw.Connection, key: SessionKey) -> SessionRow | None:
    """Read a session; None when it was never made."""
    row = database.execute(SQL["find_session"], {"space": key.space, "session": key.session}).fetchone()
    return None if row is None else SessionRow(key=row[0], span=(read_time(row[1]), read_time(row[2])))


def need_session(database: apsw.Connection, key: SessionKey) -> SessionRow:
    """Read a session. Raises SessionNotFound."""
    session = find_session(database, key)
    if session is None:
        raise SessionNotFound(f"There is no session {key.session!r} in this space.")
    return session


def find_place(database: apsw.Connection, session: int, name: MessageId) -> Place | None:
    """Say where a message stands; None when it is not stored."""
    row = database.execute(SQL["locate"], {"key": session, "id": name}).fetchone()
    return None if row is None else Place(segment=row[0], position=row[1], goes_on=bool(row[2]))


def need_place(database: apsw.Connection, session: int, key: SessionKey, name: MessageId) -> Place:
    """Say where a message stands. Raises MessageNotFound."""
    place = find_place(database, session, name)
    if place is None:
        raise not_stored(key, name)
    return place


def list_stretches(database: apsw.Connection, session: int, place: Place, first: int = 0) -> list[PathRange]:
    """The stretches of the path to `place`, the last one first, down to the one that holds position `first`."""
    rows = database.execute(
        SQL["list_stretches"], {"key": session, "segment": place.segment, "position": place.position, "first": first}
    )
    return [PathRange(segment=row[0], first=row[1], last=row[2]) for row in rows]


def find_path(
    database: apsw.Connection, key: SessionKey, to: MessageId, first: int = 0
) -> tuple[SessionRow, list[PathRange]]:
    """The session and the stretches of the path that ends in `to`. Raises MessageNotFound."""
    session = find_session(database, key)
    if session is None:
        raise not_stored(key, to)
    return session, list_stretches(database, session.key, need_place(database, session.key, key, to), first)

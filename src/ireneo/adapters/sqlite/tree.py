"""The tree of a session in segments: where a message stands, what a path is made of, and what lies on no branch.

What lies on no branch is kept as runs of document numbers. A rewind moves a pointer, and what it leaves behind stays in
the index of words. So that no recall has to walk the trees to pass it over, the runs are settled with whatever moves a
branch: what is stored lies on none at first, a branch that goes on takes in what is before it, and after anything else
the session is looked through anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import cast

import apsw
from msgspec import Struct

from ireneo.adapters.rules import not_stored
from ireneo.adapters.sqlite.rows import END, SQL, Bindings, read_time
from ireneo.errors import SessionNotFound
from ireneo.log.message import MessageId
from ireneo.log.tree import PathRange, SessionKey
from ireneo.memories.index import CLASS_BITS, ORDINAL_BITS, place_of


class SessionRow(Struct, frozen=True, kw_only=True):
    """A session's number, by which every other table knows it, and the times between which it lies."""

    key: int
    span: tuple[datetime | None, datetime | None]


class StoredPlace(Struct, frozen=True, kw_only=True):
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


def find_place(database: apsw.Connection, session: int, name: MessageId) -> StoredPlace | None:
    """Say where a message stands; None when it is not stored."""
    row = database.execute(SQL["locate"], {"key": session, "id": name}).fetchone()
    return None if row is None else StoredPlace(segment=row[0], position=row[1], goes_on=bool(row[2]))


def need_place(database: apsw.Connection, session: int, key: SessionKey, name: MessageId) -> StoredPlace:
    """Say where a message stands. Raises MessageNotFound."""
    place = find_place(database, session, name)
    if place is None:
        raise not_stored(key, name)
    return place


def list_stretches(database: apsw.Connection, session: int, place: StoredPlace, first: int = 0) -> list[PathRange]:
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


_SHIFT = CLASS_BITS + ORDINAL_BITS


class BranchPlace(Struct, frozen=True, kw_only=True):
    """Where a branch stands."""

    segment: int
    position: int


def runs_of(documents: Iterable[int]) -> list[tuple[int, int]]:
    """Document numbers as runs of neighbours: the first and the last of each."""
    runs: list[tuple[int, int]] = []
    for number in sorted(documents):
        if runs and place_of(runs[-1][1]) + 1 >= place_of(number):
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def add_undone(database: apsw.Connection, space: str, documents: Iterable[int]) -> None:
    """Note documents of messages that were just stored, and lie on no branch yet."""
    rows = ({"space": space, "first": first, "last": last} for first, last in runs_of(documents))
    database.executemany(SQL["add_undone"], rows)


def find_standing(database: apsw.Connection, session: int, branch: str) -> BranchPlace | None:
    """Where a branch stands; None before the first message, and where there is none."""
    row = database.execute(SQL["find_branch"], {"key": session, "branch": branch}).fetchone()
    return None if row is None or row[0] is None else BranchPlace(segment=row[0], position=row[1])


def settle_moved(
    database: apsw.Connection, space: str, session: int, before: BranchPlace | None, now: BranchPlace | None
) -> None:
    """Settle what lies on no branch, after a branch was moved."""
    if before == now and before is not None:
        return
    taken_in = _taken_in(database, session, before, now) if before and now else None
    if taken_in is None or not _take_in(database, space, taken_in):
        settle_undone(database, space, session)


def settle_undone(database: apsw.Connection, space: str, session: int) -> None:
    """Look through a session anew for what lies on no branch."""
    forget_undone(database, space, session)
    loose: list[int] = []
    rows = cast(list[tuple[int, int | None]], database.execute(SQL["list_segments"], {"key": session}).fetchall())
    for segment, last in rows:
        loose += _documents(database, session, segment, 0 if last is None else last + 1, END)
    add_undone(database, space, loose)


def forget_undone(database: apsw.Connection, space: str, session: int) -> None:
    """Note that all of a session lies on branches."""
    every: Bindings = {"space": space, "first": session << _SHIFT, "last": (session + 1 << _SHIFT) - 1}
    database.execute(SQL["forget_undone"], every)


def list_aside(database: apsw.Connection, session: int, to: StoredPlace) -> list[tuple[int, int]]:
    """The documents of a session that don't lie on the path to a place."""
    last = {each.segment: each.last for each in list_stretches(database, session, to)}
    aside: list[int] = []
    rows = cast(list[tuple[int]], database.execute(SQL["segments_of_session"], {"key": session}).fetchall())
    for (segment,) in rows:
        aside += _documents(database, session, segment, last.get(segment, -1) + 1, END)
    return runs_of(aside)


class Branches:
    """The branches of one session, by which it is told whether messages lie on them."""

    def __init__(self, database: apsw.Connection, session: int, branch: str | None) -> None:
        """Read where they stand, or where one of them does."""
        self._database = database
        self._session = session
        self._last: dict[int, int] = {}
        self._all = branch is None and _is_straight(database, session)
        """Whether whatever is stored lies on one."""
        if self._all:
            return
        rows = database.execute(SQL["ends_of_branches"], {"key": session}).fetchall()
        ends = cast(list[tuple[str, int, int]], rows)
        for name, segment, position in ends:
            if branch is None or name == branch:
                place = StoredPlace(segment=segment, position=position, goes_on=False)
                for each in list_stretches(database, session, place):
                    self._last[each.segment] = max(self._last.get(each.segment, -1), each.last)

    def hold(self, names: Sequence[MessageId]) -> bool:
        """Whether all of these messages lie on them."""
        if self._all:
            return all(map(self._is_stored, names))
        for name in names:
            place = find_place(self._database, self._session, name)
            if place is None or place.position > self._last.get(place.segment, -1):
                return False
        return True

    def _is_stored(self, name: MessageId) -> bool:
        asked: Bindings = {"key": self._session, "id": name}
        return self._database.execute(SQL["has_message"], asked).fetchone() is not None


def _is_straight(database: apsw.Connection, session: int) -> bool:
    """Whether a session is one segment, and a branch stands at its end: most are."""
    ((straight,),) = database.execute(SQL["is_straight"], {"key": session})
    return bool(straight)


def _taken_in(database: apsw.Connection, session: int, before: BranchPlace, now: BranchPlace) -> list[int] | None:
    """The documents that a branch has taken in by going on; None where it went elsewhere."""
    if now.segment == before.segment:
        first = before.position + 1
        if now.position < first:
            return None
    else:
        row = database.execute(SQL["find_segment"], {"key": session, "segment": now.segment}).fetchone()
        if row is None or (row[0], row[1] - 1) != (before.segment, before.position):
            return None
        first = row[1]
    return _documents(database, session, now.segment, first, now.position)


def _take_in(database: apsw.Connection, space: str, documents: Sequence[int]) -> bool:
    """Note that documents lie on a branch; False where they lie amid others, and it can't be told of them alone."""
    runs = runs_of(documents)
    if len(runs) > 1:
        return False
    for first, last in runs:
        run: Bindings = {"space": space, "first": first, "last": last}
        database.execute(SQL["forget_undone"], run)
        left = database.execute(SQL["last_undone"], {"space": space, "last": last}).fetchone()
        if left is not None and left[1] >= first:
            return False
    return True


def _documents(database: apsw.Connection, session: int, segment: int, first: int, last: int) -> list[int]:
    run: Bindings = {"key": session, "segment": segment, "first": first, "last": last}
    return [int(document) for document, _ in database.execute(SQL["list_documents"], run)]

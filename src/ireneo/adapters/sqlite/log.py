"""The messages of a session's tree, its sessions and its branches, in SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias, cast

import apsw
import msgspec
from msgspec import Struct

from ireneo.adapters.rules import check_chain, check_place, not_stored, pack, widen
from ireneo.adapters.sqlite.connection import (
    END,
    SQL,
    Bindings,
    Port,
    from_row,
    message_row,
    read_head,
    read_parts,
    read_time,
    reads,
    to_row,
    with_checksum,
    write_time,
    writes,
)
from ireneo.adapters.sqlite.index import Placed, index_messages
from ireneo.errors import SessionNotFound
from ireneo.log.message import Draft, Message, MessageId, voices_in
from ireneo.log.tree import Head, PathRange, SessionKey
from ireneo.memories.index import CLASS_BITS, ORDINAL_BITS, place_of
from ireneo.ports.store import LogPort, SessionInfo, SessionsPort

# The tree of a session in segments: where a message stands, what a path is made of, and what lies on no branch.
#
# What lies on no branch is kept as runs of document numbers. A rewind moves a pointer, and what it leaves behind
# stays in the index of words. So that no recall has to walk the trees to pass it over, the runs are settled with
# whatever moves a branch: what is stored lies on none at first, a branch that goes on takes in what is before it, and
# after anything else the session is looked through anew.


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


FOUND_AT_MOST = 100


class SqliteLog(Port, LogPort):
    """`ireneo.ports.store.LogPort` in SQLite."""

    @reads
    def head(self, key: SessionKey, branch: str = "main") -> Head | None:
        row = self._row("find_head", space=key.space, session=key.session, branch=branch)
        return None if row is None else read_head(*row)

    @writes
    def insert(self, key: SessionKey, messages: Sequence[Message]) -> int:
        """Store those of a chain that are new, and make them searchable; says how many."""
        session = need_session(self._database, key)
        placed = store_messages(self._database, key, session, messages)
        if placed:
            add_undone(self._database, key.space, index_messages(self._database, key.space, session.key, placed))
        return len(placed)

    @writes
    def move(self, key: SessionKey, branch: str, to: MessageId | None) -> None:
        """Make a branch point elsewhere, and settle what lies on no branch then."""
        session = need_session(self._database, key).key
        before = find_standing(self._database, session, branch)
        move_branch(self._database, key, branch, to)
        settle_moved(self._database, key.space, session, before, find_standing(self._database, session, branch))

    @reads
    def path(self, key: SessionKey, to: MessageId, first: int, last: int) -> Sequence[Message]:
        """Read positions `first` to `last` of the path to `to`: one range of rows for each of its stretches."""
        session, stretches = find_path(self._database, key, to, first)
        out: list[Message] = []
        for stretch in reversed(stretches):
            out.extend(
                from_row(message_row(row))
                for row in self._rows(
                    "read_stretch",
                    key=session.key,
                    segment=stretch.segment,
                    first=max(first, stretch.first),
                    last=min(last, stretch.last),
                )
            )
        return out

    @reads
    def find(self, key: SessionKey, ids: Sequence[str]) -> Sequence[Message]:
        session = find_session(self._database, key)
        if session is None:
            return []
        found: dict[MessageId, Message] = {}
        for name in ids:
            for query in ("find_by_id", "find_by_source"):
                for row in self._rows(query, key=session.key, prefix=name, source_id=name, limit=FOUND_AT_MOST):
                    message = from_row(message_row(row))
                    found.setdefault(message.id, message)
            if len(found) >= FOUND_AT_MOST:
                break
        return list(found.values())[:FOUND_AT_MOST]

    @reads
    def drafts(self, key: SessionKey, ids: Sequence[MessageId]) -> Mapping[MessageId, Draft]:
        session = find_session(self._database, key)
        if session is None:
            return {}
        out: dict[MessageId, Draft] = {}
        for name in ids:
            row = self._row("read_payload", key=session.key, id=name)
            if row is not None:
                *light, packed = row
                out[name] = from_row(message_row(light), packed).draft
        return out

    @reads
    def on_branch(
        self, space: str, named: Sequence[tuple[str, Sequence[MessageId]]], branch: str | None = None
    ) -> Sequence[bool]:
        known: dict[str, Branches | None] = {}
        out: list[bool] = []
        for session, names in named:
            if session not in known:
                key = SessionKey(space, session)
                row = find_session(self._database, key)
                known[session] = None if row is None else Branches(self._database, row.key, branch)
            branches = known[session]
            out.append(branches is None or branches.hold(names))
        return out

    @reads
    def speakers(self, space: str, session: str | None = None, name: str | None = None) -> frozenset[str]:
        letters = '"author":' if name is None else msgspec.json.encode(name).decode()
        found: set[str] = set()
        for query_letters in (letters,) if name is not None else (letters, '"present":'):
            for (parts,) in self._rows("parts_with", space=space, session=session, letters=query_letters):
                found.update(voices_in(read_parts(str(parts))))
                if name is not None and name in found:
                    return frozenset((name,))
        return frozenset(found) if name is None else frozenset()


def store_messages(
    database: apsw.Connection, key: SessionKey, session: SessionRow, messages: Sequence[Message]
) -> list[Placed]:
    """Store those of a chain that are new, in one run of one segment; gives them with their place."""
    check_chain(messages)
    new = messages[_count_known(database, session.key, messages) :]
    if not new:
        return []
    segment = _choose_segment(database, session.key, key, new[0])
    database.executemany(SQL["insert_message"], (to_row(session.key, segment, message) for message in new))
    database.executemany(SQL["insert_payload"], _payload_rows(session.key, segment, new))
    _count(database, session, new)
    return [Placed(segment=segment, message=message) for message in new]


def _count_known(database: apsw.Connection, session: int, messages: Sequence[Message]) -> int:
    """How many of a chain are stored.

    A message is stored after its parent and taken away only with all that came after it, so those that are stored are
    the first ones, and their number is found by halving. An append asks once.
    """
    low, high = 0, len(messages)
    probe = 0
    while low < high:
        if find_place(database, session, messages[probe].id) is None:
            high = probe
        else:
            low = probe + 1
        probe = (low + high) // 2
    return low


def _choose_segment(database: apsw.Connection, session: int, key: SessionKey, first: Message) -> int:
    """The segment that `first` goes to: its parent's, if the parent is the last one there, and else a new one."""
    if first.parent is None:
        check_place(first, None)
        parent = None
    else:
        place = need_place(database, session, key, first.parent)
        check_place(first, place.position)
        if not place.goes_on:
            return place.segment
        parent = place.segment
    ((segment,),) = database.execute(SQL["add_segment"], {"key": session, "parent": parent, "first": first.position})
    return int(segment)


def _payload_rows(session: int, segment: int, messages: Sequence[Message]) -> Iterator[Bindings]:
    for message in messages:
        packed = pack(message.draft)
        if packed is not None:
            yield {"key": session, "segment": segment, "position": message.position, "packed": packed}


def _count(database: apsw.Connection, session: SessionRow, new: Sequence[Message]) -> None:
    first_at, last_at = widen(session.span, new)
    database.execute(
        SQL["count_messages"],
        {
            "key": session.key,
            "messages": len(new),
            "tokens": sum(message.tokens for message in new),
            "first_at": write_time(first_at),
            "last_at": write_time(last_at),
        },
    )


def move_branch(database: apsw.Connection, key: SessionKey, branch: str, to: MessageId | None) -> None:
    """Make a branch point to a message, or before the first one."""
    session = need_session(database, key)
    place = None if to is None else need_place(database, session.key, key, to)
    database.execute(
        SQL["move_branch"],
        with_checksum(
            "branches",
            {
                "key": session.key,
                "branch": branch,
                "segment": place.segment if place else None,
                "position": place.position if place else None,
            },
        ),
    )


_Row: TypeAlias = tuple[str, str | None, int, int, str | None, str | None, str | None]


class SqliteSessions(Port, SessionsPort):
    """`ireneo.ports.store.SessionsPort` in SQLite."""

    @writes
    def create(self, key: SessionKey, source: str | None) -> bool:
        return create_session(self._database, key, source)

    @reads
    def list(self, space: str) -> Sequence[SessionInfo]:
        return [_info(space, cast(_Row, row)) for row in self._rows("list_sessions", space=space)]

    @reads
    def get(self, key: SessionKey) -> SessionInfo | None:
        row = self._row("get_session", space=key.space, session=key.session)
        return None if row is None else _info(key.space, cast(_Row, row))

    @reads
    def branches(self, key: SessionKey) -> Mapping[str, Head | None]:
        session = need_session(self._database, key)
        return {
            branch: None if name is None else read_head(name, position, turn, total)
            for branch, name, position, turn, total in self._rows("list_branches", key=session.key)
        }

    @writes
    def set_project(self, key: SessionKey, project: str) -> None:
        self._rows("place_session", key=need_session(self._database, key).key, project=project)

    @reads
    def without_project(self, space: str) -> Sequence[SessionKey]:
        rows = self._rows("unplaced_sessions", space=space)
        return [SessionKey(space, str(session)) for (session,) in rows]

    @reads
    def projects(self, space: str, sessions: Sequence[str]) -> Mapping[str, str]:
        return list_projects(self._database, space, sessions)


def create_session(database: apsw.Connection, key: SessionKey, source: str | None) -> bool:
    """Make a session unless it is there; says whether it was made. One without a source takes the first it is given."""
    told = {"space": key.space, "session": key.session, "source": source}
    database.execute(SQL["create_session"], told)
    made = database.changes() > 0
    if not made and source is not None:
        database.execute(SQL["name_source"], told)
    return made


def _info(space: str, row: _Row) -> SessionInfo:
    return SessionInfo(
        key=SessionKey(space, row[0]),
        source=row[1],
        messages=row[2],
        tokens=row[3],
        first_at=read_time(row[4]),
        last_at=read_time(row[5]),
        project=row[6],
    )


def list_projects(database: apsw.Connection, space: str, sessions: Sequence[str]) -> dict[str, str]:
    """The projects of sessions, by name."""
    found: dict[str, str] = {}
    for session in dict.fromkeys(sessions):
        row = database.execute(SQL["project_of_session"], {"space": space, "session": session}).fetchone()
        if row is not None:
            found[session] = str(row[0])
    return found

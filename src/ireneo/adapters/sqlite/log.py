"""The messages of a session's tree, and the sessions, in SQLite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, cast

import apsw
import msgspec

from ireneo.adapters.rules import check_chain, check_place, pack, widen
from ireneo.adapters.sqlite.connection import Port, reads, writes
from ireneo.adapters.sqlite.index import Placed, index_messages
from ireneo.adapters.sqlite.rows import (
    SQL,
    Bindings,
    from_row,
    message_row,
    read_head,
    read_parts,
    read_time,
    to_row,
    with_checksum,
    write_time,
)
from ireneo.adapters.sqlite.tree import (
    Branches,
    SessionRow,
    add_undone,
    find_path,
    find_place,
    find_session,
    find_standing,
    need_place,
    need_session,
    settle_moved,
)
from ireneo.log.message import Draft, Message, MessageId, voices_in
from ireneo.log.tree import Head, SessionKey
from ireneo.ports.store import LogPort, SessionInfo, SessionsPort

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

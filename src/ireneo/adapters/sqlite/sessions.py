"""The sessions of a space, in SQLite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

import apsw

from ireneo.adapters.sqlite.channel import Channel
from ireneo.adapters.sqlite.places import need_session
from ireneo.adapters.sqlite.queries import SQL
from ireneo.adapters.sqlite.rows import read_head, read_time
from ireneo.log.tree import Head, SessionKey
from ireneo.ports.store import SessionInfo

_Row: TypeAlias = tuple[str, str | None, int, int, str | None, str | None, str | None]


class SqliteSessions:
    """`ireneo.ports.store.SessionsPort` over one open transaction."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def create(self, key: SessionKey, source: str | None) -> bool:
        """Make a session unless it is there."""
        return self._channel.change(create_session, key, source)

    def list(self, space: str) -> Sequence[SessionInfo]:
        """Every session of a space."""
        return self._channel.ask(list_sessions, space)

    def get(self, key: SessionKey) -> SessionInfo | None:
        """What the list says of one session."""
        return self._channel.ask(get_session, key)

    def branches(self, key: SessionKey) -> Mapping[str, Head | None]:
        """Each branch of a session."""
        return self._channel.ask(list_branches, key)

    def place(self, key: SessionKey, project: str) -> None:
        """Note which project a session worked on."""
        self._channel.change(place_session, key, project)

    def unplaced(self, space: str) -> Sequence[SessionKey]:
        """The sessions of which nobody noted that yet."""
        return self._channel.ask(list_unplaced, space)

    def projects(self, space: str, sessions: Sequence[str]) -> Mapping[str, str]:
        """The projects of sessions, by name."""
        return self._channel.ask(list_projects, space, sessions)


def create_session(database: apsw.Connection, key: SessionKey, source: str | None) -> bool:
    """Make a session unless it is there; says whether it was made. One without a source takes the first it is given."""
    told = {"space": key.space, "session": key.session, "source": source}
    database.execute(SQL["create_session"], told)
    made = database.changes() > 0
    if not made and source is not None:
        database.execute(SQL["name_source"], told)
    return made


def list_sessions(database: apsw.Connection, space: str) -> list[SessionInfo]:
    """Every session of a space, the one that was appended to last standing first."""
    return [_info(space, cast(_Row, row)) for row in database.execute(SQL["list_sessions"], {"space": space})]


def get_session(database: apsw.Connection, key: SessionKey) -> SessionInfo | None:
    """One session as the list has it."""
    row = database.execute(SQL["get_session"], {"space": key.space, "session": key.session}).fetchone()
    return None if row is None else _info(key.space, cast(_Row, row))


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


def list_branches(database: apsw.Connection, key: SessionKey) -> dict[str, Head | None]:
    """Each branch of a session by name."""
    session = need_session(database, key)
    return {
        branch: None if name is None else read_head(name, position, turn, total)
        for branch, name, position, turn, total in database.execute(SQL["list_branches"], {"key": session.key})
    }


def place_session(database: apsw.Connection, key: SessionKey, project: str) -> None:
    """Note which project a session worked on."""
    database.execute(SQL["place_session"], {"key": need_session(database, key).key, "project": project})


def list_unplaced(database: apsw.Connection, space: str) -> list[SessionKey]:
    """The sessions of a space of which nobody noted yet which project they worked on."""
    rows = database.execute(SQL["unplaced_sessions"], {"space": space})
    return [SessionKey(space, str(session)) for (session,) in rows]


def list_projects(database: apsw.Connection, space: str, sessions: Sequence[str]) -> dict[str, str]:
    """The projects of sessions, by name."""
    found: dict[str, str] = {}
    for session in dict.fromkeys(sessions):
        row = database.execute(SQL["project_of_session"], {"space": space, "session": session}).fetchone()
        if row is not None:
            found[session] = str(row[0])
    return found

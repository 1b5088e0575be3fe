"""The messages of a session's tree, its sessions and its branches, in a database.

A tree is kept as segments: where a message stands, what a path is made of, and what lies on no branch.

What lies on no branch is kept as runs of document numbers. A rewind moves a pointer, and what it leaves behind stays in
the index of words. So that no recall has to walk the trees to pass it over, the runs are settled with whatever moves a
branch: what is stored lies on none at first, a branch that goes on takes in what is before it, and after anything else
the session is looked through anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import msgspec
from msgspec import Struct

from ireneo.adapters.sql.database import (
    END,
    Bindings,
    Database,
    Port,
    Row,
    between,
    pack,
    read_head,
    read_message,
    read_parts,
    read_time,
    reads,
    with_checksum,
    write_message,
    write_time,
    writes,
)
from ireneo.adapters.sql.index import Placed, index_messages
from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.log.message import Draft, Head, Message, MessageId, voices_in
from ireneo.log.tree import PathRange, SessionKey
from ireneo.memories.index import CLASS_BITS, ORDINAL_BITS, place_of
from ireneo.ports.store import LogPort, SessionInfo, SessionsPort


class StoredPlace(Struct, frozen=True):
    """Where a message stands: its segment, its position, and whether the segment goes on after it."""

    segment: int
    position: int
    goes_on: bool = False


def find_session(database: Database, key: SessionKey) -> int | None:
    """The number of a session, by which every other table knows it; None when it was never made."""
    row = database.row("find_session", space=key.space, session=key.session)
    return None if row is None else row[0]


def need_session(database: Database, key: SessionKey) -> int:
    """The number of a session. Raises SessionNotFound."""
    number: int = _need_row(database, key)[0]
    return number


def _need_row(database: Database, key: SessionKey) -> Row:
    """The number of a session, and when it was begun and went on last. Raises SessionNotFound."""
    row = database.row("find_session", space=key.space, session=key.session)
    if row is None:
        raise SessionNotFound(f"There is no session {key.session!r} in this space.")
    return row


def not_stored(key: SessionKey, name: MessageId) -> MessageNotFound:
    """The error for a message that should be in the session."""
    return MessageNotFound(f"There is no message {name} in session {key.session!r}.")


def find_place(database: Database, session: int, name: MessageId) -> StoredPlace | None:
    """Say where a message stands; None when it is not stored."""
    return find_places(database, session, [name])[0]


def find_places(database: Database, session: int, names: Sequence[MessageId]) -> list[StoredPlace | None]:
    """Say where messages stand, in the order asked; None for those that are not stored."""
    found = database.each("locate", [{"key": session, "id": name} for name in names])
    return [StoredPlace(rows[0][0], rows[0][1], bool(rows[0][2])) if rows else None for rows in found]


def need_place(database: Database, session: int, key: SessionKey, name: MessageId) -> StoredPlace:
    """Say where a message stands. Raises MessageNotFound."""
    place = find_place(database, session, name)
    if place is None:
        raise not_stored(key, name)
    return place


def list_stretches(database: Database, session: int, place: StoredPlace, first: int = 0) -> list[PathRange]:
    """The stretches of the path to `place`, the last one first, down to the one that holds position `first`."""
    rows = database.rows("list_stretches", key=session, segment=place.segment, position=place.position, first=first)
    return [PathRange(segment=segment, first=begin, last=last) for segment, begin, last in rows]


def find_path(database: Database, key: SessionKey, to: MessageId, first: int = 0) -> tuple[int, list[PathRange]]:
    """The session and the stretches of the path that ends in `to`. Raises MessageNotFound."""
    session = find_session(database, key)
    if session is None:
        raise not_stored(key, to)
    return session, list_stretches(database, session, need_place(database, session, key, to), first)


def documents_of(session: int) -> tuple[int, int]:
    """The first and the last number that a document of a session can have."""
    return session << CLASS_BITS + ORDINAL_BITS, (session + 1 << CLASS_BITS + ORDINAL_BITS) - 1


def runs_of(documents: Iterable[int]) -> list[tuple[int, int]]:
    """Document numbers as runs of neighbours: the first and the last of each."""
    runs: list[tuple[int, int]] = []
    for number in sorted(documents):
        if runs and place_of(runs[-1][1]) + 1 >= place_of(number):
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def add_undone(database: Database, space: str, documents: Iterable[int]) -> None:
    """Note documents of messages that were just stored, and lie on no branch yet."""
    for first, last in runs_of(documents):
        database.send("add_undone", space=space, first=first, last=last)


def settle_undone(database: Database, space: str, session: int) -> None:
    """Look through a session anew for what lies on no branch."""
    forget_undone(database, space, session)
    loose: list[int] = []
    for segment, last in database.rows("list_segments", key=session):
        loose += _documents(database, session, segment, 0 if last is None else last + 1, END)
    add_undone(database, space, loose)


def forget_undone(database: Database, space: str, session: int) -> None:
    """Note that all of a session lies on branches."""
    first, last = documents_of(session)
    database.send("forget_undone", space=space, first=first, last=last)


def list_aside(database: Database, session: int, to: StoredPlace) -> list[tuple[int, int]]:
    """The documents of a session that don't lie on the path to a place."""
    last = {each.segment: each.last for each in list_stretches(database, session, to)}
    aside: list[int] = []
    for (segment,) in database.rows("segments_of_session", key=session):
        aside += _documents(database, session, segment, last.get(segment, -1) + 1, END)
    return runs_of(aside)


def _documents(database: Database, session: int, segment: int, first: int, last: int) -> list[int]:
    rows = database.rows("list_documents", key=session, segment=segment, first=first, last=last)
    return [document for document, _ in rows]


class Branches:
    """The branches of one session, by which it is told whether messages lie on them."""

    def __init__(self, database: Database, session: int, branch: str | None) -> None:
        """Read where they stand, or where one of them does."""
        self._database = database
        self._session = session
        self._last: dict[int, int] = {}
        # Most sessions are one segment, and a branch stands at its end: then whatever is stored lies on one.
        self._all = branch is None and bool(database.number("is_straight", key=session))
        if self._all:
            return
        for name, segment, position in database.rows("ends_of_branches", key=session):
            if branch is None or name == branch:
                for each in list_stretches(database, session, StoredPlace(segment, position)):
                    self._last[each.segment] = max(self._last.get(each.segment, -1), each.last)

    def hold(self, names: Sequence[MessageId]) -> bool:
        """Whether all of these messages lie on them."""
        for name in names:
            if self._all:
                if self._database.row("has_message", key=self._session, id=name) is None:
                    return False
                continue
            place = find_place(self._database, self._session, name)
            if place is None or place.position > self._last.get(place.segment, -1):
                return False
        return True


FOUND_AT_MOST = 100


class SqlLog(Port, LogPort):
    """`ireneo.ports.store.LogPort` in a database."""

    @reads
    def head(self, key: SessionKey, branch: str = "main") -> Head | None:
        row = self._of(key.space).row("find_head", space=key.space, session=key.session, branch=branch)
        return None if row is None else read_head(*row)

    @writes
    def insert(self, key: SessionKey, messages: Sequence[Message]) -> int:
        """Store those of a chain that are new, in one run of one segment, and make them searchable."""
        database = self._of(key.space)
        session, *span = _need_row(database, key)
        for before, after in pairwise(messages):
            if after.parent != before.id or after.position != before.position + 1:
                wanted = "insert one path at a time, in its order"
                raise BadInput(f"Message {after.id} does not follow {before.id}; {wanted}.")
        new = messages[_count_known(database, session, messages) :]
        if not new:
            return 0
        segment = _choose_segment(database, session, key, new[0])
        database.send_all("insert_message", (write_message(session, segment, message) for message in new))
        payloads: list[Bindings] = [
            {"key": session, "segment": segment, "position": message.position, "packed": packed}
            for message in new
            if (packed := pack(message.draft)) is not None
        ]
        database.send_all("insert_payload", payloads)
        first_at, last_at = between([*map(read_time, span), *(message.draft.at for message in new)])
        database.send(
            "count_messages",
            key=session,
            messages=len(new),
            tokens=sum(message.tokens for message in new),
            first_at=write_time(first_at),
            last_at=write_time(last_at),
        )
        placed = [Placed(segment=segment, message=message) for message in new]
        add_undone(database, key.space, index_messages(database, key.space, session, placed))
        return len(new)

    @writes
    def move(self, key: SessionKey, branch: str, to: MessageId | None) -> None:
        """Make a branch point elsewhere, and settle what lies on no branch then."""
        database = self._of(key.space)
        session = need_session(database, key)
        row = database.row("find_branch", key=session, branch=branch)
        before = None if row is None or row[0] is None else StoredPlace(row[0], row[1])
        now = None if to is None else need_place(database, session, key, to)
        segment, position = (now.segment, now.position) if now else (None, None)
        stands: Bindings = {"key": session, "branch": branch, "segment": segment, "position": position}
        database.send("move_branch", **with_checksum("branches", stands))
        if not (before and now and _is_settled(database, key.space, session, before, now)):
            settle_undone(database, key.space, session)

    @reads
    def path(self, key: SessionKey, to: MessageId, first: int, last: int) -> Sequence[Message]:
        """Read positions `first` to `last` of the path to `to`: one range of rows for each of its stretches."""
        session, stretches = find_path(self._of(key.space), key, to, first)
        asked: list[Bindings] = [
            {
                "key": session,
                "segment": stretch.segment,
                "first": max(first, stretch.first),
                "last": min(last, stretch.last),
            }
            for stretch in reversed(stretches)
        ]
        return [read_message(row) for rows in self._of(key.space).each("read_stretch", asked) for row in rows]

    @reads
    def find(self, key: SessionKey, ids: Sequence[str]) -> Sequence[Message]:
        session = find_session(self._of(key.space), key)
        found: dict[MessageId, Message] = {}
        for name in ids if session is not None else ():
            rows = self._of(key.space).rows("find_by_id", key=session, prefix=name, limit=FOUND_AT_MOST)
            rows += self._of(key.space).rows("find_by_source", key=session, source_id=name, limit=FOUND_AT_MOST)
            for message in map(read_message, rows):
                found.setdefault(message.id, message)
            if len(found) >= FOUND_AT_MOST:
                break
        return list(found.values())[:FOUND_AT_MOST]

    @reads
    def drafts(self, key: SessionKey, ids: Sequence[MessageId]) -> Mapping[MessageId, Draft]:
        session = find_session(self._of(key.space), key)
        found = self._of(key.space).each("read_payload", [{"key": session, "id": name} for name in ids])
        named = zip(ids, found, strict=True)
        return {name: read_message(row[:-1], row[-1]).draft for name, rows in named for row in rows[:1]}

    @reads
    def on_branch(
        self, space: str, named: Sequence[tuple[str, Sequence[MessageId]]], branch: str | None = None
    ) -> Sequence[bool]:
        known: dict[str, Branches | None] = {}
        for session in dict(named):
            number = find_session(self._of(space), SessionKey(space, session))
            known[session] = None if number is None else Branches(self._of(space), number, branch)
        return [(branches := known[session]) is None or branches.hold(names) for session, names in named]

    @reads
    def speakers(self, space: str, session: str | None = None, name: str | None = None) -> frozenset[str]:
        found: set[str] = set()
        for letters in ('"author":', '"present":') if name is None else (msgspec.json.encode(name).decode(),):
            for (parts,) in self._of(space).scan("parts_with", space=space, session=session, letters=letters):
                found.update(voices_in(read_parts(parts)))
                if name is not None and name in found:
                    return frozenset((name,))
        return frozenset(found) if name is None else frozenset()


def _count_known(database: Database, session: int, messages: Sequence[Message]) -> int:
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


def _choose_segment(database: Database, session: int, key: SessionKey, first: Message) -> int:
    """The segment that `first` goes to: its parent's, if the parent is the last one there, and else a new one."""
    place = None if first.parent is None else need_place(database, session, key, first.parent)
    last = place.position if place else -1
    if first.position != last + 1:
        raise BadInput(f"Message {first.id} says that it is at position {first.position}, its parent at {last}.")
    if place and not place.goes_on:
        return place.segment
    parent = place.segment if place else None
    return database.number("add_segment", key=session, parent=parent, first=first.position)


def _is_settled(database: Database, space: str, session: int, before: StoredPlace, now: StoredPlace) -> bool:
    """Whether a branch stayed or went on, and what it took in was noted; False where all is to be looked through anew.

    So it is where it went elsewhere, and where the documents lie amid others, so that it can't be told of them alone.
    """
    first = before.position + 1
    if now.segment == before.segment:
        if now.position <= before.position:
            return now.position == before.position
    elif database.row("find_segment", key=session, segment=now.segment) != (before.segment, first):
        return False
    runs = runs_of(_documents(database, session, now.segment, first, now.position))
    if len(runs) > 1:
        return False
    for begin, end in runs:
        database.send("forget_undone", space=space, first=begin, last=end)
        left = database.row("last_undone", space=space, last=end)
        if left is not None and left[1] >= begin:
            return False
    return True


class SqlSessions(Port, SessionsPort):
    """`ireneo.ports.store.SessionsPort` in a database."""

    @writes
    def create(self, key: SessionKey, source: str | None) -> bool:
        """Make a session unless it is there; one without a source takes the first it is given."""
        made = self._of(key.space).change("create_session", space=key.space, session=key.session, source=source) > 0
        if not made and source is not None:
            self._of(key.space).send("name_source", space=key.space, session=key.session, source=source)
        return made

    @reads
    def list(self, space: str) -> Sequence[SessionInfo]:
        return [_info(space, row) for row in self._of(space).rows("list_sessions", space=space)]

    @reads
    def get(self, key: SessionKey) -> SessionInfo | None:
        row = self._of(key.space).row("get_session", space=key.space, session=key.session)
        return None if row is None else _info(key.space, row)

    @reads
    def branches(self, key: SessionKey) -> Mapping[str, Head | None]:
        rows = self._of(key.space).rows("list_branches", key=need_session(self._of(key.space), key))
        return {branch: None if head[0] is None else read_head(*head) for branch, *head in rows}

    @writes
    def set_project(self, key: SessionKey, project: str) -> None:
        self._of(key.space).send("place_session", key=need_session(self._of(key.space), key), project=project)

    @reads
    def without_project(self, space: str) -> Sequence[SessionKey]:
        return [SessionKey(space, session) for (session,) in self._of(space).rows("unplaced_sessions", space=space)]

    @reads
    def projects(self, space: str, sessions: Sequence[str]) -> Mapping[str, str]:
        return list_projects(self._of(space), space, sessions)


def _info(space: str, row: Row) -> SessionInfo:
    session, source, messages, tokens, first_at, last_at, project = row
    return SessionInfo(
        key=SessionKey(space, session),
        source=source,
        messages=messages,
        tokens=tokens,
        first_at=read_time(first_at),
        last_at=read_time(last_at),
        project=project,
    )


def list_projects(database: Database, space: str, sessions: Iterable[str]) -> dict[str, str]:
    """The projects of sessions, by name."""
    names = list(dict.fromkeys(sessions))
    found = database.each("project_of_session", [{"space": space, "session": name} for name in names])
    return {name: rows[0][0] for name, rows in zip(names, found, strict=True) if rows}

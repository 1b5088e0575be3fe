"""The messages of a session's tree, its sessions and branches, and the index of words, in a database.

A tree is stored as segments: a segment is a run of consecutive positions, and a fork names its parent segment.

Documents of messages that are on no branch are kept as runs of numbers ("undone"). A rewind only moves a pointer, and
the messages it leaves stay in the index of words, so without the runs every recall would have to walk the trees. They
are updated whenever a branch moves: new messages are on no branch at first, a branch that moves forward takes in the
messages before it, and after any other move the session is scanned again.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
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
    read_time,
    reads,
    time_range,
    with_checksum,
    write_json,
    write_time,
    writes,
)
from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.log.message import (
    Draft,
    Head,
    Message,
    MessageId,
    Native,
    Origin,
    Part,
    Role,
    author_of_message,
    people_in,
    terms_of_stored,
)
from ireneo.log.tree import MAIN, PathRange, SessionKey
from ireneo.memories.index import (
    CLASS_BITS,
    MOST_IN_SESSION,
    ORDINAL_BITS,
    document_number,
    memory_number,
    place_of,
    role_of_message,
    terms_of_memory,
)
from ireneo.memories.record import Record
from ireneo.patterns import lazy_re, readable
from ireneo.ports.store import LogPort, SessionInfo, SessionsPort

_PLAIN = lazy_re(r"[a-z0-9\x80-\U0010ffff]*\Z")
_ODD = lazy_re(r"[^a-z0-9\x80-\U0010ffff]")


def token(prefix: str, term: str) -> str:
    """Convert a term to a token; characters that SQLite's tokenizer would split at or fold are escaped as ``_xx``.

    The prefix is the number of the space and an ``s``, so that no two spaces share a token.
    """
    return prefix + (term if _PLAIN.match(term) else _ODD.sub(lambda found: f"_{ord(found[0]):02x}", term))


def tokens(prefix: str, terms: Iterable[str]) -> str:
    """The text to index for a document: the tokens of its distinct terms."""
    each_once = dict.fromkeys(terms)
    # Nearly all documents need no escaping, which is faster to check for all terms at once.
    if _PLAIN.match("".join(each_once)):
        return prefix + f" {prefix}".join(each_once) if each_once else ""
    return " ".join([token(prefix, term) for term in each_once])


def find_prefix(database: Database, space: str) -> str | None:
    """The prefix of a space's tokens; None if nothing was ever indexed in it."""
    row = database.row("space_number", space=space)
    return None if row is None else f"{row[0]}s"


def _need_prefix(database: Database, space: str) -> str:
    """The prefix of a space's tokens; the space is given a number if it has none yet."""
    prefix = find_prefix(database, space)
    if prefix is None:
        prefix = str(database.number("add_space", space=space)) + "s"
    return prefix


class PlacedMessage(Struct, frozen=True, kw_only=True, gc=False):
    """A message and its segment."""

    segment: int
    message: Message
    document: int | None = None
    """The message's document number if it is indexed again: its ordinal is kept."""


def index_messages(
    database: Database, space: str, session: int, placed: Sequence[PlacedMessage], *, again: bool = False
) -> list[int]:
    """Index messages, and return their document numbers, which are consecutive in the given order.

    A message without terms gets no number. With `again` some may have been indexed before.
    """
    found = [terms_of_stored(each.message) for each in placed]
    new = sum(1 for each, terms in zip(placed, found, strict=True) if terms and each.document is None)
    ordinal = database.number("give_ordinals", key=session, documents=new)
    prefix = _need_prefix(database, space)
    rows: list[Bindings] = []
    words: list[Bindings] = []
    numbers: list[int] = []
    for each, terms in zip(placed, found, strict=True):
        document = None
        if terms:
            own = ordinal if each.document is None else place_of(each.document) & MOST_IN_SESSION - 1
            ordinal += each.document is None
            document = document_number(session, own, len(terms), role_of_message(each.message.draft))
            numbers.append(document)
            words.append({"document": document, "space_terms": tokens(prefix, terms)})
        place: Bindings = {"key": session, "segment": each.segment, "position": each.message.position}
        rows.append({**place, "document": document, "terms": len(terms)})
    database.send_all("put_document" if again else "add_document", rows)
    database.send_all("index_message", words)
    database.send("count_message_words", space=space, documents=len(words), terms=sum(map(len, found)))
    _count_authors(database, space, (each.message.draft for each in placed), 1)
    return numbers


def forget_documents(database: Database, space: str, session: int, segment: int, first: int, last: int) -> None:
    """Remove positions `first` to `last` of a segment from the index, before the messages are deleted."""
    run: Bindings = {"key": session, "segment": segment, "first": first, "last": last}
    gone = database.rows("list_documents", **run)
    authored = database.rows("list_authored", **run)
    if authored:
        drafts = [Draft(role="user", origin=origin, parts=read_parts(parts)) for origin, parts in authored]
        _count_authors(database, space, drafts, -1)
        database.send("delete_silent_authors", space=space)
    database.send_all("forget_message_words", ({"document": document} for document, _ in gone))
    database.send("delete_documents", **run)
    lost = sum(terms for _, terms in gone)
    database.send("count_message_words", space=space, documents=-len(gone), terms=-lost)


def _count_authors(database: Database, space: str, drafts: Iterable[Draft], step: int) -> None:
    spoke = Counter(author for draft in drafts if (author := author_of_message(draft)))
    for author, times in spoke.items():
        database.send("count_author", space=space, author=author, messages=step * times)


def index_memories(database: Database, space: str, records: Sequence[tuple[int, Record]]) -> None:
    """Index memories, each given with its number."""
    numbered: list[Bindings] = []
    words: list[Bindings] = []
    found = [terms_of_memory(record) for _, record in records]
    prefix = _need_prefix(database, space) if any(found) else ""
    for (number, record), terms in zip(records, found, strict=True):
        document = memory_number(number, len(terms)) if terms else None
        numbered.append({"space": space, "id": record.id, "document": document, "terms": len(terms)})
        if document is not None:
            words.append({"document": document, "space_terms": tokens(prefix, terms)})
    database.send_all("number_memory", numbered)
    database.send_all("index_memory", words)
    if words:
        total = sum(int(each["terms"] or 0) for each in numbered)
        database.send("count_memory_words", space=space, documents=len(words), terms=total)


def forget_memory_words(database: Database, space: str, document: int | None, terms: int) -> None:
    """Remove a memory from the index, if it is in it."""
    if document is not None:
        database.send("forget_memory_words", document=document)
        database.send("count_memory_words", space=space, documents=-1, terms=-terms)


class StoredPlace(Struct, frozen=True, gc=False):
    """The place of a message, and whether its segment continues after it."""

    segment: int
    position: int
    goes_on: bool = False


def find_session(database: Database, key: SessionKey) -> int | None:
    """The key of a session, which all other tables use; None if it doesn't exist."""
    row = database.row("find_session", space=key.space, session=key.session)
    return None if row is None else row[0]


def need_session(database: Database, key: SessionKey) -> int:
    """The key of a session. Raises SessionNotFound."""
    number: int = _need_row(database, key)[0]
    return number


def _need_row(database: Database, key: SessionKey) -> Row:
    """The key of a session, and the times of its first and last message. Raises SessionNotFound."""
    row = database.row("find_session", space=key.space, session=key.session)
    if row is None:
        raise SessionNotFound(f"There is no session {key.session!r} in this space.")
    return row


def not_stored(key: SessionKey, name: MessageId) -> MessageNotFound:
    """The error for a message that is not in the session."""
    return MessageNotFound(f"There is no message {name} in session {key.session!r}.")


def find_place(database: Database, session: int, name: MessageId) -> StoredPlace | None:
    """The place of a message; None if it is not stored."""
    return find_places(database, session, [name])[0]


def find_places(database: Database, session: int, names: Sequence[MessageId]) -> list[StoredPlace | None]:
    """The places of messages, in order; None for those that are not stored."""
    found = database.each("locate", [{"key": session, "id": name} for name in names])
    return [StoredPlace(rows[0][0], rows[0][1], bool(rows[0][2])) if rows else None for rows in found]


def need_place(database: Database, session: int, key: SessionKey, name: MessageId) -> StoredPlace:
    """The place of a message. Raises MessageNotFound."""
    place = find_place(database, session, name)
    if place is None:
        raise not_stored(key, name)
    return place


def list_stretches(database: Database, session: int, place: StoredPlace, first: int = 0) -> list[PathRange]:
    """The stretches of the path to `place`, last first, back to the one with position `first`."""
    rows = database.rows("list_stretches", key=session, segment=place.segment, position=place.position, first=first)
    return [PathRange(segment=segment, first=begin, last=last) for segment, begin, last in rows]


def find_path(database: Database, key: SessionKey, to: MessageId, first: int = 0) -> tuple[int, list[PathRange]]:
    """The session's key and the stretches of the path to `to`, last first. Raises MessageNotFound."""
    session = find_session(database, key)
    if session is None:
        raise not_stored(key, to)
    return session, list_stretches(database, session, need_place(database, session, key, to), first)


def documents_of(session: int) -> tuple[int, int]:
    """The first and the last possible document number of a session."""
    return session << CLASS_BITS + ORDINAL_BITS, (session + 1 << CLASS_BITS + ORDINAL_BITS) - 1


def runs_of(documents: Iterable[int]) -> list[tuple[int, int]]:
    """Group document numbers into runs of neighbours; return the first and last of each."""
    runs: list[tuple[int, int]] = []
    for number in sorted(documents):
        if runs and place_of(runs[-1][1]) + 1 >= place_of(number):
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def add_undone(database: Database, space: str, documents: Iterable[int]) -> None:
    """Record documents that are on no branch."""
    for first, last in runs_of(documents):
        database.send("add_undone", space=space, first=first, last=last)


def settle_undone(database: Database, space: str, session: int) -> None:
    """Recompute which documents of a session are on no branch."""
    forget_undone(database, space, session)
    loose: list[int] = []
    for segment, last in database.rows("list_segments", key=session):
        loose += _documents(database, session, segment, 0 if last is None else last + 1, END)
    add_undone(database, space, loose)


def forget_undone(database: Database, space: str, session: int) -> None:
    """Record that all documents of a session are on branches."""
    first, last = documents_of(session)
    database.send("forget_undone", space=space, first=first, last=last)


def list_off_path(database: Database, session: int, to: StoredPlace) -> list[tuple[int, int]]:
    """The documents of a session that are not on the path to a place, as runs."""
    last = {each.segment: each.last for each in list_stretches(database, session, to)}
    aside: list[int] = []
    for segment in database.column("segments_of_session", key=session):
        aside += _documents(database, session, segment, last.get(segment, -1) + 1, END)
    return runs_of(aside)


def _documents(database: Database, session: int, segment: int, first: int, last: int) -> list[int]:
    rows = database.rows("list_documents", key=session, segment=segment, first=first, last=last)
    return [document for document, _ in rows]


class Branches:
    """Checks whether messages of one session are on its branches."""

    def __init__(self, database: Database, session: int, branch: str | None) -> None:
        """Read the paths of all branches, or of one."""
        self._database = database
        self._session = session
        self._last: dict[int, int] = {}
        # Most sessions are one segment with a branch at its end: then every stored message is on a branch.
        self._all = branch is None and bool(database.number("is_straight", key=session))
        if self._all:
            return
        for name, segment, position in database.rows("ends_of_branches", key=session):
            if branch is None or name == branch:
                for each in list_stretches(database, session, StoredPlace(segment, position)):
                    self._last[each.segment] = max(self._last.get(each.segment, -1), each.last)

    def hold(self, names: Sequence[MessageId]) -> bool:
        """Whether all of these messages are on a branch."""
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
        row = self._db(key.space).row("find_head", space=key.space, session=key.session, branch=branch)
        return None if row is None else read_head(*row)

    @writes
    def insert(self, key: SessionKey, messages: Sequence[Message]) -> int:
        """Store the new messages of a chain in one segment, and index them."""
        database = self._db(key.space)
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
        first_at, last_at = time_range([*map(read_time, span), *(message.draft.at for message in new)])
        database.send(
            "count_messages",
            key=session,
            messages=len(new),
            tokens=sum(message.tokens for message in new),
            first_at=write_time(first_at),
            last_at=write_time(last_at),
        )
        placed = [PlacedMessage(segment=segment, message=message) for message in new]
        add_undone(database, key.space, index_messages(database, key.space, session, placed))
        return len(new)

    @writes
    def move(self, key: SessionKey, branch: str, to: MessageId | None) -> None:
        """Move a branch, and update which documents are on no branch."""
        database = self._db(key.space)
        session = need_session(database, key)
        row = database.row("find_branch", key=session, branch=branch)
        before = None if row is None or row[0] is None else StoredPlace(row[0], row[1])
        now = None if to is None else need_place(database, session, key, to)
        segment, position = (now.segment, now.position) if now else (None, None)
        stands: Bindings = {"key": session, "branch": branch, "segment": segment, "position": position}
        database.send("move_branch", **with_checksum("branches", stands))
        if not (before and now and _update_undone(database, key.space, session, before, now)):
            settle_undone(database, key.space, session)
            if row is not None or branch != MAIN:
                # Traps may rest on messages that are undone now, or no longer, so they are compiled again.
                database.send("delete_traps", space=key.space)

    @reads
    def path(self, key: SessionKey, to: MessageId, first: int, last: int) -> Sequence[Message]:
        """Read one range of rows for each stretch of the path."""
        session, stretches = find_path(self._db(key.space), key, to, first)
        asked: list[Bindings] = [
            {
                "key": session,
                "segment": stretch.segment,
                "first": max(first, stretch.first),
                "last": min(last, stretch.last),
            }
            for stretch in reversed(stretches)
        ]
        return [read_message(row) for rows in self._db(key.space).each("read_stretch", asked) for row in rows]

    @reads
    def find(self, key: SessionKey, ids: Sequence[str]) -> Sequence[Message]:
        session = find_session(self._db(key.space), key)
        found: dict[MessageId, Message] = {}
        for name in ids if session is not None else ():
            rows = self._db(key.space).rows("find_by_id", key=session, prefix=name, limit=FOUND_AT_MOST)
            rows += self._db(key.space).rows("find_by_source", key=session, source_id=name, limit=FOUND_AT_MOST)
            for message in map(read_message, rows[:FOUND_AT_MOST]):
                found.setdefault(message.id, message)
        return list(found.values())

    @reads
    def drafts(self, key: SessionKey, ids: Sequence[MessageId]) -> Mapping[MessageId, Draft]:
        session = find_session(self._db(key.space), key)
        found = self._db(key.space).each("read_payload", [{"key": session, "id": name} for name in ids])
        named = zip(ids, found, strict=True)
        return {name: read_message(row[:-1], row[-1]).draft for name, rows in named for row in rows[:1]}

    @reads
    def on_branch(
        self, space: str, named: Sequence[tuple[str, Sequence[MessageId]]], branch: str | None = None
    ) -> Sequence[bool]:
        known: dict[str, Branches | None] = {}
        for session in dict(named):
            number = find_session(self._db(space), SessionKey(space, session))
            known[session] = None if number is None else Branches(self._db(space), number, branch)
        return [(branches := known[session]) is None or branches.hold(names) for session, names in named]

    @reads
    def speakers(self, space: str, session: str | None = None, name: str | None = None) -> frozenset[str]:
        found: set[str] = set()
        for letters in ('"author":', '"present":') if name is None else (msgspec.json.encode(name).decode(),):
            for (parts,) in self._db(space).scan("parts_with", space=space, session=session, letters=letters):
                found.update(people_in(read_parts(parts)))
                if name is not None and name in found:
                    return frozenset((name,))
        return frozenset(found) if name is None else frozenset()


def _count_known(database: Database, session: int, messages: Sequence[Message]) -> int:
    """How many messages of a chain are stored: the first ones, since no message is stored without its parent.

    Found by bisection, starting with the first message, so that an append needs a single query.
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
    """The segment for `first`: its parent's, if the parent is the last message there, otherwise a new one."""
    place = None if first.parent is None else need_place(database, session, key, first.parent)
    last = place.position if place else -1
    if first.position != last + 1:
        raise BadInput(f"Message {first.id} says that it is at position {first.position}, its parent at {last}.")
    if place and not place.goes_on:
        return place.segment
    parent = place.segment if place else None
    return database.number("add_segment", key=session, parent=parent, first=first.position)


def _update_undone(database: Database, space: str, session: int, before: StoredPlace, now: StoredPlace) -> bool:
    """Update the undone documents for a branch that moved forward; False if the session has to be recomputed.

    That is necessary if the branch moved elsewhere, or if the documents it took in are not one run of their own.
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
        """Create a session unless it exists, and set its source if it has none."""
        made = self._db(key.space).change("create_session", space=key.space, session=key.session, source=source) > 0
        if not made and source is not None:
            self._db(key.space).send("name_source", space=key.space, session=key.session, source=source)
        return made

    @reads
    def list(self, space: str) -> Sequence[SessionInfo]:
        return [_info(space, row) for row in self._db(space).rows("list_sessions", space=space)]

    @reads
    def get(self, key: SessionKey) -> SessionInfo | None:
        row = self._db(key.space).row("get_session", space=key.space, session=key.session)
        return None if row is None else _info(key.space, row)

    @reads
    def erased(self, key: SessionKey) -> int:
        return self._db(key.space).number("count_erased", key=find_session(self._db(key.space), key))

    @reads
    def branches(self, key: SessionKey) -> Mapping[str, Head | None]:
        rows = self._db(key.space).rows("list_branches", key=need_session(self._db(key.space), key))
        return {branch: None if head[0] is None else read_head(*head) for branch, *head in rows}

    @writes
    def set_project(self, key: SessionKey, project: str) -> None:
        self._db(key.space).send("place_session", key=need_session(self._db(key.space), key), project=project)

    @reads
    def without_project(self, space: str) -> Sequence[SessionKey]:
        return [SessionKey(space, session) for session in self._db(space).column("unplaced_sessions", space=space)]

    @reads
    def projects(self, space: str, sessions: Sequence[str]) -> Mapping[str, str]:
        return list_projects(self._db(space), space, sessions)


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
    """The projects of the sessions, by session, as far as they have one."""
    names = list(dict.fromkeys(sessions))
    found = database.each("project_of_session", [{"space": space, "session": name} for name in names])
    return {name: rows[0][0] for name, rows in zip(names, found, strict=True) if rows}


# Messages as they are in rows.

_PARTS = msgspec.json.Decoder(readable(tuple[Part, ...]))


def read_parts(text: str) -> tuple[Part, ...]:
    """Decode the parts of a message."""
    return _PARTS.decode(text)


COMPRESSION = 3
"""The level for zlib; 6 saves 5 % more of typical payloads and takes twice as long."""


def pack(draft: Draft) -> bytes | None:
    """Encode the payload and the log record of a draft; None if it has neither.

    With the standard library's JSON, which keeps lone surrogates and NaN as they occur in real logs. Raises BadInput
    for what is not JSON.
    """
    if draft.native is None and draft.record is None:
        return None
    whole = [[piece.format, piece.payload] if piece else None for piece in (draft.native, draft.record)]
    try:
        text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as fault:
        raise BadInput(f"A message's payload can't be written as JSON: {fault}") from fault
    return zlib.compress(text.encode("utf-8", "surrogatepass"), COMPRESSION)


def unpack(packed: bytes | None) -> tuple[Native | None, Native | None]:
    """Decode what `pack` returned."""
    if packed is None:
        return None, None
    native, record = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
    return _native(native), _native(record)


def _native(piece: list[object] | None) -> Native | None:
    return None if piece is None else Native(format=str(piece[0]), payload=piece[1])


@readable
class _MessageRow(Struct, frozen=True, array_like=True):
    """The columns of a message without payloads, in the order of the queries."""

    id: MessageId
    parent: MessageId | None
    role: Role
    origin: Origin
    position: int
    turn: int
    tokens: int
    thinking_tokens: int
    total_tokens: int
    at: str | None
    source_id: str | None
    joined: int
    parts: str
    erased: int = 0


def write_message(session: int, segment: int, message: Message) -> Bindings:
    """The row of a message, without payloads."""
    draft = message.draft
    row: Bindings = {
        "key": session,
        "segment": segment,
        "position": message.position,
        "id": message.id,
        "parent": message.parent,
        "role": draft.role,
        "origin": draft.origin,
        "turn": message.turn,
        "tokens": message.tokens,
        "thinking_tokens": message.thinking_tokens,
        "total_tokens": message.total_tokens,
        "at": write_time(draft.at),
        "source_id": draft.source_id,
        "joined": int(draft.joined),
        "parts": write_json(draft.parts),
        "erased": 0,
    }
    return with_checksum("messages", row)


def read_message(values: Sequence[object], packed: bytes | None = None) -> Message:
    """Decode a message; `packed` holds its payloads if they were selected. Raises ValidationError for a damaged row."""
    row = msgspec.convert(values, _MessageRow)
    native, record = unpack(packed)
    return Message(
        id=row.id,
        parent=row.parent,
        position=row.position,
        turn=row.turn,
        tokens=row.tokens,
        thinking_tokens=row.thinking_tokens,
        total_tokens=row.total_tokens,
        draft=Draft(
            role=row.role,
            parts=read_parts(row.parts),
            origin=row.origin,
            at=read_time(row.at),
            source_id=row.source_id,
            joined=bool(row.joined),
            native=native,
            record=record,
        ),
        erased=bool(row.erased),
    )


_HEAD = readable(Head)


def read_head(id: object, position: object, turn: object, total_tokens: object) -> Head:
    """Decode a head from the columns of its message. Raises as `read_message` does."""
    return msgspec.convert({"id": id, "position": position, "turn": turn, "total_tokens": total_tokens}, _HEAD)

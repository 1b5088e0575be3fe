"""The memories of a space, in SQLite."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import msgspec

from ireneo.adapters.sqlite.channel import Channel
from ireneo.adapters.sqlite.checksums import with_checksum
from ireneo.adapters.sqlite.queries import SQL
from ireneo.adapters.sqlite.rows import Bindings
from ireneo.adapters.sqlite.sessions import list_projects
from ireneo.adapters.sqlite.times import microseconds
from ireneo.adapters.sqlite.words import need_prefix, tokens
from ireneo.memories.index import memory_number, terms_of_memory
from ireneo.memories.record import Kind, MemoryId, Record, project_of
from ireneo.ports.memories import Wanted, folded

FOUND_AT_MOST = 10

_RECORD = msgspec.json.Decoder(Record)


class SqliteMemories:
    """`ireneo.ports.memories.MemoriesPort` over one open transaction."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def put(self, space: str, records: Sequence[Record]) -> int:
        """Store records; one whose id is taken is replaced."""
        return self._channel.change(put_memories, space, records)

    def get(self, space: str, ids: Sequence[str]) -> Sequence[Record]:
        """Read memories by the beginning of their id."""
        return self._channel.ask(get_memories, space, ids)

    def of_key(self, space: str, kind: Kind, key: str) -> Sequence[Record]:
        """Every memory of a kind under one key."""
        return self._channel.ask(memories_of_key, space, kind, key)

    def list(self, space: str, wanted: Wanted, limit: int | None = None) -> Sequence[Record]:
        """The memories that are meant."""
        return self._channel.ask(list_memories, space, wanted, limit)

    def citing(self, space: str, sources: Sequence[str]) -> Sequence[Record]:
        """Every memory whose evidence names one of `sources`."""
        return self._channel.ask(memories_citing, space, sources)

    def remove(self, space: str, ids: Sequence[MemoryId]) -> int:
        """Take memories out for good."""
        return self._channel.change(remove_memories, space, ids)


def put_memories(database: apsw.Connection, space: str, records: Sequence[Record]) -> int:
    """Store records, and make them searchable; says how many were new."""
    return sum(_put(database, space, record) for record in records)


def _put(database: apsw.Connection, space: str, record: Record) -> bool:
    row = _row(space, record)
    found = database.execute(SQL["find_memory"], {"space": space, "id": record.id}).fetchone()
    if found is None:
        ((number,),) = database.execute(SQL["add_memory"], row)
        before: tuple[str, ...] = ()
        index_memory(database, space, record.id, number, record)
    else:
        number, document, counted, text = found
        database.execute(SQL["replace_memory"], row)
        known = _RECORD.decode(text)
        before = known.sources
        # Most of what is put anew was only reinforced or used: its words are as they were.
        if terms_of_memory(known) != terms_of_memory(record):
            _forget_words(database, space, document, counted)
            index_memory(database, space, record.id, number, record)
    _cite(database, space, number, before, record.sources)
    _place(database, space, number, record)
    return found is None


def _row(space: str, record: Record) -> Bindings:
    row: Bindings = {
        "space": space,
        "id": record.id,
        "kind": record.kind,
        "key": record.key,
        "state": record.state,
        "archived": int(record.archived),
        "subject": folded(record.subject),
        "task_type": folded(record.task_type),
        "at": microseconds(record.at),
        "recorded": microseconds(record.recorded),
        "unreflected": int(record.reflected is None),
        "stale": int(record.stale != ""),
        "cue": record.cue,
        "record": msgspec.json.encode(record).decode(),
    }
    return with_checksum("memories", row)


def index_memory(database: apsw.Connection, space: str, name: str, number: int, record: Record) -> None:
    """Make a memory searchable whose words are in no index."""
    terms = terms_of_memory(record)
    document = memory_number(number, len(terms)) if terms else None
    row: Bindings = {"space": space, "id": name, "document": document, "terms": len(terms)}
    database.execute(SQL["number_memory"], row)
    if document is not None:
        space_terms = tokens(need_prefix(database, space), terms)
        database.execute(SQL["index_memory"], {"document": document, "space_terms": space_terms})
        database.execute(SQL["count_memory_words"], {"space": space, "documents": 1, "terms": len(terms)})


def _forget_words(database: apsw.Connection, space: str, document: int | None, terms: int) -> None:
    if document is not None:
        database.execute(SQL["forget_memory_words"], {"space": space, "document": document})
        database.execute(SQL["count_memory_words"], {"space": space, "documents": -1, "terms": -terms})


def _cite(database: apsw.Connection, space: str, number: int, before: Sequence[str], after: Sequence[str]) -> None:
    for query, sources in (
        ("remove_memory_source", set(before) - set(after)),
        ("add_memory_source", set(after) - set(before)),
    ):
        rows = ({"space": space, "source": source, "number": number} for source in sources)
        database.executemany(SQL[query], rows)


def _place(database: apsw.Connection, space: str, number: int, record: Record) -> None:
    """Note of which projects a memory is: as its evidence says, or the sessions that it comes from."""
    database.execute(SQL["unplace_memory"], {"space": space, "number": number})
    silent = {piece.session for piece in record.evidence if piece.session and not project_of(piece)}
    there = list_projects(database, space, sorted(silent)) if silent else {}
    projects = {project_of(piece) or there.get(piece.session, "") for piece in record.evidence}
    rows = ({"space": space, "number": number, "project": project} for project in projects)
    database.executemany(SQL["place_memory"], rows)


def remove_memories(database: apsw.Connection, space: str, ids: Sequence[MemoryId]) -> int:
    """Take memories out for good, with their words and their sources; says how many there were."""
    gone = 0
    for name in ids:
        found = database.execute(SQL["find_memory"], {"space": space, "id": name}).fetchone()
        if found is None:
            continue
        number, document, terms, text = found
        _forget_words(database, space, document, terms)
        _cite(database, space, number, _RECORD.decode(text).sources, ())
        database.execute(SQL["remove_memory"], {"space": space, "id": name})
        gone += 1
    return gone


def get_memories(database: apsw.Connection, space: str, ids: Sequence[str]) -> list[Record]:
    """Read memories by the beginning of their id, in the order asked, each once."""
    found: dict[MemoryId, Record] = {}
    for name in ids:
        asked: Bindings = {"space": space, "prefix": name, "limit": FOUND_AT_MOST}
        for record in _read(database, "find_memories", asked):
            found.setdefault(record.id, record)
    return list(found.values())


def memories_of_key(database: apsw.Connection, space: str, kind: Kind, key: str) -> list[Record]:
    """Every memory of a kind under one key, by when it was recorded."""
    return _read(database, "memories_of_key", {"space": space, "kind": kind, "key": key})


def memories_citing(database: apsw.Connection, space: str, sources: Sequence[str]) -> list[Record]:
    """Every memory whose evidence names one of `sources`, by when it was recorded."""
    asked = msgspec.json.encode(list(dict.fromkeys(sources))).decode()
    return _read(database, "memories_citing", {"space": space, "sources": asked})


def list_memories(database: apsw.Connection, space: str, wanted: Wanted, limit: int | None) -> list[Record]:
    """The memories that are meant, the newest first."""
    return _read(
        database,
        _shortest_way(wanted),
        {
            "space": space,
            "kind": wanted.kind,
            "states": msgspec.json.encode(wanted.states).decode(),
            "subject": None if wanted.subject is None else folded(wanted.subject),
            "task_type": None if wanted.task_type is None else folded(wanted.task_type),
            "archived": wanted.archived,
            "unreflected": wanted.unreflected,
            "stale": wanted.stale,
            "cues": msgspec.json.encode(wanted.cues).decode(),
            "lessons": wanted.lessons,
            "limit": -1 if limit is None else limit,
        },
    )


def _shortest_way(wanted: Wanted) -> str:
    """The query that has an index for what narrows most."""
    if wanted.cues:
        return "list_memories_of_cues"
    if wanted.lessons:
        return "list_lessons"
    if wanted.stale:
        return "list_stale_memories"
    if wanted.subject:
        return "list_memories_of_subject"
    if wanted.task_type:
        return "list_memories_of_task"
    if wanted.kind and wanted.unreflected:
        return "list_unreflected_memories"
    return "list_memories_of_kind" if wanted.kind else "list_memories"


def _read(database: apsw.Connection, query: str, bindings: Bindings) -> list[Record]:
    return [_RECORD.decode(record) for (record,) in database.execute(SQL[query], bindings)]

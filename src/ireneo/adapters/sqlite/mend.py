"""Put right what is wrong with a file and follows from the rest of it: counters, marks, vectors, runs, indexes."""

from __future__ import annotations

import re
from typing import cast

import apsw

from ireneo.adapters.sqlite.checksums import ROWS, checksum
from ireneo.adapters.sqlite.prune import recount
from ireneo.adapters.sqlite.queries import SQL
from ireneo.adapters.sqlite.reindex import rebuild_words
from ireneo.adapters.sqlite.runs import remove_run
from ireneo.patterns import lazy_re

_INDEX = lazy_re(r"(?:missing from|entries in|entry in) index (\w+)")
_WORDS = lazy_re(r"fts5", re.IGNORECASE)
SAFE = ("messages", "summaries", "annotations", "memories", "runs", "sightings", "vectors")
"""Whose indexes are made anew: their rows have checksums, so that it is known which of the two is damaged."""
ALL = 1 << 62


def mend_file(database: apsw.Connection) -> None:
    """Mend all that can be; what is wrong with the log stays as it is."""
    _drop_altered_vectors(database)
    _drop_altered_runs(database)
    _recount(database)
    _mend_indexes(database)


def _recount(database: apsw.Connection) -> None:
    for query in ("sessions_with_wrong_counts", "rebuilds_of_nothing"):
        for space, session, *_ in database.execute(SQL[query], {"most": ALL}).fetchall():
            for (key,) in database.execute(SQL["key_of_session"], {"space": space, "session": session}).fetchall():
                if query == "rebuilds_of_nothing":
                    database.execute(SQL["delete_loose_rebuilds"], {"key": key})
                else:
                    recount(database, cast("int", key))


def _drop_altered_vectors(database: apsw.Connection) -> None:
    rows = database.execute(SQL[ROWS["vectors"]]).fetchall()
    for number, vector_set, document, vector, kept in cast("list[tuple[bytes, bytes, bytes, bytes, int | None]]", rows):
        if kept is not None and kept != checksum([vector_set, document, vector]):
            database.execute(SQL["drop_vector"], {"number": int(number)})


def _drop_altered_runs(database: apsw.Connection) -> None:
    """Runs are learned again from their sessions."""
    wrong: dict[tuple[str, str], None] = {}
    for table in ("runs", "sightings"):
        for *values, kept in database.execute(SQL[ROWS[table]]).fetchall():
            if kept is not None and kept != checksum(cast("list[bytes | None]", values)):
                space, session = (value.decode(errors="replace") for value in cast("list[bytes]", values[:2]))
                wrong[space, session] = None
    for space, session in wrong:
        remove_run(database, space, session)


def _mend_indexes(database: apsw.Connection) -> None:
    told = [str(each) for (each,) in database.execute(SQL["check_file"]).fetchall()]
    names = {name for each in told for name in _INDEX.findall(each)}
    for index, table in database.execute(SQL["list_indexes"]).fetchall():
        if index in names and table in SAFE and _fits(database, str(table)):
            # A name can't be bound; it is one of those that the schema gives.
            database.execute(f'REINDEX "{index}"')
    if any(_WORDS.search(each) for each in told):
        for query in ("reset_message_words", "reset_memory_words"):
            database.execute(SQL[query])
        for (space,) in database.execute(SQL["list_all_spaces"]).fetchall():
            rebuild_words(database, str(space))


def _fits(database: apsw.Connection, table: str) -> bool:
    """Whether every row of a table is what was stored: else its index may be what is right."""
    rows = database.execute(SQL[ROWS[table]], {"after": 0, "limit": ALL} if table == "messages" else {})
    first = 1 if table in ("messages", "vectors") else 0
    return all(row[-1] == checksum(row[first:-1]) for row in rows)

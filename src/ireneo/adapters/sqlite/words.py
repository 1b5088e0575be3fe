"""The indexes of words of a file that has none yet, or that were made by other rules."""

from __future__ import annotations

from ireneo.adapters.sql.search import forget_words, index_memories, index_session
from ireneo.adapters.sqlite.connection import SqliteDatabase
from ireneo.language.words import FORMAT

BATCH = 20_000
"""Messages that are indexed in one transaction: a few seconds, in which nobody else writes."""


def is_current(database: SqliteDatabase) -> bool:
    """Whether all of a file's words are indexed, by the rules of this version."""
    return database.number("read_format") == FORMAT


def reindex(database: SqliteDatabase, limit: int) -> int:
    """Index up to `limit` messages that are not indexed yet, or are by other rules, in one transaction.

    Returns how many were; once there are none left, `is_current`. Several processes may do this at once, and one that
    ends in the middle is gone on from where it stopped. By which rules a file is indexed stands in its header, as
    SQLite's `user_version`, and is 0 for as long as messages may be there that no index knows of.
    """
    with database.writing():
        return 0 if is_current(database) else _step(database, limit)


def _step(database: SqliteDatabase, limit: int) -> int:
    sessions = database.rows("list_all_sessions")
    if database.number("read_format") != 0:
        for (space,) in database.rows("list_all_spaces"):
            index_memories(database, space)
        for key, _ in sessions:
            forget_words(database, key)
        _write_format(database, 0)
    indexed = 0
    for key, space in sessions:
        indexed += index_session(database, key, space, limit - indexed)
        if indexed >= limit:
            return indexed
    _write_format(database, FORMAT)
    return indexed


def _write_format(database: SqliteDatabase, number: int) -> None:
    # A pragma takes no bindings.
    database.connection.execute(f"PRAGMA user_version = {number:d}")

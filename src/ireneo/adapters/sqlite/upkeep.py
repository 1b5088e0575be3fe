"""Upkeep of a SQLite file: its own integrity check, and rebuilding damaged indexes."""

from __future__ import annotations

import re

import apsw

from ireneo.adapters.sql.database import END
from ireneo.adapters.sql.search import rebuild_words
from ireneo.adapters.sql.upkeep import SqlUpkeep, is_sound
from ireneo.adapters.sqlite.store import SqliteTransaction
from ireneo.patterns import lazy_re

_INDEX = lazy_re(r"(?:missing from|entries in|entry in) index (\w+)")
_WORDS = lazy_re(r"fts5", re.IGNORECASE)
SAFE = ("messages", "summaries", "annotations", "memories", "runs", "sightings", "vectors")
"""Tables whose indexes may be rebuilt: the checksums of their rows tell which of the two is damaged."""


class SqliteUpkeep(SqlUpkeep):
    """`ireneo.ports.store.UpkeepPort` in SQLite."""

    def _damage(self) -> list[str]:
        try:
            self._database.rows("refresh_words")
            found = [each for each in self._database.column("check_file") if each != "ok"]
        except apsw.CorruptError as fault:
            return [f"The file is damaged, so far that it can't be checked: {fault}."]
        return [f"The file is damaged: {each}." for each in found]

    def _repair_indexes(self) -> None:
        database = self._database
        found = list(map(str, database.column("check_file")))
        names = {name for each in found for name in _INDEX.findall(each)}
        for index, table in database.rows("list_indexes"):
            if index in names and table in SAFE and self._fits(table):
                assert isinstance(self.transaction, SqliteTransaction)
                # A name can't be bound; this one comes from the schema.
                self.transaction.connection.database.execute(f'REINDEX "{index}"')
        if any(_WORDS.search(each) for each in found):
            for query in ("reset_message_words", "reset_memory_words"):
                database.change(query)
            for space in database.column("list_all_spaces"):
                rebuild_words(database, space)

    def _fits(self, table: str) -> bool:
        """Whether all rows of a table match their checksums; if not, its index may be right."""
        rows = self._database.scan(f"rows_of_{table}", after=0, limit=END)
        return all(row[-1] is not None and is_sound(table, row) for row in rows)

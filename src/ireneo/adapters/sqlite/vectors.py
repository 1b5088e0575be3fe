"""The vectors of documents, in SQLite. Triggers take them out with their documents, and number every change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import apsw
from msgspec import Struct

from ireneo.adapters.rules import check_lengths
from ireneo.adapters.sqlite.connection import SQL, Port, checksum, reads, writes
from ireneo.memories.index import Vector
from ireneo.ports.memories import IndexName, VectorChanges, VectorsPort

REMEMBERED = 10_000
"""Documents that lost their vector, of which is known that they did; once there are more, and more than have one, all
processes read the vectors anew."""

_PUT: dict[IndexName, str] = {"messages": "put_message_vector", "memories": "put_memory_vector"}
_COUNT: dict[IndexName, str] = {"messages": "count_message_documents", "memories": "count_memory_documents"}
_DUE: dict[IndexName, str] = {"messages": "due_messages", "memories": "due_memories"}


class SqliteVectors(Port, VectorsPort):
    """`ireneo.ports.memories.VectorsPort` in SQLite."""

    @writes
    def put(self, space: str, index: IndexName, embedder: str, vectors: Mapping[int, Vector]) -> int:
        if not vectors:
            return 0
        found = _find(self._database, space, index, embedder)
        dimensions = check_lengths(embedder, vectors, found.dimensions if found and found.kept else None)
        if found is None:
            self._rows("make_vector_set", space=space, shelf=index, embedder=embedder, dimensions=dimensions)
            found = _Set(key=self._database.last_insert_rowid(), dimensions=dimensions, changes=0, kept=0, forgotten=0)
        elif found.dimensions != dimensions:
            self._rows("measure_vector_set", key=found.key, dimensions=dimensions)
        change, query = found.changes, SQL[_PUT[index]]
        for document, vector in vectors.items():
            given = {"key": found.key, "document": document, "change": change + 1, "vector": vector, "space": space}
            kept = checksum([b"%d" % found.key, b"%d" % document, vector])
            self._database.execute(query, {**given, "checksum": kept})
            change += self._database.changes()
        _forget_gone(self._database, found)
        return change - found.changes

    @reads
    def since(self, space: str, index: IndexName, embedder: str, change: int) -> VectorChanges:
        found = _find(self._database, space, index, embedder)
        if found is None:
            return VectorChanges(change=change, added={}, removed=[], whole=False)
        whole = change < found.forgotten
        asked = {"key": found.key, "change": 0 if whole else change}
        added = dict(self._rows("vectors_since", **asked))
        # Whoever has nothing has nothing to forget.
        removed = [row[0] for row in self._rows("vectors_gone_since", **asked)] if change and not whole else []
        return VectorChanges(change=max(change, found.changes), added=added, removed=removed, whole=whole)

    @reads
    def due(self, space: str, index: IndexName, embedder: str, limit: int) -> Sequence[int]:
        """The newest documents without a vector."""
        found = _find(self._database, space, index, embedder)
        # Every vector is that of a document: where there are as many, none is due, and counting is quicker.
        if found is not None and found.kept == self._rows(_COUNT[index], space=space).fetchall()[0][0]:
            return []
        return [
            document
            for (document,) in self._rows(
                _DUE[index], space=space, key=None if found is None else found.key, limit=limit
            )
        ]

    @reads
    def embedders(self, space: str) -> Sequence[str]:
        return [embedder for (embedder,) in self._rows("list_embedders", space=space)]

    @writes
    def drop(self, space: str, embedder: str) -> int:
        """Take out all vectors of an embedder. Its sets stay, since the numbers of changes must never come again."""
        rows = self._rows("list_sets_of_embedder", space=space, embedder=embedder)
        sets = cast("list[tuple[int, int]]", rows.fetchall())
        for key, _ in sets:
            self._rows("drop_vectors", key=key)
            self._rows("forget_vectors_gone", key=key)
            self._rows("forget_before", key=key)
        return sum(kept for _, kept in sets)


class _Set(Struct, frozen=True, kw_only=True):
    """The vectors of one space, index and embedder."""

    key: int
    dimensions: int
    changes: int
    kept: int
    forgotten: int


def _find(database: apsw.Connection, space: str, index: IndexName, embedder: str) -> _Set | None:
    asked = {"space": space, "shelf": index, "embedder": embedder}
    row = database.execute(SQL["find_vector_set"], asked).fetchone()
    if row is None:
        return None
    key, dimensions, changes, kept, forgotten = row
    return _Set(key=key, dimensions=dimensions, changes=changes, kept=kept, forgotten=forgotten)


def _forget_gone(database: apsw.Connection, found: _Set) -> None:
    """Keep the list of what is gone from growing for ever."""
    ((gone,),) = database.execute(SQL["count_vectors_gone"], {"key": found.key})
    if gone > max(REMEMBERED, found.kept):
        database.execute(SQL["forget_vectors_gone"], {"key": found.key})
        database.execute(SQL["forget_before"], {"key": found.key})

"""Finding messages and memories in a database, by words and by vectors; and rebuilding the index of words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ireneo.adapters.sql.database import END, Bindings, Database, Port, checksum, reads, write_json, writes
from ireneo.adapters.sql.log import (
    PlacedMessage,
    documents_of,
    find_prefix,
    index_memories,
    index_messages,
    list_off_path,
    need_place,
    need_session,
    read_message,
    settle_undone,
    token,
)
from ireneo.errors import BadInput
from ireneo.log.message import MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.index import Vector, number_range, place_of, session_of
from ireneo.memories.record import Record
from ireneo.patterns import readable
from ireneo.ports.memories import (
    FoundMemory,
    FoundMessage,
    FoundSession,
    IndexName,
    IndexSize,
    SearchPort,
    VectorChanges,
    VectorsPort,
    WordsPort,
)

_NUMBERS = msgspec.json.Decoder(list[int])
_RECORD = msgspec.json.Decoder(readable(Record))

_SIZE: Mapping[IndexName, str] = {"messages": "size_of_messages", "memories": "size_of_memories"}
_COUNT: Mapping[IndexName, str] = {"messages": "count_messages_with", "memories": "count_memories_with"}
_FIND: Mapping[IndexName, str] = {"messages": "messages_with", "memories": "memories_with"}


class SqlSearch(Port, SearchPort):
    """`ireneo.ports.memories.SearchPort` in a database."""

    @reads
    def size(self, space: str, index: IndexName) -> IndexSize:
        """The stored counters of an index."""
        documents, terms = self._db(space).row(_SIZE[index], space=space) or (0, 0)
        return IndexSize(documents=documents, terms=terms)

    @reads
    def count(
        self, space: str, index: IndexName, terms: Sequence[str], at_most: int | None = None
    ) -> Mapping[str, int]:
        """Count the postings of each term inside the database."""
        return dict.fromkeys(terms, 0) | dict(self._of_terms(_COUNT[index], space, terms, at_most))

    @reads
    def postings(
        self, space: str, index: IndexName, terms: Sequence[str], at_most: int | None = None
    ) -> Mapping[str, Sequence[int]]:
        """Read the postings of each term from the index."""
        found: dict[str, list[int]] = {term: [] for term in terms}
        for term, numbers in self._of_terms(_FIND[index], space, terms, at_most):
            read = _NUMBERS.decode(numbers)
            found[term] = read if at_most is None or len(read) <= at_most else []
        return found

    def _of_terms(self, query: str, space: str, terms: Sequence[str], at_most: int | None) -> Iterator[tuple[str, Any]]:
        """The answer to `query` for each term, which reads at most one posting more than `at_most`."""
        prefix = find_prefix(self._db(space), space)
        if prefix is not None:
            limit = -1 if at_most is None else at_most + 1
            names = list(dict.fromkeys(terms))
            asked: list[Bindings] = [{"space_term": token(prefix, term), "limit": limit} for term in names]
            for term, ((answer,),) in zip(names, self._db(space).each(query, asked), strict=True):
                yield term, answer

    @reads
    def messages(self, space: str, documents: Sequence[int]) -> Sequence[FoundMessage]:
        """Look messages up by the place in their number."""
        asked: list[Bindings] = []
        for document in documents:
            first, last = number_range(place_of(document))
            asked.append({"space": space, "key": session_of(document), "first": first, "last": last})
        return [
            FoundMessage(document=number, key=SessionKey(space, session), message=read_message(light))
            for found in self._db(space).each("message_of_document", asked)
            for session, number, *light in found[:1]
        ]

    @reads
    def memories(self, space: str, documents: Sequence[int]) -> Sequence[FoundMemory]:
        asked: list[Bindings] = [{"space": space, "number": place_of(each)} for each in documents]
        found = self._db(space).each("memory_of_document", asked)
        return [
            FoundMemory(document=document, record=_RECORD.decode(record))
            for rows in found
            for document, record in rows[:1]
        ]

    @reads
    def authors(self, space: str) -> Mapping[str, int]:
        return dict(self._db(space).rows("list_authors", space=space))

    @reads
    def abandoned(self, space: str) -> Sequence[tuple[int, int]]:
        return [(first, last) for first, last in self._db(space).rows("list_undone", space=space)]

    @reads
    def off_path(self, key: SessionKey, to: MessageId) -> Sequence[tuple[int, int]]:
        session = need_session(self._db(key.space), key)
        return list_off_path(self._db(key.space), session, need_place(self._db(key.space), session, key, to))

    @reads
    def of_projects(self, space: str, documents: Sequence[int], projects: Collection[str]) -> Sequence[int]:
        asked, named = write_json(list(documents)), write_json(sorted(projects))
        ((numbers,),) = self._db(space).rows("documents_of_project", space=space, documents=asked, projects=named)
        return _NUMBERS.decode(numbers)

    @reads
    def knows_other_project(self, space: str, project: str) -> bool:
        return self._db(space).number("knows_other_project", space=space, project=project) > 0

    @reads
    def sessions(self, space: str, keys: Sequence[int]) -> Mapping[int, FoundSession]:
        found = self._db(space).each("session_of_number", [{"key": key, "space": space} for key in keys])
        return {
            key: FoundSession(session=session, project=project or "")
            for key, rows in zip(keys, found, strict=True)
            for session, project in rows[:1]
        }


MOST_NAMED = 20
"""How many faults of one kind are listed."""

WORD_SENTENCES: Mapping[str, str] = {
    "messages_without_document": "{1} messages of session {0!r} are in no index of words.",
    "documents_of_nothing": "{1} documents of session {0!r} are of messages that aren't there.",
    "documents_without_words": "{1} documents of session {0!r} have no words in the index.",
    "words_of_no_document": "The index has the words of {1} documents of session {0!r} that aren't there.",
    "memories_without_words": "Memory {0} has no words in the index.",
    "wrong_counts_of_messages": "Of the index {0} terms were counted, and {1} are there.",
    "wrong_counts_of_memories": "Of the index {0} terms were counted, and {1} are there.",
}
"""The sentence for the rows of each query."""


class SqlWords(Port, WordsPort):
    """`ireneo.ports.memories.WordsPort` in a database."""

    @reads
    def faults(self, space: str) -> Sequence[str]:
        found: list[str] = []
        for query, sentence in WORD_SENTENCES.items():
            rows = self._db(space).rows(query, space=space)
            found += [sentence.format(*row) for row in rows[:MOST_NAMED]]
            if len(rows) > MOST_NAMED:
                found.append(f"There are more faults of this kind than these {MOST_NAMED}.")
        return found

    @writes
    def rebuild(self, space: str) -> int:
        return rebuild_words(self._db(space), space)


def rebuild_words(database: Database, space: str) -> int:
    """Rebuild the index of a space, keeping all document numbers; return how many messages were processed."""
    sessions = [key for key, _ in database.rows("sessions_of_space", space=space)]
    for key in sessions:
        forget_words(database, key)
    reindex_memories(database, space)
    return sum(index_session(database, key, space, END) for key in sessions)


def forget_words(database: Database, session: int) -> None:
    """Remove the words of a session's documents, and mark them to be indexed again."""
    first, last = documents_of(session)
    database.send("forget_all_words", key=session, first=first, last=last)
    for query in ("forget_documents_of_nothing", "mark_documents", "repair_ordinals"):
        database.send(query, key=session)


def index_session(database: Database, session: int, space: str, limit: int) -> int:
    """Index up to `limit` messages of a session that are not indexed; return how many."""
    rows = database.rows("list_unindexed", key=session, limit=limit)
    placed = [
        PlacedMessage(segment=segment, message=read_message(light), document=document)
        for segment, document, *light in rows
    ]
    if placed:
        index_messages(database, space, session, placed, again=True)
    settle_undone(database, space, session)
    return len(placed)


def reindex_memories(database: Database, space: str) -> None:
    """Reset all counters of a space, and rebuild the index of its memories."""
    database.send("delete_authors", space=space)
    database.send("reset_space", space=space)
    rows = database.rows("list_memories_to_index", space=space)
    database.send_all(
        "forget_memory_words", [{"document": document} for _, document, _ in rows if document is not None]
    )
    index_memories(database, space, [(number, _RECORD.decode(text)) for number, _, text in rows])


REMEMBERED = 10_000
"""How many documents that lost their vector are remembered. If there are more of them, and more than have a vector,
they are forgotten, and all processes read all vectors again."""

_PUT: Mapping[IndexName, str] = {"messages": "put_message_vector", "memories": "put_memory_vector"}
_HELD: Mapping[IndexName, str] = {"messages": "count_message_documents", "memories": "count_memory_documents"}
_DUE: Mapping[IndexName, str] = {"messages": "due_messages", "memories": "due_memories"}


class _VectorSet(Struct, frozen=True):
    """The vectors of one space, index and embedder."""

    key: int
    dimensions: int
    changes: int = 0
    kept: int = 0
    """How many there are."""
    forgotten: int = 0
    """Removals up to this change are not known any more."""


def _dimensions(embedder: str, vectors: Mapping[int, Vector], there: int | None) -> int:
    """The common length of `vectors` and of the stored ones (`there`). Raises BadInput if they differ."""
    lengths = {len(vector) for vector in vectors.values()} | ({there} if there else set())
    if len(lengths) != 1 or 0 in lengths:
        found = ", ".join(f"{length:,}" for length in sorted(lengths))
        raise BadInput(f"The vectors of {embedder} have {found} dimensions; all of one embedder must have as many.")
    return lengths.pop()


class SqlVectors(Port, VectorsPort):
    """`ireneo.ports.memories.VectorsPort` in a database; triggers delete vectors with their documents."""

    @writes
    def put(self, space: str, index: IndexName, embedder: str, vectors: Mapping[int, Vector]) -> int:
        if not vectors:
            return 0
        database, found = self._db(space), self._find(space, index, embedder)
        dimensions = _dimensions(embedder, vectors, found.dimensions if found and found.kept else None)
        if found is None:
            named = {"space": space, "shelf": index, "embedder": embedder}
            found = _VectorSet(database.number("make_vector_set", **named, dimensions=dimensions), dimensions)
        elif found.dimensions != dimensions:
            database.send("measure_vector_set", key=found.key, dimensions=dimensions)
        given: list[Bindings] = [
            {
                "key": found.key,
                "document": document,
                "change": change,
                "space": space,
                "vector": vector,
                "checksum": checksum([b"%d" % found.key, b"%d" % document, vector]),
            }
            for change, (document, vector) in enumerate(vectors.items(), found.changes + 1)
        ]
        changed = sum(map(len, database.each(_PUT[index], given)))
        # The list of removed vectors must not grow for ever.
        if database.number("count_vectors_gone", key=found.key) > max(REMEMBERED, found.kept):
            database.send("forget_vectors_gone", key=found.key)
            database.send("forget_before", key=found.key)
        return changed

    @reads
    def since(self, space: str, index: IndexName, embedder: str, change: int) -> VectorChanges:
        found = self._find(space, index, embedder)
        if found is None:
            return VectorChanges(change=change, added={}, removed=[], whole=False)
        whole = change < found.forgotten
        after = 0 if whole else change
        added: dict[int, Vector] = dict(self._db(space).rows("vectors_since", key=found.key, change=after))
        # A reader that has nothing has nothing to drop.
        removed = self._db(space).column("vectors_gone_since", key=found.key, change=after) if after else []
        return VectorChanges(change=max(change, found.changes), added=added, removed=removed, whole=whole)

    @reads
    def likely(self, space: str, index: IndexName, embedder: str, query: Vector, k: int) -> Mapping[int, Vector] | None:
        """Return None: there is no index of vectors."""
        return None

    @reads
    def due(self, space: str, index: IndexName, embedder: str, limit: int) -> Sequence[int]:
        """The newest documents without a vector; counting tells faster that there are none."""
        found = self._find(space, index, embedder)
        if found is not None and found.kept == self._db(space).number(_HELD[index], space=space):
            return []
        return self._db(space).column(_DUE[index], space=space, key=found.key if found else None, limit=limit)

    @reads
    def embedders(self, space: str) -> Sequence[str]:
        return self._db(space).column("list_embedders", space=space)

    @writes
    def drop(self, space: str, embedder: str) -> int:
        """Delete all vectors of an embedder. Its sets stay, since change numbers must never repeat."""
        sets = self._db(space).rows("list_sets_of_embedder", space=space, embedder=embedder)
        for key, _ in sets:
            for query in ("drop_vectors", "forget_vectors_gone", "forget_before"):
                self._db(space).send(query, key=key)
        return sum(kept for _, kept in sets)

    def _find(self, space: str, index: IndexName, embedder: str) -> _VectorSet | None:
        row = self._db(space).row("find_vector_set", space=space, shelf=index, embedder=embedder)
        return None if row is None else _VectorSet(*row)

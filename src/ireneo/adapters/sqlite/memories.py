"""What was learned, in SQLite: memories, scratchpads, runs with their observations, and the files that were read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import cast

import apsw
import msgspec

from ireneo.adapters.rules import check_observations, utc
from ireneo.adapters.sqlite.connection import SQL, Bindings, Port, microseconds, reads, time_of, with_checksum, writes
from ireneo.adapters.sqlite.index import need_prefix, tokens
from ireneo.adapters.sqlite.log import list_projects
from ireneo.lessons.run import Category, ClaimTotals, LearnedRun, Observation
from ireneo.memories.index import memory_number, terms_of_memory
from ireneo.memories.record import Kind, MemoryId, Record, project_of
from ireneo.memories.scratchpad import Pad
from ireneo.ports.memories import LearnedFile, LedgerPort, MemoriesPort, MemoryFilter, PadsPort, RunsPort, folded

FOUND_AT_MOST = 10

_RECORD = msgspec.json.Decoder(Record)


class SqliteMemories(Port, MemoriesPort):
    """`ireneo.ports.memories.MemoriesPort` in SQLite."""

    @writes
    def put(self, space: str, records: Sequence[Record]) -> int:
        return sum(_put(self._database, space, record) for record in records)

    @reads
    def get(self, space: str, ids: Sequence[str]) -> Sequence[Record]:
        found: dict[MemoryId, Record] = {}
        for name in ids:
            asked: Bindings = {"space": space, "prefix": name, "limit": FOUND_AT_MOST}
            for record in _read(self._database, "find_memories", asked):
                found.setdefault(record.id, record)
        return list(found.values())

    @reads
    def of_key(self, space: str, kind: Kind, key: str) -> Sequence[Record]:
        return _read(self._database, "memories_of_key", {"space": space, "kind": kind, "key": key})

    @reads
    def list(self, space: str, wanted: MemoryFilter, limit: int | None = None) -> Sequence[Record]:
        return _read(
            self._database,
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

    @reads
    def citing(self, space: str, sources: Sequence[str]) -> Sequence[Record]:
        asked = msgspec.json.encode(list(dict.fromkeys(sources))).decode()
        return _read(self._database, "memories_citing", {"space": space, "sources": asked})

    @writes
    def remove(self, space: str, ids: Sequence[MemoryId]) -> int:
        return remove_memories(self._database, space, ids)


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


def _shortest_way(wanted: MemoryFilter) -> str:
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


_PAD = msgspec.json.Decoder(Pad)


class SqlitePads(Port, PadsPort):
    """`ireneo.ports.memories.PadsPort` in SQLite."""

    @reads
    def read(self, space: str, task: str) -> Pad | None:
        row = self._row("read_pad", space=space, task=task)
        return None if row is None else _PAD.decode(row[0])

    @writes
    def write(self, space: str, pad: Pad) -> None:
        self._rows(
            "write_pad",
            **with_checksum(
                "pads",
                {
                    "space": space,
                    "task": pad.task,
                    "written": microseconds(pad.written),
                    "record": msgspec.json.encode(pad).decode(),
                },
            ),
        )

    @writes
    def remove(self, space: str, task: str) -> bool:
        self._rows("remove_pad", space=space, task=task)
        return self._database.changes() > 0

    @reads
    def list(self, space: str) -> Sequence[Pad]:
        return [_PAD.decode(record) for (record,) in self._rows("list_pads", space=space)]


ClaimRow = tuple[str, Category, int, int, int, str, int | None, int | None, int, float]
"""A claim in the order in which the queries sum it up."""

NEVER = -(2**63)
"""What stands for no time, so that it sorts as the oldest."""

_RUN = msgspec.json.Decoder(LearnedRun)
_OBSERVATION = msgspec.json.Decoder(Observation)
_NAMES = msgspec.json.Decoder(tuple[str, ...])


class SqliteRuns(Port, RunsPort):
    """`ireneo.ports.memories.RunsPort` in SQLite."""

    @writes
    def put(self, space: str, run: LearnedRun, observations: Sequence[Observation]) -> None:
        check_observations(run, observations)
        self._rows(
            "put_run",
            **with_checksum(
                "runs",
                {
                    "space": space,
                    "session": run.session,
                    "head": run.head,
                    "ended": None if run.ended is None else _moment(run.ended),
                    "record": msgspec.json.encode(run).decode(),
                },
            ),
        )
        self._rows("delete_observations_of_run", space=space, session=run.session)
        self._database.executemany(
            SQL["add_observation"], (_observation_row(space, observation) for observation in observations)
        )

    @reads
    def get(self, space: str, sessions: Sequence[str]) -> Sequence[LearnedRun]:
        found = []
        for session in sessions:
            row = self._row("get_run", space=space, session=session)
            if row is not None:
                found.append(_RUN.decode(row[0]))
        return found

    @reads
    def list(self, space: str, limit: int | None = None) -> Sequence[LearnedRun]:
        return [
            _RUN.decode(record)
            for (record,) in self._rows("list_runs", space=space, limit=-1 if limit is None else limit)
        ]

    @writes
    def remove(self, space: str, session: str) -> bool:
        return remove_run(self._database, space, session)

    @reads
    def observations(self, space: str, cues: Sequence[str], limit: int = 200) -> Sequence[Observation]:
        found: list[Observation] = []
        for cue in dict.fromkeys(cues):
            found += _observations(self._rows("list_observations", space=space, cue=cue, limit=limit))
        return found

    @reads
    def of_run(self, space: str, session: str) -> Sequence[Observation]:
        return _observations(self._rows("observations_of_run", space=space, session=session))

    @reads
    def orphans(self, space: str) -> Sequence[str]:
        return [session for (session,) in self._rows("stray_runs", space=space)]

    @reads
    def claims(self, space: str, *, least_runs: int = 1, session: str | None = None) -> Sequence[ClaimTotals]:
        asked: Bindings = {"space": space, "least_runs": least_runs, "never": NEVER}
        if session is None:
            rows = self._rows("sum_claims", **asked)
        else:
            rows = self._rows("sum_claims_of_run", **asked, session=session)
        return [_claim(cast(ClaimRow, row)) for row in rows]


def _observation_row(space: str, observation: Observation) -> dict[str, str | bytes | int | float | None]:
    row: Bindings = {
        "space": space,
        "cue": observation.cue,
        "session": observation.session,
        "at": NEVER if observation.at is None else _moment(observation.at),
        "category": observation.category,
        "project": observation.project,
        "held": observation.held,
        "broke": observation.broke,
        "tokens": observation.tokens,
        "record": msgspec.json.encode(observation).decode(),
    }
    return {**with_checksum("sightings", row), "seconds": float(observation.seconds)}


def _moment(at: datetime) -> int:
    return microseconds(utc(at))


def remove_run(database: apsw.Connection, space: str, session: str) -> bool:
    """Take a run out with its observations; says whether there was one."""
    named = {"space": space, "session": session}
    database.execute(SQL["delete_observations_of_run"], named)
    database.execute(SQL["delete_run"], named)
    return database.changes() > 0


def _observations(rows: Iterable[tuple[str]]) -> list[Observation]:
    return [_OBSERVATION.decode(record) for (record,) in rows]


def _claim(row: ClaimRow) -> ClaimTotals:
    cue, category, held, broke, runs, projects, first, last, tokens, seconds = row
    return ClaimTotals(
        cue=cue,
        category=category,
        held=held,
        broke=broke,
        runs=runs,
        projects=tuple(sorted(_NAMES.decode(projects))),
        first=None if first is None else time_of(first),
        last=None if last is None else time_of(last),
        tokens=tokens,
        seconds=seconds,
    )


_FILE = msgspec.json.Decoder(LearnedFile)


class SqliteLedger(Port, LedgerPort):
    """`ireneo.ports.memories.LedgerPort` in SQLite."""

    @reads
    def known(self, space: str, learner: str, digests: Sequence[str]) -> frozenset[str]:
        return frozenset(
            digest
            for (digest,) in self._rows(
                "known_files", space=space, learner=learner, digests=msgspec.json.encode(list(digests)).decode()
            )
        )

    @writes
    def mark(self, space: str, file: LearnedFile) -> None:
        record = msgspec.json.encode(file).decode()
        self._rows("mark_file", space=space, learner=file.learner, digest=file.digest, record=record)

    @reads
    def list(self, space: str) -> Sequence[LearnedFile]:
        return [_FILE.decode(record) for (record,) in self._rows("list_files", space=space)]

    @writes
    def remove(self, space: str, files: Sequence[LearnedFile]) -> int:
        gone = 0
        for file in files:
            self._rows("remove_file", space=space, learner=file.learner, digest=file.digest)
            gone += self._database.changes()
        return gone

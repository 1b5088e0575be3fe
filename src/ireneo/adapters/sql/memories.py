"""Learned data in a database: memories, runs with their observations, learned files, traps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from ireneo.adapters.sql.database import (
    END,
    Bindings,
    Database,
    Port,
    Row,
    Value,
    microseconds,
    reads,
    time_of,
    utc,
    with_checksum,
    write_json,
    writes,
)
from ireneo.adapters.sql.log import forget_memory_words, index_memories, list_projects
from ireneo.errors import BadInput
from ireneo.lessons.guard import TrapIndex
from ireneo.lessons.needles import VERSION
from ireneo.lessons.run import ClaimTotals, LearnedRun, Observation
from ireneo.memories.index import terms_of_memory
from ireneo.memories.record import Kind, MemoryId, Record, evidence_project
from ireneo.patterns import readable
from ireneo.ports.memories import LearnedFile, LedgerPort, MemoriesPort, MemoryFilter, RunsPort, TrapsPort, folded

FOUND_AT_MOST = 10

_RECORD = msgspec.json.Decoder(readable(Record))


class SqlMemories(Port, MemoriesPort):
    """`ireneo.ports.memories.MemoriesPort` in a database."""

    @writes
    def put(self, space: str, records: Sequence[Record]) -> int:
        new = 0
        some: dict[MemoryId, Record] = {}
        for record in records:
            if record.id in some:
                # A record that is given twice replaces the first of the two.
                new += _put(self._db(space), space, list(some.values()))
                some = {}
            some[record.id] = record
        return new + _put(self._db(space), space, list(some.values()))

    @reads
    def get(self, space: str, ids: Sequence[str]) -> Sequence[Record]:
        found: dict[MemoryId, Record] = {}
        asked: list[Bindings] = [{"space": space, "prefix": name, "limit": FOUND_AT_MOST} for name in ids]
        for rows in self._db(space).each("find_memories", asked):
            for (text,) in rows:
                record = _RECORD.decode(text)
                found.setdefault(record.id, record)
        return list(found.values())

    @reads
    def of_key(self, space: str, kind: Kind, key: str) -> Sequence[Record]:
        return self._read("memories_of_key", space=space, kind=kind, key=key)

    @reads
    def list(self, space: str, wanted: MemoryFilter, limit: int | None = None) -> Sequence[Record]:
        return self._read(
            _shortest_way(wanted),
            space=space,
            kind=wanted.kind,
            states=write_json(wanted.states),
            subject=None if wanted.subject is None else folded(wanted.subject),
            task_type=None if wanted.task_type is None else folded(wanted.task_type),
            archived=wanted.archived,
            unreflected=wanted.unreflected,
            stale=wanted.stale,
            cues=write_json(wanted.cues),
            lessons=wanted.lessons,
            projects=None if wanted.projects is None else write_json(wanted.projects),
            ids=write_json(wanted.ids),
            after_at=None if wanted.after is None else microseconds(wanted.after[0]),
            after_id=None if wanted.after is None else wanted.after[1],
            limit=END if limit is None else limit,
        )

    @reads
    def citing(self, space: str, sources: Sequence[str]) -> Sequence[Record]:
        return self._read("memories_citing", space=space, sources=write_json(list(dict.fromkeys(sources))))

    @writes
    def remove(self, space: str, ids: Sequence[MemoryId]) -> int:
        return remove_memories(self._db(space), space, ids)

    def _read(self, query: str, *, space: str, **bindings: Value) -> Sequence[Record]:
        return list(map(_RECORD.decode, self._db(space).column(query, space=space, **bindings)))


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
        "record": write_json(record),
    }
    return with_checksum("memories", row)


def _put(database: Database, space: str, records: Sequence[Record]) -> int:
    """Store memories with different ids, in few round trips; return how many are new."""
    there = database.each("find_memory", [{"space": space, "id": record.id} for record in records])
    new = [record for record, rows in zip(records, there, strict=True) if not rows]
    given = iter(database.each("add_memory", [_row(space, record) for record in new]))
    numbers: list[int] = []
    unindexed: list[tuple[int, Record]] = []
    lost: list[Bindings] = []
    gained: list[Bindings] = []
    for record, rows in zip(records, there, strict=True):
        sources: tuple[str, ...] = ()
        if rows:
            ((number, document, counted, text),) = rows
            database.send("replace_memory", **_row(space, record))
            known = _RECORD.decode(text)
            sources = known.sources
            # Most replaced records were only reinforced or used, and their words are unchanged.
            if terms_of_memory(known) != terms_of_memory(record):
                forget_memory_words(database, space, document, counted)
                unindexed.append((number, record))
        else:
            (((number, *_),)) = next(given)
            unindexed.append((number, record))
        numbers.append(number)
        of: Bindings = {"space": space, "number": number}
        lost += [{**of, "source": source} for source in set(sources) - set(record.sources)]
        gained += [{**of, "source": source} for source in set(record.sources) - set(sources)]
    index_memories(database, space, unindexed)
    database.send_all("remove_memory_source", lost)
    database.send_all("add_memory_source", gained)
    _place(database, space, numbers, records)
    return len(new)


def _place(database: Database, space: str, numbers: Sequence[int], records: Sequence[Record]) -> None:
    """Record the projects of memories, which come from their evidence or its sessions."""
    silent = {
        piece.session
        for record in records
        for piece in record.evidence
        if piece.session and not evidence_project(piece)
    }
    there = list_projects(database, space, sorted(silent))
    placed: list[Bindings] = []
    for number, record in zip(numbers, records, strict=True):
        told = zip(record.evidence, record.projects, strict=True)
        projects = {project or there.get(piece.session, "") for piece, project in told}
        placed += [{"space": space, "number": number, "project": project} for project in projects]
    database.send_all("unplace_memory", [{"space": space, "number": number} for number in numbers])
    database.send_all("place_memory", placed)


def remove_memories(database: Database, space: str, ids: Sequence[MemoryId]) -> int:
    """Delete memories with their words and sources; return how many there were."""
    gone = 0
    for name in ids:
        found = database.row("find_memory", space=space, id=name)
        if found is None:
            continue
        number, document, terms, text = found
        forget_memory_words(database, space, document, terms)
        sources = set(_RECORD.decode(text).sources)
        database.send_all(
            "remove_memory_source", [{"space": space, "source": each, "number": number} for each in sources]
        )
        gone += database.change("remove_memory", space=space, id=name)
    return gone


def _shortest_way(wanted: MemoryFilter) -> str:
    """The query with the most selective index for a filter."""
    ways = (
        (wanted.cues, "list_memories_of_cues"),
        (wanted.lessons, "list_lessons"),
        (wanted.stale, "list_stale_memories"),
        (wanted.subject, "list_memories_of_subject"),
        (wanted.task_type, "list_memories_of_task"),
        (wanted.kind and wanted.unreflected, "list_unreflected_memories"),
        (wanted.kind, "list_memories_of_kind"),
    )
    return next((query for narrows, query in ways if narrows), "list_memories")


NEVER = -(2**63)
"""Stored instead of no time, so that it sorts as the oldest."""

_RUN = msgspec.json.Decoder(readable(LearnedRun))
_OBSERVATION = msgspec.json.Decoder(readable(Observation))
_NAMES = msgspec.json.Decoder(tuple[str, ...])


class SqlRuns(Port, RunsPort):
    """`ireneo.ports.memories.RunsPort` in a database."""

    @writes
    def put(self, space: str, run: LearnedRun, observations: Sequence[Observation]) -> None:
        cues: set[str] = set()
        for observation in observations:
            of, cue = observation.session, observation.cue
            if of != run.session:
                raise BadInput(f"An observation of session {of!r} can't be stored with the run of {run.session!r}.")
            if not cue:
                raise BadInput(f"An observation of session {of!r} has no cue; name its claim.")
            if cue in cues:
                raise BadInput(f"Claim {cue!r} was observed twice in session {of!r}; add them up first.")
            cues.add(cue)
        row: Bindings = {
            "space": space,
            "session": run.session,
            "head": run.head,
            "ended": None if run.ended is None else _moment(run.ended),
            "record": write_json(run),
        }
        self._db(space).send("put_run", **with_checksum("runs", row))
        self._db(space).send("delete_observations_of_run", space=space, session=run.session)
        self._db(space).send_all("add_observation", (_observation_row(space, each) for each in observations))

    @reads
    def get(self, space: str, sessions: Sequence[str]) -> Sequence[LearnedRun]:
        found = self._db(space).each("get_run", [{"space": space, "session": session} for session in sessions])
        return [_RUN.decode(record) for rows in found for (record,) in rows]

    @reads
    def list(self, space: str, limit: int | None = None) -> Sequence[LearnedRun]:
        limit = END if limit is None else limit
        return list(map(_RUN.decode, self._db(space).column("list_runs", space=space, limit=limit)))

    @writes
    def remove(self, space: str, session: str) -> bool:
        return remove_run(self._db(space), space, session)

    @reads
    def observations(self, space: str, cues: Sequence[str], limit: int = 200) -> Sequence[Observation]:
        asked: list[Bindings] = [{"space": space, "cue": cue, "limit": limit} for cue in dict.fromkeys(cues)]
        found = self._db(space).each("list_observations", asked)
        return [_OBSERVATION.decode(record) for rows in found for (record,) in rows]

    @reads
    def of_run(self, space: str, session: str) -> Sequence[Observation]:
        return list(
            map(_OBSERVATION.decode, self._db(space).column("observations_of_run", space=space, session=session))
        )

    @reads
    def cues(self, space: str, beginning: str) -> Sequence[str]:
        return self._db(space).column("list_cues", space=space, beginning=beginning, behind=f"{beginning}\U0010ffff")

    @reads
    def orphans(self, space: str) -> Sequence[str]:
        return self._db(space).column("stray_runs", space=space)

    @reads
    def claims(self, space: str, *, least_runs: int = 1, session: str | None = None) -> Sequence[ClaimTotals]:
        asked: Bindings = {"space": space, "least_runs": least_runs, "never": NEVER}
        if session is None:
            return [_claim(row) for row in self._db(space).rows("sum_claims", **asked)]
        return [_claim(row) for row in self._db(space).rows("sum_claims_of_run", **asked, session=session)]


def _observation_row(space: str, observation: Observation) -> Bindings:
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
        "record": write_json(observation),
    }
    return {**with_checksum("sightings", row), "seconds": float(observation.seconds)}


def _moment(at: datetime) -> int:
    return microseconds(utc(at))


def remove_run(database: Database, space: str, session: str) -> bool:
    """Delete a run with its observations; return whether there was one."""
    database.send("delete_observations_of_run", space=space, session=session)
    return database.change("delete_run", space=space, session=session) > 0


def _claim(row: Row) -> ClaimTotals:
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


_TRAPS = msgspec.json.Decoder(readable(TrapIndex))


class SqlTraps(Port, TrapsPort):
    """`ireneo.ports.memories.TrapsPort` in a database; triggers delete them."""

    @reads
    def read(self, space: str) -> TrapIndex | None:
        row = self._db(space).row("read_traps", space=space, version=VERSION)
        return None if row is None else _TRAPS.decode(row[0])

    @reads
    def due(self, space: str) -> bool:
        return self._db(space).number("due_traps", space=space, version=VERSION) > 0

    @writes
    def keep(self, space: str, index: TrapIndex) -> None:
        needles = "\n".join(sorted({each.needle for each in index.traps}))
        self._db(space).send("keep_traps", space=space, version=VERSION, needles=needles, record=write_json(index))


_FILE = msgspec.json.Decoder(readable(LearnedFile))


class SqlLedger(Port, LedgerPort):
    """`ireneo.ports.memories.LedgerPort` in a database."""

    @reads
    def known(self, space: str, learner: str, digests: Sequence[str]) -> frozenset[str]:
        asked = write_json(list(digests))
        return frozenset(self._db(space).column("known_files", space=space, learner=learner, digests=asked))

    @writes
    def mark(self, space: str, file: LearnedFile) -> None:
        row: Bindings = {"space": space, "learner": file.learner, "digest": file.digest}
        self._db(space).send("mark_file", **row, record=write_json(file))

    @reads
    def list(self, space: str) -> Sequence[LearnedFile]:
        return list(map(_FILE.decode, self._db(space).column("list_files", space=space)))

    @writes
    def remove(self, space: str, files: Sequence[LearnedFile]) -> int:
        named = ({"space": space, "learner": file.learner, "digest": file.digest} for file in files)
        return sum(self._db(space).change("remove_file", **each) for each in named)

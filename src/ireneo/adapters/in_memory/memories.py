"""What was learned, in memory: memories, scratchpads, runs, and what finds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import fsum

from msgspec.structs import replace

from ireneo.adapters.in_memory.state import SessionState, Snapshot, SpaceState, StatePort, VectorSet
from ireneo.adapters.rules import check_lengths, check_observations, utc
from ireneo.lessons.run import ClaimTotals, LearnedRun, Observation
from ireneo.log.message import MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.index import Vector, author_of_message, place_of, terms_of_stored
from ireneo.memories.record import Kind, MemoryId, Record, project_of
from ireneo.memories.scratchpad import Pad
from ireneo.ports.memories import (
    FoundMemory,
    FoundMessage,
    FoundSession,
    IndexName,
    IndexSize,
    LearnedFile,
    LedgerPort,
    MemoriesPort,
    MemoryFilter,
    PadsPort,
    RunsPort,
    SearchPort,
    VectorChanges,
    VectorsPort,
    WordsPort,
    folded,
)

FOUND_AT_MOST = 10


class MemoryMemories(StatePort, MemoriesPort):
    """`ireneo.ports.memories.MemoriesPort` in memory."""

    def put(self, space: str, records: Sequence[Record]) -> int:
        state = self._snapshot.change_space(space)
        return sum(state.put(record) for record in records)

    def get(self, space: str, ids: Sequence[str]) -> Sequence[Record]:
        memories = self._snapshot.space(space).memories
        found: dict[MemoryId, Record] = {}
        for name in ids:
            for each in sorted(known for known in memories if known.startswith(name))[:FOUND_AT_MOST]:
                found.setdefault(each, memories[each])
        return list(found.values())

    def of_key(self, space: str, kind: Kind, key: str) -> Sequence[Record]:
        memories = self._snapshot.space(space).memories.values()
        return _as_recorded([each for each in memories if (each.kind, each.key) == (kind, key)])

    def list(self, space: str, wanted: MemoryFilter, limit: int | None = None) -> Sequence[Record]:
        found = [each for each in self._snapshot.space(space).memories.values() if _is_meant(each, wanted)]
        found.sort(key=lambda each: each.id)
        found.sort(key=lambda each: each.at, reverse=True)
        return found[:limit]

    def citing(self, space: str, sources: Sequence[str]) -> Sequence[Record]:
        asked = set(sources)
        memories = self._snapshot.space(space).memories.values()
        return _as_recorded([each for each in memories if not asked.isdisjoint(each.sources)])

    def remove(self, space: str, ids: Sequence[MemoryId]) -> int:
        state = self._snapshot.change_space(space)
        return sum(state.remove(name) for name in ids)


class MemoryPads(StatePort, PadsPort):
    """`ireneo.ports.memories.PadsPort` in memory."""

    def read(self, space: str, task: str) -> Pad | None:
        return self._snapshot.space(space).pads.get(task)

    def write(self, space: str, pad: Pad) -> None:
        self._snapshot.change_space(space).pads[pad.task] = pad

    def remove(self, space: str, task: str) -> bool:
        return self._snapshot.change_space(space).pads.pop(task, None) is not None

    def list(self, space: str) -> Sequence[Pad]:
        pads = sorted(self._snapshot.space(space).pads.values(), key=lambda pad: pad.task)
        return sorted(pads, key=lambda pad: pad.written, reverse=True)


def _as_recorded(records: list[Record]) -> list[Record]:
    return sorted(records, key=lambda each: (each.recorded, each.id))


def _is_meant(record: Record, wanted: MemoryFilter) -> bool:
    return (
        wanted.kind in (None, record.kind)
        and (not wanted.states or record.state in wanted.states)
        and (wanted.subject is None or folded(wanted.subject) == folded(record.subject))
        and (wanted.task_type is None or folded(wanted.task_type) == folded(record.task_type))
        and wanted.archived in (None, record.archived)
        and (not wanted.unreflected or record.reflected is None)
        and (not wanted.stale or record.stale != "")
        and (not wanted.cues or (record.cue != "" and record.cue in wanted.cues))
        and (not wanted.lessons or record.cue != "")
    )


_ANY = datetime(1970, 1, 1, tzinfo=UTC)
"""Some time, from which others are counted."""


class MemoryRuns(StatePort, RunsPort):
    """`ireneo.ports.memories.RunsPort` in memory."""

    def put(self, space: str, run: LearnedRun, observations: Sequence[Observation]) -> None:
        state = self._snapshot.change_space(space)
        check_observations(run, observations)
        take_out_run(state, run.session)
        state.runs[run.session] = run
        for each in observations:
            state.observations[each.cue] = {**state.observations.get(each.cue, {}), run.session: each}

    def get(self, space: str, sessions: Sequence[str]) -> Sequence[LearnedRun]:
        runs = self._snapshot.space(space).runs
        return [runs[session] for session in sessions if session in runs]

    def list(self, space: str, limit: int | None = None) -> Sequence[LearnedRun]:
        runs = self._snapshot.space(space).runs.values()
        return sorted(runs, key=lambda run: _newest_first(run.ended, run.session))[:limit]

    def remove(self, space: str, session: str) -> bool:
        return take_out_run(self._snapshot.change_space(space), session)

    def observations(self, space: str, cues: Sequence[str], limit: int = 200) -> Sequence[Observation]:
        known = self._snapshot.space(space).observations
        found: list[Observation] = []
        for cue in dict.fromkeys(cues):
            of_cue = known.get(cue, {}).values()
            found += sorted(of_cue, key=lambda each: _newest_first(each.at, each.session))[:limit]
        return found

    def of_run(self, space: str, session: str) -> Sequence[Observation]:
        known = self._snapshot.space(space).observations
        return [known[cue][session] for cue in sorted(known) if session in known[cue]]

    def orphans(self, space: str) -> Sequence[str]:
        state = self._snapshot.space(space)
        loose = {
            run.session
            for run in state.runs.values()
            if run.head not in self._snapshot.session(SessionKey(space, run.session)).messages
        }
        observed = {session for of_cue in state.observations.values() for session in of_cue}
        return sorted(loose | (observed - state.runs.keys()))

    def claims(self, space: str, *, least_runs: int = 1, session: str | None = None) -> Sequence[ClaimTotals]:
        known = self._snapshot.space(space).observations
        meant = [known[cue] for cue in sorted(known) if session is None or session in known[cue]]
        claims = [sum_up(of_cue.values()) for of_cue in meant]
        return [claim for claim in claims if claim.runs >= least_runs]


class MemoryLedger(StatePort, LedgerPort):
    """`ireneo.ports.memories.LedgerPort` in memory."""

    def known(self, space: str, learner: str, digests: Sequence[str]) -> frozenset[str]:
        ledger = self._snapshot.space(space).ledger
        return frozenset(digest for digest in digests if (learner, digest) in ledger)

    def mark(self, space: str, file: LearnedFile) -> None:
        self._snapshot.change_space(space).ledger[file.learner, file.digest] = file

    def list(self, space: str) -> Sequence[LearnedFile]:
        ledger = self._snapshot.space(space).ledger
        return [ledger[place] for place in sorted(ledger)]

    def remove(self, space: str, files: Sequence[LearnedFile]) -> int:
        ledger = self._snapshot.change_space(space).ledger
        return sum(ledger.pop((file.learner, file.digest), None) is not None for file in files)


def take_out_run(state: SpaceState, session: str) -> bool:
    """Take a run out with its observations; says whether there was one."""
    for cue in [cue for cue, of_cue in state.observations.items() if session in of_cue]:
        left = {name: each for name, each in state.observations[cue].items() if name != session}
        if left:
            state.observations[cue] = left
        else:
            del state.observations[cue]
    return state.runs.pop(session, None) is not None


def sum_up(observations: Iterable[Observation]) -> ClaimTotals:
    """A claim as the sum of its observations, of which there is at least one."""
    every = list(observations)
    held = [each for each in every if each.held > 0]
    times = sorted(utc(each.at) for each in held if each.at is not None)
    return ClaimTotals(
        cue=every[0].cue,
        category=min(each.category for each in every),
        held=sum(each.held for each in every),
        broke=sum(each.broke for each in every),
        runs=len(held),
        projects=tuple(sorted({each.project for each in held if each.project})),
        first=times[0] if times else None,
        last=times[-1] if times else None,
        tokens=sum(each.tokens for each in every),
        seconds=fsum(each.seconds for each in every),
    )


def _newest_first(at: datetime | None, name: str) -> tuple[bool, timedelta, str]:
    """A key that puts the newest first, what has no time last, and those of one time by name."""
    return at is None, timedelta() if at is None else _ANY - utc(at), name


class MemorySearch(StatePort, SearchPort):
    """`ireneo.ports.memories.SearchPort` in memory."""

    def size(self, space: str, index: IndexName) -> IndexSize:
        lengths = [length for _, _, length in self._documents(space, index)]
        return IndexSize(documents=len(lengths), terms=sum(lengths))

    def count(self, space: str, index: IndexName, terms: Sequence[str]) -> Mapping[str, int]:
        return {term: len(found) for term, found in (self.postings(space, index, terms)).items()}

    def postings(self, space: str, index: IndexName, terms: Sequence[str]) -> Mapping[str, Sequence[int]]:
        documents = sorted(self._documents(space, index), key=lambda each: each[0])
        return {term: [number for number, held, _ in documents if term in held] for term in terms}

    def messages(self, space: str, documents: Sequence[int]) -> Sequence[FoundMessage]:
        places = {
            place_of(number): FoundMessage(document=number, key=tree.key, message=tree.messages[name])
            for tree in self._snapshot.sessions(space)
            for number, name in tree.numbers.items()
        }
        return [places[place_of(each)] for each in documents if place_of(each) in places]

    def memories(self, space: str, documents: Sequence[int]) -> Sequence[FoundMemory]:
        state = self._snapshot.space(space)
        places = {
            place_of(number): FoundMemory(document=number, record=state.memories[name])
            for number, name in state.documents.items()
        }
        return [places[place_of(each)] for each in documents if place_of(each) in places]

    def authors(self, space: str) -> Mapping[str, int]:
        messages = (message for tree in self._snapshot.sessions(space) for message in tree.messages.values())
        spoke = Counter(author for each in messages if (author := author_of_message(each.draft)))
        return {author: spoke[author] for author in sorted(spoke)}

    def abandoned(self, space: str) -> Sequence[tuple[int, int]]:
        return sorted(run for tree in self._snapshot.sessions(space) for run in _without(tree, tree.on_branches()))

    def off_path(self, key: SessionKey, to: MessageId) -> Sequence[tuple[int, int]]:
        tree = self._snapshot.need_session(key)
        return _without(tree, {message.id for message in tree.walk(to)})

    def of_project(self, space: str, documents: Sequence[int], project: str) -> Sequence[int]:
        there = {tree.key.session: tree.project or "" for tree in self._snapshot.sessions(space)}
        found: list[int] = []
        for each in self.memories(space, documents):
            projects = {project_of(piece) or there.get(piece.session, "") for piece in each.record.evidence}
            found += [each.document] if projects & {"", project} else []
        return found

    def sessions(self, space: str, keys: Sequence[int]) -> Mapping[int, FoundSession]:
        there = {tree.number: tree for tree in self._snapshot.sessions(space)}
        return {
            key: FoundSession(session=there[key].key.session, project=there[key].project or "")
            for key in keys
            if key in there
        }

    def _documents(self, space: str, index: IndexName) -> Iterator[tuple[int, Collection[str], int]]:
        if index == "messages":
            for tree in self._snapshot.sessions(space):
                for each in tree.documents.values():
                    yield each.number, each.terms, each.length
        else:
            state = self._snapshot.space(space)
            for number, name in state.documents.items():
                yield number, frozenset(state.terms[name]), len(state.terms[name])


def _without(tree: SessionState, live: Collection[MessageId]) -> list[tuple[int, int]]:
    """The documents of a session but those of `live` messages, each a run of its own."""
    return sorted((number, number) for number, name in tree.numbers.items() if name not in live)


class MemoryWords(StatePort, WordsPort):
    """`ireneo.ports.memories.WordsPort` in memory."""

    def faults(self, space: str) -> Sequence[str]:
        found: list[str] = []
        for tree in self._snapshot.sessions(space):
            wanted = {name for name, message in tree.messages.items() if terms_of_stored(message)}
            where = f"of session {tree.key.session!r}"
            if missing := len(wanted - tree.documents.keys()):
                found.append(f"{missing} messages {where} are in no index of words.")
            if loose := len(tree.documents.keys() - wanted):
                found.append(f"{loose} documents {where} are of messages that aren't there.")
        return found

    def rebuild(self, space: str) -> int:
        looked = 0
        for each in self._snapshot.sessions(space):
            tree = self._snapshot.change_session(each.key)
            tree.documents = {name: found for name, found in tree.documents.items() if name in tree.messages}
            for name in [name for name in tree.messages if name not in tree.documents]:
                tree.index(tree.messages[name])
            tree.numbers = {found.number: name for name, found in tree.documents.items()}
            looked += len(tree.messages)
        return looked


class MemoryVectors(StatePort, VectorsPort):
    """`ireneo.ports.memories.VectorsPort` in memory."""

    def put(self, space: str, index: IndexName, embedder: str, vectors: Mapping[int, Vector]) -> int:
        state = self._snapshot.change_space(space)
        if not vectors:
            return 0
        there = _documents(self._snapshot, space, index)
        known = _set(self._snapshot, space, index, embedder)
        before = next((len(vector) for _, _, vector in known.vectors.values()), None)
        check_lengths(embedder, vectors, before)
        now, changes = dict(known.vectors), known.changes
        for document, vector in vectors.items():
            if document in there and (document not in now or now[document][2] != vector):
                changes += 1
                now[document] = (changes, there[document], bytes(vector))
        gone = {document: change for document, change in known.gone.items() if document not in now}
        state.vectors[index, embedder] = replace(known, changes=changes, vectors=now, gone=gone)
        return changes - known.changes

    def since(self, space: str, index: IndexName, embedder: str, change: int) -> VectorChanges:
        if self._snapshot.writes:
            # The number that is told here counts what this transaction took out so far, and is not to be told again.
            settle(self._snapshot)
        known = _set(self._snapshot, space, index, embedder)
        whole = change < known.forgotten
        after = 0 if whole else change
        return VectorChanges(
            change=max(change, known.changes),
            added={document: vector for document, (at, _, vector) in known.vectors.items() if at > after},
            removed=[document for document, at in known.gone.items() if at > after] if after else [],
            whole=whole,
        )

    def due(self, space: str, index: IndexName, embedder: str, limit: int) -> Sequence[int]:
        vectors = _set(self._snapshot, space, index, embedder).vectors
        due = [document for document in _documents(self._snapshot, space, index) if document not in vectors]
        return sorted(due, reverse=True)[:limit]

    def embedders(self, space: str) -> Sequence[str]:
        names = {embedder for _, embedder in self._snapshot.space(space).vectors}
        indexes: tuple[IndexName, ...] = ("messages", "memories")
        return sorted(
            name for name in names if any(_set(self._snapshot, space, index, name).vectors for index in indexes)
        )

    def drop(self, space: str, embedder: str) -> int:
        state, dropped = self._snapshot.change_space(space), 0
        for index, name in list(state.vectors):
            if name == embedder:
                known = _set(self._snapshot, space, index, name)
                dropped += len(known.vectors)
                # The numbers of changes must never come again.
                changes = known.changes + len(known.vectors)
                state.vectors[index, name] = VectorSet(changes=changes, forgotten=changes)
        return dropped


def settle(snapshot: Snapshot) -> None:
    """Take out the vectors of what the transaction took out or rewrote, whoever did it."""
    for space in snapshot.spaces():
        for (index, embedder), known in snapshot.space(space).vectors.items():
            settled = _set(snapshot, space, index, embedder)
            if settled is not known:
                snapshot.change_space(space).vectors[index, embedder] = settled


def _set(snapshot: Snapshot, space: str, index: IndexName, embedder: str) -> VectorSet:
    """A set of vectors without those of documents that are gone, or that say something else by now."""
    known = snapshot.space(space).vectors.get((index, embedder)) or VectorSet()
    there = _documents(snapshot, space, index) if known.vectors else {}
    lost = [document for document, (_, text, _) in known.vectors.items() if there.get(document) != text]
    if not lost:
        return known
    return VectorSet(
        changes=known.changes + len(lost),
        vectors={document: each for document, each in known.vectors.items() if document not in set(lost)},
        gone={**known.gone, **{document: known.changes + at for at, document in enumerate(lost, 1)}},
        forgotten=known.forgotten,
    )


def _documents(snapshot: Snapshot, space: str, index: IndexName) -> Mapping[int, str]:
    """The documents that are there; of a memory with its text, since that may change."""
    if index == "messages":
        return dict.fromkeys((number for tree in snapshot.sessions(space) for number in tree.numbers), "")
    state = snapshot.space(space)
    return {number: state.memories[name].text for number, name in state.documents.items()}

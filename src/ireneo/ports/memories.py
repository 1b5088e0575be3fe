"""The ports of a store for what was learned and for finding it: memories, runs, words, vectors.

Every message and every memory is a document with a number. Its terms are indexed in the transaction that stores it. No
call sees a document of another space, and no result depends on one.

Vectors are kept for each embedder under its name. Which documents lack one follows from the documents that exist, so no
queue can lose any. Each change to the vectors of one space, index and embedder has a growing number: a reader asks for
the changes after the last one it knows, and so learns what other processes wrote and what was erased. Deleting a
document deletes its vectors in the same transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol

from msgspec import Struct

from ireneo.lessons.guard import TrapIndex
from ireneo.lessons.run import ClaimTotals, LearnedRun, Observation
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import SessionKey
from ireneo.memories.index import Vector
from ireneo.memories.record import Kind, MemoryId, Record, State
from ireneo.memories.scratchpad import Pad

IndexName = Literal["messages", "memories"]


class IndexSize(Struct, frozen=True, kw_only=True):
    """The size of an index of a space."""

    documents: int
    terms: int
    """The number of terms in all documents together."""


class FoundMessage(Struct, frozen=True, kw_only=True):
    """A message with its document number."""

    document: int
    key: SessionKey
    message: Message


class FoundMemory(Struct, frozen=True, kw_only=True):
    """A memory with its document number."""

    document: int
    record: Record


class FoundSession(Struct, frozen=True, kw_only=True):
    """A session, found by its key, which is part of the numbers of its documents."""

    session: str
    project: str
    """The project that it worked on; empty if none is known."""


class SearchPort(Protocol):
    """The documents of a space."""

    def size(self, space: str, index: IndexName) -> IndexSize:
        """The size of an index."""

    def count(
        self, space: str, index: IndexName, terms: Sequence[str], at_most: int | None = None
    ) -> Mapping[str, int]:
        """The number of documents with each term, 0 included; counting stops at `at_most + 1`."""

    def postings(
        self, space: str, index: IndexName, terms: Sequence[str], at_most: int | None = None
    ) -> Mapping[str, Sequence[int]]:
        """The numbers of the documents with each term, ascending; none for a term that more than `at_most` have."""

    def messages(self, space: str, documents: Sequence[int]) -> Sequence[FoundMessage]:
        """Read messages without natives and log records, in the order asked; unknown ones are skipped.

        They are looked up by the place in their number: the length and role in the numbers given may be wrong, those in
        the result are right.
        """

    def memories(self, space: str, documents: Sequence[int]) -> Sequence[FoundMemory]:
        """Read memories, looked up as messages are, in the order asked; unknown ones are skipped."""

    def authors(self, space: str) -> Mapping[str, int]:
        """The number of messages in the space in which each author speaks, by name as written."""

    def abandoned(self, space: str) -> Sequence[tuple[int, int]]:
        """The messages of a space that are on no branch, as ascending ranges of numbers: first and last of each.

        No number in a range belongs to a message on a branch.
        """

    def off_path(self, key: SessionKey, to: MessageId) -> Sequence[tuple[int, int]]:
        """The messages of a session that are not on the path to `to`, as such ranges."""

    def of_projects(self, space: str, documents: Sequence[int], projects: Collection[str]) -> Sequence[int]:
        """Filter documents of memories to those that may belong to one of `projects` (empty: to none), in order.

        Documents that are known to come from other projects only are left out; the caller checks the rest.
        """

    def knows_other_project(self, space: str, project: str) -> bool:
        """Whether a session or memory of the space is known to belong to a project other than `project`.

        Those with no project (empty) or marked as general (``*``) are ignored.
        """

    def sessions(self, space: str, keys: Sequence[int]) -> Mapping[int, FoundSession]:
        """The sessions with these keys (`session_of` a document number); unknown ones are skipped."""


class WordsPort(Protocol):
    """The word index itself, which is derived from what is stored and can be rebuilt."""

    def faults(self, space: str) -> Sequence[str]:
        """The differences between the index of a space and the stored data, one sentence each."""

    def rebuild(self, space: str) -> int:
        """Rebuild the index of a space, keeping all document numbers; return how many messages were processed."""


class VectorChanges(Struct, frozen=True, kw_only=True):
    """The changes to vectors since a given change; a document is in `added` or in `removed`, never in both."""

    change: int
    """The newest change included: where to continue from next time."""
    added: Mapping[int, Vector]
    """The vectors that were added or replaced, by document."""
    removed: Sequence[int]
    """The documents that lost their vector."""
    whole: bool
    """`added` is the complete set, and whatever the reader had before has to be dropped."""


class VectorsPort(Protocol):
    """The vectors of the documents of a space."""

    def put(self, space: str, index: IndexName, embedder: str, vectors: Mapping[int, Vector]) -> int:
        """Store vectors; return how many are new or changed.

        Vectors of documents that don't exist any more are skipped, since a document may be erased while its vector is
        computed. Raises BadInput if their length differs from that of the embedder's vectors already stored.
        """

    def since(self, space: str, index: IndexName, embedder: str, change: int) -> VectorChanges:
        """The changes after `change`, a number returned before; 0: from the beginning."""

    def likely(self, space: str, index: IndexName, embedder: str, query: Vector, k: int) -> Mapping[int, Vector] | None:
        """Candidates from the store's own vector index that contain nearly all of the `k` nearest to `query`.

        None if the caller should compare all vectors, which `since` returns.
        """

    def due(self, space: str, index: IndexName, embedder: str, limit: int) -> Sequence[int]:
        """The documents without a vector of `embedder`, newest first, at most `limit`."""

    def embedders(self, space: str) -> Sequence[str]:
        """The embedders of which the space has vectors, sorted by name."""

    def drop(self, space: str, embedder: str) -> int:
        """Delete all vectors of an embedder that is no longer used; return how many there were."""


class LearnedFile(Struct, frozen=True, kw_only=True):
    """A file that was learned from completely, identified by its content."""

    digest: str
    learner: str
    """The version of the rules that read it; for another version it is a new file."""
    name: str
    at: datetime
    sessions: tuple[str, ...] = ()


class RunsPort(Protocol):
    """The runs of a space that were learned from. Observations are stored and deleted with their run."""

    def put(self, space: str, run: LearnedRun, observations: Sequence[Observation]) -> None:
        """Store a run and its observations, replacing those of the same session.

        The session need not be stored (see `orphans`). Raises BadInput for an observation of another session, one
        without a cue, and two of one claim.
        """

    def get(self, space: str, sessions: Sequence[str]) -> Sequence[LearnedRun]:
        """The runs of these sessions, in the order asked; unknown ones are skipped."""

    def list(self, space: str, limit: int | None = None) -> Sequence[LearnedRun]:
        """The runs, the last ended first, those without a time last, then by session."""

    def remove(self, space: str, session: str) -> bool:
        """Delete a run and its observations; return False if there is none."""

    def observations(self, space: str, cues: Sequence[str], limit: int = 200) -> Sequence[Observation]:
        """The observations of these claims, at most `limit` of each, in the order asked.

        Those of a claim are ordered newest first (no time last), then by session.
        """

    def of_run(self, space: str, session: str) -> Sequence[Observation]:
        """The observations of one run, ordered by cue."""

    def cues(self, space: str, beginning: str) -> Sequence[str]:
        """The cues of observed claims that start with `beginning`, sorted, without duplicates."""

    def orphans(self, space: str) -> Sequence[str]:
        """The sessions whose run has a head that is not stored, or that have observations but no run, sorted."""

    def claims(self, space: str, *, least_runs: int = 1, session: str | None = None) -> Sequence[ClaimTotals]:
        """Totals of each claim that held in at least `least_runs` runs (with `session`: those it observed), by cue.

        If runs disagree on a claim's category, the alphabetically first one is used. Times are in UTC.
        """


class LedgerPort(Protocol):
    """The files that were learned from, so that none is read twice."""

    def known(self, space: str, learner: str, digests: Sequence[str]) -> frozenset[str]:
        """The digests among `digests` of files that `learner` has learned from."""

    def mark(self, space: str, file: LearnedFile) -> None:
        """Record a file, replacing an earlier record of the same file."""

    def list(self, space: str) -> Sequence[LearnedFile]:
        """All recorded files, ordered by learner, then digest."""

    def remove(self, space: str, files: Sequence[LearnedFile]) -> int:
        """Delete the records of these files, so that they are read again; return how many there were."""


class TrapsPort(Protocol):
    """The traps of a space, compiled from its lessons and failures, so that a hook needs to read nothing else."""

    def read(self, space: str) -> TrapIndex | None:
        """The compiled traps; None if there are none.

        Any change of a lesson, a failure or an observation of the space deletes them in the same transaction.
        """

    def due(self, space: str) -> bool:
        """Whether the space has lessons or failures, but no compiled traps."""

    def keep(self, space: str, index: TrapIndex) -> None:
        """Store traps that were compiled in this transaction."""


class MemoryFilter(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Selects memories that match everything given here."""

    kind: Kind | None = None
    states: tuple[State, ...] = ()
    """In one of these states; empty: in any."""
    subject: str | None = None
    """Compared without regard to case and surrounding whitespace."""
    task_type: str | None = None
    """Compared as the subject is."""
    cues: tuple[str, ...] = ()
    """Only lessons with one of these claims; empty: lessons with any claim."""
    lessons: bool = False
    """Only lessons."""
    archived: bool | None = None
    unreflected: bool = False
    """Only those from which no conclusion was drawn yet."""
    stale: bool = False
    """Only those that must be reconsidered."""
    projects: tuple[str, ...] | None = None
    """Only memories that may belong to one of these projects (empty: to none), see `SearchPort.of_projects`; None: any.
    """
    ids: tuple[MemoryId, ...] = ()
    """Only these; empty: any."""
    after: tuple[datetime, MemoryId] | None = None
    """Only those after this `at` and id in the order of `MemoriesPort.list`."""


def folded(name: str) -> str:
    """Normalise a subject or a task type for comparison: without case and surrounding whitespace."""
    return name.strip().casefold()


class MemoriesPort(Protocol):
    """The memories of a space.

    A record is stored whole under its id, next to the columns it can be found by. Storing a record also indexes its
    text, and deleting it removes it from the index and deletes its vectors, in the same transaction.
    """

    def put(self, space: str, records: Sequence[Record]) -> int:
        """Store records, replacing records with the same id; return how many were new."""

    def get(self, space: str, ids: Sequence[str]) -> Sequence[Record]:
        """Read the memories whose id starts with one of `ids`, in the order asked, each once, at most 10 for each."""

    def of_key(self, space: str, kind: Kind, key: str) -> Sequence[Record]:
        """All memories of a kind with a key, in any state, ordered by `recorded`, then id."""

    def list(self, space: str, wanted: MemoryFilter, limit: int | None = None) -> Sequence[Record]:
        """The memories that match, the newest `at` first, then by id; at most `limit`."""

    def citing(self, space: str, sources: Sequence[str]) -> Sequence[Record]:
        """All memories whose evidence names one of `sources` (ids of messages, summaries or memories).

        Ordered by `recorded`, then id.
        """

    def remove(self, space: str, ids: Sequence[MemoryId]) -> int:
        """Delete memories and their index entries; return how many there were."""


class PadsPort(Protocol):
    """The scratchpads of a space, one for each task."""

    def read(self, space: str, task: str) -> Pad | None:
        """The scratchpad of a task; None if it has none."""

    def write(self, space: str, pad: Pad) -> None:
        """Store a scratchpad, replacing the one of its task."""

    def remove(self, space: str, task: str) -> bool:
        """Delete a scratchpad; return False if there was none."""

    def list(self, space: str) -> Sequence[Pad]:
        """All scratchpads, the last written first, then by task."""

"""What the engine needs of a store to keep what was learned, and to find it: memories, runs, words, vectors.

Every message and every memory is a document with a number; its terms are indexed in the transaction that stores it.
No call sees a document of another space, and nothing that it gives depends on one.

Each embedder has vectors of its own, under its name. What has none yet follows from the documents that are there, so
no queue can lose it. Each change of a space's vectors in one index by one embedder has a number, which only grows:
whoever has read up to one asks for what came after it, and so notices what other processes wrote and what was erased.
Taking out a document takes out its vectors in the same transaction, whoever does it.
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
    """How much a space holds in an index."""

    documents: int
    terms: int
    """Of all documents together."""


class FoundMessage(Struct, frozen=True, kw_only=True):
    """A message by its document's number."""

    document: int
    key: SessionKey
    message: Message


class FoundMemory(Struct, frozen=True, kw_only=True):
    """A memory by its document's number."""

    document: int
    record: Record


class FoundSession(Struct, frozen=True, kw_only=True):
    """A session by the key that the numbers of its documents begin with."""

    session: str
    project: str
    """The project that it worked on; empty where none is known."""


class SearchPort(Protocol):
    """The documents of a space."""

    def size(self, space: str, index: IndexName) -> IndexSize:
        """How much there is."""

    def count(
        self, space: str, index: IndexName, terms: Sequence[str], at_most: int | None = None
    ) -> Mapping[str, int]:
        """How many documents have each term; those that none has count 0, those of more than `at_most` one more."""

    def postings(
        self, space: str, index: IndexName, terms: Sequence[str], at_most: int | None = None
    ) -> Mapping[str, Sequence[int]]:
        """The numbers of the documents that have each term, rising; none of a term that more than `at_most` have."""

    def messages(self, space: str, documents: Sequence[int]) -> Sequence[FoundMessage]:
        """Read messages without natives and records, in the order asked; unknown ones are passed over.

        They are known by the place in their number: what it says of length and role needn't be right in what is asked,
        and is in what is found.
        """

    def memories(self, space: str, documents: Sequence[int]) -> Sequence[FoundMemory]:
        """Read memories, known as messages are, in the order asked; unknown ones are passed over."""

    def authors(self, space: str) -> Mapping[str, int]:
        """In how many of the space's messages each author speaks, as the names are written, by name."""

    def abandoned(self, space: str) -> Sequence[tuple[int, int]]:
        """The messages of a space that lie on no branch, as runs of numbers: the first and the last of each, rising.

        No number of a message that lies on a branch stands within a run.
        """

    def off_path(self, key: SessionKey, to: MessageId) -> Sequence[tuple[int, int]]:
        """The messages of a session that don't lie on the path to `to`, as such runs."""

    def of_projects(self, space: str, documents: Sequence[int], projects: Collection[str]) -> Sequence[int]:
        """Those of these documents of memories that may be of one of `projects` (empty: of none), in the order asked.

        Of what alone others are known to have shown, none is given; the others are to be looked at more closely.
        """

    def knows_other_project(self, space: str, project: str) -> bool:
        """Whether a session or a memory of the space is known to be of another project than `project`.

        What is of none (empty), or marked as general (``*``), is of no other.
        """

    def sessions(self, space: str, keys: Sequence[int]) -> Mapping[int, FoundSession]:
        """The sessions whose keys (`session_of` a number) these are; unknown ones are passed over."""


class WordsPort(Protocol):
    """The index of words itself: it follows from what is stored, so it can always be made anew."""

    def faults(self, space: str) -> Sequence[str]:
        """Where the index of a space doesn't fit what is stored, a sentence each."""

    def rebuild(self, space: str) -> int:
        """Index a space anew, each message and memory under its number. Returns how many messages were looked at."""


class VectorChanges(Struct, frozen=True, kw_only=True):
    """What became of the vectors since a change; a document stands in `added` or in `removed`, never in both."""

    change: int
    """The newest change that is in it: what to ask from the next time."""
    added: Mapping[int, Vector]
    """The vectors that were added or replaced, by document."""
    removed: Sequence[int]
    """The documents that have no vector any more."""
    whole: bool
    """`added` is all that there is, and whatever was read before is to be forgotten."""


class VectorsPort(Protocol):
    """The vectors of the documents of a space."""

    def put(self, space: str, index: IndexName, embedder: str, vectors: Mapping[int, Vector]) -> int:
        """Keep vectors; returns how many are new or other than before.

        Those of documents that are no longer there are passed over, since they may have been erased while the vector
        was made. Raises BadInput where they are not as long as those that the embedder has there already.
        """

    def since(self, space: str, index: IndexName, embedder: str, change: int) -> VectorChanges:
        """What changed after `change`, a number that this has told; 0: from the beginning."""

    def likely(self, space: str, index: IndexName, embedder: str, query: Vector, k: int) -> Mapping[int, Vector] | None:
        """Some vectors among which nearly all of the `k` nearest to `query` are, by an index that the store has.

        None where whoever asks is to compare all of them, which `since` gives.
        """

    def due(self, space: str, index: IndexName, embedder: str, limit: int) -> Sequence[int]:
        """The documents that have no vector of `embedder` yet, the newest first, at most `limit`."""

    def embedders(self, space: str) -> Sequence[str]:
        """The embedders of which the space has vectors, in order of their names."""

    def drop(self, space: str, embedder: str) -> int:
        """Take out all vectors of an embedder that is no longer used. Returns how many there were."""


class LearnedFile(Struct, frozen=True, kw_only=True):
    """A file that was learned from whole, told by its content alone: its digest, and who learned from it."""

    digest: str
    learner: str
    """The version of the rules that read it: to another one it is new."""
    name: str
    at: datetime
    sessions: tuple[str, ...] = ()


class RunsPort(Protocol):
    """The runs of a space that were learned from. Observations belong to their run: they come and go with it."""

    def put(self, space: str, run: LearnedRun, observations: Sequence[Observation]) -> None:
        """Store a run with its observations in the place of what its session had.

        The session needn't be stored, as with memories; `orphans` names those that aren't. Raises BadInput for an
        observation of another session, for one without a cue, and for two of one claim.
        """

    def get(self, space: str, sessions: Sequence[str]) -> Sequence[LearnedRun]:
        """The runs of these sessions, in the order asked; unknown ones are passed over."""

    def list(self, space: str, limit: int | None = None) -> Sequence[LearnedRun]:
        """The runs, the one that ended last standing first, those without a time last, then by session."""

    def remove(self, space: str, session: str) -> bool:
        """Take a run out with its observations; False where there was none."""

    def observations(self, space: str, cues: Sequence[str], limit: int = 200) -> Sequence[Observation]:
        """The observations of these claims, in the order asked, of each the newest first (no time last).

        At most `limit` of each; those of one time come by session.
        """

    def of_run(self, space: str, session: str) -> Sequence[Observation]:
        """The observations of one run, by cue."""

    def cues(self, space: str, beginning: str) -> Sequence[str]:
        """The claims that some run observed and whose cue begins so, each once, by cue."""

    def orphans(self, space: str) -> Sequence[str]:
        """The sessions whose run has a head that is not stored, or that have observations and no run, by name."""

    def claims(self, space: str, *, least_runs: int = 1, session: str | None = None) -> Sequence[ClaimTotals]:
        """Every claim that held in so many runs, summed up; with `session` only those that it observed. By cue.

        A claim of which runs differ in the category gets the one that comes first by name. Its times are in UTC.
        """


class LedgerPort(Protocol):
    """The files that were learned from, so that none is read twice."""

    def known(self, space: str, learner: str, digests: Sequence[str]) -> frozenset[str]:
        """Those of `digests` that `learner` has learned from."""

    def mark(self, space: str, file: LearnedFile) -> None:
        """Note a file; one that is noted already is replaced."""

    def list(self, space: str) -> Sequence[LearnedFile]:
        """Every file that is noted, by learner, then digest."""

    def remove(self, space: str, files: Sequence[LearnedFile]) -> int:
        """Take out what is noted of these files, so that they are read again; returns how many there were."""


class TrapsPort(Protocol):
    """The traps of a space, compiled from its lessons, so that a hook needs to read nothing else."""

    def read(self, space: str) -> TrapIndex | None:
        """What was kept; None where there is none.

        Whatever changes a lesson of the space, or what a run shows, takes it out in the same transaction.
        """

    def due(self, space: str) -> bool:
        """Whether nothing is kept of a space that has lessons."""

    def keep(self, space: str, index: TrapIndex) -> None:
        """Keep what was compiled in this transaction from what stands there."""


class MemoryFilter(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which memories are meant: those of which all that is given here is true."""

    kind: Kind | None = None
    states: tuple[State, ...] = ()
    """In one of these; empty: in any."""
    subject: str | None = None
    """Compared without regard to case and to blanks around it."""
    task_type: str | None = None
    """Compared as the subject is."""
    cues: tuple[str, ...] = ()
    """Only lessons that make one of these claims; empty: whatever they claim."""
    lessons: bool = False
    """Only lessons."""
    archived: bool | None = None
    unreflected: bool = False
    """Only those from which no conclusion was drawn yet."""
    stale: bool = False
    """Only those that must be reconsidered."""
    projects: tuple[str, ...] | None = None
    """Only those that may be of one of these (empty: of none), as `SearchPort.of_projects` tells; None: of any."""
    ids: tuple[MemoryId, ...] = ()
    """Only these; empty: any."""
    after: tuple[datetime, MemoryId] | None = None
    """Only those that stand behind this place in the order of a list: an `at` and an id."""


def folded(name: str) -> str:
    """A subject or a task type as it is compared: without regard to case and to blanks around it."""
    return name.strip().casefold()


class MemoriesPort(Protocol):
    """The memories of a space.

    A record is stored whole under its id; what it can be found by stands beside it. Storing one also makes its text
    searchable, and removing it takes it out of the search again, in the same transaction. Vectors go with it.
    """

    def put(self, space: str, records: Sequence[Record]) -> int:
        """Store records; one whose id is taken is replaced. Returns how many were new."""

    def get(self, space: str, ids: Sequence[str]) -> Sequence[Record]:
        """Read the memories whose ids begin with one of `ids`, in the order asked, each once, at most 10 for each."""

    def of_key(self, space: str, kind: Kind, key: str) -> Sequence[Record]:
        """Every memory of a kind under one key, in whatever state, by `recorded`, then id."""

    def list(self, space: str, wanted: MemoryFilter, limit: int | None = None) -> Sequence[Record]:
        """The memories that are meant, the newest `at` first, then by id; at most `limit`."""

    def citing(self, space: str, sources: Sequence[str]) -> Sequence[Record]:
        """Every memory whose evidence names one of `sources` (the ids of messages, of summaries or of memories).

        They come by `recorded`, then id.
        """

    def remove(self, space: str, ids: Sequence[MemoryId]) -> int:
        """Take memories out for good, with what made them searchable. Returns how many there were."""


class PadsPort(Protocol):
    """The scratchpads of a space, one for each task."""

    def read(self, space: str, task: str) -> Pad | None:
        """The scratchpad of a task; None where there is none."""

    def write(self, space: str, pad: Pad) -> None:
        """Store a scratchpad in the place of the one that its task had."""

    def remove(self, space: str, task: str) -> bool:
        """Take it out; False where there was none."""

    def list(self, space: str) -> Sequence[Pad]:
        """Every scratchpad, the one that was written last standing first, those of one time by task."""

"""The ports of a store: the log, the sessions in it, what is derived from them, leases, spending, erasure and upkeep.

All ports share one transaction, and a transaction is a function::

    def look(tx: Transaction, key: SessionKey) -> Head | None:
        return tx.log.head(key)

    head = await store.read(look, key)

The store calls the function in a thread, with a connection of its own. When the function returns, its writes are
committed and durable before `write` returns the result. If it raises, nothing is kept and the exception is propagated.
`store.read` gives the function a snapshot, in which writing raises StoreError. Every call names its space, and no call
reaches another one. A call that raises has changed nothing, so a function may catch the error and continue.

A function must not wait: coroutine functions and generators are refused with StoreError, and so is opening another
transaction of the same store inside one, since both would hold a connection while waiting for another. If the task
is cancelled, a function that has not started never does, and a running one is rolled back unless its commit has begun.
A store that is reached over a network may call a function again from the start after it lost the connection, so a
function should change nothing but the transaction, or be safe to repeat.

Reading a session that was never created finds nothing; writing to it raises SessionNotFound. A message given as `to`
must be stored, otherwise MessageNotFound is raised.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import date, datetime
from typing import Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from ireneo.log.message import Draft, Head, Message, MessageId
from ireneo.log.tree import Annotation, AnnotationId, SessionKey
from ireneo.ports.memories import (
    LedgerPort,
    MemoriesPort,
    PadsPort,
    RunsPort,
    SearchPort,
    TrapsPort,
    VectorsPort,
    WordsPort,
)
from ireneo.short_repr import ShortRepr
from ireneo.summaries.summary import Summary, SummaryId


class Lease(Struct, frozen=True, kw_only=True):
    """The right to do one piece of work until a given time."""

    key: SessionKey
    work: str
    """The name of the work: the anchor of the summary to write, or the backlog to process."""
    holder: str
    """Its holder; empty if nobody holds it and only its failures are kept."""
    token: int
    """Grows with each take, also after a release or `forget`: an older token belongs to a lost lease. All work of
    a session shares one counter, so it may grow by more than one."""
    until: datetime
    """When it expires."""
    failures: int = 0
    """How often the work failed in a row."""
    error: str = ""
    """The last failure, in a sentence."""
    retry_at: datetime | None = None
    """The work must not be tried before this time."""


class LeasesPort(Protocol):
    """Leases on a session's work, so that two processes rarely do the same work.

    Leases only save money. Correctness comes from the ids of what is written, which are the same for all writers of a
    stretch. A lease spans a model call; a transaction never does.

    Times are compared to the microsecond and returned in UTC; a time without a zone is taken as UTC.
    """

    def take(self, key: SessionKey, work: str, holder: str, now: datetime, until: datetime) -> Lease | None:
        """Take the lease on `work` until `until`; None while another holder has it, or before its `retry_at`.

        A lease of the same holder is taken anew, an expired one is taken over. To survive a clock that was set back,
        so is a lease that would outlast `until` by more than ten minutes and by more than `until - now`, and a
        `retry_at` a day or more ahead is ignored. The failures and the last error are carried over, `retry_at` is not.
        Raises BadInput for an empty `holder`.
        """

    def take_first(
        self, space: str, sessions: Sequence[str], work: str, holder: str, now: datetime, until: datetime
    ) -> Lease | None:
        """Take the lease on `work` of the first of `sessions` for which `take` would succeed; None if there is none.

        Sessions that were never created are skipped. A store may also skip sessions that are being written to, so that
        the caller waits for nobody.
        """

    def renew(self, lease: Lease, until: datetime) -> bool:
        """Extend a lease until `until`; return False and change nothing if it was taken over or released.

        An expired lease can be renewed as long as nobody has taken it.
        """

    def release(self, lease: Lease) -> bool:
        """Release a lease after success and delete its failures; return False if it was taken over or released."""

    def fail(self, lease: Lease, error: str, retry_at: datetime) -> bool:
        """Release a lease after a failure, which is counted and kept; return False if it was taken over or released."""

    def of_session(self, key: SessionKey) -> Sequence[Lease]:
        """All leases and kept failures of a session, ordered by the name of the work."""

    def forget(self, key: SessionKey, work: str) -> bool:
        """Delete a lease, whoever holds it, and its failures; return False if there is none."""


class Scrubbed(Struct, frozen=True, kw_only=True):
    """The result of a scrub."""

    complete: bool
    """No byte of the store holds erased content any more."""
    note: str = ""
    """If not complete: why, and what to do."""


class ErasurePort(Protocol):
    """Permanent deletion of content.

    After `begin`, whatever other ports delete in the same transaction (summaries, leases, memories, scratchpads) counts
    as erased, too. The bytes are gone once `Store.scrub` reports that it is complete.
    """

    def begin(self) -> None:
        """Mark this transaction as an erasure, before it deletes anything; the store then needs a scrub."""

    def messages(self, key: SessionKey, messages: Sequence[Message]) -> int:
        """Replace messages by their erased form (see `ireneo.log.message.erase`); return how many.

        Their payloads, records, source ids and index entries are deleted. Positions, turns, tokens and times stay as
        stored. Raises MessageNotFound, and BadInput for a message that is not marked as erased.
        """

    def notes(self, key: SessionKey, annotations: Sequence[AnnotationId], marks: Sequence[Rebuild]) -> int:
        """Delete annotations and rebuild marks; return how many existed."""

    def session(self, key: SessionKey) -> bool:
        """Delete a session and everything that belongs to it, its run included; return False if it doesn't exist.

        Its spending is still part of the space's, without the session's name.
        """

    def space(self, space: str) -> int:
        """Delete everything in a space, its spending included; return how many sessions it had."""


class Pruned(Struct, frozen=True, kw_only=True):
    """The data deleted from a session because no branch leads to it."""

    messages: int = 0
    tokens: int = 0
    summaries: int = 0


TOGETHER = 20_000
"""How many messages are checked or processed in one transaction."""


class CorruptionReport(Struct, frozen=True, kw_only=True):
    """The values found that differ from what was stored, and how far the check got."""

    faults: tuple[str, ...] = ()
    looked: int = 0
    """How many messages were checked."""
    after: int | None = None
    """Where to continue; None when the check is finished."""


class UpkeepPort(Protocol):
    """Checks and repairs of a store."""

    def faults(self) -> Sequence[str]:
        """The faults of the store itself, one sentence each: damage, and rows that refer to missing ones.

        All spaces are checked, since damage is not limited to one. Only the first faults of a kind are listed, with a
        note that there are more.
        """

    def corrupted(self, after: int = 0, limit: int = TOGETHER) -> CorruptionReport:
        """Find values that differ from what was stored, among the `limit` messages after `after`.

        The last call also checks everything other than messages. All spaces are checked. Damaged values are reported,
        and never raise.
        """

    def repair(self) -> None:
        """Repair what `faults` and `corrupted` report and what can be derived: counters, indexes, vectors.

        Data that can't be derived from the rest is left as it is.
        """

    def spaces(self) -> Sequence[str]:
        """The names of all spaces that hold anything, sorted."""

    def summaries(self, key: SessionKey) -> Sequence[SummaryId]:
        """The ids of all summaries of a session, on any path, ordered by first and then last position."""

    def discard(self, key: SessionKey, ids: Sequence[SummaryId]) -> int:
        """Delete summaries, which can be written again from the log; return how many existed."""

    def abandoned_heads(self, key: SessionKey) -> Sequence[Head]:
        """The last message of each path that no branch leads to, ordered by position, then id."""

    def drop_branch(self, key: SessionKey, branch: str) -> bool:
        """Delete a branch but not its messages (see `prune`); return False if there is no such branch."""

    def prune(self, key: SessionKey) -> Pruned:
        """Delete every message that no branch leads to, and its payloads, summaries, marks and annotations.

        The session's run is deleted if its head is. Only whole subtrees are deleted, so every remaining message keeps
        its path. Raises SessionNotFound, and BadInput if the session has messages but no branch, since nothing would
        be left.
        """


P = ParamSpec("P")
T = TypeVar("T")


class SessionInfo(ShortRepr, frozen=True, kw_only=True):
    """A session as it is listed; `messages` and `tokens` count all its branches together."""

    key: SessionKey
    source: str | None
    messages: int
    tokens: int
    first_at: datetime | None
    last_at: datetime | None
    project: str | None = None
    """The project that it worked on; empty if it has none, None if that was not determined yet."""

    @property
    def id(self) -> str:
        """The session's name in its space, as `Memory.session` takes it."""
        return self.key.session


class Rebuild(Struct, frozen=True, kw_only=True):
    """The mark left by a rebuild of a context, so that the start of the context stays the same until the next one."""

    summarizer: str
    budget_tokens: int
    at: MessageId
    """The head for which it was rebuilt."""
    at_position: int
    target_tokens: int
    """The tokens that the rebuilt context was limited to."""
    taken_up: tuple[str, ...] = ()
    """The summaries by a model that it shows, and the disputes known at the time."""


class Spent(Struct, frozen=True, kw_only=True):
    """Calls of a model, and their input and output tokens together."""

    calls: int = 0
    tokens: int = 0


class Span(Struct, frozen=True, kw_only=True, gc=False):
    """The stretch that a summary covers, without the summary."""

    id: SummaryId
    first_position: int
    last_position: int


class LogPort(Protocol):
    """The messages of a session's tree. The caller gives the ids; a message that is stored already is not changed."""

    def head(self, key: SessionKey, branch: str = "main") -> Head | None:
        """The head of `branch`; None if it points before the first message or doesn't exist."""

    def insert(self, key: SessionKey, messages: Sequence[Message]) -> int:
        """Store a chain of messages, each the child of the one before; return how many were new.

        The first is the child of a stored message or a root. Raises MessageNotFound if its parent is not stored, and
        BadInput if the messages are not a chain or a payload is not JSON.
        """

    def move(self, key: SessionKey, branch: str, to: MessageId | None) -> None:
        """Point `branch` at `to`, or before the first message (None); the branch is created if necessary."""

    def path(self, key: SessionKey, to: MessageId, first: int, last: int) -> Sequence[Message]:
        """Read positions `first` to `last` of the path to `to`, in order, without payloads and log records.

        Positions outside the path are left out.
        """

    def find(self, key: SessionKey, ids: Sequence[str]) -> Sequence[Message]:
        """Read the messages whose id starts with one of `ids`, or whose source id equals one; at most 100 for each.

        They are returned once each, in the order of `ids`; those with one prefix by id, those with one source id by
        position.
        """

    def on_branch(
        self, space: str, named: Sequence[tuple[str, Sequence[MessageId]]], branch: str | None = None
    ) -> Sequence[bool]:
        """For each pair of a session and messages: whether all of the messages are on a branch, or on `branch`.

        Messages that are not stored are on none. For a session that is not stored the answer is True, since nothing is
        known.
        """

    def speakers(self, space: str, session: str | None = None, name: str | None = None) -> frozenset[str]:
        """The names of those who speak or are said to be present, in one session or in the whole space.

        With `name` the result holds only that name, or nothing if it doesn't occur.
        """

    def drafts(self, key: SessionKey, ids: Sequence[MessageId]) -> Mapping[MessageId, Draft]:
        """Read whole drafts, with native payload and log record; unknown ids are skipped."""


class SessionsPort(Protocol):
    """The sessions of a space."""

    def create(self, key: SessionKey, source: str | None) -> bool:
        """Create a session unless it exists; return whether it was created.

        A session created without a source takes the first source given later.
        """

    def list(self, space: str) -> Sequence[SessionInfo]:
        """All sessions of a space, the most recently created or appended to first."""

    def get(self, key: SessionKey) -> SessionInfo | None:
        """One session as it is listed; None if it doesn't exist."""

    def erased(self, key: SessionKey) -> int:
        """The number of erased messages that keep their place in a session; it only grows.

        A caller that stores something derived from messages compares it with the count at the time of reading: if it
        has grown, an erasure happened in between.
        """

    def set_project(self, key: SessionKey, project: str) -> None:
        """Set the project that a session worked on; empty for none. Raises SessionNotFound."""

    def without_project(self, space: str) -> Sequence[SessionKey]:
        """The sessions whose project was not determined yet."""

    def projects(self, space: str, sessions: Sequence[str]) -> Mapping[str, str]:
        """The project of each of `sessions` that exists and has one."""

    def branches(self, key: SessionKey) -> Mapping[str, Head | None]:
        """The head of each branch of a session, by name. Raises SessionNotFound."""


class SummariesPort(Protocol):
    """The summaries over a session's tree."""

    def put(self, key: SessionKey, summaries: Sequence[Summary]) -> int:
        """Store summaries, except those whose anchor is taken; return how many were new.

        Raises MessageNotFound if the first or last message is not stored, BadInput if it is at another position.
        """

    def frontier(self, key: SessionKey, to: MessageId, summarizer: str) -> Sequence[Summary]:
        """The widest summaries along the path to `to`, in order, without overlap.

        Starting at the beginning of the path: of the summaries by `summarizer` that start nearest and are wholly on the
        path, the one that reaches furthest, and of equal ones the deepest; then on from its end.
        """

    def get(self, key: SessionKey, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """Read summaries by id, in the order of `ids`; unknown ids are skipped."""

    def find(self, key: SessionKey, prefix: str) -> Sequence[Summary]:
        """Read the summaries whose id starts with `prefix`, the newest stretch first, at most 10."""

    def spans(self, key: SessionKey, to: MessageId, summarizer: str, depth: int, first: int = 0) -> Sequence[Span]:
        """The stretches covered by the summaries of `summarizer` at `depth` that are wholly on the path to `to`.

        Those that start before position `first` are left out. Ordered by first position, last position, id. No summary
        record is read.
        """

    def summarizers(self, key: SessionKey) -> Sequence[str]:
        """The summarizers of which the session has summaries, sorted."""


class RebuildsPort(Protocol):
    """The marks of rebuilds."""

    def last(self, key: SessionKey, to: MessageId, summarizer: str, budget_tokens: int) -> Rebuild | None:
        """The mark for this summarizer and budget whose head is furthest along the path to `to`."""

    def put(self, key: SessionKey, rebuild: Rebuild) -> None:
        """Store a mark, replacing one with the same head, summarizer and budget. Raises as `SummariesPort.put` does."""

    def of_session(self, key: SessionKey) -> Sequence[Rebuild]:
        """All marks of a session, on any path, ordered by position, head, summarizer, budget."""


class AnnotationsPort(Protocol):
    """The pins, releases and disputes of a session's tree."""

    def put(self, key: SessionKey, annotations: Sequence[Annotation]) -> int:
        """Store annotations, except those whose id is taken; return how many were new.

        An annotation with an empty `at` is before the first message, at position -1. Raises MessageNotFound if its
        message is not stored, BadInput if that is at another position.
        """

    def on_path(self, key: SessionKey, to: MessageId | None) -> Sequence[Annotation]:
        """All annotations of the messages on the path to `to`, ordered by position, then id.

        Those before the first message are on every path, and the only ones if `to` is None.
        """


class ReadMarksPort(Protocol):
    """How far each reader has read the paths of a session for memories."""

    def read_to(self, key: SessionKey, to: MessageId, reader: str) -> int:
        """The position up to which `reader` has read the path to `to`; -1 if it has read nothing of it."""

    def put(self, key: SessionKey, to: MessageId, reader: str) -> None:
        """Record that `reader` has read the path up to `to`; what it has read beyond that stays read.

        Raises SessionNotFound, MessageNotFound.
        """

    def of_session(self, key: SessionKey) -> Sequence[tuple[str, MessageId]]:
        """The readers, each with the last message it has read, on any path, by position, message and reader."""


class SpendingPort(Protocol):
    """Spending on models, stored so that a limit holds across processes and restarts."""

    def add(self, key: SessionKey, day: date, spent: Spent) -> None:
        """Add to the spending of `key` on a day; negative numbers return a reservation. Creates no session."""

    def of_session(self, key: SessionKey) -> Spent:
        """The spending of a session on all days."""

    def of_day(self, space: str, day: date) -> Spent:
        """The spending of all sessions of a space on one day."""


class Transaction(Protocol):
    """The ports inside one transaction."""

    log: LogPort
    sessions: SessionsPort
    summaries: SummariesPort
    rebuilds: RebuildsPort
    annotations: AnnotationsPort
    read_marks: ReadMarksPort
    spending: SpendingPort
    leases: LeasesPort
    vectors: VectorsPort
    memories: MemoriesPort
    pads: PadsPort
    runs: RunsPort
    ledger: LedgerPort
    traps: TrapsPort
    search: SearchPort
    words: WordsPort
    upkeep: UpkeepPort
    erasure: ErasurePort


class Migrated(Struct, frozen=True, kw_only=True):
    """The result of a migration of a database, done or simulated."""

    before: int
    """The number of the last migration applied before; 0 for a new database."""
    after: int
    """The number of the last migration applied afterwards."""
    applied: tuple[str, ...] = ()
    """The names of the migrations in between."""


HearsOfWork: TypeAlias = Callable[[float, float], Awaitable[None]]
"""Waits for new work. The first argument is how long to wait, in seconds, if the store can't notify; the second is how
long to wait at most for a notification. Commits between two waits are noticed as well."""


class Store(Protocol):
    """A place that keeps everything."""

    async def read(self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `function` with a consistent snapshot, and return its result."""

    async def write(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call `function` with a transaction, alone among writers, commit, and return its result."""

    def hearing(self, space: str) -> AbstractAsyncContextManager[HearsOfWork]:
        """A context manager that gives a function to wait for new work in a space."""

    async def scrub(self, *, look: bool = False) -> Scrubbed:
        """Overwrite the bytes that erasures left behind where no transaction sees them; outside of any transaction.

        Does nothing if nothing was erased since the last complete scrub. It waits a limited time for readers of older
        snapshots; if they stay it is not complete and has to be called again. With `look` it only reports whether there
        is anything to do.
        """

    async def close(self) -> None:
        """Close the file or the connections; may be called twice. Open transactions may still finish."""

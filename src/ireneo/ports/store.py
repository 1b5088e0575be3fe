"""What the engine needs of a store: a log, the sessions in it, what is derived from it, and what was spent on that.

All ports share one transaction, and a transaction is a function::

    def look(tx: Transaction, key: SessionKey) -> Head | None:
        return tx.log.head(key)

    head = await store.read(look, key)

The store calls it in a thread of its own, with a connection to itself. When it returns, what it wrote is committed and
durable, and then the store gives what it returned; an exception leaves nothing behind and comes through. `store.read`
gives it a snapshot, in which nothing can be written (StoreError). Every call names its space; nothing reaches across
spaces. A call that raises has changed nothing, so a function may catch it and go on.

Nothing can wait inside: a function that would run later (a coroutine, a generator) is refused, and so is another
transaction of the store, since who holds one connection and waits for another one keeps both from everybody else
(StoreError). A task that is cancelled leaves at once: a function that has not begun never does, and one that has is
rolled back unless its commit has begun. A store that is reached over a network may call a function again from its
beginning, where what it did before was lost: it changes nothing but what it is given, or does that twice.

A session that was never made reads as an empty one; writing to it raises SessionNotFound. `to` must be stored wherever
it is asked for; MessageNotFound is raised where it is not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import date, datetime
from typing import Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from ireneo.log.message import Draft, Message, MessageId
from ireneo.log.tree import Annotation, AnnotationId, Head, SessionKey
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
from ireneo.summaries.summary import Summary, SummaryId


class Lease(Struct, frozen=True, kw_only=True):
    """The right to do one piece of work, until it expires."""

    key: SessionKey
    work: str
    """The name of the piece: the anchor of the summary that is to be written, or what is to be caught up with."""
    holder: str
    """Who has it; empty where nobody has it, and what is kept is only how the work failed."""
    token: int
    """Grows each time that the work is taken, also after it was given back or forgotten: whoever comes with an older
    one was overtaken. The works of a session count together, so it may grow by more than one."""
    until: datetime
    """When it expires."""
    failures: int = 0
    """How often the work failed in a row."""
    error: str = ""
    """How it failed last, in a sentence."""
    retry_at: datetime | None = None
    """Before this time it is not tried again."""


class LeasesPort(Protocol):
    """The leases on a session's work, so that two writers seldom do the same.

    Leases save money and nothing else: the truth is kept by the names of what is written, which two writers of one
    stretch share. A lease spans the call of a model, and no transaction does.

    Times are compared exactly, to the microsecond, and come back in UTC; one without a zone is taken for UTC. As with
    every port, writing to a session that was never made raises SessionNotFound.
    """

    def take(self, key: SessionKey, work: str, holder: str, now: datetime, until: datetime) -> Lease | None:
        """Take the lease on `work` until `until`; None while another holds it, or before its `retry_at`.

        One that `holder` has already is taken anew, and one that has expired at `now` is taken over. So is one that
        would outlast `until` by more than ten minutes, and by more than the time from `now` to `until`: nobody leases
        for so long, so the clock was set back since. (By less it may: not everybody leases for as long.) For the same
        reason a `retry_at` that lies a day ahead or more is passed over. The number of failures and the last
        error are carried on, the `retry_at` is not. Raises BadInput where `holder` is empty.
        """

    def take_first(
        self, space: str, sessions: Sequence[str], work: str, holder: str, now: datetime, until: datetime
    ) -> Lease | None:
        """Take the lease on `work` of the first of `sessions` where `take` would give it; None where it gives none.

        A session that was never made is passed over, and so may be one that somebody is just writing to: who looks for
        something to do waits for nobody.
        """

    def renew(self, lease: Lease, until: datetime) -> bool:
        """Make it last until `until`; False, and nothing changed, where it was taken over or let go of.

        One that has expired is renewed too, as long as nobody has taken it since.
        """

    def release(self, lease: Lease) -> bool:
        """Let go of it, the work being done: nothing is kept of it, nor of its failures.

        False, and nothing changed, where it was taken over or let go of.
        """

    def fail(self, lease: Lease, error: str, retry_at: datetime) -> bool:
        """Let go of it, the work having failed: how often, how and when to try again is kept, without a holder.

        False, and nothing changed, where it was taken over or let go of.
        """

    def of_session(self, key: SessionKey) -> Sequence[Lease]:
        """Every lease that is held and every failure that is kept, by the name of the work."""

    def forget(self, key: SessionKey, work: str) -> bool:
        """Drop a lease whoever holds it, and what is kept of its failures. False where there is none."""


class Scrubbed(Struct, frozen=True, kw_only=True):
    """What a scrub came to."""

    complete: bool
    """Nothing that was erased stands in any byte of the store any more."""
    note: str = ""
    """Where it is not: why, and what finishes it."""


class ErasurePort(Protocol):
    """Taking content out for good, and out of every byte that the store keeps.

    What is taken out through other ports in the same transaction (summaries, leases, memories, scratchpads) counts as
    erased too, once `begin` was called in it. The bytes are gone when `Store.scrub` has said so.
    """

    def begin(self) -> None:
        """Say that this transaction erases, before it takes anything out: the store is to be scrubbed after it."""

    def count(self, key: SessionKey) -> int:
        """How many messages of a session were erased and left their place: it only grows.

        Whoever writes down what was made of messages asks again: where it has grown since they were read, an erasure
        came between.
        """

    def messages(self, key: SessionKey, messages: Sequence[Message]) -> int:
        """Put what is left of erased messages (`ireneo.log.redaction`) in their place; returns how many there were.

        Their payloads, records and source ids go, and so does what made them searchable. Positions, turns, tokens and
        times stay as they are stored. Raises MessageNotFound, and BadInput for one that is not marked as erased.
        """

    def notes(self, key: SessionKey, annotations: Sequence[AnnotationId], marks: Sequence[Rebuild]) -> int:
        """Take out annotations and the marks of rebuilds; returns how many there were of both."""

    def session(self, key: SessionKey) -> bool:
        """Take a session out with all that hangs on it, its run included. False where it was not made.

        What it spent counts on for its space, and no longer names it.
        """

    def space(self, space: str) -> int:
        """Take out all that is kept of a space, its spending included; returns how many sessions it had."""


class Pruned(Struct, frozen=True, kw_only=True):
    """What was taken out of a session, since no branch leads to it."""

    messages: int = 0
    tokens: int = 0
    summaries: int = 0


TOGETHER = 20_000
"""Messages that are looked at in one transaction."""


class CorruptionReport(Struct, frozen=True, kw_only=True):
    """What was found of values that are not what was stored, and how far it was looked."""

    faults: tuple[str, ...] = ()
    looked: int = 0
    """How many messages were looked at."""
    after: int | None = None
    """From where to go on; None: it is done."""


class UpkeepPort(Protocol):
    """The upkeep of a store."""

    def faults(self) -> Sequence[str]:
        """What is wrong with the store itself, a sentence each: damage, rows that point to what is not there.

        It looks at every space, since damage keeps to none. Of one kind of fault it names so many, and then says that
        there are more.
        """

    def corrupted(self, after: int = 0, limit: int = TOGETHER) -> CorruptionReport:
        """What in the store is not what was stored, a sentence each: `limit` messages after the place `after`.

        With the last of them all that is no message. Over every space, as `faults`; whatever stands there is told and
        never raised.
        """

    def repair(self) -> None:
        """Put right what `faults` and `corrupted` told of and what follows from the log: counters, indexes, vectors.

        What can't be made again from the rest stays as it is.
        """

    def spaces(self) -> Sequence[str]:
        """Every space in which something is kept, by name."""

    def summaries(self, key: SessionKey) -> Sequence[SummaryId]:
        """The id of every summary of a session, on whatever path, by its first and then its last position."""

    def discard(self, key: SessionKey, ids: Sequence[SummaryId]) -> int:
        """Take out summaries by id; the log has all that they were made from. Returns how many were there."""

    def abandoned_heads(self, key: SessionKey) -> Sequence[Head]:
        """Where the tree ends on no branch: the last message of each path that was abandoned, by position, then id."""

    def drop_branch(self, key: SessionKey, branch: str) -> bool:
        """Forget the name of a branch; its messages stay until `prune`. False where there is no such branch."""

    def prune(self, key: SessionKey) -> Pruned:
        """Take out every message that no branch leads to, with all that hangs on it: payloads, summaries, marks, notes.

        So does the run that was learned from the session, where its head goes.

        What is taken out is always whole subtrees, so what stays still has its whole path. Raises SessionNotFound,
        and BadInput where the session has messages and no branch, since nothing would be left.
        """


P = ParamSpec("P")
T = TypeVar("T")


class SessionInfo(Struct, frozen=True, kw_only=True):
    """What a list of sessions says of one; `messages` and `tokens` are those of all its branches together."""

    key: SessionKey
    source: str | None
    messages: int
    tokens: int
    first_at: datetime | None
    last_at: datetime | None
    project: str | None = None
    """The project that it worked on; empty: of none that is known; None: nobody looked yet."""


class Rebuild(Struct, frozen=True, kw_only=True):
    """The mark that a rebuild of a context left, so that its beginning stays the same until the next one."""

    summarizer: str
    budget_tokens: int
    at: MessageId
    """The head for which it was rebuilt."""
    at_position: int
    target_tokens: int
    """What the rebuilt context was allowed to cost."""
    taken_up: tuple[str, ...] = ()
    """The summaries by a model that it shows, and the disputes that were known."""


class Spent(Struct, frozen=True, kw_only=True):
    """Calls of a model and the tokens that went in and came out."""

    calls: int = 0
    tokens: int = 0


class Span(Struct, frozen=True, kw_only=True):
    """What a summary covers, without the summary."""

    id: SummaryId
    first_position: int
    last_position: int


class LogPort(Protocol):
    """The messages of a session's tree. Ids are given by the caller; an id that is there already is left as it is."""

    def head(self, key: SessionKey, branch: str = "main") -> Head | None:
        """Where `branch` stands; None when it has no message or does not exist."""

    def insert(self, key: SessionKey, messages: Sequence[Message]) -> int:
        """Store `messages`, each the child of the one before, the first the child of a stored message or of none.

        Returns how many were new. Raises MessageNotFound when the first one's parent is not stored, BadInput when
        they don't follow each other or a payload is no JSON.
        """

    def move(self, key: SessionKey, branch: str, to: MessageId | None) -> None:
        """Make `branch` (made when it is not there) point to `to`; None: before the first message."""

    def path(self, key: SessionKey, to: MessageId, first: int, last: int) -> Sequence[Message]:
        """Read positions `first` to `last` of the path that ends in `to`, in order, without natives and records.

        Positions that the path doesn't have are left out.
        """

    def find(self, key: SessionKey, ids: Sequence[str]) -> Sequence[Message]:
        """Read the messages whose ids begin with one of `ids` (the source ids count too, whole), at most 100.

        They come in the order asked, each once; those of one beginning by id, those of one source id by position.
        """

    def on_branch(
        self, space: str, named: Sequence[tuple[str, Sequence[MessageId]]], branch: str | None = None
    ) -> Sequence[bool]:
        """Of each session's messages in `named` whether all of them lie on a branch of it, or on the one called so.

        Those that are not stored (any more) lie on none. Of a session that is not stored nothing can be said: True.
        """

    def speakers(self, space: str, session: str | None = None, name: str | None = None) -> frozenset[str]:
        """Who speaks by name in a session's messages, or in all of a space, and who is said to have been there.

        With `name` only that one is looked for, and none is given where it is not there.
        """

    def drafts(self, key: SessionKey, ids: Sequence[MessageId]) -> Mapping[MessageId, Draft]:
        """Read whole drafts, native payload and log record included; unknown ids are passed over."""


class SessionsPort(Protocol):
    """The sessions of a space."""

    def create(self, key: SessionKey, source: str | None) -> bool:
        """Make a session unless it is there; says whether it was made.

        One that was made without a source takes the first that it is given later.
        """

    def list(self, space: str) -> Sequence[SessionInfo]:
        """Every session of a space, the one that was made or appended to last standing first."""

    def get(self, key: SessionKey) -> SessionInfo | None:
        """What the list says of one session; None where it was not made."""

    def set_project(self, key: SessionKey, project: str) -> None:
        """Note which project a session worked on; empty: none that is known. Raises SessionNotFound."""

    def without_project(self, space: str) -> Sequence[SessionKey]:
        """The sessions of which nobody noted that yet."""

    def projects(self, space: str, sessions: Sequence[str]) -> Mapping[str, str]:
        """The projects of sessions, by name; those of none, and those that are not stored, are left out."""

    def branches(self, key: SessionKey) -> Mapping[str, Head | None]:
        """Each branch of a session by name. Raises SessionNotFound."""


class SummariesPort(Protocol):
    """The summaries over a session's tree."""

    def put(self, key: SessionKey, summaries: Sequence[Summary]) -> int:
        """Store summaries; one whose anchor is taken is left as it is. Returns how many were new.

        Raises MessageNotFound when the first or last message is not stored, BadInput when it stands elsewhere.
        """

    def frontier(self, key: SessionKey, to: MessageId, summarizer: str) -> Sequence[Summary]:
        """The widest summaries along the path to `to`, in order, none overlapping.

        From the start of the path: of those of `summarizer` that begin nearest, the one that reaches furthest (and
        lies wholly on the path), and of two alike the deeper; then on from its end.
        """

    def get(self, key: SessionKey, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """Read summaries by id, in the order asked; unknown ids are passed over."""

    def find(self, key: SessionKey, prefix: str) -> Sequence[Summary]:
        """Read the summaries whose id begins with `prefix`, the newest stretch first, at most 10."""

    def spans(self, key: SessionKey, to: MessageId, summarizer: str, depth: int, first: int = 0) -> Sequence[Span]:
        """What the summaries of `summarizer` at `depth` cover that lie wholly on the path to `to`, from `first` on.

        Those that begin before `first` are left out, however far they reach. In order of their first positions, then
        their last ones, then their ids; their records are not read.
        """

    def summarizers(self, key: SessionKey) -> Sequence[str]:
        """The summarizers of which the session has summaries, in order of their names."""


class RebuildsPort(Protocol):
    """The marks of rebuilds."""

    def last(self, key: SessionKey, to: MessageId, summarizer: str, budget_tokens: int) -> Rebuild | None:
        """The mark for this summarizer and budget whose head lies furthest along the path to `to`."""

    def put(self, key: SessionKey, rebuild: Rebuild) -> None:
        """Store a mark; one at the same head, summarizer and budget is replaced. Raises as `SummariesPort.put` does."""

    def of_session(self, key: SessionKey) -> Sequence[Rebuild]:
        """Every mark of a session, on whatever path, by position, then head, summarizer and budget."""


class AnnotationsPort(Protocol):
    """The pins, releases and disputes of a session's tree."""

    def put(self, key: SessionKey, annotations: Sequence[Annotation]) -> int:
        """Store annotations; one whose id is taken is left as it is. Returns how many were new.

        One that is at no message (an empty id) stands before the first, at position -1. Raises MessageNotFound when
        the message that one is at is not stored, BadInput when it stands elsewhere.
        """

    def on_path(self, key: SessionKey, to: MessageId | None) -> Sequence[Annotation]:
        """Every annotation at a message of the path to `to`, by position, those of one position by id.

        Those before the first message are on every path, and alone where there is none (None).
        """


class ReadMarksPort(Protocol):
    """How far what is said was read into memories, by whom: a path is read from its beginning on."""

    def read_to(self, key: SessionKey, to: MessageId, reader: str) -> int:
        """The position up to which `reader` has read the path to `to`; -1 where it has read none of it."""

    def put(self, key: SessionKey, to: MessageId, reader: str) -> None:
        """Note that `reader` has read the path up to `to`, and whatever it had read beyond stays read.

        Raises SessionNotFound, MessageNotFound.
        """

    def of_session(self, key: SessionKey) -> Sequence[tuple[str, MessageId]]:
        """Readers, each with a message up to which it has read, on whatever path, by position, then message."""


class SpendingPort(Protocol):
    """What was spent on models, so that a limit holds over processes and restarts."""

    def add(self, key: SessionKey, day: date, spent: Spent) -> None:
        """Add to what `key` spent on that day; negative numbers give back what was reserved. Makes no session."""

    def of_session(self, key: SessionKey) -> Spent:
        """What a session spent on all days together."""

    def of_day(self, space: str, day: date) -> Spent:
        """What all sessions of a space spent on one day."""


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
    """What bringing a database up to date did, or would do."""

    before: int
    """The number of the last migration that it held; 0: none, it is new."""
    after: int
    """That of the last one that it holds then."""
    applied: tuple[str, ...] = ()
    """What stands between both, by name."""


HearsOfWork: TypeAlias = Callable[[float, float], Awaitable[None]]
"""Waits so many seconds; where the store tells of messages and memories that others commit, until it does, and at most
as many as are given second. What is committed between two such waits is heard of too."""


class Store(Protocol):
    """A place that keeps everything."""

    async def read(self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `function` with a snapshot, and give what it returns: all that it reads belongs together."""

    async def write(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call `function` with a transaction, alone among writers, commit, and give what it returned."""

    def hearing(self, space: str) -> AbstractAsyncContextManager[HearsOfWork]:
        """A block in which whoever works in a space may wait for more to do."""

    async def scrub(self, *, look: bool = False) -> Scrubbed:
        """Overwrite whatever erasures have left behind in bytes that no transaction sees; outside of any transaction.

        It does nothing where nothing was erased since the last one that was complete. It waits a bounded time for
        readers who still see what was; where they stay it is not complete, and is to be called again. With `look` it
        only says whether there is anything to do.
        """

    async def close(self) -> None:
        """Let go of the file or the connections; may be called twice. A transaction that is open may still end."""

"""What the engine needs of a store: a log, the sessions in it, what is derived from it, learned, and spent on that.

All its ports share one transaction, and a transaction is a function::

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
rolled back unless its commit has begun.

A session that was never made reads as an empty one; writing to it raises SessionNotFound. `to` must be stored wherever
it is asked for; MessageNotFound is raised where it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import date, datetime
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from msgspec import Struct

from ireneo.log.message import Draft, Message, MessageId
from ireneo.log.tree import Annotation, Head, SessionKey
from ireneo.ports.erasure import ErasurePort, Scrubbed
from ireneo.ports.leases import LeasesPort
from ireneo.ports.memories import MemoriesPort, PadsPort
from ireneo.ports.runs import LedgerPort, RunsPort
from ireneo.ports.search import SearchPort, WordsPort
from ireneo.ports.upkeep import UpkeepPort
from ireneo.ports.vectors import VectorsPort
from ireneo.summaries.summary import Summary, SummaryId

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

    family: str
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

    def lie(
        self, space: str, named: Sequence[tuple[str, Sequence[MessageId]]], branch: str | None = None
    ) -> Sequence[bool]:
        """Of each session's messages in `named` whether all of them lie on a branch of it, or on the one called so.

        Those that are not stored (any more) lie on none. Of a session that is not stored nothing can be said: True.
        """

    def voices(self, space: str, session: str | None = None, name: str | None = None) -> frozenset[str]:
        """Who speaks by name in a session's messages, or in all of a space, and who is said to have been there.

        With `name` only that one is looked for, and none is given where it is not there.
        """

    def natives(self, key: SessionKey, ids: Sequence[MessageId]) -> Mapping[MessageId, Draft]:
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

    def place(self, key: SessionKey, project: str) -> None:
        """Note which project a session worked on; empty: none that is known. Raises SessionNotFound."""

    def unplaced(self, space: str) -> Sequence[SessionKey]:
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

    def frontier(self, key: SessionKey, to: MessageId, family: str) -> Sequence[Summary]:
        """The widest summaries along the path to `to`, in order, none overlapping.

        From the start of the path: of those of `family` that begin nearest, the one that reaches furthest (and
        lies wholly on the path), and of two alike the deeper; then on from its end.
        """

    def get(self, key: SessionKey, ids: Sequence[SummaryId]) -> Sequence[Summary]:
        """Read summaries by id, in the order asked; unknown ids are passed over."""

    def find(self, key: SessionKey, prefix: str) -> Sequence[Summary]:
        """Read the summaries whose id begins with `prefix`, the newest stretch first, at most 10."""

    def spans(self, key: SessionKey, to: MessageId, family: str, depth: int, first: int = 0) -> Sequence[Span]:
        """What the summaries of `family` at `depth` cover that lie wholly on the path to `to` from position `first` on.

        Those that begin before `first` are left out, however far they reach. In order of their first positions, then
        their last ones, then their ids; their records are not read.
        """

    def families(self, key: SessionKey) -> Sequence[str]:
        """The families of which the session has summaries, in order of their names."""


class RebuildsPort(Protocol):
    """The marks of rebuilds."""

    def last(self, key: SessionKey, to: MessageId, family: str, budget_tokens: int) -> Rebuild | None:
        """The mark for this family and budget whose head lies furthest along the path to `to`."""

    def put(self, key: SessionKey, rebuild: Rebuild) -> None:
        """Store a mark; one at the same head, family and budget is replaced. Raises as `SummariesPort.put` does."""

    def of_session(self, key: SessionKey) -> Sequence[Rebuild]:
        """Every mark of a session, on whatever path, by position, then head, family and budget."""


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

    @property
    def log(self) -> LogPort:
        """The messages."""

    @property
    def sessions(self) -> SessionsPort:
        """The sessions."""

    @property
    def summaries(self) -> SummariesPort:
        """The summaries."""

    @property
    def rebuilds(self) -> RebuildsPort:
        """The marks of rebuilds."""

    @property
    def annotations(self) -> AnnotationsPort:
        """The pins, releases and disputes."""

    @property
    def spending(self) -> SpendingPort:
        """What was spent on models."""

    @property
    def leases(self) -> LeasesPort:
        """Who is at which work."""

    @property
    def vectors(self) -> VectorsPort:
        """The vectors of what is searched."""

    @property
    def memories(self) -> MemoriesPort:
        """What was learned."""

    @property
    def pads(self) -> PadsPort:
        """The scratchpads."""

    @property
    def runs(self) -> RunsPort:
        """The runs that were learned from."""

    @property
    def ledger(self) -> LedgerPort:
        """The files that were."""

    @property
    def search(self) -> SearchPort:
        """What finds messages and memories by their words."""

    @property
    def words(self) -> WordsPort:
        """The index of those words."""

    @property
    def upkeep(self) -> UpkeepPort:
        """What keeps the store sound."""

    @property
    def erasure(self) -> ErasurePort:
        """What takes content out for good."""


class Store(Protocol):
    """A place that keeps everything."""

    @overload
    def read(self) -> AbstractAsyncContextManager[Any]: ...
    @overload
    def read(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, T]: ...

    @overload
    def write(self) -> AbstractAsyncContextManager[Any]: ...
    @overload
    def write(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, T]: ...

    async def scrub(self, *, look: bool = False) -> Scrubbed:
        """Overwrite whatever erasures have left behind in bytes that no transaction sees; outside of any transaction.

        It does nothing where nothing was erased since the last one that was complete. It waits a bounded time for
        readers who still see what was; where they stay it is not complete, and is to be called again. With `look` it
        only says whether there is anything to do.
        """

    async def close(self) -> None:
        """Let go of the file or the connections; may be called twice. A transaction that is open may still end."""

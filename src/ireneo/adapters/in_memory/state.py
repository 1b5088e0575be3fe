"""What a store in memory holds, and what one transaction sees of it: a snapshot, and copies of what it changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from datetime import date, datetime
from typing import Self

from msgspec import Struct

from ireneo.adapters.pool import OpenTransaction
from ireneo.adapters.rules import not_made, not_stored
from ireneo.lessons.run import LearnedRun, Observation
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import Annotation, AnnotationId, Head, SessionKey, head_of
from ireneo.memories.index import (
    Vector,
    document_number,
    memory_number,
    role_of_message,
    terms_of_memory,
    terms_of_stored,
)
from ireneo.memories.record import MemoryId, Record
from ireneo.memories.scratchpad import Pad
from ireneo.ports.memories import IndexName, LearnedFile
from ireneo.ports.store import Lease, Rebuild, SessionInfo, Spent
from ireneo.summaries.summary import Summary, SummaryId


class IndexedMessage(Struct, frozen=True, kw_only=True):
    """A message as it is searched."""

    number: int
    terms: frozenset[str]
    length: int
    """How many terms it has, each as often as it stands there."""


class State:
    """What a transaction changes a copy of, so that one which a reader holds never changes."""

    def copy(self) -> Self:
        """One of its own with the same values, which are immutable."""
        other = copy(self)
        vars(other).update({name: dict(value) for name, value in vars(self).items() if isinstance(value, dict)})
        return other


class SessionState(State):
    """The state of a session."""

    def __init__(self, key: SessionKey, source: str | None, appended: int, number: int = 0) -> None:
        """Make an empty session; `appended` orders it among those of its space, and `number` names it there."""
        self.key = key
        self.number = number
        self.source = source
        self.appended = appended
        self.span: tuple[datetime | None, datetime | None] = (None, None)
        self.messages: dict[MessageId, Message] = {}
        """Without payloads."""
        self.payloads: dict[MessageId, bytes] = {}
        self.branches: dict[str, MessageId | None] = {}
        self.summaries: dict[SummaryId, Summary] = {}
        self.rebuilds: dict[tuple[str, int, MessageId], Rebuild] = {}
        self.annotations: dict[AnnotationId, Annotation] = {}
        self.leases: dict[str, Lease] = {}
        """By the name of the work."""
        self.leased = 0
        """The last token that a lease was given."""
        self.documents: dict[MessageId, IndexedMessage] = {}
        """Of the messages in which there is something to search."""
        self.numbers: dict[int, MessageId] = {}
        """The documents by number."""
        self.project: str | None = None
        """The project that it worked on; None: nobody looked yet."""
        self.numbered = 0
        """How many documents there ever were: the ordinal of the next one."""

    def index(self, message: Message) -> None:
        """Make a message searchable, unless there is nothing in it to search."""
        terms = terms_of_stored(message)
        if terms:
            number = document_number(self.number, self.numbered, len(terms), role_of_message(message.draft))
            self.numbered += 1
            self.documents[message.id] = IndexedMessage(number=number, terms=frozenset(terms), length=len(terms))
            self.numbers[number] = message.id

    def unindex(self, name: MessageId) -> None:
        """Take a message out of the search."""
        document = self.documents.pop(name, None)
        if document is not None:
            del self.numbers[document.number]

    def need(self, name: MessageId) -> Message:
        """Read a message. Raises MessageNotFound."""
        message = self.messages.get(name)
        if message is None:
            raise not_stored(self.key, name)
        return message

    def walk(self, to: MessageId) -> Iterator[Message]:
        """The path to `to`, from its end to its root. Raises MessageNotFound."""
        message = self.need(to)
        while True:
            yield message
            if message.parent is None:
                return
            message = self.messages[message.parent]

    def head(self, branch: str) -> Head | None:
        """Where a branch stands; None when it has no message or does not exist."""
        name = self.branches.get(branch)
        return None if name is None else head_of(self.messages[name])

    def info(self) -> SessionInfo:
        """What a list of sessions says of it."""
        return SessionInfo(
            key=self.key,
            source=self.source,
            messages=len(self.messages),
            tokens=sum(message.tokens for message in self.messages.values()),
            first_at=self.span[0],
            last_at=self.span[1],
            project=self.project,
        )

    def on_branches(self, branch: str | None = None) -> set[MessageId]:
        """The messages that lie on a branch, or on the one called so."""
        found: set[MessageId] = set()
        for name, to in self.branches.items():
            if to is not None and branch in (None, name):
                for message in self.walk(to):
                    if message.id in found:
                        break
                    found.add(message.id)
        return found


class VectorSet(Struct, frozen=True, kw_only=True):
    """The vectors of one space, index and embedder."""

    changes: int = 0
    vectors: Mapping[int, tuple[int, str, Vector]] = {}
    """By document: the change that brought it, the text that it is of (where that may change), and the vector."""
    gone: Mapping[int, int] = {}
    """The documents that lost theirs, and the change that took it."""
    forgotten: int = 0
    """Of what went before this change nobody knows any more what was lost."""


class SpaceState(State):
    """The state of a space."""

    def __init__(self) -> None:
        """Make a space that has learned nothing."""
        self.memories: dict[MemoryId, Record] = {}
        self.numbers: dict[MemoryId, int] = {}
        self.numbered = 0
        """The last number that a memory was given."""
        self.terms: dict[MemoryId, tuple[str, ...]] = {}
        self.documents: dict[int, MemoryId] = {}
        """By number; a memory without terms is none."""
        self.pads: dict[str, Pad] = {}
        """By task."""
        self.runs: dict[str, LearnedRun] = {}
        """By session."""
        self.observations: dict[str, Mapping[str, Observation]] = {}
        """By cue, then session; no mapping in it is ever changed."""
        self.ledger: dict[tuple[str, str], LearnedFile] = {}
        """By learner and digest."""
        self.vectors: dict[tuple[IndexName, str], VectorSet] = {}
        """By index and embedder."""

    def put(self, record: Record) -> bool:
        """Store a memory, in the place of the one with its id; says whether there was none."""
        new = record.id not in self.memories
        if new:
            self.numbered += 1
            self.numbers[record.id] = self.numbered
        else:
            self._forget_words(record.id)
        self.memories[record.id] = record
        self.terms[record.id] = tuple(terms_of_memory(record))
        if self.terms[record.id]:
            self.documents[self.number(record.id)] = record.id
        return new

    def remove(self, name: MemoryId) -> bool:
        """Take a memory out; says whether it was there."""
        if name not in self.memories:
            return False
        self._forget_words(name)
        del self.memories[name], self.numbers[name], self.terms[name]
        return True

    def number(self, name: MemoryId) -> int:
        """The number of the document that a memory is."""
        return memory_number(self.numbers[name], len(self.terms[name]))

    def _forget_words(self, name: MemoryId) -> None:
        self.documents.pop(self.number(name), None)


SpendingKey = tuple[SessionKey, date]


class StoreState(Struct, frozen=True, kw_only=True):
    """All that a store holds, as a transaction leaves it; nobody changes it any more."""

    sessions: Mapping[SessionKey, SessionState] = {}
    spent: Mapping[SpendingKey, Spent] = {}
    spaces: Mapping[str, SpaceState] = {}
    """What each space has learned."""


class Snapshot(OpenTransaction):
    """The sessions, what was learned, and what was spent, as a transaction sees them."""

    def __init__(self, held: StoreState, *, writes: bool) -> None:
        """Look at what is held; `writes` says whether this transaction makes something else of it."""
        super().__init__(writes=writes)
        self._trees = dict(held.sessions)
        self._spent = dict(held.spent)
        self._spaces = dict(held.spaces)
        self._own: set[SessionKey] = set()
        self._own_spaces: set[str] = set()

    def session(self, key: SessionKey) -> SessionState:
        """A session to read; one that was never made reads as an empty one."""
        self.check()
        return self._trees.get(key) or SessionState(key, None, 0)

    def need_session(self, key: SessionKey) -> SessionState:
        """A session to read. Raises SessionNotFound."""
        self.check()
        if key not in self._trees:
            raise not_made(key)
        return self._trees[key]

    def change_session(self, key: SessionKey) -> SessionState:
        """A session to write to: a copy, from the first time on. Raises SessionNotFound."""
        tree = self.need_session(key)
        self.check(writes=True)
        if key not in self._own:
            tree = self._trees[key] = tree.copy()
            self._own.add(key)
        return tree

    def add_session(self, key: SessionKey, source: str | None) -> bool:
        """Make a session unless it is there; says whether it was made. One without a source takes the first one."""
        self.check(writes=True)
        if key in self._trees:
            if source is not None and self._trees[key].source is None:
                self.change_session(key).source = source
            return False
        number = max((tree.number for tree in self.sessions(key.space)), default=0) + 1
        self._trees[key] = SessionState(key, source, self.next_append(key.space), number)
        self._own.add(key)
        return True

    def next_append(self, space: str) -> int:
        """The number that puts a session before all others of its space."""
        return max((tree.appended for tree in self.sessions(space)), default=0) + 1

    def sessions(self, space: str) -> list[SessionState]:
        """The sessions of a space."""
        self.check()
        return [tree for key, tree in self._trees.items() if key.space == space]

    def every_session(self) -> list[SessionState]:
        """The sessions of all spaces."""
        self.check()
        return list(self._trees.values())

    def spent(self) -> Mapping[SpendingKey, Spent]:
        """What each session spent on each day."""
        self.check()
        return self._spent

    def spend(self, key: SessionKey, day: date, spent: Spent) -> None:
        """Add to what a session spent on a day; it needn't be there."""
        self.check(writes=True)
        before = self._spent.get((key, day), Spent())
        self._spent[key, day] = Spent(calls=before.calls + spent.calls, tokens=before.tokens + spent.tokens)

    def unname(self, key: SessionKey) -> None:
        """Let what a session spent count on for its space, on account of none."""
        self.check(writes=True)
        for each, day in [place for place in self._spent if place[0] == key and key.session]:
            self.spend(SessionKey(key.space, ""), day, self._spent.pop((each, day)))

    def drop_session(self, key: SessionKey) -> bool:
        """Take a session out; says whether it was there."""
        self.check(writes=True)
        self._own.discard(key)
        return self._trees.pop(key, None) is not None

    def drop_space(self, space: str) -> int:
        """Take out every session of a space, what it learned and what it spent; says how many sessions there were."""
        self.check(writes=True)
        keys = [tree.key for tree in self.sessions(space)]
        for key in keys:
            self.drop_session(key)
        self._spent = {place: spent for place, spent in self._spent.items() if place[0].space != space}
        kept = self.change_space(space)
        for name in list(kept.memories):
            kept.remove(name)
        for learned in (kept.pads, kept.runs, kept.observations, kept.ledger):
            learned.clear()
        return len(keys)

    def space(self, space: str) -> SpaceState:
        """What a space has learned, to read."""
        self.check()
        return self._spaces.get(space) or SpaceState()

    def change_space(self, space: str) -> SpaceState:
        """What a space has learned, to write to: a copy, from the first time on."""
        self.check(writes=True)
        if space not in self._own_spaces:
            self._spaces[space] = self.space(space).copy()
            self._own_spaces.add(space)
        return self._spaces[space]

    def spaces(self) -> list[str]:
        """The spaces in which something was learned, or has a vector."""
        self.check()
        return list(self._spaces)

    def state(self) -> StoreState:
        """What the store holds as the transaction leaves it."""
        return StoreState(sessions=self._trees, spent=self._spent, spaces=self._spaces)


class StatePort:
    """A port over one open transaction."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

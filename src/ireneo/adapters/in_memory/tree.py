"""One session in memory: its messages, and what hangs on them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct

from ireneo.adapters.chain import not_stored
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import Annotation, AnnotationId, Head, SessionKey, head_of
from ireneo.memories.index import document_number, role_of_message, terms_of_stored
from ireneo.ports.leases import Lease
from ireneo.ports.store import Rebuild, SessionInfo
from ireneo.summaries.summary import Summary, SummaryId


class Document(Struct, frozen=True, kw_only=True):
    """A message as it is searched."""

    number: int
    terms: frozenset[str]
    length: int
    """How many terms it has, each as often as it stands there."""


class Tree:
    """The state of a session. A transaction changes a copy, so one that a reader holds never changes."""

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
        self.documents: dict[MessageId, Document] = {}
        """Of the messages in which there is something to search."""
        self.numbers: dict[int, MessageId] = {}
        """The documents by number."""
        self.project: str | None = None
        """The project that it worked on; None: nobody looked yet."""
        self.numbered = 0
        """How many documents there ever were: the ordinal of the next one."""

    def copy(self) -> Tree:
        """A tree of its own with the same values, which are immutable."""
        other = Tree(self.key, self.source, self.appended, self.number)
        other.span = self.span
        other.messages = dict(self.messages)
        other.payloads = dict(self.payloads)
        other.branches = dict(self.branches)
        other.summaries = dict(self.summaries)
        other.rebuilds = dict(self.rebuilds)
        other.annotations = dict(self.annotations)
        other.leases = dict(self.leases)
        other.leased = self.leased
        other.documents = dict(self.documents)
        other.numbers = dict(self.numbers)
        other.project = self.project
        other.numbered = self.numbered
        return other

    def index(self, message: Message) -> None:
        """Make a message searchable, unless there is nothing in it to search."""
        terms = terms_of_stored(message)
        if terms:
            number = document_number(self.number, self.numbered, len(terms), role_of_message(message.draft))
            self.numbered += 1
            self.documents[message.id] = Document(number=number, terms=frozenset(terms), length=len(terms))
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

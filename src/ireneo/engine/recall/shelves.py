"""The two shelves that recall looks on: what was said, and what was learned from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.recall.asked import Asked
from ireneo.engine.recall.scope import Scope
from ireneo.log.message import Draft, MessageId
from ireneo.memories.evidence import disputes
from ireneo.memories.kinds.registry import KINDS
from ireneo.memories.recall.candidates import SHADE
from ireneo.memories.recall.documents import numbers_at
from ireneo.memories.recall.found import Passage
from ireneo.memories.recall.recalled import Recalled
from ireneo.memories.recall.searched import author_of_message, kind_term, text_of_message
from ireneo.memories.recall.time_words import Window
from ireneo.memories.record import Record
from ireneo.ports.search import FoundMemory, FoundMessage
from ireneo.ports.search import Shelf as Name
from ireneo.ports.transition import SearchPort

INSTANT = timedelta(microseconds=1)
HELD_THEN = 1.25
"""What counts more where a question names a time: what was the case then."""
HELD_ELSE = 0.8
"""What was not, and is the case now: the time may have been meant otherwise, so it is told as well."""

Parts: TypeAlias = tuple[tuple[str, float], ...]


class Read(Struct, frozen=True, kw_only=True):
    """A document that was read: how it is ranked, and how it is told."""

    passage: Passage
    recalled: Recalled
    """Without its score."""
    factors: Parts = ()
    """What its relevance is multiplied by, apart from what the question says."""


class Shelf(Protocol):
    """A shelf, as recall goes through it."""

    @property
    def name(self) -> Name:
        """Which one it is."""

    @property
    def reach(self) -> int:
        """How many neighbours on each side count in."""

    @property
    def only(self) -> str | None:
        """The term that every document has which is wanted; None where any may be."""

    @property
    def narrows(self) -> bool:
        """Whether so much may turn out not to be wanted once it is read that what is further down counts too."""

    async def within(self, numbers: Mapping[str, Sequence[int]]) -> Mapping[str, Sequence[int]]:
        """The documents among `numbers`, which have each term, that are wanted as far as their numbers tell."""

    async def likely(self, numbers: Sequence[int]) -> Sequence[int]:
        """Those of these documents that may be wanted, as far as is known before they are read."""

    async def read(self, search: SearchPort, space: str, places: Sequence[int]) -> dict[int, Read]:
        """Read the documents at `places` that are wanted, by number."""


class Messages:
    """What was said."""

    name: Name = "messages"
    reach = len(SHADE) - 1
    only: str | None = None

    def __init__(self, asked: Asked, scope: Scope) -> None:
        """Look for what is asked, as far as it may be seen."""
        self._asked = asked
        self._scope = scope
        self.narrows = scope.narrows_messages

    async def within(self, numbers: Mapping[str, Sequence[int]]) -> Mapping[str, Sequence[int]]:
        """The documents that may be seen."""
        return await self._scope.within(numbers)

    async def likely(self, numbers: Sequence[int]) -> Sequence[int]:
        """All of them: the others are left out already."""
        return numbers

    async def read(self, search: SearchPort, space: str, places: Sequence[int]) -> dict[int, Read]:
        """Read the messages at `places`."""
        found = await search.messages(space, [numbers_at(place)[0] for place in places])
        await self._scope.learn_sessions(each.document for each in found)
        return {each.document: self._read(each) for each in found if self._wanted(each)}

    def _wanted(self, found: FoundMessage) -> bool:
        asked, at = self._asked, found.message.draft.at
        if not self._scope.holds(found.document) or not self._scope.hears(found.message.draft):
            return False
        return asked.at is None or at is None or at <= asked.at

    def _read(self, found: FoundMessage) -> Read:
        message, draft = found.message, found.message.draft
        author = author_of_message(draft)
        recalled = Recalled(
            id=message.id,
            kind="message",
            text=_words(draft),
            score=0.0,
            at=draft.at,
            session=found.key.session,
            sources=(message.id,),
            role=message.role,
            author=author,
            source_id=draft.source_id,
        )
        passage = Passage(number=found.document, text=recalled.text, role=message.role, author=author, at=draft.at)
        return Read(passage=passage, recalled=recalled)


class Memories:
    """What was learned."""

    name: Name = "memories"
    reach = 0

    def __init__(self, asked: Asked, now: datetime, scope: Scope, window: Window | None = None) -> None:
        """Look for what is asked at the time `now`; `window` is the time that the question names."""
        self._asked = asked
        self._scope = scope
        self.narrows = scope.narrows_memories
        self._now = now
        self._then = _last_of(window, now) if window and asked.at is None else None
        self.only = kind_term(asked.kind) if asked.kind else None

    async def within(self, numbers: Mapping[str, Sequence[int]]) -> Mapping[str, Sequence[int]]:
        """All of them: of a memory its number tells nothing."""
        return numbers

    async def likely(self, numbers: Sequence[int]) -> Sequence[int]:
        """Those that are not of another project alone."""
        return await self._scope.may_be_here(numbers)

    async def read(self, search: SearchPort, space: str, places: Sequence[int]) -> dict[int, Read]:
        """Read the memories at `places`."""
        found = await search.memories(space, [numbers_at(place)[0] for place in places])
        seen = await self._scope.seen([each.record for each in found])
        told = [replace(each, record=as_seen) for each, as_seen in zip(found, seen, strict=True) if as_seen]
        return {each.document: self._read(each) for each in told if self._wanted(each)}

    def _wanted(self, found: FoundMemory) -> bool:
        asked, record = self._asked, found.record
        if asked.kind is not None and record.kind != asked.kind:
            return False
        if asked.session is not None and asked.session not in record.sessions:
            return False
        # What is disputed is shown as such: to leave it out would be to decide.
        if record.state == "disputed" and not record.archived:
            return asked.at is None or record.recorded <= asked.at
        return KINDS[record.kind].holds(record, asked.at or self._now) or self._held_then(record)

    def _held_then(self, record: Record) -> bool:
        """Whether it was the case in the time that the question names."""
        return self._then is not None and KINDS[record.kind].holds(record, self._then)

    def _read(self, found: FoundMemory) -> Read:
        record = found.record
        messages = tuple(MessageId(name) for each in record.evidence for name in each.messages)
        recalled = Recalled(
            id=record.id,
            kind=record.kind,
            text=record.text,
            score=0.0,
            at=record.when,
            session=record.sessions[0] if record.sessions else "",
            sources=tuple(dict.fromkeys(messages)),
            state=record.state,
            stale=record.stale,
            against=disputes(record),
            record=record,
        )
        passage = Passage(number=found.document, text=record.text, role=record.kind, at=record.when)
        factors = KINDS[record.kind].score(record, self._now)
        if self._then is not None:
            factors = (*factors, ("time asked of", HELD_THEN if self._held_then(record) else HELD_ELSE))
        return Read(passage=passage, recalled=recalled, factors=factors)


def _last_of(window: Window, now: datetime) -> datetime | None:
    """The last moment of a time that is over; None where it goes on."""
    return window.until - INSTANT if window.until is not None and window.until <= now else None


def _words(draft: Draft) -> str:
    """A message's own words; of one that has none, what its calls and results say."""
    return draft.text or text_of_message(draft)

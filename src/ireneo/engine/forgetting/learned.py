"""What was learned from what is erased: memories lose that evidence, and go where no other is left."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterator, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.summary import SummaryId
from ireneo.engine.forgetting.words import Erased, said, values
from ireneo.log.branch import SessionKey
from ireneo.log.message import MessageId
from ireneo.memories.record import Evidence, MemoryId, Record
from ireneo.memories.scratchpad import Pad
from ireneo.ports.transition import Transaction

CHUNK = 500
"""Sources that are asked for at a time."""


class Lost(Struct, frozen=True, kw_only=True):
    """What evidence can no longer name."""

    sources: frozenset[str] = frozenset()
    """The ids of messages, summaries and memories that go."""
    sessions: frozenset[str] = frozenset()
    """The sessions that go whole."""
    erased: Erased = Erased()


class Learned(Struct, frozen=True, kw_only=True):
    """What becomes of the memories."""

    gone: tuple[Record, ...] = ()
    lessened: tuple[Record, ...] = ()
    """Those that stay, without what they lost."""


class Following:
    """Follows what is lost from memory to memory."""

    def __init__(self, tx: Transaction, space: str, lost: Lost) -> None:
        """Follow in one transaction."""
        self._tx = tx
        self._space = space
        self._lost = lost
        self._gone: dict[MemoryId, Record] = {}
        self._left: dict[MemoryId, Record] = {}

    async def follow(self, meant: Sequence[Record], of_sessions: Sequence[Record]) -> Learned:
        """Take out the memories that are `meant`, and all that rests on them or on what is lost alone.

        `of_sessions` are those with evidence from a session that goes, whether or not they name a message of it.
        """
        self._gone.update((record.id, record) for record in meant)
        await self._lessen(of_sessions)
        asked: set[str] = set()
        while new := sorted({*self._lost.sources, *self._gone} - asked):
            asked.update(new)
            for start in range(0, len(new), CHUNK):
                await self._lessen(await self._tx.memories.citing(self._space, new[start : start + CHUNK]))
        return Learned(
            gone=tuple(self._gone.values()),
            lessened=tuple(record for name, record in self._left.items() if name not in self._gone),
        )

    async def _lessen(self, records: Sequence[Record]) -> None:
        for record in records:
            if record.id in self._gone:
                continue
            left = lessened(self._left.get(record.id, record), self._lost, self._gone)
            if left is None or await self._was_worded_by_it(left):
                self._gone[record.id] = record
            elif left.evidence != record.evidence:
                self._left[record.id] = left

    async def _was_worded_by_it(self, left: Record) -> bool:
        """Whether what a memory says can't come from the evidence that it has left."""
        texts = list(wording(left))
        erased = self._lost.erased
        if not any(map(erased.in_part, texts)) or not all(piece.sources for piece in left.evidence):
            return False
        others = [text async for text in self._sources(left)]
        return any(map(erased.without(others).in_part, texts))

    async def _sources(self, record: Record) -> AsyncIterator[str]:
        infos = await self._tx.sessions.list(self._space)
        for piece in record.evidence:
            keys = [SessionKey(self._space, piece.session)] if piece.session else [info.key for info in infos]
            for key in keys:
                for message in await self._tx.log.find(key, piece.messages):
                    for text in said(message):
                        yield text
                for summary in await self._tx.summaries.get(key, [SummaryId(name) for name in piece.summaries]):
                    for text in values(msgspec.to_builtins(summary.sections)):
                        yield text
            for other in await self._tx.memories.get(self._space, piece.memories):
                if other.id not in self._gone:
                    for text in wording(other):
                        yield text


def lessened(record: Record, lost: Lost, gone: Collection[MemoryId]) -> Record | None:
    """A memory without the evidence that is lost; None where none is left that is more than our own giving up."""
    pieces = [left for piece in record.evidence if (left := _without(piece, lost, gone)) is not None]
    if tuple(pieces) == record.evidence:
        return record
    if all(map(_gives_up, pieces)):
        return None
    return replace(
        record,
        evidence=tuple(pieces),
        seen=max(record.seen - (len(record.evidence) - len(pieces)), len(pieces)),
        at=pieces[0].at,
        recorded=min(piece.recorded for piece in pieces),
        # They may quote what is erased; what still is to be said is said when it is settled.
        reason="",
        stale="",
    )


def _without(piece: Evidence, lost: Lost, gone: Collection[MemoryId]) -> Evidence | None:
    if piece.session and piece.session in lost.sessions:
        return None
    left = replace(
        piece,
        messages=_kept(piece.messages, lost.sources),
        summaries=tuple(name for name in piece.summaries if name not in lost.sources),
        memories=tuple(name for name in piece.memories if name not in gone),
    )
    return left if left.sources or not piece.sources else None


def _gives_up(piece: Evidence) -> bool:
    """Whether it only says that a conclusion was given up when its ground fell: that stands on nothing of its own."""
    return piece.against and piece.origin == "derived" and not piece.sources


def _kept(messages: Sequence[MessageId], lost: Collection[str]) -> tuple[MessageId, ...]:
    return tuple(name for name in messages if name not in lost)


def wording(record: Record) -> Iterator[str]:
    """Every text of a memory that says something of its own."""
    said = (record.text, record.value, record.subject, record.attribute, record.name, record.task_type)
    yield from filter(None, (*said, record.signature, record.key, record.cue))
    yield from values(record.conditions)


def of_pad(pad: Pad) -> Iterator[str]:
    """Every text of a scratchpad."""
    yield from filter(None, (pad.task, pad.goal, *(item.text for item in pad.plan), *pad.facts, *pad.questions))

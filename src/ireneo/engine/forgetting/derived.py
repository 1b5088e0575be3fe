"""What of a session was derived from the messages that are erased: summaries, annotations, marks, leases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.summary import Summary, SummaryId
from ireneo.engine.forgetting.plan import OfSession
from ireneo.engine.forgetting.reading import all_annotations, all_messages, all_summaries
from ireneo.engine.forgetting.words import Erased, Name, said, values
from ireneo.log.annotation import Annotation
from ireneo.log.branch import SessionKey
from ireneo.log.message import Message, MessageId
from ireneo.ports.transition import Transaction


class Reached(Struct, frozen=True, kw_only=True):
    """What an erasure reaches in a session, and the words by which it was known."""

    of_session: OfSession
    erased: Erased


async def reach(tx: Transaction, key: SessionKey, gone: Sequence[Message], name: Name | None) -> Reached:
    """What goes with the messages `gone`; with `name`, whatever names it goes as well."""
    ids = {message.id for message in gone}
    erased = Erased.of(text for message in gone for text in said(message))
    async for message in all_messages(tx, key):
        if message.id not in ids and erased.alone:
            erased = erased.without(said(message))
    notes = [each for each in await all_annotations(tx, key) if _is_from(each, ids, erased, name)]
    summaries, remade = await _summaries(tx, key, gone, erased, name, {each.id for each in notes})
    lost = {*summaries, *(each.id for each in notes)}
    marks = [mark for mark in await tx.rebuilds.of_session(key) if not lost.isdisjoint(mark.taken_up)]
    leases = [
        lease
        for lease in await tx.leases.of_session(key)
        if lease.work in lost or erased.in_part(lease.error) or (name and name.is_in([lease.error]))
    ]
    found = OfSession(
        key=key,
        messages=tuple(gone),
        summaries=tuple(summaries),
        remade=tuple(remade),
        annotations=tuple(each.id for each in notes),
        marks=tuple(marks),
        leases=tuple(leases),
    )
    return Reached(of_session=found, erased=erased)


def _is_from(note: Annotation, ids: Collection[MessageId], erased: Erased, name: Name | None) -> bool:
    """Whether the source of an annotation is erased, or its text comes from what is."""
    if note.source in ids or (name and name.is_in([note.text, note.claim])):
        return True
    comes = erased.in_part if note.by == "model" else erased.is_source_of
    return comes(note.text) or erased.in_part(note.claim)


async def _summaries(
    tx: Transaction,
    key: SessionKey,
    gone: Sequence[Message],
    erased: Erased,
    name: Name | None,
    notes: Collection[str],
) -> tuple[list[SummaryId], list[SummaryId]]:
    """The summaries that cover a message that is `gone`, that name one, or that tell what only these said.

    What was written of the others in view of these goes as well, step by step. And those that are to be made again.
    """
    covers = Covers(tx, key, gone)
    mentions = _mentions({message.id for message in gone})
    out: dict[SummaryId, None] = {}
    rest: list[Summary] = []
    async for summary in all_summaries(tx, key):
        told = list(values(msgspec.to_builtins((summary.sections, summary.threads))))
        by_words = any(map(erased.in_part, told)) or (name is not None and name.is_in(told))
        if by_words or mentions(told) or await covers(summary):
            out[summary.id] = None
        else:
            rest.append(replace(summary, sections=(), threads=type(summary.threads)()))
    while found := [each for each in rest if _rests_on(each, out, notes)]:
        out.update((each.id, None) for each in found)
        rest = [each for each in rest if each.id not in out]
    return list(out), [each.id for each in rest if each.writing is None and await covers.before(each)]


def _rests_on(summary: Summary, gone: Collection[SummaryId], notes: Collection[str]) -> bool:
    disputes = summary.writing.disputes if summary.writing else ()
    return any(name in gone for name in summary.sources) or any(name in notes for name in disputes)


def _mentions(ids: Collection[str]) -> Callable[[Sequence[str]], bool]:
    return lambda told: any(text in ids for text in told)


class Covers:
    """Where some messages stand against a summary."""

    def __init__(self, tx: Transaction, key: SessionKey, messages: Sequence[Message]) -> None:
        """Look along the paths of the session `key`."""
        self._tx = tx
        self._key = key
        self._at: dict[int, set[MessageId]] = {}
        for message in sorted(messages, key=lambda each: each.position):
            self._at.setdefault(message.position, set()).add(message.id)

    async def __call__(self, summary: Summary) -> bool:
        """Whether the summary covers one of them."""
        return await self._one_between(summary, summary.first_position, summary.last_position)

    async def before(self, summary: Summary) -> bool:
        """Whether one of them stands on the path before what the summary covers."""
        return await self._one_between(summary, 0, summary.first_position - 1)

    async def _one_between(self, summary: Summary, first: int, last: int) -> bool:
        for position in [place for place in self._at if first <= place <= last]:
            (stands,) = await self._tx.log.path(self._key, summary.last, position, position)
            if stands.id in self._at[position]:
                return True
        return False

"""Take the secrets out of what is stored already: each thing becomes what it would be had it come in without them.

A session is copied as it would read without its secrets, under the ids that follow from that, and put in the place of
what it was: so its logs, offered again, are known. All that names its messages follows. An erased message keeps its id,
by which it is known that it must not come again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from ireneo.context.summary import Summary
from ireneo.context.weigh import weigh
from ireneo.engine.cleaning import Cleaning
from ireneo.engine.forgetting.reading import all_annotations, all_messages, all_summaries
from ireneo.engine.means import Means
from ireneo.engine.remember import settle_offers
from ireneo.log.annotation import Annotation, annotation_id
from ireneo.log.branch import SessionKey
from ireneo.log.erased import erase
from ireneo.log.ids import message_id
from ireneo.log.message import Draft, Message, MessageId
from ireneo.log.redaction import cleaned_value
from ireneo.memories.exchange.offers import carried, offers_of
from ireneo.memories.kinds.registry import KINDS
from ireneo.memories.record import MemoryId, Record
from ireneo.ports.memories import Wanted
from ireneo.ports.store import Rebuild
from ireneo.ports.transition import Transaction

S = TypeVar("S", bound=Struct)

BATCH = 500
ON_THE_WAY = " (on its way to be without secrets)"
"""What stands behind a session's name while it is copied; nobody ever sees it, since all of it is one transaction."""


class Copied(Struct, kw_only=True):
    """What became of the messages of a session that was copied."""

    ids: dict[str, MessageId] = field(default_factory=dict)
    """What each is called now."""
    totals: dict[MessageId, int] = field(default_factory=dict)
    """What the path up to each costs, by its new id."""
    erased: list[Message] = field(default_factory=list)

    def stays(self, *messages: MessageId) -> bool:
        """Whether messages are called what they were: then the whole path to them is what it was."""
        return all(self.ids.get(each) == each for each in messages)


async def cleanse_session(means: Means, key: SessionKey) -> None:
    """Take the secrets out of a session and all that hangs on it, in one transaction."""
    cleaning = means.drawing()
    target = SessionKey(key.space, cleaning.text(key.session))
    through = SessionKey(key.space, key.session + ON_THE_WAY)
    async with means.store.write() as tx:
        info = await tx.sessions.get(key)
        if info is None:
            return
        await tx.erasure.begin()
        source = info.source and cleaning.text(info.source)
        branches = await tx.sessions.branches(key)
        await tx.sessions.create(through, source)
        copied = await _copy(tx, key, through, lambda draft: cleaning.choices(draft).drafts[0], means)
        summaries, dropped = await _summaries(tx, key, copied, cleaning)
        stretches = {each.stretch: _renamed(each, copied.ids).stretch async for each in all_summaries(tx, key)}
        notes = _notes(await all_annotations(tx, key), copied.ids, stretches, cleaning)
        marks = [each for each in await tx.rebuilds.of_session(key) if _holds(each, copied, dropped)]
        await tx.erasure.session(key)
        await tx.sessions.create(target, source)
        await _copy(tx, through, target, lambda draft: draft, means)
        await tx.erasure.session(through)
        there = await tx.sessions.branches(target)
        for name, head in branches.items():
            clean = cleaning.text(name)
            if clean not in there:
                await tx.log.move(target, clean, copied.ids[head.id] if head else None)
        await tx.summaries.put(target, summaries)
        await tx.annotations.put(target, notes)
        for mark in marks:
            await tx.rebuilds.put(target, mark)
        renamed = {old: new for old, new in copied.ids.items() if old != new}
        await _follow(tx, key.space, renamed, dropped)


async def cleanse_memories(means: Means, space: str) -> None:
    """Take the secrets out of memories: each is settled anew from its evidence, as it reads without them."""
    async with means.store.write() as tx:
        records = await tx.memories.list(space, Wanted())
        pairs = [(record, clean) for record in records if (clean := means.drawing().struct(record)) is not record]
        if not pairs:
            return
        await tx.erasure.begin()
        await tx.memories.remove(space, [record.id for record, _ in pairs])
        for kind, key in dict.fromkeys((record.kind, record.key) for record, _ in pairs):
            if under := await tx.memories.of_key(space, kind, key):
                await tx.memories.put(space, KINDS[kind].settle(under))
        ids: dict[str, MemoryId] = {}
        # What was drawn from another memory comes behind it.
        for record, clean in sorted(pairs, key=lambda pair: (pair[0].recorded, pair[0].id)):
            ids[record.id] = await _settled_anew(tx, space, _renamed(clean, ids))
        await _follow(tx, space, {old: new for old, new in ids.items() if old != new}, frozenset())


async def cleanse_pads(means: Means, space: str) -> None:
    """Take the secrets out of scratchpads."""
    async with means.store.write() as tx:
        for pad in await tx.pads.list(space):
            clean = means.drawing().struct(pad)
            if clean is not pad:
                await tx.erasure.begin()
                await tx.pads.remove(space, pad.task)
                await tx.pads.write(space, clean)


async def cleanse_runs(means: Means, space: str) -> None:
    """Take out the runs that hold secrets, so that their sessions are learned from again.

    Of a run whose session is not stored only the secrets go.
    """
    async with means.store.write() as tx:
        for run in await tx.runs.list(space):
            sightings = await tx.runs.of_run(space, run.session)
            cleaning = means.drawing()
            clean = cleaning.struct(run)
            shown = {each.cue: each for each in map(cleaning.struct, sightings)}
            if not cleaning.secrets:
                continue
            await tx.erasure.begin()
            await tx.runs.remove(space, run.session)
            if await tx.sessions.get(SessionKey(space, clean.session)) is None:
                await tx.runs.put(space, clean, list(shown.values()))


async def cleanse_ledger(means: Means, space: str) -> None:
    """Take the secrets out of the names of files that were learned from."""
    async with means.store.write() as tx:
        for file in await tx.ledger.list(space):
            clean = means.drawing().struct(file)
            if clean is not file:
                await tx.erasure.begin()
                await tx.ledger.remove(space, [file])
                await tx.ledger.mark(space, clean)


async def _copy(
    tx: Transaction, source: SessionKey, target: SessionKey, change: Callable[[Draft], Draft], means: Means
) -> Copied:
    """Copy the tree of a session, each draft changed; two messages that become one are stored once."""
    copied = Copied()
    batch: list[Message] = []
    async for message in all_messages(tx, source, whole=True):
        new = _changed(message, message.draft if message.erased else change(message.draft), copied, means)
        copied.ids[message.id] = new.id
        if new.id in copied.totals:
            continue
        copied.totals[new.id] = new.total_tokens
        if message.erased:
            copied.erased.append(new)
        if batch and (len(batch) >= BATCH or batch[-1].id != new.parent):
            await tx.log.insert(target, batch)
            batch = []
        batch.append(new)
    if batch:
        await tx.log.insert(target, batch)
    if copied.erased:
        await tx.erasure.messages(target, [erase(each) for each in copied.erased])
    return copied


def _changed(message: Message, draft: Draft, copied: Copied, means: Means) -> Message:
    parent = message.parent and copied.ids[message.parent]
    name = message.id
    if not message.erased and (draft is not message.draft or parent != message.parent):
        name = message_id(parent, draft.role, draft.parts)
    tokens, thinking = message.tokens, message.thinking_tokens
    if draft.parts is not message.draft.parts:
        tokens, thinking = weigh(draft.parts, means.count)
    return replace(
        message,
        id=name,
        parent=parent,
        draft=draft,
        tokens=tokens,
        thinking_tokens=thinking,
        total_tokens=tokens + (copied.totals[parent] if parent else 0),
    )


async def _summaries(
    tx: Transaction, key: SessionKey, copied: Copied, cleaning: Cleaning
) -> tuple[list[Summary], frozenset[str]]:
    """The summaries that stay: those over what nothing has changed in; and the ids of the others."""
    every = [each async for each in all_summaries(tx, key)]
    stay = {each.id: each for each in every if copied.stays(each.first, each.last) and cleaning.struct(each) is each}
    while lost := [each.id for each in stay.values() if not stay.keys() >= set(each.sources)]:
        for name in lost:
            del stay[name]
    return list(stay.values()), frozenset(each.id for each in every if each.id not in stay)


def _notes(
    notes: Sequence[Annotation], ids: Mapping[str, MessageId], stretches: Mapping[str, str], cleaning: Cleaning
) -> list[Annotation]:
    """The annotations, each at its message as that is called now; pins first, since their releases name them."""
    names: dict[str, str] = dict(stretches)
    out = []
    for note in sorted(notes, key=lambda each: each.kind != "pin"):
        clean = replace(
            _renamed(note, ids),
            text=cleaning.text(note.text),
            claim=cleaning.text(note.claim),
            about=names.get(note.about, note.about),
        )
        if clean != note:
            about = f"{clean.about} {clean.claim}".strip() if clean.kind == "dispute" else clean.about
            clean = replace(clean, id=annotation_id(clean.kind, clean.at, clean.text, about))
        names[note.id] = clean.id
        out.append(clean)
    return out


def _holds(mark: Rebuild, copied: Copied, dropped: frozenset[str]) -> bool:
    return copied.stays(mark.at) and dropped.isdisjoint(mark.taken_up)


async def _follow(tx: Transaction, space: str, ids: Mapping[str, str], dropped: frozenset[str]) -> None:
    """Let memories name their sources as these are called now; a summary that is gone is none any more."""
    names = [*ids, *dropped]
    for start in range(0, len(names), BATCH):
        citing = await tx.memories.citing(space, names[start : start + BATCH])
        await tx.memories.put(space, [_sourced(record, ids, dropped) for record in citing])


def _sourced(record: Record, ids: Mapping[str, str], dropped: frozenset[str]) -> Record:
    evidence = tuple(
        replace(_renamed(piece, ids), summaries=tuple(name for name in piece.summaries if name not in dropped))
        for piece in record.evidence
    )
    return replace(record, evidence=evidence)


async def _settled_anew(tx: Transaction, space: str, clean: Record) -> MemoryId:
    settled = await settle_offers(tx, space, offers_of(clean), judged=True)
    record = settled[-1].record
    grown = replace(carried(record, clean, is_new=True), stale=clean.stale)
    if grown != record:
        await tx.memories.put(space, [grown])
    return grown.id


def _renamed(value: S, names: Mapping[str, str] | Mapping[str, MessageId] | Mapping[str, MemoryId]) -> S:
    """A value of ours that names messages, summaries or memories as they are called now."""
    held = msgspec.to_builtins(value)
    renamed = cleaned_value(held, lambda text, _: names.get(text, text))
    return value if renamed is held else msgspec.convert(renamed, type(value))

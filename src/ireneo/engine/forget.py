"""Erase: take content out for good, with all that was derived from it alone, and out of every byte of the store.

Read and plan, then one transaction, then the scrub of what the transaction has left behind in the file. Whoever is
killed in between has erased nothing or everything; the bytes are overwritten by whoever comes next.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.forgetting.derived import reach
from ireneo.engine.forgetting.learned import Following, Learned, Lost, of_pad
from ireneo.engine.forgetting.meant import Meant, memory_meant, message_meant, session_meant, subject_meant
from ireneo.engine.forgetting.plan import OfSession, Plan, carry_out
from ireneo.engine.forgetting.reading import all_annotations, all_messages
from ireneo.engine.forgetting.settled import settle_left
from ireneo.engine.forgetting.taught import Taught, all_taught, taught_by
from ireneo.engine.forgetting.words import Erased, said
from ireneo.engine.means import Means
from ireneo.errors import BadInput, NotFound
from ireneo.log.branch import SessionKey
from ireneo.ports.memories import Wanted
from ireneo.ports.search import Shelf
from ireneo.ports.transition import Transaction

SHELVES: tuple[Shelf, ...] = ("messages", "memories")


class Forgotten(Struct, frozen=True, kw_only=True):
    """How much was erased, or would be."""

    messages: int = 0
    sessions: int = 0
    """Those that went whole; their messages are counted as well."""
    summaries: int = 0
    notes: int = 0
    """Pins, releases and disputes."""
    memories: int = 0
    lessened: int = 0
    """Memories that lost a source and stay."""
    pads: int = 0
    runs: int = 0
    """Runs that were learned from; of a session that stays, what is left is learned from again."""
    sightings: int = 0
    """What runs showed of claims, of runs that go and of runs that stay."""
    files: int = 0
    """Files that were learned from and are no longer known, or no longer by name."""
    documents: int = 0
    """What can't be found by its words or its likeness any more: messages and memories."""


class Receipt(Struct, frozen=True, kw_only=True):
    """What an erasure came to."""

    what: Forgotten
    ids: tuple[str, ...]
    """The messages, summaries and memories that went, by id; of a session or a space that went whole, its name."""
    at: datetime
    preview: bool = False
    """Nothing was erased; this is what would be."""
    complete: bool = True
    """Nothing of it stands in any byte of the store any more; false for a preview."""
    note: str = ""
    """What is left to do, and what is worth knowing."""


async def forget(
    means: Means,
    space: str,
    *,
    subject: str | None = None,
    message: str | None = None,
    session: str | None = None,
    memory: str | None = None,
    everything: str | None = None,
    preview: bool = False,
) -> Receipt:
    """Erase one thing, and what was derived from it alone; with `preview` only tell how much that is.

    Raises BadInput unless exactly one thing is named, NotFound where it is not there.
    """
    given = {
        "subject": subject,
        "message": message,
        "session": session,
        "memory": memory,
        "everything": everything,
    }
    what, name = _only(given, space)
    now = means.clock.now()
    if preview:
        async with means.store.read() as tx:
            plan = await _plan(tx, space, what, name)
            counted = await _counted(tx, space, plan)
        note = " ".join(plan.notes)
        return Receipt(what=counted, ids=_ids(plan, space), at=now, preview=True, complete=False, note=note)
    try:
        async with means.store.write() as tx:
            plan = await _plan(tx, space, what, name)
            counted = await _counted(tx, space, plan)
            before = await _documents(tx, space)
            if not plan.is_empty:
                await carry_out(tx, space, plan)
                await settle_left(tx, space, plan)
            counted = replace(counted, documents=before - await _documents(tx, space))
    except NotFound:
        # It may be gone since an erasure that was killed before its end.
        await means.store.scrub()
        raise
    scrubbed = await means.store.scrub()
    note = " ".join(filter(None, (scrubbed.note, *plan.notes)))
    return Receipt(what=counted, ids=_ids(plan, space), at=now, complete=scrubbed.complete, note=note)


def _only(given: dict[str, str | None], space: str) -> tuple[str, str]:
    """The one thing that is named, and how."""
    named = [(what, name) for what, name in given.items() if name is not None]
    if len(named) != 1:
        raise BadInput(
            "Name exactly one thing to forget: a subject, a message, a session, a memory, or the whole space."
        )
    ((what, name),) = named
    if not name.strip():
        raise BadInput("Say what is to be forgotten; the name is empty.")
    if what == "everything" and name != space:
        raise BadInput(f"To forget everything, give the name of the space, {space!r}, and not {name!r}.")
    return what, name


async def _plan(tx: Transaction, space: str, what: str, name: str) -> Plan:
    if what == "everything":
        infos = await tx.sessions.list(space)
        sessions = tuple(OfSession(key=info.key, whole=True) for info in infos)
        return Plan(everything=True, sessions=sessions, taught=await all_taught(tx, space))
    find = {"message": message_meant, "session": session_meant, "memory": memory_meant, "subject": subject_meant}
    return await _follow(tx, space, await find[what](tx, space, name))


async def _follow(tx: Transaction, space: str, meant: Meant) -> Plan:
    """All that goes with what is meant."""
    parts: list[OfSession] = []
    lost: set[str] = set()
    erased = Erased()
    keys = list(meant.messages)
    if meant.name is not None:
        keys = [info.key for info in await tx.sessions.list(space)]
    for key in keys:
        reached = await reach(tx, key, meant.messages.get(key, ()), meant.name)
        erased = erased.and_of(reached.erased)
        lost.update(message.id for message in reached.of_session.messages)
        lost.update(reached.of_session.summaries)
        if reached.of_session != OfSession(key=key):
            parts.append(reached.of_session)
    for key in meant.sessions:
        if await tx.sessions.get(key) is None:
            # It is kept elsewhere; only what was learned from it is here.
            continue
        parts.append(OfSession(key=key, whole=True))
        texts = [text async for each in all_messages(tx, key) for text in said(each)]
        erased = erased.and_of(Erased.of(texts))
        lost.update([each.id async for each in all_messages(tx, key)])
        lost.update(await tx.upkeep.summaries(key))
    learned = await _learned(
        tx,
        space,
        meant,
        Lost(sources=frozenset(lost), sessions=frozenset(key.session for key in meant.sessions), erased=erased),
    )
    return Plan(
        sessions=tuple(parts),
        taught=await _taught(tx, space, meant, parts),
        memories=learned.gone,
        lessened=learned.lessened,
        pads=tuple(await _pads(tx, space, meant, erased)),
        notes=(meant.note,) if meant.note else (),
    )


async def _taught(tx: Transaction, space: str, meant: Meant, parts: Sequence[OfSession]) -> Taught:
    return await taught_by(
        tx,
        space,
        whole={key.session for key in meant.sessions},
        touched={part.key.session for part in parts if part.messages},
        cues={record.cue for record in meant.memories if record.cue},
        name=meant.name,
    )


async def _learned(tx: Transaction, space: str, meant: Meant, lost: Lost) -> Learned:
    of_sessions = []
    if lost.sessions:
        every = await tx.memories.list(space, Wanted())
        of_sessions = [record for record in every if not lost.sessions.isdisjoint(record.sessions)]
    return await Following(tx, space, lost).follow(meant.memories, of_sessions)


async def _pads(tx: Transaction, space: str, meant: Meant, erased: Erased) -> list[str]:
    """The scratchpads of the sessions that go, and those whose text comes from what is erased."""
    names = {key.session for key in meant.sessions}
    out: list[str] = []
    doubted = []
    for pad in await tx.pads.list(space):
        texts = list(of_pad(pad))
        if pad.task in names or (meant.name and meant.name.is_in(texts)):
            out.append(pad.task)
        elif erased.is_source_of(" ".join(texts)):
            doubted.append(pad)
    if doubted:
        gone = {*meant.sessions, *meant.messages}
        elsewhere = await _elsewhere(tx, space, gone, erased)
        out += [pad.task for pad in doubted if elsewhere.is_source_of(" ".join(of_pad(pad)))]
    return out


async def _elsewhere(tx: Transaction, space: str, gone: Collection[SessionKey], erased: Erased) -> Erased:
    """What only the erased messages said, in all of the space: those of sessions that it does not reach stay."""
    for info in await tx.sessions.list(space):
        if info.key not in gone:
            async for message in all_messages(tx, info.key):
                if not erased.alone:
                    return erased
                erased = erased.without(said(message))
    return erased


async def _counted(tx: Transaction, space: str, plan: Plan) -> Forgotten:
    messages = summaries = notes = 0
    for each in plan.sessions:
        info = await tx.sessions.get(each.key) if each.whole else None
        messages += info.messages if info else len(each.messages)
        summaries += len(await tx.upkeep.summaries(each.key)) if each.whole else len(each.summaries)
        notes += len(await all_annotations(tx, each.key)) if each.whole else len(each.annotations)
    every = plan.everything
    return Forgotten(
        messages=messages,
        sessions=sum(each.whole for each in plan.sessions),
        summaries=summaries,
        notes=notes,
        memories=len(await tx.memories.list(space, Wanted())) if every else len(plan.memories),
        lessened=len(plan.lessened),
        pads=len(await tx.pads.list(space)) if every else len(plan.pads),
        runs=len(plan.taught.runs),
        sightings=plan.taught.shown,
        files=len(plan.taught.files) + len(plan.taught.unnamed),
    )


async def _documents(tx: Transaction, space: str) -> int:
    return sum([(await tx.search.size(space, shelf)).documents for shelf in SHELVES])


def _ids(plan: Plan, space: str) -> tuple[str, ...]:
    if plan.everything:
        return (space,)
    out: list[str] = []
    for each in plan.sessions:
        out += [each.key.session] if each.whole else [*(message.id for message in each.messages), *each.summaries]
    return (*out, *(record.id for record in plan.memories))

"""Examine a store at rest, and repair what can be repaired without touching the log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from msgspec.structs import replace

from ireneo.engine.branches import tree_paths
from ireneo.engine.doctor.checks import (
    RESTORE,
    UNREADABLE,
    Diagnosis,
    Finding,
    OnProgress,
    Repair,
    check_doubles,
    check_leases,
    check_marks,
    check_messages,
    check_paths,
    check_summaries,
    fault,
    read_summaries,
    stood_for,
)
from ireneo.errors import BadInput, ReadOnlyStore, StoreBusy
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Store, Transaction

REBUILD_INDEX = "`ireneo doctor --repair` makes the index of the space anew."
INDEX_REBUILT = "The index of the space was made anew."


async def check_words(store: Store, space: str, *, repair: bool) -> list[Finding]:
    """What is wrong with the index of a space; it follows from what is stored, so all of it can be repaired."""
    try:
        faults = await store.read(lambda tx: tx.words.faults(space))
        if faults and repair:
            await store.write(lambda tx: tx.words.rebuild(space))
    except UNREADABLE as error:
        text = f"The index of words can't be looked at to its end: {str(error).rstrip('.')}."
        return [Finding(kind="fault", session="", text=text, advice=RESTORE)]
    advice = INDEX_REBUILT if repair else REBUILD_INDEX
    return [Finding(kind="fault", session="", text=each, repaired=repair, advice=advice) for each in faults]


TAKE_RUN_OUT = "`ireneo doctor --repair` takes it out; what is stored of the session can be learned from again."
RUN_TAKEN_OUT = "Taken out; what is stored of the session can be learned from again."


def _remove_runs(tx: Transaction, space: str, astray: Sequence[str]) -> Sequence[str]:
    """Take these runs out, but for those that whoever learned from one since has put right; which were taken out."""
    lost = [session for session in tx.runs.orphans(space) if session in astray]
    for session in lost:
        tx.runs.remove(space, session)
    tx.ledger.remove(space, [file for file in tx.ledger.list(space) if not set(lost).isdisjoint(file.sessions)])
    return lost


async def check_runs(store: Store, space: str, *, repair: bool) -> list[Finding]:
    """What is wrong with the runs of a space; they follow from the log, so all of it can be repaired."""
    try:
        astray = await store.read(lambda tx: tx.runs.orphans(space))
        if astray and repair:
            astray = await store.write(_remove_runs, space, astray)
    except UNREADABLE as error:
        text = f"What runs taught can't be looked at to its end: {str(error).rstrip('.')}."
        return [Finding(kind="fault", session="", text=text, advice=RESTORE)]
    text = "What was learned from it hangs on nothing: the message up to which it was read is not stored."
    advice = RUN_TAKEN_OUT if repair else TAKE_RUN_OUT
    return [Finding(kind="fault", session=session, text=text, repaired=repair, advice=advice) for session in astray]


SOLVED = "It is gone with what was repaired."


async def examine(
    store: Store, space: str, now: datetime, *, repair: bool, quick: bool, on_looked: OnProgress
) -> list[Finding]:
    """What is wrong with the store as a whole and with each session of a space, faults and notes.

    `quick` leaves out whether each message is what its id says, which reads all of the log.
    """
    faults = await _faults(store, quick=quick)
    found: list[Diagnosis] = []
    keys: list[SessionKey] = []
    try:
        keys += [info.key for info in await store.read(lambda tx: tx.sessions.list(space))]
    except UNREADABLE as error:
        found.append(fault("", f"The sessions can't be listed: {str(error).rstrip('.')}."))
    diagnose = partial(_diagnose, now=now, faults=faults, on_looked=None if quick else on_looked)
    for key in keys:
        of_session = await store.read(diagnose, key)
        if repair and any(each.cure for each in of_session):
            of_session = await store.write(_repair, key, of_session)
        found += of_session
    of_words = await check_words(store, space, repair=repair)
    of_runs = await check_runs(store, space, repair=repair)
    known = {name for each in found for name in each.about}
    left = await _repair_store(store, quick=quick) if repair and faults else faults
    of_store = [
        Finding(
            kind="fault", session="", text=each, repaired=each not in left, advice=RESTORE if each in left else SOLVED
        )
        for each in faults
        if not any(name in each for name in known)
    ]
    unscrubbed = await _unscrubbed(store, repair=repair)
    return [*of_store, *of_words, *of_runs, *(each.finding for each in found), *unscrubbed]


async def _faults(store: Store, *, quick: bool) -> list[str]:
    """What the store says of itself; unless `quick`, of every value in it."""
    found = await store.read(lambda tx: list(tx.upkeep.faults()))
    after: int | None = None if quick else 0
    while after is not None:
        try:
            altered = await store.read(lambda tx, after: tx.upkeep.corrupted(after), after)
        except UNREADABLE as error:
            # Of a file that is damaged so far its own check has told already.
            return found or [f"It can't be looked at to its end: {str(error).rstrip('.')}."]
        found += altered.faults
        after = altered.after
    return found


async def _repair_store(store: Store, *, quick: bool) -> list[str]:
    """Let the store put right what it can; gives what is left of its faults."""
    try:
        await store.write(lambda tx: tx.upkeep.repair())
    except (ReadOnlyStore, StoreBusy):
        raise
    except UNREADABLE as error:
        return [*await _faults(store, quick=quick), f"What follows from the log can't be repaired: {error}"]
    return await _faults(store, quick=quick)


async def _unscrubbed(store: Store, *, repair: bool) -> list[Finding]:
    """Whether an erasure was broken off, or a reader was in its way, before its bytes were overwritten."""
    before = await store.scrub(look=True)
    if before.complete:
        return []
    after = await store.scrub() if repair else before
    advice = "Its bytes are overwritten now." if after.complete else after.note
    text = "An erasure was not completed: bytes of what was forgotten may still stand in the file."
    return [Finding(kind="fault", session="", text=text, advice=advice, repaired=after.complete)]


def _diagnose(
    tx: Transaction, key: SessionKey, *, now: datetime, faults: Sequence[str], on_looked: OnProgress | None
) -> list[Diagnosis]:
    """What is wrong with a session; one that is broken so far that it can't be read is told as such.

    `faults` is what the store says of itself. Without `on_looked` no message is looked at.
    """
    found: list[Diagnosis] = []
    try:
        stored = read_summaries(tx, key)
        branches = tx.sessions.branches(key)
        heads = [(name, head) for name, head in branches.items() if head is not None]
        ends = tx.upkeep.abandoned_heads(key)
        found += check_leases(tx, key, stored, now)
        sick = check_summaries(tx, key, stored, faults)
        sick += check_doubles(tx, key, [head for _, head in heads], stored)
        found += sick
        gone = {name for each in sick if each.cure for name in each.cure.discard}
        found += check_marks(tx, key, [*(head for _, head in heads), *ends], stored, gone)
        paths = tree_paths(tx, key, [*heads, *(("", end) for end in reversed(ends))])
        found += check_paths(key, branches, paths, stood_for(tx, key, paths))
        if on_looked is not None:
            found += check_messages(tx, key, paths, on_looked)
    except UNREADABLE as error:
        found.append(fault(key.session, f"It can't be looked at to its end: {str(error).rstrip('.')}."))
    return found


def _repair(tx: Transaction, key: SessionKey, found: Sequence[Diagnosis]) -> list[Diagnosis]:
    """Do what repairs the findings, all in one transaction."""
    out: list[Diagnosis] = []
    for each in found:
        if each.cure is not None:
            try:
                _apply_repair(tx, key, each.cure)
            except BadInput as error:
                finding = replace(each.finding, advice=f"It can't be repaired: {error} {RESTORE}")
            else:
                finding = replace(each.finding, repaired=True, advice=each.cure.done)
            each = replace(each, finding=finding)
        out.append(each)
    return out


def _apply_repair(tx: Transaction, key: SessionKey, cure: Repair) -> None:
    tx.upkeep.discard(key, cure.discard)
    if cure.forget:
        # Whoever took the work since is at it.
        stands = tx.leases.of_session(key)
        for lease in cure.forget:
            if lease in stands:
                tx.leases.forget(key, lease.work)
    if cure.mark is not None:
        before, after = cure.mark
        if before in tx.rebuilds.of_session(key):
            tx.rebuilds.put(key, after)
